/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread is held by ptrace: seized and interrupted, it stops before its next instruction. Should it be killed meanwhile it stops once more at
 * PTRACE_EVENT_EXIT, before the kernel lets its tracees go.
 *
 * MUST: only the owner makes calls of ptrace for what it holds, and lets it go when nobody else needs it any more; who waits for a held thread
 * holds nothing that this thread may wait for.
 */
#include "supervisor/tracer.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "supervisor/exec_trace.h"
#include "supervisor/memory.h"
#include "supervisor/session.h"
#include "supervisor/soon.h"
#include "supervisor/thread_state.h"

#define NAP_LAST_NS (1000 * 1000)
#define WAIT_NS (2 * 1000 * 1000)
#define NUMBERS (4 * 1024 * 1024) /* PID_MAX_LIMIT */
#define SYSCALL_STOP (SIGTRAP | 0x80)

struct tracer {
	pid_t tid;
	unsigned users;
	bool alone;
	bool trapping; /* seized and interrupted: it does not run in user space again */
	bool ready;    /* as tracer_hold() promises */
	bool leaving;
	int error;
	atomic_bool stopped;
	/* the owner's */
	bool dying;
	int sig; /* that it was about to get */
	struct tracer *next;
};

void tracers_init(struct tracers *all)
{
	pthread_mutex_init(&all->lock, NULL);
	soon_init(&all->change);
}

void tracers_note_seize(struct tracers *all, pid_t tid)
{
	unsigned char *none = NULL, *bits = atomic_load(&all->seized);

	if (!bits) {
		bits = calloc(1, NUMBERS / 8);
		if (bits && !atomic_compare_exchange_strong(&all->seized, &none, bits)) {
			free(bits);
			bits = none;
		}
	}
	if (!bits || tid <= 0 || tid >= NUMBERS) {
		atomic_store(&all->all_seized, true);
		return;
	}
	__atomic_fetch_or(&bits[tid / 8], (unsigned char)(1u << (tid % 8)), __ATOMIC_SEQ_CST);
}

bool tracers_has_seized(struct tracers *all, pid_t tid)
{
	const unsigned char *bits = atomic_load(&all->seized);

	if (atomic_load(&all->all_seized) || tid <= 0 || tid >= NUMBERS)
		return true;
	return bits && (__atomic_load_n(&bits[tid / 8], __ATOMIC_SEQ_CST) & (1u << (tid % 8)));
}

void tracers_renamed(struct tracers *all, pid_t was, pid_t tid)
{
	if (was != tid && tracers_has_seized(all, was))
		tracers_note_seize(all, tid);
}

void tracer_nap(struct timespec *t)
{
	nanosleep(t, NULL);
	if (t->tv_nsec < NAP_LAST_NS)
		t->tv_nsec *= 2;
}

static void wait_locked(struct tracers *all)
{
	soon_wait(&all->change, &all->lock, WAIT_NS);
}

static struct tracer *find_locked(struct tracers *all, pid_t tid)
{
	struct tracer *t = all->held;

	while (t && t->tid != tid)
		t = t->next;
	return t;
}

static void drop_locked(struct tracers *all, struct tracer *t)
{
	struct tracer **at = &all->held;

	while (*at != t)
		at = &(*at)->next;
	*at = t->next;
	pthread_cond_broadcast(&all->change);
}

void stopping_begin(struct tracers *all, struct stopping *s)
{
	pthread_mutex_lock(&all->lock);
	s->next = all->stopping;
	all->stopping = s;
	s->awaited = true;
	pthread_mutex_unlock(&all->lock);
}

void stopping_end(struct tracers *all, struct stopping *s)
{
	struct stopping **at = &all->stopping;

	if (!s->awaited)
		return;
	pthread_mutex_lock(&all->lock);
	while (*at != s)
		at = &(*at)->next;
	*at = s->next;
	s->awaited = false;
	pthread_mutex_unlock(&all->lock);
}

static bool stopping_locked(const struct tracers *all, pid_t tid)
{
	const struct stopping *s = all->stopping;

	while (s && s->tid != tid)
		s = s->next;
	return s;
}

bool tracers_await(struct tracers *all, pid_t tid)
{
	pthread_mutex_lock(&all->lock);
	const struct tracer *t = find_locked(all, tid);
	bool awaited = (t && t->trapping && !t->stopped) || stopping_locked(all, tid);
	pthread_mutex_unlock(&all->lock);
	return awaited;
}

