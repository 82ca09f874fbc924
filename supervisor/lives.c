/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MUST: nobody's call waits for a round; a pidfd that was opened is closed by it, once.
 *
 * Times come from /proc where the process still waits for its parent, the status from the kernel's memory of the
 * pidfd (Linux 6.15). What L holds ends with usher's process: workers may enter somebody to the last.
 */
#include "supervisor/lives.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <signal.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "audit/journal.h"
#include "audit/stamp.h"
#include "rules/cleanup.h"
#include "supervisor/limits.h"
#include "supervisor/proc_text.h"
#include "supervisor/procs.h"
#include "supervisor/procs_kernel.h"
#include "supervisor/session.h"

#define PAUSE_MAX_MS 320
#define AGE_PART 16 /* of what a life has lasted may go by between two looks: so much of its time may be missed at its end */
#define PER_MS 50 /* so many lives looked at cost a millisecond more of pause */
#define EVENTS 64
#define NOTE_MAX (26 * 1024) /* a name of PATH_MAX bytes, each escaped, and the rest */

struct life {
	int fd;
	pid_t pid, ppid;
	uint64_t began; /* when it was first seen, ns since 1970 */
	bool ended;     /* and its parent may not have collected it yet */
	bool timed;     /* user_ms and system_ms are known */
	uint64_t user_ms, system_ms;
	uint64_t cpu_ns; /* processor time when it was last looked at */
	struct life *next, *prev; /* under the lock */
	uint32_t exe_len;
	char exe[];
};

struct lives {
	struct session *session;
	int epoll;
	int timer;         /* in it: time to look at all that live */
	atomic_int pause_ms; /* until then */
	atomic_bool armed;
	pthread_mutex_t lock;
	struct life *list; /* all that live */
	unsigned ended;    /* of them, as lives_round() knows */
	char note[NOTE_MAX];
};

int lives_open(struct lives *l, const struct thread_ref *leader)
{
	return l && leader->process ? fcntl(leader->fd, F_DUPFD_CLOEXEC, 3) : -1;
}

static void arm(struct lives *l, int ms)
{
	struct itimerspec t = { .it_value = { ms / 1000, (long)(ms % 1000) * 1000000 } };

	(void)timerfd_settime(l->timer, 0, &t, NULL);
}

static void link_life(struct lives *l, struct life *life)
{
	pthread_mutex_lock(&l->lock);
	life->next = l->list;
	if (l->list)
		l->list->prev = life;
	l->list = life;
	pthread_mutex_unlock(&l->lock);
	/* A new one is looked at soon, however seldom the old ones are. */
	if (!atomic_exchange(&l->armed, true) || atomic_load(&l->pause_ms) > LIVES_ROUND_MS) {
		atomic_store(&l->pause_ms, LIVES_ROUND_MS);
		arm(l, LIVES_ROUND_MS);
	}
}

static void unlink_life(struct lives *l, struct life *life)
{
	pthread_mutex_lock(&l->lock);
	if (life->prev)
		life->prev->next = life->next;
	else
		l->list = life->next;
	if (life->next)
		life->next->prev = life->prev;
	pthread_mutex_unlock(&l->lock);
}

/*
 * Whether it has used processor time since. When a parent has waited for its child the child's times are gone for everybody else: what was
 * seen before is what is left.
 */
static bool look_at(struct life *life)
{
	struct timespec t;
	clockid_t clock;

	if (clock_getcpuclockid(life->pid, &clock) || clock_gettime(clock, &t) < 0)
		return false;
	/* Still there now: then the number was its own. */
	if (syscall(SYS_pidfd_send_signal, life->fd, 0, NULL, 0) < 0 && errno == ESRCH)
		return false;
	uint64_t ns = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
	bool busy = ns > life->cpu_ns;
	life->cpu_ns = ns;
	return busy;
}

static int clamp(uint64_t ms)
{
	if (ms < LIVES_ROUND_MS)
		return LIVES_ROUND_MS;
	return ms < PAUSE_MAX_MS ? (int)ms : PAUSE_MAX_MS;
}

/* How long LIFE, which is busy, can do without a look. */
static int patience(const struct life *life, uint64_t now)
{
	return clamp(now > life->began ? (now - life->began) / 1000000 / AGE_PART : 0);
}

/* Looks at all of them, less often while nothing happens, where those that are busy have lived for long, or where there are many. */
static void look_at_all(struct lives *l)
{
	int before = atomic_load(&l->pause_ms), pause = clamp((uint64_t)before * 2), n = 0;
	uint64_t times, now = stamp_now();

	if (read(l->timer, &times, sizeof(times)) < 0)
		return;
	pthread_mutex_lock(&l->lock);
	for (struct life *life = l->list; life; life = life->next, n++) {
		if (!look_at(life))
			continue;
		int at_most = patience(life, now);
		pause = at_most < pause ? at_most : pause;
	}
	pthread_mutex_unlock(&l->lock);
	pause = clamp((uint64_t)(pause + n / PER_MS));
	atomic_store(&l->pause_ms, pause);
	arm(l, pause);
}

void lives_enter(struct lives *l, int fd, pid_t pid, pid_t ppid, struct span exe)
{
	CLEANUP_FD int mine = fd;
	CLEANUP_FREE struct life *life = l && fd >= 0 ? malloc(sizeof(*life) + exe.len) : NULL;

	if (!life)
		return;
	*life = (struct life){ .fd = fd, .pid = pid, .ppid = ppid, .began = stamp_now(), .exe_len = exe.len };
	if (exe.len)
		memcpy(life->exe, exe.bytes, exe.len);
	/* Told twice: when it ends, and when its parent has collected it. */
	struct epoll_event e = { .events = EPOLLIN | EPOLLET, .data.ptr = life };
	link_life(l, life);
	if (epoll_ctl(l->epoll, EPOLL_CTL_ADD, fd, &e) < 0) {
		unlink_life(l, life);
		return;
	}
	(void)steal_fd(&mine);
	(void)steal_pointer(&life);
}

