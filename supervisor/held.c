/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MUST: who is a process of the tree is asked with the number held, and the number is let go behind the call: the caller is stopped there, so that its next
 * call finds nobody held.
 */
#include "supervisor/held.h"

#include <errno.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "supervisor/exec_trace.h"
#include "supervisor/inside.h"
#include "supervisor/passing.h"
#include "supervisor/pin.h"
#include "supervisor/procs.h"
#include "supervisor/reply.h"
#include "supervisor/session.h"
#include "supervisor/stall.h"
#include "supervisor/thread_state.h"
#include "supervisor/walk.h"
#include "supervisor/worker.h"

/* The caller waits, so its own number and its process's mean what they meant. */
static bool held_anyway(const struct job *j, pid_t number)
{
	return number == (pid_t)j->notif.pid || number == proc_pid(j->proc);
}

/* Signals, and the group to be in, for which debuggers run shells. */
static bool goes_anyway(const struct job *j)
{
	switch (j->notif.data.nr) {
	case __NR_kill:
	case __NR_tkill:
	case __NR_tgkill:
	case __NR_rt_sigqueueinfo:
	case __NR_rt_tgsigqueueinfo:
	case __NR_fcntl:
	case __NR_setpgid:
		return true;
	default:
		return false;
	}
}

/* The caller, seized, makes its call and stops behind it: then the number is let go (PIN; NULL: the lock holds it), and the caller. */
static int continue_and_stop(struct job *j, struct pin *pin)
{
	pid_t tid = (pid_t)j->notif.pid;
	int sig, rc = j->verdict.log != LOG_NONE ? walk_record(j, 0) : 0;

	/* Who is gone was killed: it has ended, or stops all the same. */
	(void)reply_send(j, 0, rc < 0 ? -EIO : 0, rc == 0);
	bool stopped = trace_wait_for(tid, &sig) != TRACE_ENDED;
	if (pin)
		pin_end(pin);
	if (stopped)
		trace_release(tid, sig);
	return inside_gone(j);
}

/* As pin_begin(); a caller that waits for a person may be held already, which *PINNED tells from that. */
static int hold_number(const struct job *j, struct pin *pin, pid_t number, bool *pinned)
{
	int rc = pin_begin(pin, number);

	*pinned = rc == 0;
	return rc == -EPERM && stall_holds(j->session->pool, number) ? 0 : rc;
}

/* With the lock. -EPERM: *WHOM cannot be traced; nothing was answered then. */
static int try_once(struct job *j, pid_t number, pid_t group, pid_t *whom)
{
	pid_t tid = (pid_t)j->notif.pid;
	struct pin pin;
	bool pinned;

	*whom = number;
	int rc = hold_number(j, &pin, number, &pinned);
	if (rc < 0)
		return rc;
	bool inside = procs_inside(j->session->procs, number), left = group && group != number && getpgid(number) != group;
	if (!inside || left) {
		if (pinned)
			pin_end(&pin);
		return inside ? reply_again(j) : job_error(j, -EPERM);
	}
	*whom = tid;
	rc = trace_seize(tid);
	if (rc == 0)
		return continue_and_stop(j, pinned ? &pin : NULL);
	if (pinned)
		pin_end(&pin);
	return rc == -ESRCH ? inside_gone(j) : rc;
}

/* One at a time: of two that hold each other's caller neither would come to an end. Nobody waits here with the lock but for a call of the kernel. */
static int try_patiently(struct job *j, pid_t number, pid_t group)
{
	const pid_t tid = (pid_t)j->notif.pid;
	unsigned unseen = 0;
	pid_t whom;
	int rc;

	for (int tries = 0; tries < PASSING_TRIES; tries++) {
		pthread_mutex_lock(&j->session->held);
		rc = try_once(j, number, group, &whom);
		pthread_mutex_unlock(&j->session->held);
		if (rc == -EPERM && whom == tid && tracers_await(&j->session->tracers, tid))
			return reply_again(j);
		if (rc != -EPERM || !tracing_passes(j->session, whom, &unseen))
			return rc;
		passing_nap();
	}
	return -EPERM;
}

/* Whether others may be left in the group that NUMBER is in. */
static bool leads(pid_t number, pid_t group)
{
	return group && getpgid(number) == group;
}

enum ended { ENDED_NOT, ENDED, ENDED_HELD };

/*
 * Whether NUMBER is of somebody who has ended, and held by that: a process that nobody traces, whose parent has no thread but the caller, which does not wait
 * for its children meanwhile.
 */
static enum ended has_ended(const struct job *j, pid_t number)
{
	struct thread_state st, parent;
	int proc = j->session->self_proc;

	if (thread_state(proc, number, &st) < 0 || st.state != THREAD_ZOMBIE)
		return ENDED_NOT;
	bool own = st.tgid == number && !st.tracer && st.parent == proc_pid(j->proc) && thread_state(proc, st.parent, &parent) == 0 && parent.threads == 1;
	return own ? ENDED_HELD : ENDED;
}

/* What the kernel says of a call on a process that has ended. */
static int of_ended(struct job *j, pid_t group)
{
	bool pages = j->notif.data.nr == __NR_migrate_pages || j->notif.data.nr == __NR_move_pages;

	if (group)
		return job_error(j, -ESRCH);
	return pages ? job_error(j, -EINVAL) : job_result(j, 0);
}

/* Where others trace one of the two nobody can say what the kernel would find. */
static int not_held(struct job *j, pid_t number, pid_t group, int rc)
{
	if (rc == -ESRCH && group != number) /* of a group others may be left */
		return group ? reply_again(j) : job_error(j, rc);
	if (goes_anyway(j))
		return job_continue(j);
	if (rc != -EPERM)
		return job_error(j, rc);
	enum ended ended = has_ended(j, number);
	if (ended == ENDED_HELD)
		return job_continue(j);
	return ended == ENDED && !leads(number, group) ? of_ended(j, group) : job_error(j, -EPERM);
}

int held_continue(struct job *j, pid_t number, pid_t group)
{
	if (held_anyway(j, number))
		return job_continue(j);
	worker_blocking(j->worker);
	int rc = try_patiently(j, number, group);
	return rc < 0 ? not_held(j, number, group, rc) : rc;
}
