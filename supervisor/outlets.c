/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MUST: what is passed on is passed on whole and in its order; a reader that is gone is gone for the command, too (SIGPIPE); nobody is
 * waited for under the lock.
 */
#include "supervisor/outlets.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/wait_for.h"
#include "rules/cleanup.h"
#include "supervisor/supervise.h"

#define PIECE (1 << 20)
#define OUTLETS 2
#define READ_MS 500  /* how long whoever reads may take before a question is drawn all the same */
#define TAKEN_MS 1000 /* and at the end, for each piece, before usher says what it has to say */
#define LOOK_MS 100

struct outlet {
	int given; /* the command's; -1 when it has it */
	int from;  /* its other end; -1: all is passed on, or nobody reads */
	int to;    /* usher's own */
	bool named; /* a FIFO with a name: when whoever reads has gone another may come */
	bool full; /* nothing fitted in last */
};

struct outlets {
	struct outlet at[OUTLETS];
	unsigned n;
	signed char of[3]; /* for each standard descriptor its outlet, or -1 */
	int wake;          /* eventfd */
	bool started;
	pthread_t thread;
	pthread_mutex_t lock; /* the outlets' from and full, and all below */
	bool held;
	bool stopping;
};

static void shut(int *fd)
{
	cleanup_fd(fd);
	*fd = -1;
}

static bool is_pipe(int fd, struct stat *st)
{
	int flags = fcntl(fd, F_GETFL);

	return flags >= 0 && (flags & O_ACCMODE) == O_WRONLY && fstat(fd, st) == 0 && S_ISFIFO(st->st_mode);
}

static int outlet_open(struct outlet *a, int fd, const struct stat *st)
{
	struct stat own;
	int ends[2], size = fcntl(fd, F_GETPIPE_SZ), flags = fcntl(fd, F_GETFL);

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	a->from = ends[0];
	a->given = ends[1];
	a->to = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (a->to < 0)
		return -errno;
	a->named = fstat(a->from, &own) == 0 && own.st_dev != st->st_dev;
	if (size > 0)
		(void)fcntl(a->given, F_SETPIPE_SZ, size);
	if (flags & (O_NONBLOCK | O_DIRECT))
		(void)fcntl(a->given, F_SETFL, flags & (O_NONBLOCK | O_DIRECT));
	return 0;
}

static void outlets_free(struct outlets *o)
{
	for (unsigned i = 0; i < o->n; i++) {
		cleanup_fd(&o->at[i].given);
		cleanup_fd(&o->at[i].from);
		cleanup_fd(&o->at[i].to);
	}
	cleanup_fd(&o->wake);
	pthread_mutex_destroy(&o->lock);
	free(o);
}

int outlets_open(struct outlets **out)
{
	struct stat st[3];
	bool pipe[3] = { false, is_pipe(STDOUT_FILENO, &st[1]), is_pipe(STDERR_FILENO, &st[2]) };
	int rc = 0;

	*out = NULL;
	if (!pipe[1] && !pipe[2])
		return 0;
	struct outlets *o = calloc(1, sizeof(*o));
	if (!o)
		return -ENOMEM;
	pthread_mutex_init(&o->lock, NULL);
	o->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	rc = o->wake < 0 ? -errno : 0;
	for (int fd = 0; fd < 3; fd++) {
		bool same = fd == 2 && pipe[1] && pipe[2] && st[1].st_dev == st[2].st_dev && st[1].st_ino == st[2].st_ino;
		o->of[fd] = pipe[fd] ? (signed char)(same ? o->n - 1 : o->n) : -1;
		if (!pipe[fd] || same || rc < 0)
			continue;
		o->at[o->n] = (struct outlet){ .given = -1, .from = -1, .to = -1 };
		rc = outlet_open(&o->at[o->n++], fd, &st[fd]);
	}
	if (rc < 0)
		outlets_free(o);
	else
		*out = o;
	return rc;
}

int outlets_given(const struct outlets *o, int fd)
{
	return o && o->of[fd] >= 0 ? o->at[o->of[fd]].given : -1;
}

static bool nobody_reads(const struct outlet *a)
{
	struct pollfd p = { .fd = a->to };

	return poll(&p, 1, 0) > 0 && (p.revents & POLLERR);
}

static bool is_ready(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 0) > 0;
}

/* Whether nobody reads what the command writes: to a FIFO with a name that is known when it has written something. */
static bool is_lost(const struct outlet *a)
{
	return nobody_reads(a) && (!a->named || is_ready(a->from));
}