/* utime and stime of a process that has ended and was not collected yet. */
static void read_times(struct life *life)
{
	char text[PROC_STAT];
	uint64_t user, system, tick = (uint64_t)sysconf(_SC_CLK_TCK);
	const char *at = tick ? proc_stat(life->pid, text) : NULL;

	if (!at || sscanf(at + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64, &user, &system) != 2)
		return;
	/* Still there now: then the number was its own while it was read. */
	if (syscall(SYS_pidfd_send_signal, life->fd, 0, NULL, 0) < 0 && errno == ESRCH)
		return;
	life->user_ms = user * 1000 / tick;
	life->system_ms = system * 1000 / tick;
	life->timed = true;
}

static void write_status(struct record *r, int fd, bool *too_large)
{
	int status;

	if (pidfd_exit_status(fd, &status) < 0)
		return;
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXFSZ)
		*too_large = true;
	if (WIFSIGNALED(status))
		record_int(r, "signal", WTERMSIG(status));
	else
		record_int(r, "status", WEXITSTATUS(status));
}

static void write_end(struct lives *l, struct life *life)
{
	char began[STAMP_LEN];
	struct record r;
	uint64_t seq;
	bool too_large = false;

	stamp_write(began, life->began);
	record_begin(&r, l->note, sizeof(l->note), "note");
	r.redactor = l->session->redactor;
	record_text(&r, "event", "exit");
	record_int(&r, "pid", life->pid);
	record_int(&r, "ppid", life->ppid);
	record_fitting(&r, "exe", (struct span){ life->exe, life->exe_len });
	record_bytes(&r, "began", (struct span){ began, sizeof(began) });
	write_status(&r, life->fd, &too_large);
	if (life->timed) {
		record_int(&r, "user_ms", (int64_t)life->user_ms);
		record_int(&r, "system_ms", (int64_t)life->system_ms);
	}
	if (life->timed && life->user_ms + life->system_ms > life->cpu_ns / 1000000)
		life->cpu_ns = (life->user_ms + life->system_ms) * 1000000;
	if (life->cpu_ns)
		record_int(&r, "cpu_ms", (int64_t)(life->cpu_ns / 1000000));
	int rc = journal_append(l->session->journal, &r, &seq);
	if (rc < 0)
		session_journal_failed(l->session, rc);
	if (too_large)
		limits_met(l->session->limits, LIMIT_FILESIZE, 0);
	unlink_life(l, life);
	l->ended -= life->ended;
	/* The table of threads holds the same pidfd: closing this descriptor alone would not end what was asked for. */
	(void)epoll_ctl(l->epoll, EPOLL_CTL_DEL, life->fd, NULL);
	close(life->fd);
	procs_ended(l->session->procs, life->pid);
	free(life);
}

static void note_ended(struct lives *l, struct life *life)
{
	read_times(life);
	l->ended += !life->ended;
	life->ended = true;
}

/* Before Linux 6.9 a pidfd tells that its process has ended, and not that it was collected: those that have ended are asked. */
static void write_collected(struct lives *l)
{
	pthread_mutex_lock(&l->lock);
	struct life *next = l->list;
	pthread_mutex_unlock(&l->lock);
	/* Others only put new ones before the first. */
	for (struct life *life = next; life; life = next) {
		next = life->next;
		if (life->ended && syscall(SYS_pidfd_send_signal, life->fd, 0, NULL, 0) < 0 && errno != EPERM)
			write_end(l, life);
	}
}

int lives_fd(const struct lives *l)
{
	return l ? l->epoll : -1;
}

void lives_round(struct lives *l)
{
	struct epoll_event e[EVENTS];
	bool look = false;
	int n;

	if (!l)
		return;
	do {
		n = epoll_wait(l->epoll, e, EVENTS, 0);
		for (int i = 0; i < n; i++) {
			struct life *life = e[i].data.ptr;

			if (!life)
				look = true; /* afterwards: who has ended is none of them */
			else if (e[i].events & EPOLLHUP)
				write_end(l, life);
			else
				note_ended(l, life);
		}
	} while (n == EVENTS || (n < 0 && errno == EINTR));
	if (l->ended)
		write_collected(l);
	if (look)
		look_at_all(l);
}

/* The set of what ends, the timer in it. Returns 0 or a negative errno. */
static int watch_ends(struct lives *l)
{
	struct epoll_event e = { .events = EPOLLIN };
	int epoll CLEANUP_FD = epoll_create1(EPOLL_CLOEXEC);
	int timer CLEANUP_FD = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);

	if (epoll < 0 || timer < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, timer, &e) < 0)
		return -errno;
	l->epoll = steal_fd(&epoll);
	l->timer = steal_fd(&timer);
	return 0;
}

int lives_new(struct session *s, struct lives **out)
{
	struct lives *l = calloc(1, sizeof(*l));
	int rc = l ? watch_ends(l) : -ENOMEM;

	if (rc < 0) {
		free(l);
		return rc;
	}
	l->session = s;
	l->pause_ms = LIVES_ROUND_MS;
	pthread_mutex_init(&l->lock, NULL);
	*out = l;
	return 0;
}
