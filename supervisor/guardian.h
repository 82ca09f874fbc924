/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The guardian: parent of the command and reaper of everything that descends from
 * it. One thread, no memory but its stack, nothing but waiting.
 *
 * MUST: when usher ends, by whatever means, the whole tree is killed: usher's end of
 * the control pipe is the only one, and its closing is the order. Daemons that left their parents come back to the guardian
 * (PR_SET_CHILD_SUBREAPER), so that "no child left" means "the tree is empty".
 */
#ifndef USHER_SUPERVISOR_GUARDIAN_H
#define USHER_SUPERVISOR_GUARDIAN_H

#include <sys/types.h>

/* Orders on the control pipe. Its end of file means GUARDIAN_KILL. */
#define GUARDIAN_KILL 'K'

/* Reports on the status socket, from the guardian and, until its exec, from the command. */
enum report_kind {
	REPORT_COMMAND = 1, /* value: the command's pid */
	REPORT_LISTENER,    /* value: the listener's number in the shared descriptor table */
	REPORT_FAILED,      /* value: errno; step: what was tried */
	REPORT_EXEC_FAILED, /* value: errno of the command's own exec */
	REPORT_STOPPED,     /* value: the signal */
	REPORT_CONTINUED,
	REPORT_EXITED,      /* value: wait status of the command */
};

struct rescue;

struct report {
	int kind;
	int value;
	char step[48];
};

/* Writes one report. Async-signal-safe. */
void report_send(int fd, enum report_kind kind, int value, const char *step);

/* One round of killing everything that descends from SELF; nobody below can fork any more (root excepted). */
void guardian_kill_round(pid_t self);

/* The guardian's life after the command has started; does not return. RESCUE (may be NULL): the terminal to give back when usher was killed. */
_Noreturn void guardian_main(pid_t command, int control, int status, const struct rescue *rescue);

#endif
