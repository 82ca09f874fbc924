/* SPDX-License-Identifier: Apache-2.0 */
/* usher's own process, made harder to touch and to lead astray. */
#ifndef USHER_SUPERVISOR_HARDEN_H
#define USHER_SUPERVISOR_HARDEN_H

/*
 * First thing in the process, before keys are made or files are opened: no core dumps, no new privileges,
 * nothing inherited for helpers, and not dumpable, so that no process of the same user may trace it or read it through /proc (its own view of
 * /proc/self stays whole). Inherited by what it forks; the command becomes dumpable again in filter_install().
 * Returns 0 or a negative errno: then the session must not start.
 */
int harden_start(void);

/*
 * No core dumps of this process and what it starts: one byte is less than any core file. And it is the one limit at which the kernel starts no
 * program to take the core either (core_pattern "|..."), which it does at 0. Async-signal-safe. 0 or a negative errno.
 */
int harden_cores(void);

/*
 * In a thread that handles what the command sends, after harden_process(): from here on it, and threads it starts, cannot start programs,
 * make processes or enter namespaces either (EPERM). Returns 0 or a negative errno.
 */
int harden_worker(void);

/* What harden_process() and harden_worker() refuse, together, in a process that has neither. */
int harden_child(void);

/*
 * In all threads of usher, present and to come, once the command's process was forked: nothing in usher changes mounts, modules, keys and the like
 * any more (EPERM). Programs that help (--ask=exec:CMD) inherit it. Returns 0 or a negative errno.
 */
int harden_process(void);

#endif
