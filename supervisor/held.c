/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MUST: who is a process of the tree is asked with the number held, and the number is let go behind the call: the caller is stopped there.
 */
#include "supervisor/held.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "supervisor/exec_trace.h"
#include "supervisor/inside.h"
#include "supervisor/pin.h"
#include "supervisor/procs.h"
#include "supervisor/reply.h"
#include "supervisor/session.h"
#include "supervisor/thread_state.h"
#include "supervisor/walk.h"
#include "supervisor/worker.h"

#define TRIES_MOST 5000 /* a fifth of a millisecond apart, while usher itself traces the thread */
#define PAUSE_US 200

/* The caller waits, so its own number and its process's mean what they meant. */
static bool held_anyway(const struct job *j, pid_t number)
{
	return number == (pid_t)j->notif.pid || number == proc_pid(j->proc);
}

static bool is_signal(const struct job *j)
{
	switch (j->notif.data.nr) {
	case __NR_kill:
	case __NR_tkill:
	case __NR_tgkill:
	case __NR_rt_sigqueueinfo:
	case __NR_rt_tgsigqueueinfo:
	case __NR_fcntl:
		return true;
	default:
		return false;
	}
}

/* Whether TID is traced by usher, which it is for moments only. */
static bool usher_traces(const struct job *j, pid_t tid)
{
	struct thread_state st, by;
	int proc = j->session->self_proc;

	return thread_state(proc, tid, &st) == 0 && st.tracer && thread_state(proc, st.tracer, &by) == 0 && by.tgid == j->session->usher;
}

static int patiently(struct job *j, struct pin *pin, pid_t tid)
{
	int rc;

	for (int tries = 0; tries < TRIES_MOST; tries++) {
		rc = pin ? pin_begin(pin, tid) : trace_seize(tid);
		if (rc != -EPERM || !usher_traces(j, tid))
			return rc;
		usleep(PAUSE_US);
	}
	return -EPERM;
}

/* The caller makes its call and stops behind it. -EPERM where it cannot be held: nothing was answered then. */
static int continue_and_stop(struct job *j)
{
	pid_t tid = (pid_t)j->notif.pid;
	int sig, rc = patiently(j, NULL, tid);

	if (rc == -EPERM)
		return rc;
	if (rc < 0)
		return inside_gone(j);
	rc = j->verdict.log != LOG_NONE ? walk_record(j, 0) : 0;
	if (reply_send(j, 0, rc < 0 ? -EIO : 0, rc == 0) < 0)
		trace_abandon(tid);
	else if (trace_wait_for(tid, &sig) != TRACE_ENDED)
		trace_release(tid, sig);
	return inside_gone(j);
}

static bool has_ended(const struct job *j, pid_t number)
{
	struct thread_state st;

	return thread_state(j->session->self_proc, number, &st) == 0 && st.state == THREAD_ZOMBIE;
}

/* Of who has ended nothing can be changed; where others trace one of the two nobody can say what the kernel would find. */
static int not_held(struct job *j, pid_t number, bool group, int rc)
{
	if (rc == -ESRCH && !group)
		return job_error(j, rc);
	if (is_signal(j))
		return job_continue(j);
	return rc == -EPERM && !group && has_ended(j, number) ? job_result(j, 0) : job_error(j, -EPERM);
}

int held_continue(struct job *j, pid_t number, bool group)
{
	struct pin pin;

	if (held_anyway(j, number))
		return job_continue(j);
	worker_blocking(j->worker);
	int rc = patiently(j, &pin, number);
	if (rc < 0)
		return not_held(j, number, group, rc);
	bool inside = procs_inside(j->session->procs, number);
	rc = inside ? continue_and_stop(j) : job_error(j, -EPERM);
	pin_end(&pin);
	return rc == -EPERM ? not_held(j, number, group, rc) : rc;
}