/* The next stop of T, if there was one. 1: it is stopped now; 0: not yet; -ESRCH: it is no more. */
static int look(struct tracer *t)
{
	int status;
	pid_t got = waitpid(t->tid, &status, __WALL | __WNOTHREAD | WNOHANG);

	if (got == 0 || (got < 0 && errno == EINTR))
		return 0;
	if (got < 0 || !WIFSTOPPED(status))
		return -ESRCH;
	t->dying = status >> 16 == PTRACE_EVENT_EXIT;
	t->sig = status >> 16 == 0 && WSTOPSIG(status) != SYSCALL_STOP ? WSTOPSIG(status) : 0;
	t->stopped = true;
	return 1;
}

static bool in_vfork(int proc, pid_t tid)
{
	struct thread_call c;

	if (thread_call(proc, tid, &c))
		return false;
#ifdef __NR_vfork
	if (c.nr == __NR_vfork)
		return true;
#endif
	return c.nr == __NR_clone && (c.arg[0] & CLONE_VFORK);
}

/* Seized and interrupted: until it is where it cannot act. */
static int await_quiet(struct job *j, struct tracer *t)
{
	struct timespec pause = { .tv_nsec = TRACER_NAP_NS };

	for (;;) {
		int at = look(t);

		if (at < 0 || t->dying)
			return -ESRCH;
		if (at > 0)
			return 0;
		if (in_vfork(j->session->self_proc, t->tid))
			return t->alone ? -EDEADLK : 0;
		if (!job_alive(j))
			return -ECANCELED;
		tracer_nap(&pause);
	}
}

