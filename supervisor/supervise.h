/* SPDX-License-Identifier: Apache-2.0 */
/* The main thread's work while the command runs: signals one way, status the other. */
#ifndef USHER_SUPERVISOR_SUPERVISE_H
#define USHER_SUPERVISOR_SUPERVISE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "supervisor/session.h"

struct relay;
struct signalfd_siginfo;

struct supervise_result {
	bool exited;      /* wait_status is the command's */
	int wait_status;
	int64_t user_ms, system_ms, peak_kb; /* of the command and the descendants it has waited for */
	int exec_error;   /* errno of the command's own exec, 0 when it ran */
	bool empty;       /* the guardian has said so */
	bool lost;        /* the guardian or the keeper was ended by somebody else */
};

/*
 * Blocks the signals that the main thread forwards; before any thread is made. *before gets the old mask. Where usher is the first process of
 * its pid namespace (a container's) SIGCHLD is among them, which is for supervise_reap().
 */
int supervise_block(sigset_t *before, int *signals);

/*
 * Reaps the calling thread's children that have ended, BUT excepted: what helpers of an exec: channel have left behind comes to the main thread, and
 * in a namespace whose first process usher is what others there have. Helpers that run are their own thread's.
 */
void supervise_reap(pid_t but);

/* Sends TO what was sent to usher, with the value that it was queued with. */
void supervise_pass_on(pid_t to, const struct signalfd_siginfo *si);

/*
 * Stops the calling process by SIG, one of a terminal's that supervise_block() has blocked: so the kernel asks whether there is a
 * shell above it, and lets it run on where there is none. Returns when it goes on, whether it was
 * stopped. SIGCONT is blocked. With GROUP all of its process group is told to stop.
 */
bool supervise_stop(int sig, bool group);

/*
 * Until the whole tree is gone. SIGNALS is the descriptor of supervise_block().
 * With WAIT the tree may outlive the command. RELAY is NULL where the command shares usher's terminal.
 */
void supervise(struct session *s, int signals, struct relay *relay, bool wait, struct supervise_result *out);

/* Waits for the keeper's end, and kills what helpers of usher's own have left behind. supervise() does so itself where the tree was lost. */
void supervise_collect(const struct session *s, struct supervise_result *out);

#endif
