/* SPDX-License-Identifier: Apache-2.0 */
/*
 * On nobody's hot path: looks only while something waits, and has no thread of its own, so that nothing keeps it from starting.
 * A caller that was killed, or that has a signal to handle, must not wait for us
 * (WAIT_KILLABLE_RECV holds back every signal but the fatal ones).
 */
#include "supervisor/watch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "rules/cleanup.h"
#include "rules/clock.h"
#include "supervisor/ask.h"
#include "supervisor/crowd.h"
#include "supervisor/listeners.h"
#include "supervisor/memory.h"
#include "supervisor/pool.h"
#include "supervisor/proc_text.h"
#include "supervisor/refill.h"
#include "supervisor/session.h"
#include "supervisor/stall.h"

/*
 * Blocked workers that are looked at in one round: each costs a look into /proc and the kernel a walk past all that wait, with the lock held.
 * Of a thousand each is seen every sixth of a second.
 */
#define LOOKS 64
/* For how long who was interrupted at a FIFO is waited for: a wait there ends at once. */
#define FIFO_PAUSE_NS 50000
#define FIFO_LOOKS 2000

static uint64_t status_mask(const char *status, const char *key)
{
	const char *at = strstr(status, key);

	return at ? strtoull(at + strlen(key), NULL, 16) : 0;
}

#define STATUS_TEXT 4096

/* The status of TID as far as the masks of its signals, which stand behind its groups: in BUF, or where those are hundreds in *MORE, malloc'd. NULL: it has ended. */
static const char *status_of(pid_t tid, char buf[STATUS_TEXT], char **more)
{
	if (!proc_text(tid, "status", buf, STATUS_TEXT))
		return NULL;
	if (strstr(buf, "\nSigIgn:\t")) /* behind the last one that is wanted */
		return buf;
	return proc_whole(tid, "status", more) == 0 ? *more : NULL;
}

/*
 * A signal for the process goes to its first thread unless that one blocks it or has ended (complete_signal() in
 * the kernel): only then may it be for another thread.
 */
static uint64_t shared_for(const char *status, pid_t tid)
{
	CLEANUP_FREE char *more = NULL;
	char text[STATUS_TEXT];
	uint64_t shared = status_mask(status, "\nShdPnd:\t");
	const char *at = strstr(status, "\nTgid:\t");
	pid_t first = at ? (pid_t)strtol(at + strlen("\nTgid:\t"), NULL, 10) : tid;

	const char *first_status = shared && first != tid ? status_of(first, text, &more) : NULL;
	if (!first_status || strstr(first_status, "\nState:\tZ"))
		return shared;
	return shared & status_mask(first_status, "\nSigBlk:\t");
}

/* The state of TID, one letter of /proc; 0: it has ended. */
static char state_of(pid_t tid)
{
	char text[512]; /* it is among the first lines */

	if (!proc_text(tid, "status", text, sizeof(text)))
		return 0;
	const char *at = strstr(text, "\nState:\t");
	return at ? at[8] : 0;
}

/* So many of a process's threads, some places apart, one look goes through. */
#define THREADS_SEEN 8

/* Whether a thread of PROCESS, which has THREADS, stands: of some of them, by the time other ones at most looks. */
static bool some_stand(pid_t process, unsigned threads)
{
	char name[48];
	struct dirent64 entry; /* and a few behind it */

	snprintf(name, sizeof(name), "/proc/%d/task", (int)process);
	CLEANUP_FD int dir = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	off_t from = 2 + (off_t)(clock_ns(CLOCK_MONOTONIC) / 1000 % threads); /* behind . and .. */
	if (dir < 0 || lseek(dir, from, SEEK_SET) < 0)
		return false;
	for (int i = 0; i < THREADS_SEEN && getdents64(dir, &entry, sizeof(entry)) > 0; i++) {
		if (state_of((pid_t)strtol(entry.d_name, NULL, 10)) == 'T')
			return true;
	}
	return false;
}

static long status_number(const char *status, const char *key)
{
	const char *at = strstr(status, key);

	return at ? strtol(at + strlen(key), NULL, 10) : 0;
}

/*
 * One thread takes the signal that stops a process, and stands; nothing that /proc tells of the others shows that they are to stand as well, and
 * until they do nobody is told that the process has stopped. The first thread stands then, too, unless it waits for us or has ended: it is the one
 * that looks at the others. A debugger of the tree may let one of its threads run on while others stand.
 */
static bool stop_waits(const char *status, pid_t tid)
{
	long threads = status_number(status, "\nThreads:\t"), tracer = status_number(status, "\nTracerPid:\t");
	pid_t first = (pid_t)status_number(status, "\nTgid:\t");
	char name[48];

	if (threads < 2 || first <= 0)
		return false;
	snprintf(name, sizeof(name), "/proc/self/task/%ld", tracer);
	if (tracer && access(name, F_OK) < 0)
		return false;
	char state = first == tid ? 'Z' : state_of(first);
	return state == 'T' || (state == 'Z' && some_stand(first, (unsigned)threads));
}

