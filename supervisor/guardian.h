/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The guardian: parent of the command and reaper of everything that descends from
 * it. The keeper: parent of the guardian. Each has one thread, does nothing but wait, and is in a session of its own (the guardian
 * not where the command has a terminal of its own, see launch.c).
 *
 * MUST: when usher, the guardian or the keeper ends, or any two of them at once, by whatever means, the whole tree is killed
 * by who is left: usher's end of the control pipe is the only one, and its closing is the order. Daemons that left their parents come
 * back to the guardian, else to the keeper, else to usher (PR_SET_CHILD_SUBREAPER), so that "no child left" means "the tree is empty".
 * MUST: neither is named usher, so that `pkill usher` leaves somebody to end the tree; the keeper is in no group or session
 * that usher is in, so that a signal to usher's group does as well.
 * MUST: they are in one memory, and the command with them until its exec (beside.h): nothing is decided by errno.
 */
#ifndef USHER_SUPERVISOR_GUARDIAN_H
#define USHER_SUPERVISOR_GUARDIAN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Orders on the control pipe. Its end of file means GUARDIAN_KILL. */
#define GUARDIAN_KILL 'K'
#define GUARDIAN_ALONE 'A' /* the command's program is there */

/* Waits in a row that may fail: who cannot hear orders any more ends the tree. */
#define GUARDIAN_DEAF 100

/* Reports on the status socket, from the guardian and, until its exec, from the command. */
enum report_kind {
	REPORT_COMMAND = 1, /* value: the command's pid */
	REPORT_ASKER,       /* value: sock_diag_asker() of the command's network namespace, a number in the shared descriptor table */
	REPORT_LISTENER,    /* value: the listener's number in the shared descriptor table */
	REPORT_FAILED,      /* value: errno; step: what was tried */
	REPORT_EXEC_FAILED, /* value: errno of the command's own exec */
	REPORT_STOPPED,     /* value: the signal */
	REPORT_CONTINUED,
	REPORT_EXITED,      /* value: wait status of the command */
	REPORT_GUARDIAN,    /* value: the guardian's pid */
	REPORT_KEEPER,      /* the keeper has a descriptor table of its own */
	REPORT_EMPTY,       /* the guardian has no child left: the tree is gone; value: whether it was ended because the keeper was */
};

struct rescue;

struct report {
	int kind;
	int value;
	char step[48];
	int64_t user_ms, system_ms, peak_kb; /* REPORT_EXITED: of the command and the descendants it has waited for */
};

#define EARLY_REPORTS 8 /* more than can come before the command has ended */

/* Writes one report; returns 0 or -EPIPE. Async-signal-safe. */
int report_send(int fd, enum report_kind kind, int value, const char *step);

/* Who kills: two of them may at the same time, in one memory. */
enum killer { KILLER_GUARDIAN, KILLER_KEEPER, KILLER_USHER = KILLER_KEEPER, KILLERS }; /* usher is in a memory of its own */

/*
 * The ROUNDth round, from 0, of killing everything that descends from the calling process; nobody below can fork any more (root
 * excepted). Returns how many milliseconds to wait before the next, in which what has ended is to be reaped.
 */
int guardian_kill_round(enum killer who, unsigned round);

/* What the calling process's arguments, FROM to TO, are to be from here on: what ps and pkill -f see. */
void guardian_name(char *from, const char *to);

struct guardian {
	pid_t command, keeper;
	int control, status;
	const struct rescue *rescue; /* the terminal to give back when usher was killed; NULL: none */
	bool (*alone)(void *);       /* called with FAMILY at first and when the command's program is there, until it returns true */
	void *family;
};

/* The guardian's life after the command has started; does not return. It exits with 0. */
_Noreturn void guardian_main(const struct guardian *g);

/* The keeper's life; does not return. It exits with 0, or with 1 when the guardian had not ended by itself. */
_Noreturn void keeper_main(pid_t guardian, pid_t usher, int control);

#endif