/* Moves what there is and fits. With the lock held; returns whether something was moved. */
static bool pass_on(struct outlet *a)
{
	bool lost = a->from >= 0 && is_lost(a);

	a->full = false;
	if (a->from < 0 || (!lost && !is_ready(a->from)))
		return false;
	ssize_t n = lost ? 0 : splice(a->from, NULL, a->to, NULL, PIECE, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
	a->full = n < 0 && errno == EAGAIN;
	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		shut(&a->from);
	return n > 0;
}

/* Whoever reads may go at any time: that is seen without being asked for, but of a FIFO with a name while there is nothing for it. */
static void prepare(const struct outlets *o, struct pollfd p[1 + 2 * OUTLETS])
{
	p[0] = (struct pollfd){ .fd = o->wake, .events = POLLIN };
	for (unsigned i = 0; i < OUTLETS; i++) {
		const struct outlet *a = &o->at[i];
		bool there = i < o->n && a->from >= 0, waits = a->full && !o->held;
		p[1 + 2 * i] = (struct pollfd){ .fd = there && !o->held && !a->full ? a->from : -1, .events = POLLIN };
		p[2 + 2 * i] = (struct pollfd){ .fd = there && (waits || !a->named) ? a->to : -1, .events = (short)(waits ? POLLOUT : 0) };
	}
}

static void *outlets_main(void *arg)
{
	struct outlets *o = arg;
	eventfd_t woken;

	pthread_mutex_lock(&o->lock);
	while (!o->stopping) {
		struct pollfd p[1 + 2 * OUTLETS];
		prepare(o, p);
		pthread_mutex_unlock(&o->lock);
		wait_for(p, 1 + 2 * OUTLETS, -1);
		(void)eventfd_read(o->wake, &woken);
		pthread_mutex_lock(&o->lock);
		for (unsigned i = 0; i < o->n; i++) {
			struct outlet *a = &o->at[i];
			if (o->held && a->from >= 0 && is_lost(a))
				shut(&a->from);
			else if (!o->held)
				pass_on(a);
		}
	}
	pthread_mutex_unlock(&o->lock);
	return NULL;
}

int outlets_start(struct outlets *o)
{
	sigset_t all, old;

	if (!o)
		return 0;
	for (unsigned i = 0; i < o->n; i++)
		shut(&o->at[i].given);
	sigfillset(&all); /* SIGPIPE too */
	pthread_sigmask(SIG_SETMASK, &all, &old);
	int rc = pthread_create(&o->thread, NULL, outlets_main, o);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	o->started = rc == 0;
	return -rc;
}

static bool all_read(const struct outlets *o)
{
	for (unsigned i = 0; i < o->n; i++) {
		int left = 0;
		if (ioctl(o->at[i].to, FIONREAD, &left) == 0 && left > 0 && !nobody_reads(&o->at[i]))
			return false;
	}
	return true;
}

void outlets_hold(struct outlets *o, bool hold)
{
	if (!o)
		return;
	pthread_mutex_lock(&o->lock);
	o->held = hold;
	pthread_mutex_unlock(&o->lock);
	(void)eventfd_write(o->wake, 1);
	for (int ms = 0; hold && ms < READ_MS && !all_read(o); ms += 10)
		poll(NULL, 0, 10);
}

/* With room for all that waits usher need not: who waits behind a command that has ended takes signals that natively nobody gets, and is no job's. */
static void widen(const struct outlet *a)
{
	int has = fcntl(a->to, F_GETPIPE_SZ), more = fcntl(a->from, F_GETPIPE_SZ);

	if (has > 0 && more > 0)
		(void)fcntl(a->to, F_SETPIPE_SZ, has + more);
}

/* Whether a signal has come that ends a program. One that stops it does so. */
static bool told_to_end(void)
{
	sigset_t pending;

	if (sigpending(&pending) < 0)
		return false;
	if (sigismember(&pending, SIGTSTP))
		(void)supervise_stop(SIGTSTP, false);
	return sigismember(&pending, SIGINT) || sigismember(&pending, SIGTERM) || sigismember(&pending, SIGHUP) || sigismember(&pending, SIGQUIT);
}

/* Passes on what waits, up to PATIENCE ms for each piece, -1: for as long as it takes; but not when usher is to end. The thread has ended. */
static void drain(struct outlet *a, int patience)
{
	for (int waited = 0; a->from >= 0;) {
		struct pollfd p = { .fd = a->to, .events = POLLOUT };
		if (pass_on(a)) {
			waited = 0;
			continue;
		}
		if (a->from < 0 || !a->full || (patience >= 0 && waited >= patience) || told_to_end())
			return;
		if (poll(&p, 1, LOOK_MS) == 0)
			waited += LOOK_MS;
	}
}

void outlets_settle(struct outlets *o)
{
	if (!o || !o->started)
		return;
	pthread_mutex_lock(&o->lock);
	o->stopping = true;
	pthread_mutex_unlock(&o->lock);
	(void)eventfd_write(o->wake, 1);
	pthread_join(o->thread, NULL);
	o->started = false;
	for (unsigned i = 0; i < o->n; i++) {
		while (pass_on(&o->at[i]))
			;
		if (o->at[i].full)
			widen(&o->at[i]);
		drain(&o->at[i], TAKEN_MS);
	}
}

void outlets_close(struct outlets *o)
{
	if (!o)
		return;
	outlets_settle(o);
	for (unsigned i = 0; i < o->n; i++)
		drain(&o->at[i], -1);
	outlets_free(o);
}
