/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MUST: who is a process of the tree is asked with the number held, and the number is let go behind the call: the caller is stopped there, so that its next
 * call finds nobody held.
 */
#include "supervisor/held.h"

#include <errno.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
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
#define UNSEEN_MOST 100 /* tries that failed with no tracer to be seen afterwards */
#define PAUSE_NS 200000

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

/*
 * Whether TID cannot be traced for a moment only: usher itself traces it, or has just done so. Who has ended cannot be traced at all.
 */
static bool passes(const struct job *j, pid_t tid, int *unseen)
{
	struct thread_state st, by;
	int proc = j->session->self_proc;

	if (thread_state(proc, tid, &st) < 0 || st.state == THREAD_ZOMBIE)
		return false;
	if (!st.tracer)
		return ++*unseen < UNSEEN_MOST;
	return thread_state(proc, st.tracer, &by) < 0 || by.tgid == j->session->usher;
}

/* The caller, seized, makes its call and stops behind it: then the number is let go, and the caller. */
static int continue_and_stop(struct job *j, struct pin *pin)
{
	pid_t tid = (pid_t)j->notif.pid;
	int sig, rc = j->verdict.log != LOG_NONE ? walk_record(j, 0) : 0;

	/* Who is gone was killed: it has ended, or stops all the same. */
	(void)reply_send(j, 0, rc < 0 ? -EIO : 0, rc == 0);
	bool stopped = trace_wait_for(tid, &sig) != TRACE_ENDED;
	pin_end(pin);
	if (stopped)
		trace_release(tid, sig);
	return inside_gone(j);
}

/* With the lock. -EPERM: *WHOM cannot be traced; nothing was answered then. */
static int try_once(struct job *j, pid_t number, pid_t *whom)
{
	pid_t tid = (pid_t)j->notif.pid;
	struct pin pin;

	*whom = number;
	int rc = pin_begin(&pin, number);
	if (rc < 0)
		return rc;
	if (!procs_inside(j->session->procs, number)) {
		pin_end(&pin);
		return job_error(j, -EPERM);
	}
	*whom = tid;
	rc = trace_seize(tid);
	if (rc == 0)
		return continue_and_stop(j, &pin);
	pin_end(&pin);
	return rc == -ESRCH ? inside_gone(j) : rc;
}

/* One at a time: of two that hold each other's caller neither would come to an end. Nobody waits here with the lock but for a call of the kernel. */
static int try_patiently(struct job *j, pid_t number)
{
	int rc, unseen = 0;
	pid_t whom;

	for (int tries = 0; tries < TRIES_MOST; tries++) {
		pthread_mutex_lock(&j->session->held);
		rc = try_once(j, number, &whom);
		pthread_mutex_unlock(&j->session->held);
		if (rc != -EPERM || !passes(j, whom, &unseen))
			return rc;
		(void)nanosleep(&(struct timespec){ .tv_nsec = PAUSE_NS }, NULL);
	}
	return -EPERM;
}

/* Whether others may be left in the group that NUMBER leads. */
static bool leads(pid_t number, bool group)
{
	return group && getpgid(number) == number;
}

static bool has_ended(const struct job *j, pid_t number)
{
	struct thread_state st;

	return thread_state(j->session->self_proc, number, &st) == 0 && st.state == THREAD_ZOMBIE;
}

/* What the kernel says of a call on a process that has ended. */
static int of_ended(struct job *j, bool group)
{
	bool pages = j->notif.data.nr == __NR_migrate_pages || j->notif.data.nr == __NR_move_pages;

	if (group)
		return job_error(j, -ESRCH);
	return pages ? job_error(j, -EINVAL) : job_result(j, 0);
}

/* Where others trace one of the two nobody can say what the kernel would find. */
static int not_held(struct job *j, pid_t number, bool group, int rc)
{
	if (rc == -ESRCH && !group)
		return job_error(j, rc);
	if (is_signal(j))
		return job_continue(j);
	if (rc != -EPERM)
		return job_error(j, rc);
	return has_ended(j, number) && !leads(number, group) ? of_ended(j, group) : job_error(j, -EPERM);
}

int held_continue(struct job *j, pid_t number, bool group)
{
	if (held_anyway(j, number))
		return job_continue(j);
	worker_blocking(j->worker);
	int rc = try_patiently(j, number);
	return rc < 0 ? not_held(j, number, group, rc) : rc;
}
