/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/interrupted.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "rules/cleanup.h"
#include "rules/clock.h"
#include "rules/pages.h"
#include "supervisor/disposition.h"
#include "supervisor/filter.h"
#include "supervisor/job.h"
#include "supervisor/memory.h"
#include "supervisor/procs_kernel.h"
#include "supervisor/rows_guard.h"
#include "supervisor/session.h"
#include "supervisor/worker.h"

/* Looks at a caller that is on its way into its wait: the first ones without a pause. */
#define SPINS 20
#define SHORT_PAUSE_NS 50000
#define LONG_PAUSE_NS 1000000

/* A second signal that comes before the first instruction after the handler makes another frame of the same place. */
#define SAME_MOMENT_NS 20000000u

static uint64_t now(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

void interruptions_free(struct interruptions *all)
{
	pages_free(all->sets, INTERRUPTION_SETS * sizeof(*all->sets));
	all->sets = NULL;
}

static struct interruption_set *set_of(const struct interruptions *all, pid_t tid)
{
	return &all->sets[(unsigned)tid % INTERRUPTION_SETS];
}

/* Where to note TID's call at IP: where it is noted already, a free place, or the one that was taken longest ago. */
static struct interruption *place_for(struct interruption_set *set, pid_t tid, uint64_t ip)
{
	struct interruption *unused = NULL;

	for (unsigned i = 0; i < INTERRUPTION_WAYS; i++) {
		struct interruption *at = &set->at[i];
		if (at->tid == tid && at->ip == ip)
			return at;
		if (!at->tid && !unused)
			unused = at;
	}
	return unused ? unused : &set->at[set->next++ % INTERRUPTION_WAYS];
}

void interrupted_by_usher(struct interruptions *all, pid_t tid, uint64_t ip)
{
	pthread_mutex_lock(&all->lock);
	if (!all->sets)
		all->sets = pages_new(INTERRUPTION_SETS * sizeof(*all->sets));
	if (all->sets)
		*place_for(set_of(all, tid), tid, ip) = (struct interruption){ .tid = tid, .ip = ip };
	else
		all->unknown = true;
	pthread_mutex_unlock(&all->lock);
}

bool interrupted_keeps(struct interruptions *all, pid_t tid, uint64_t ip)
{
	pthread_mutex_lock(&all->lock);
	bool keeps = all->unknown;
	for (unsigned i = 0; all->sets && i < INTERRUPTION_WAYS && !keeps; i++) {
		struct interruption *at = &set_of(all, tid)->at[i];
		if (at->tid != tid || at->ip != ip)
			continue;
		if (!at->seen)
			at->seen = now();
		keeps = now() - at->seen < SAME_MOMENT_NS;
	}
	pthread_mutex_unlock(&all->lock);
	return keeps;
}

void interrupted_restarts(struct interruptions *all, pid_t tid, uint64_t ip)
{
	pthread_mutex_lock(&all->lock);
	for (unsigned i = 0; all->sets && i < INTERRUPTION_WAYS; i++) {
		struct interruption *at = &set_of(all, tid)->at[i];
		if (at->tid == tid && at->ip == ip)
			*at = (struct interruption){ 0 };
	}
	pthread_mutex_unlock(&all->lock);
}

#ifdef __x86_64__
/* In struct ucontext, which rt_sigreturn finds at the stack pointer (arch/x86/kernel/signal_64.c). */
#define FRAME_REGISTERS 104
struct frame {
	uint64_t rdi;
	uint64_t rsi;
	uint64_t rbp;
	uint64_t rbx;
	uint64_t rdx;
	int64_t rax;
	uint64_t rcx;
	uint64_t rsp;
	uint64_t rip;
};

/*
 * What /proc shows of the call that the caller waits in. The file is kept open for a shell's next child: it is of that very thread, and
 * fails with ESRCH when another has its number.
 */
static ssize_t syscall_text(const struct job *j, char *text, size_t cap)
{
	struct worker *w = j->worker;
	char name[PROC_PATH];

	if (w->syscall_fd >= 0 && w->syscall_tid == j->notif.pid) {
		ssize_t n = pread(w->syscall_fd, text, cap, 0);
		if (n > 0)
			return n;
	}
	cleanup_fd(&w->syscall_fd);
	put_proc_path(name, (pid_t)j->notif.pid, "syscall");
	w->syscall_fd = openat(j->session->self_proc, name, O_RDONLY | O_CLOEXEC);
	w->syscall_tid = j->notif.pid;
	return w->syscall_fd < 0 ? -1 : pread(w->syscall_fd, text, cap, 0);
}

/*
 * Between its notification and its sleep a caller is "running" in /proc, for as long as others keep it from its core. It must be waited for: a
 * return from a handler that was itself interrupted would go on behind rt_sigreturn, where there is no code.
 */
static void let_it_sleep(int tries)
{
	const struct timespec pause = { .tv_nsec = tries < SPINS + 20 ? SHORT_PAUSE_NS : LONG_PAUSE_NS };

	if (tries >= SPINS)
		nanosleep(&pause, NULL);
}

/* The stack pointer of a thread that waits in a notification. False when it has ended, or the kernel does not tell. */
static bool stack_pointer(const struct job *j, uint64_t *out)
{
	char text[256];

	for (int tries = 0; tries < SPINS || job_alive(j); tries++) {
		ssize_t n = syscall_text(j, text, sizeof(text) - 1);
		if (n <= 0)
			return false;
		text[n] = '\0';
		/* number, six arguments, stack pointer, instruction pointer; "running" on its way into the wait */
		const char *at = text;
		for (int words = 0; at && words < 7; words++)
			at = strchr(at + (words > 0), ' ');
		if (at) {
			*out = strtoull(at, NULL, 16);
			return true;
		}
		let_it_sleep(tries);
	}
	return false;
}

/* Whether the kernel itself did the call of NR in this session: it may wait, and what ended it was its own. */
static bool left_to_kernel(const struct session *s, int nr, const struct frame *f)
{
	const uint64_t arg[FILTER_OPEN_ARGS] = { f->rdi, f->rsi, f->rdx };

	if ((disposition_of(nr)->when & WHEN_STAT) && !s->mediates_stat)
		return true;
	return s->cover && filter_leaves_open(nr, arg);
}

/* Calls that usher answers, and that natively never end with EINTR unless usher says so. */
static bool ours(const struct session *s, int nr, const struct frame *f)
{
	switch (nr) {
	case __NR_sendto:
	case __NR_sendmsg:
	case __NR_sendmmsg: /* the kernel may go on with them */
	case __NR_ioctl:
	case __NR_fcntl:
	case __NR_fgetxattr: /* usher gets some forms of them only */
		return false;
	default:
		return disposition_traps(nr) && !left_to_kernel(s, nr, f);
	}
}

/* The number of the call that ends at RIP, -1 when it is not known. */
static int number_at(const struct job *j, uint64_t rip)
{
	uint8_t code[CALL_CODE];
	size_t page = rip % 4096;
	size_t len = page && page < sizeof(code) ? page : sizeof(code);

	if (rip == j->notif.data.instruction_pointer)
		return __NR_rt_sigreturn; /* a second signal came while the first one's handler returned */
	if (memory_read((pid_t)j->notif.pid, rip - len, code, len) < 0)
		return -1;
	return interrupted_number(code, len);
}

static void put_back(const struct job *j)
{
	pid_t tid = (pid_t)j->notif.pid;
	struct frame f;
	uint64_t sp;

	if (!stack_pointer(j, &sp) || memory_read(tid, sp + FRAME_REGISTERS, &f, sizeof(f)) < 0)
		return;
	/* the syscall instruction leaves the place behind it in rcx, too: what was interrupted is the return from a call */
	if (f.rax >= 0 && f.rcx == f.rip + 2) /* to be made again: the handler has SA_RESTART */
		interrupted_restarts(&j->session->interruptions, tid, f.rcx);
	if (f.rax != -EINTR || f.rcx != f.rip)
		return;
	int nr = number_at(j, f.rip);
	if (nr < 0 || !ours(j->session, nr, &f) || interrupted_keeps(&j->session->interruptions, tid, f.rip))
		return;
	f.rax = nr;
	f.rip -= 2;
	(void)memory_give(j, sp + FRAME_REGISTERS, &f, sizeof(f));
}
#else
/* The first argument is gone once a call has returned: nothing can be put back. */
static void put_back(const struct job *j)
{
	(void)j;
}
#endif

int sigreturn_at_once(struct job *j)
{
	put_back(j);
	return job_continue(j);
}
