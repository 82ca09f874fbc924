/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the whole tree may use (`limit wall 10m`), and how large a file and how many open descriptors each of its processes
 * may have (`limit filesize 1G`, `limit files 256`). At a limit the tree is ended.
 *
 * The tree's use is measured ten times a second: processor time by a control group of usher's own where one can be made,
 * else, as everything else, in /proc. Where that group has the controllers the kernel holds memory, and a bound on threads, and usher looks what it had
 * to refuse. The limits of single processes are the kernel's (setrlimit(2)); usher learns that one was
 * met from the call it performs, or from SIGXFSZ.
 *
 * MUST: the record that names the limit is in the journal before usher ends the tree. (Where the kernel holds memory it may have killed
 * the process that wanted too much before.)
 */
#ifndef USHER_SUPERVISOR_LIMITS_H
#define USHER_SUPERVISOR_LIMITS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

#include "rules/ruleset.h"
#include "supervisor/session.h"

#define LIMIT_STATUS 124 /* usher's exit status when a limit has ended the tree, as timeout(1) */

struct limits;
struct policy;

/* What the layers say: *out is NULL where none has limits. Makes the control group. 0 or a negative errno. */
int limits_new(struct session *s, struct limits **out);

/* In the command, before its filter: joins the control group and takes on what the kernel enforces for each process, but the number of open files. 0 or a negative errno. */
int limits_enter(const struct limits *l);

/* The same of the command's open files, which it takes on last. L may be NULL. */
void limits_lower_files(const struct limits *l, struct rlimit *files);

/* After the launch: writes down what holds and by what means, and starts to measure. 0 or a negative errno. L may be NULL. */
int limits_start(struct limits *l);

/* Somebody met the limit KIND and would have had USED (0: unknown): ends the tree. Any thread; L may be NULL or without such a limit. */
void limits_met(struct limits *l, enum limit_kind kind, uint64_t used);

/* Whether forks go through limits_may_fork(): where a layer of POLICY (may be NULL) limits processes. A look ten times a second is too late for a fork bomb. */
bool limits_count_forks(const struct policy *policy);

/* Before a fork: false when it would be one process too many (the tree is ended then) or the tree has met a limit. Any thread; L may be NULL. */
bool limits_may_fork(struct limits *l);

/* Whether the kernel holds memory; L may be NULL. */
bool limits_hold_memory(const struct limits *l);

/* How much of KIND is allowed; 0: no limit, or L is NULL. */
uint64_t limits_of(const struct limits *l, enum limit_kind kind);

/* Whether there are limits that only usher measures: nobody would while it is stopped. L may be NULL. */
bool limits_measured(const struct limits *l);

/* As fork(), with the means to measure whole in the child. */
pid_t limits_fork(struct limits *l);

/* In the child of limits_fork(): whether a limit is met. Nothing follows from it there. */
bool limits_over(struct limits *l);

/* After the command has ended: it may have been ended by a limit that nobody has looked at since. NULL is fine. */
void limits_settle(struct limits *l);

/* The name of the limit that has ended the tree, NULL while none has. */
const char *limits_reached(struct limits *l);

/* Stops measuring; L itself stays for workers that may still meet a limit. NULL is fine. */
void limits_stop(struct limits *l);

#endif
