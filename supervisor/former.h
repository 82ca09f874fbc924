/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names that directories had before they were renamed. A deleted file is in no directory, so the look at what moves with one does not find it; but its
 * name, by which a descriptor of it is decided on, moves all the same.
 */
#ifndef USHER_SUPERVISOR_FORMER_H
#define USHER_SUPERVISOR_FORMER_H

#include "supervisor/job.h"

/* Before directory FROM gets the name TO, whether it then does or not: between making_stop() and making_go(). */
void former_note(struct session *s, struct span from, struct span to);

/*
 * T, which fstat(2) describes as ST, is deleted, and has its kernel's name: it goes by that of the names it may have had before by which
 * the rules allow least of T's operations. 0, or -EACCES where those names are not known.
 */
int former_name(struct job *j, struct target *t, const struct stat *st);

#endif
