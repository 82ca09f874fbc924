/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/stall.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

#include "rules/cleanup.h"
#include "supervisor/arrange.h"
#include "supervisor/ask.h"
#include "supervisor/memory.h"
#include "supervisor/exec_trace.h"
#include "supervisor/pool.h"
#include "supervisor/procs.h"
#include "supervisor/reply.h"
#include "supervisor/session.h"
#include "supervisor/soon.h"
#include "supervisor/watch.h"

#define ROUND_NS (10 * 1000 * 1000)
#define LOOK_FIRST_NS (10 * 1000)
#define LOOK_LAST_NS (2 * 1000 * 1000)
#define LOOK_AT_ONCE 16

/* A thread to let go. */
struct letting {
	struct letting *next;
	pid_t tid;
};

/*
 * All under the pool's lock but looked and the timer, which are the thread's own, and the tracees: only the thread changes them, and lets go of one or collects it, with
 * session->held locked, which others have while a tracee's number has to mean it. That lock comes before the pool's. Made with the first call that is moved.
 */
struct stalls {
	struct pool *pool;
	pthread_cond_t wake;
	struct parked *moving;   /* to be moved, newest first */
	struct letting *letting;
	bool stopping;
	timer_t timer;
	bool timed;
	pid_t *tracee; /* who is traced; by number, as an end may be learned of twice */
	unsigned traced, room;
	unsigned looked; /* of the held ones, in this turn */
};

static void *stall_main(void *arg);

static struct stalls *stalls_of(struct pool *p)
{
	pthread_t thread;
	struct stalls *s = p->stalls;

	if (s || p->stopping)
		return s;
	s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	s->pool = p;
	soon_init(&s->wake);
	if (pthread_create(&thread, NULL, stall_main, s)) {
		free(s);
		return NULL;
	}
	pthread_detach(thread);
	return p->stalls = s;
}

void stall_consider_locked(struct pool *p, struct parked *k)
{
	if (p->listed <= STALL_KEEP || k->stall != STALL_NONE)
		return;
	struct stalls *s = stalls_of(p);
	if (!s || (!k->letting && !(k->letting = calloc(1, sizeof(*k->letting)))))
		return;
	k->stall = STALL_MOVING;
	k->next_moving = s->moving;
	s->moving = k;
	pthread_cond_signal(&s->wake);
}

static void let_go_locked(struct stalls *s, struct parked *k)
{
	struct letting *l = steal_pointer(&k->letting);

	*l = (struct letting){ .next = s->letting, .tid = (pid_t)parked_job(k)->notif.pid };
	s->letting = l;
	pthread_cond_signal(&s->wake);
}

/* K is answered. Its call comes again, or the watch finds that it has ended. */
static void come_back_locked(struct pool *p, struct parked *k)
{
	k->next = p->returning;
	p->returning = k;
	atomic_fetch_add(&p->returns, 1);
	if (!k->gone)
		let_go_locked(p->stalls, k);
	watch_wake_locked(p);
}

bool stall_answered_locked(struct pool *p, struct parked *k)
{
	if (k->stall == STALL_NONE)
		return false;
	k->answered = true;
	if (k->stall == STALL_HELD)
		come_back_locked(p, k);
	return true; /* else the thread that moves it sees to it */
}

void stall_let_go_locked(struct pool *p, struct parked *k)
{
	if (!k->gone)
		let_go_locked(p->stalls, k);
}

void stall_look_locked(struct pool *p)
{
	struct parked **at = &p->returning;

	for (struct parked *k; (k = *at);) {
		if (!pool_thread_ended((pid_t)parked_job(k)->notif.pid)) {
			at = &k->next;
			continue;
		}
		*at = k->next;
		k->next = NULL;
		atomic_fetch_sub(&p->returns, 1);
		ask_deliver_locked(p, k);
	}
}

/* Of the same image: another thread's exec may have put a new one under the number. */
static bool same_call(const struct parked *k, const struct job *b)
{
	const struct job *a = parked_job(k);

	return a->proc == b->proc && k->image == proc_generation(b->proc) && job_same_call(a, b);
}

/* The answer found no call: a handler ran in between and the call was not restarted, or something else came first. */
static void forget(struct session *s, struct parked *k)
{
	ask_withdrawn(s, k, "the caller was interrupted before its answer could reach it");
	if (k->answer && k->answer->kind == VERDICT_KILL)
		session_kill(s);
	job_discard(parked_job(k));
	parked_free(k);
}

struct parked *stall_returned(struct worker *w)
{
	struct pool *p = w->session->pool;

	if (atomic_load(&p->returns) == 0)
		return NULL;
	pthread_mutex_lock(&p->lock);
	struct parked **at = &p->returning;
	while (*at && parked_job(*at)->notif.pid != w->job.notif.pid)
		at = &(*at)->next;
	struct parked *k = *at;
	if (k) {
		*at = k->next;
		atomic_fetch_sub(&p->returns, 1);
	}
	pthread_mutex_unlock(&p->lock);
	if (k && !same_call(k, &w->job)) {
		forget(w->session, k);
		k = NULL;
	}
	return k;
}