bool pool_signal_waits(pid_t tid)
{
	CLEANUP_FREE char *more = NULL;
	char text[STATUS_TEXT];
	const char *status = status_of(tid, text, &more);

	if (!status)
		return true;
	uint64_t pending = status_mask(status, "\nSigPnd:\t") | shared_for(status, tid);
	return (pending & ~status_mask(status, "\nSigBlk:\t")) != 0 || stop_waits(status, tid);
}

/* Only the thread itself takes back that it is on its way to a signal: one of its own, or of a process that has no other thread, has sent it there for certain. */
bool pool_signal_certain(pid_t tid)
{
	CLEANUP_FREE char *more = NULL;
	char text[STATUS_TEXT];
	const char *status = status_of(tid, text, &more);

	if (!status)
		return false;
	uint64_t pending = status_mask(status, "\nSigPnd:\t");
	if (strstr(status, "\nThreads:\t1\n"))
		pending |= status_mask(status, "\nShdPnd:\t");
	return (pending & ~status_mask(status, "\nSigBlk:\t")) != 0;
}

bool pool_stop_certain(const struct job *j)
{
	return j->trapped || (j->worker && atomic_load(&j->worker->trapped) == (j->notif.id << 2 | WORKER_SERVING));
}

bool pool_thread_ended(pid_t tid)
{
	char state = state_of(tid);

	return state == 0 || state == 'Z' || state == 'X';
}

/* A blocked worker whose caller cannot wait: interrupted again at every look, since the signal may come before the wait. Whether it is blocked. */
static bool look_after_locked(struct worker *w)
{
	if (!w->blocking || w->job.replied)
		return false;
	if (!job_alive(&w->job) || pool_stop_certain(&w->job) || pool_signal_waits((pid_t)w->job.notif.pid)) {
		atomic_store(&w->interrupted, true);
		pthread_kill(w->thread, POOL_SIGNAL);
	} else if (atomic_load(&w->ticks)) {
		pthread_kill(w->thread, POOL_SIGNAL);
	}
	return true;
}

/* Those whose turn it is, of all that wait. */
static void look_round_locked(struct pool *p)
{
	unsigned looks = 0;
	struct worker *w = p->next_blocked ? p->next_blocked : p->workers;

	for (; w && p->blocked && looks < LOOKS; w = w->next)
		looks += look_after_locked(w);
	p->next_blocked = w;
}

/* Whether W opens the other end for who opens FIFO for ACCESS. */
static bool meets(const struct worker *w, const struct stat *fifo, int access)
{
	return w->at_fifo && w->fifo_ino == fifo->st_ino && w->fifo_dev == fifo->st_dev && (access != w->fifo_access || access == O_RDWR);
}

/* Interrupts those who are at this FIFO, for others than J, for a caller that has ended. Whether there was any. */
static bool leave_fifo_locked(const struct job *j, const struct stat *fifo, int access)
{
	bool any = false;

	for (struct worker *w = j->session->pool->workers; w; w = w->next) {
		if (w == j->worker || !meets(w, fifo, access) || job_alive(&w->job))
			continue;
		(void)look_after_locked(w);
		any = true;
	}
	return any;
}

void watch_fifo(const struct job *j, const struct stat *fifo, int access)
{
	const struct timespec pause = { 0, FIFO_PAUSE_NS };
	struct pool *p = j->session->pool;

	for (unsigned looks = 0; atomic_load(&p->at_fifos) && looks < FIFO_LOOKS; looks++) {
		pthread_mutex_lock(&p->lock);
		bool any = leave_fifo_locked(j, fifo, access);
		pthread_mutex_unlock(&p->lock);
		if (!any)
			return;
		nanosleep(&pause, NULL);
	}
}

int watch_open(struct pool *p)
{
	p->watch = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return p->watch < 0 ? -errno : 0;
}

void watch_wake_locked(struct pool *p)
{
	if (p->watching)
		return;
	p->watching = true;
	(void)eventfd_write(p->watch, 1);
}

bool watch_round(struct pool *p)
{
	eventfd_t woken;

	(void)eventfd_read(p->watch, &woken);
	pthread_mutex_lock(&p->lock);
	look_round_locked(p);
	refill_again_locked(p);
	stall_look_locked(p);
	bool connects = listeners_look(p->session->listeners);
	p->watching = crowd_nudge_locked(p) || p->blocked || p->parked || p->returning || refill_lacks_locked(p) || connects;
	bool parked = p->parked != NULL, go_on = p->watching;
	pthread_mutex_unlock(&p->lock);
	if (parked)
		ask_watch(p);
	return go_on;
}