static int seize(pid_t tid)
{
	while (ptrace(PTRACE_SEIZE, tid, 0, PTRACE_O_TRACEEXIT | PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	return 0;
}

/* Who traces TID, after a PTRACE_SEIZE was refused. */
static int not_seized(const struct session *s, pid_t tid)
{
	struct thread_state st, by;

	if (thread_state(s->self_proc, tid, &st))
		return -ESRCH;
	if (!st.tracer)
		return st.state == THREAD_ZOMBIE ? -ESRCH : -EAGAIN;
	if (thread_state(s->self_proc, st.tracer, &by))
		return -EAGAIN;
	return by.tgid == s->usher ? -EAGAIN : -EBUSY;
}

static int take(struct job *j, struct tracer *t)
{
	struct tracers *all = &j->session->tracers;
	int err = seize(t->tid);

	if (err)
		return err == -EPERM ? not_seized(j->session, t->tid) : err;
	err = trace_interrupt(t->tid); /* ESRCH: it ends, which await_quiet() sees */
	pthread_mutex_lock(&all->lock);
	t->trapping = true;
	pthread_mutex_unlock(&all->lock);
	return await_quiet(j, t);
}

/* Joins those who hold T already. */
static int join_locked(struct tracers *all, struct tracer *t, struct hold *out)
{
	t->users++;
	while (!t->ready && !t->error)
		wait_locked(all);
	if (t->error) {
		t->users--;
		pthread_cond_broadcast(&all->change);
		return -EAGAIN;
	}
	*out = (struct hold){ .tracer = t };
	return 0;
}

/* Makes the entry of TID, or joins. 1: it was made. */
static int enter(struct job *j, pid_t tid, bool alone, struct hold *out)
{
	struct tracers *all = &j->session->tracers;
	struct tracer *t, *fresh = calloc(1, sizeof(*fresh));
	int rc = 1;

	if (!fresh)
		return -ENOMEM;
	*fresh = (struct tracer){ .tid = tid, .users = 1, .alone = alone };
	pthread_mutex_lock(&all->lock);
	while ((t = find_locked(all, tid)) && (alone || t->alone || t->leaving || t->error) && job_alive(j))
		wait_locked(all);
	if (!t) {
		fresh->next = all->held;
		all->held = fresh;
		*out = (struct hold){ .tracer = fresh, .owner = true };
	} else if (alone || t->alone || t->leaving || t->error) {
		rc = -ECANCELED;
	} else {
		rc = join_locked(all, t, out);
	}
	pthread_mutex_unlock(&all->lock);
	if (rc != 1)
		free(fresh);
	return rc;
}

int tracer_hold(struct job *j, pid_t tid, bool alone, struct hold *out)
{
	struct tracers *all = &j->session->tracers;

	*out = (struct hold){ .tracer = NULL };
	int rc = enter(j, tid, alone, out);
	if (rc != 1)
		return rc;
	struct tracer *t = out->tracer;
	rc = take(j, t);
	pthread_mutex_lock(&all->lock);
	t->error = rc;
	t->ready = !rc;
	pthread_cond_broadcast(&all->change);
	pthread_mutex_unlock(&all->lock);
	return rc;
}

/* Until the owner is the last one and T stands, or is no more; whom T waits for may join until then. */
static void await_leave(struct tracers *all, struct tracer *t)
{
	struct timespec pause = { .tv_nsec = TRACER_NAP_NS };

	while (t->trapping && !t->stopped) {
		int at = look(t);

		if (at < 0)
			t->trapping = false;
		else if (at == 0)
			tracer_nap(&pause);
	}
	pthread_mutex_lock(&all->lock);
	t->leaving = true;
	while (t->users > 1)
		wait_locked(all);
	pthread_mutex_unlock(&all->lock);
}

static void leave_others(struct tracers *all, struct tracer *t)
{
	pthread_mutex_lock(&all->lock);
	t->users--;
	pthread_cond_broadcast(&all->change);
	pthread_mutex_unlock(&all->lock);
}

void hold_end(struct hold *h, struct tracers *all)
{
	struct tracer *t = h->tracer;

	if (!t)
		return;
	h->tracer = NULL;
	if (!h->owner) {
		leave_others(all, t);
		return;
	}
	await_leave(all, t);
	if (t->trapping)
		trace_release(t->tid, t->sig);
	pthread_mutex_lock(&all->lock);
	drop_locked(all, t);
	pthread_mutex_unlock(&all->lock);
	free(t);
}

/* Runs T, with the signal it was about to get, to its next stop. */
static int run_on(struct job *j, struct tracer *t)
{
	struct timespec pause = { .tv_nsec = TRACER_NAP_NS };
	int at;

	t->stopped = false;
	if (ptrace(PTRACE_SYSCALL, t->tid, 0, (long)t->sig) < 0 && errno != ESRCH)
		return -errno;
	while ((at = look(t)) == 0) {
		if (!job_alive(j))
			(void)trace_interrupt(t->tid);
		tracer_nap(&pause);
	}
	return at < 0 || t->dying ? -ESRCH : 0;
}

static bool enters_call(pid_t tid)
{
	struct __ptrace_syscall_info info = { .op = PTRACE_SYSCALL_INFO_NONE };

	return ptrace(PTRACE_GET_SYSCALL_INFO, tid, sizeof(info), &info) > 0 && info.op == PTRACE_SYSCALL_INFO_ENTRY;
}

/* Runs T to the beginning of the next call it makes, or makes again. */
static int run_to_call(struct job *j, struct tracer *t)
{
	int err;

	do {
		err = run_on(j, t);
		if (!err && !job_alive(j))
			err = -ECANCELED;
	} while (!err && !enters_call(t->tid));
	return err;
}

/*
 * Whether TID has seccomp filters of its own, or it cannot be told. The command began with one more than usher had, and so goes on usher's
 * first thread since then (harden_process()).
 */
static bool own_filters(const struct session *s, pid_t tid)
{
	struct thread_state its, ours;

	return thread_state(s->self_proc, tid, &its) || thread_state(s->self_proc, s->usher, &ours) || !its.filters ||
	       its.filters != ours.filters;
}

int hold_interrupt(struct job *j, struct hold *h, pid_t caller)
{
	const uint64_t arg[6] = { PTRACE_INTERRUPT, (uint64_t)caller, INTERRUPT_HELD };
	struct tracer *t = h->tracer;
	exec_regs was, regs;

	if (!REGS_CAN_CALL)
		return -EOPNOTSUPP;
	int err = run_to_call(j, t);
	if (!err)
		err = trace_regs(t->tid, &was);
	if (err)
		return err;
	regs = was;
	regs_exchange(&regs, SYS_ptrace, arg);
	err = trace_set_regs(t->tid, &regs);
	if (!err)
		err = run_on(j, t);
	if (!err)
		err = trace_regs(t->tid, &regs);
	if (err)
		return err;
	long nr = regs_number(&was);
	regs_again(&was, nr);
	err = trace_set_regs(t->tid, &was);
	if (!err && own_filters(j->session, t->tid))
		err = -EPERM;
	if (err)
		return err;
	return REGS_RESULT(&regs) == 0 ? 1 : REGS_RESULT(&regs) == -EIO ? 0 : -ESRCH;
}

void going_begin(struct tracers *all, struct going *g)
{
	pthread_mutex_lock(&all->lock);
	g->next = all->going;
	all->going = g;
	atomic_fetch_add(&all->n_going, 1);
	pthread_mutex_unlock(&all->lock);
}

void going_end(struct tracers *all, struct going *g)
{
	struct going **at = &all->going;

	pthread_mutex_lock(&all->lock);
	while (*at != g)
		at = &(*at)->next;
	*at = g->next;
	atomic_fetch_sub(&all->n_going, 1);
	pthread_mutex_unlock(&all->lock);
}

void going_back(struct tracers *all, const struct job *j)
{
	if (!atomic_load(&all->n_going))
		return;
	pthread_mutex_lock(&all->lock);
	for (struct going *g = all->going; g; g = g->next) {
		if (g->tid == (pid_t)j->notif.pid && g->id != j->notif.id)
			atomic_store(&g->back, true);
	}
	pthread_mutex_unlock(&all->lock);
}