void stall_stop_locked(struct pool *p)
{
	if (!p->stalls)
		return;
	p->stalls->stopping = true;
	pthread_cond_signal(&p->stalls->wake);
}

/* Room for one more tracee. False: there is no memory. */
static bool tracee_room(struct stalls *s)
{
	unsigned room = s->room ? 2 * s->room : 64;

	if (s->traced < s->room)
		return true;
	pid_t *more = reallocarray(s->tracee, room, sizeof(*more));
	if (!more)
		return false;
	s->tracee = more;
	s->room = room;
	return true;
}

static void held_lock(struct stalls *s)
{
	pthread_mutex_lock(&s->pool->session->held);
}

static void held_unlock(struct stalls *s)
{
	pthread_mutex_unlock(&s->pool->session->held);
}

bool stall_holds(struct pool *p, pid_t tid)
{
	bool holds = false;

	pthread_mutex_lock(&p->lock);
	const struct stalls *s = p->stalls;
	pthread_mutex_unlock(&p->lock);
	for (unsigned i = 0; s && i < s->traced && !holds; i++)
		holds = s->tracee[i] == tid;
	return holds;
}

static void tracee_gone_locked(struct stalls *s, pid_t tid)
{
	for (unsigned i = 0; i < s->traced; i++) {
		if (s->tracee[i] == tid)
			s->tracee[i--] = s->tracee[--s->traced];
	}
}

/* TID has ended, and is none of the tracees any more. */
static void ended(struct stalls *s, pid_t tid)
{
	struct pool *p = s->pool;

	pthread_mutex_lock(&p->lock);
	for (struct parked *k = p->parked; k; k = k->next) {
		if (k->stall == STALL_HELD && (pid_t)parked_job(k)->notif.pid == tid)
			k->gone = true;
	}
	pthread_mutex_unlock(&p->lock);
}

/* Whether TID is traced no more, though its end was not reported. */
static bool missed(struct stalls *s, pid_t tid)
{
	siginfo_t info;

	if (waitid(P_PID, (id_t)tid, &info, WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WALL | __WNOTHREAD) == 0 || errno != ECHILD)
		return false;
	held_lock(s);
	tracee_gone_locked(s, tid);
	held_unlock(s);
	ended(s, tid);
	return true;
}

/* A thread that dies leaves its stop, and is collected when that is reported. */
static void detach(struct stalls *s, pid_t tid, int sig)
{
	held_lock(s);
	bool let = ptrace(PTRACE_DETACH, tid, 0, (long)sig) == 0;
	if (let)
		tracee_gone_locked(s, tid);
	held_unlock(s);
	if (!let)
		(void)missed(s, tid);
}

/* Nobody is traced any more: whoever is held has ended, also a first thread, whose end nothing reports and no further round would look for. */
static void all_ended(struct stalls *s)
{
	struct pool *p = s->pool;

	pthread_mutex_lock(&p->lock);
	for (struct parked *k = p->parked; k; k = k->next)
		k->gone = k->gone || k->stall == STALL_HELD;
	pthread_mutex_unlock(&p->lock);
}

/*
 * Takes one report of a traced thread. False: there is none now. A first thread that another thread's exec puts an end to is
 * never reported: it is only missed (missed()).
 */
static bool report(struct stalls *s, pid_t *tid, int *status)
{
	held_lock(s);
	do
		*tid = waitpid(-1, status, __WALL | __WNOTHREAD | WNOHANG);
	while (*tid < 0 && errno == EINTR);
	if (*tid < 0)
		s->traced = 0;
	else if (*tid > 0 && !WIFSTOPPED(*status))
		tracee_gone_locked(s, *tid);
	held_unlock(s);
	if (*tid < 0)
		all_ended(s);
	if (*tid <= 0)
		return false;
	if (!WIFSTOPPED(*status))
		ended(s, *tid);
	return true;
}

/*
 * Not by number, as others may have to be collected before this one can end (a first thread ends after all others), and not
 * without looking up, as this one may be missed for ever.
 */
static bool await_stop(struct stalls *s, pid_t want, int *sig)
{
	struct timespec look = { .tv_nsec = LOOK_FIRST_NS };
	pid_t tid;
	int status = 0;

	*sig = 0;
	for (;;) {
		while (report(s, &tid, &status)) {
			if (tid != want)
				continue;
			if (WIFSTOPPED(status) && status >> 16 == 0)
				*sig = WSTOPSIG(status);
			return WIFSTOPPED(status);
		}
		if (!s->traced || missed(s, want))
			return false;
		nanosleep(&look, NULL);
		if (look.tv_nsec < LOOK_LAST_NS)
			look.tv_nsec *= 2;
	}
}

enum moved { MOVED, MOVED_NOT, MOVED_GONE };

/*
 * While a thread execs whoever would trace one of its process waits (cred_guard_mutex), and the exec for the others, which it has killed, to be collected by
 * their tracer: this thread, where they are held here. So it waits for no longer than until a signal.
 */
