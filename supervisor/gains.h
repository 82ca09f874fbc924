/* SPDX-License-Identifier: Apache-2.0 */
/* What another name gives: a rename or a hard link must not bring an object to a name by which more of it is allowed. */
#ifndef USHER_SUPERVISOR_GAINS_H
#define USHER_SUPERVISOR_GAINS_H

#include "supervisor/job.h"

/*
 * What J's caller may do by the name TO and not by FROM, with an object that fstat(2) describes as ST: of read, modify, delete, attr, and of connect
 * and send where it is a socket (OWN: one that the tree bound itself). What rules lead to a name may be done there. No allocation, no lock.
 */
op_set gains(struct job *j, struct span from, struct span to, const struct stat *st, bool own);

/*
 * What the rules make of an entry that a move of the directory above brings from the name FROM to TO: what they say of making it there, where that is
 * less than they say of making it at FROM and of making the directory, ABOVE, itself; else VERDICT_ALLOW, with *alarm where log=alert speaks of a name
 * like TO and not of one like FROM. No allocation, no lock.
 */
enum verdict_kind gains_name(struct job *j, struct span from, struct span to, struct span above, const struct stat *st, bool *alarm);

/* What the rules make of OPS, of what gains() tells, on an entry that fstat(2) describes as ST, by NAME. No allocation, no lock. */
enum verdict_kind gains_decided(struct job *j, op_set ops, struct span name, const struct stat *st);

/* Whether what FROM is may get the name of TO, which was decided on for what TO says it makes: a rule may have led FROM to something else. */
bool gains_as_kind(struct job *j, const struct target *from, const struct target *to);

/* Socket T may not be reached by the name that it has, and would get one by which it may. 0: J has a target more that says so, and is refused; or -EACCES: no room. */
int gains_unreached(struct job *j, const struct target *t);

/*
 * T was led from ASKED to where it is now, where the call takes NEED: what it would not have taken at ASKED is allowed by the rules' word on one of the
 * two names. 0 or the negative errno of the refusal, which J's verdict is then; a person's choice is decided on as a whole, behind this.
 */
int gains_led(struct job *j, struct target *t, struct span asked, op_set need);

#endif