static void set_timer(const struct stalls *s, long ns)
{
	const struct itimerspec when = { { 0, ns }, { 0, ns } };

	if (s->timed)
		(void)timer_settime(s->timer, 0, &when, NULL);
}

/* 0, or a negative errno: -EINTR where it took long. */
static int take_once(struct stalls *s, pid_t tid)
{
	held_lock(s);
	set_timer(s, ROUND_NS);
	int rc = tracee_room(s) ? trace_seize_alone(tid) : -ENOMEM;
	set_timer(s, 0);
	if (rc == 0)
		s->tracee[s->traced++] = tid;
	held_unlock(s);
	if (rc == 0)
		(void)trace_interrupt(tid); /* of one that has ended the end is reported */
	return rc;
}

static bool take(struct stalls *s, pid_t tid)
{
	pid_t other;
	int rc, status;

	while ((rc = take_once(s, tid)) == -EINTR) {
		while (s->traced && report(s, &other, &status)) {
		}
	}
	return rc == 0;
}

/* Not with the lock held. The thread stops on its way back to user space, with the call to be restarted. */
static enum moved move(struct stalls *s, struct job *j)
{
	pid_t tid = (pid_t)j->notif.pid;
	int sig;

	if (!job_alive(j))
		return MOVED_NOT; /* the watch sees to it */
	if (!take(s, tid))
		return MOVED_NOT;
	int sock = steal_fd(&j->sock); /* an answer lets go of the caller's socket, but this call is still to be performed on it */
	bool waits = reply_send(j, 0, -ERESTARTSYS, false) == 0;
	j->sock = sock;
	if (!await_stop(s, tid, &sig))
		return MOVED_GONE;
	if (waits && !sig)
		return MOVED;
	detach(s, tid, sig); /* a signal was there already: its handler comes first; or it is another call's, or a new image */
	return MOVED_GONE;
}

/* K has been moved, or not; an answer may have come meanwhile. */
static void settle_locked(struct pool *p, struct parked *k, enum moved how)
{
	k->stall = how == MOVED_NOT ? STALL_NONE : STALL_HELD;
	k->gone = how == MOVED_GONE;
	if (how != MOVED_NOT && !k->answered)
		p->listed--;
	if (!k->answered)
		return;
	if (k->stall == STALL_HELD)
		come_back_locked(p, k);
	else
		ask_deliver_locked(p, k);
}

static void move_one_locked(struct stalls *s)
{
	struct parked *k = s->moving;

	s->moving = k->next_moving;
	pthread_mutex_unlock(&s->pool->lock);
	enum moved how = move(s, parked_job(k)); /* nobody else touches the job of one that is moving */
	pthread_mutex_lock(&s->pool->lock);
	settle_locked(s->pool, k, how);
}

static void let_one_locked(struct stalls *s)
{
	struct letting *l = s->letting;

	s->letting = l->next;
	pthread_mutex_unlock(&s->pool->lock);
	detach(s, l->tid, 0);
	free(l);
	pthread_mutex_lock(&s->pool->lock);
}

/* Looks for held threads that are missed, some in each round: their questions are nobody's any more. */
static void look_for_missed(struct stalls *s)
{
	pid_t tid[LOOK_AT_ONCE];
	unsigned n = 0, at = 0;

	pthread_mutex_lock(&s->pool->lock);
	for (const struct parked *k = s->pool->parked; k && n < LOOK_AT_ONCE; k = k->next) {
		if (k->stall == STALL_HELD && !k->gone && at++ >= s->looked)
			tid[n++] = (pid_t)parked_job(k)->notif.pid;
	}
	pthread_mutex_unlock(&s->pool->lock);
	s->looked = n == LOOK_AT_ONCE ? s->looked + n : 0;
	for (unsigned i = 0; i < n; i++)
		(void)missed(s, tid[i]);
}

/* Threads that were killed wait for their tracer to collect them, and their parents and processes with them. */
static void collect_locked(struct stalls *s)
{
	pid_t tid;
	int status;

	soon_wait(&s->wake, &s->pool->lock, ROUND_NS);
	pthread_mutex_unlock(&s->pool->lock);
	while (s->traced && report(s, &tid, &status)) {
	}
	look_for_missed(s);
	pthread_mutex_lock(&s->pool->lock);
}

static void *stall_main(void *arg)
{
	struct stalls *s = arg;
	struct sigevent wakes = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = POOL_SIGNAL };

	wakes._sigev_un._tid = gettid();
	s->timed = timer_create(CLOCK_MONOTONIC, &wakes, &s->timer) == 0;
	arrange_bind(&s->pool->arrangement, -1); /* a worker that stays on its core made this thread */
	pthread_mutex_lock(&s->pool->lock);
	while (!s->stopping || s->traced) {
		if (s->letting)
			let_one_locked(s);
		else if (s->moving)
			move_one_locked(s);
		else if (s->traced)
			collect_locked(s);
		else
			pthread_cond_wait(&s->wake, &s->pool->lock);
	}
	pthread_mutex_unlock(&s->pool->lock);
	if (s->timed)
		(void)timer_delete(s->timer);
	free(s->tracee);
	return NULL;
}
