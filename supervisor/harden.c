/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/harden.h"

#include <errno.h>
#include <linux/close_range.h>
#include <linux/filter.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "supervisor/kernel.h"

/* Not where usher was started with none at all. */
int harden_cores(void)
{
	const struct rlimit one = { 1, 1 }, none = { 0, 0 };

	return setrlimit(RLIMIT_CORE, &one) < 0 && setrlimit(RLIMIT_CORE, &none) < 0 ? -errno : 0;
}

int harden_start(void)
{
	int rc = harden_cores();

	if (rc < 0)
		return rc;
	/* What usher was started with is nothing for the programs that help it. */
	if (close_range(3, ~0U, CLOSE_RANGE_CLOEXEC) < 0 && errno != EINVAL)
		return -errno;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 ? -errno : 0;
}

/* What no part of usher ever does once the command runs. */
#define NEVER                                                                                                              \
	__NR_mount, __NR_umount2, __NR_pivot_root, __NR_move_mount, __NR_bpf, __NR_init_module, __NR_finit_module,         \
		__NR_delete_module, __NR_kexec_load, __NR_kexec_file_load, __NR_reboot, __NR_io_uring_setup,               \
		__NR_perf_event_open, __NR_userfaultfd, __NR_add_key, __NR_keyctl, __NR_personality

/* Some threads start helper programs (--ask=exec:CMD, --anchor=exec:CMD), and workers enter a mount namespace first. */
static const uint16_t process_never[] = { NEVER };
#define WORKER_NEVER __NR_execve, __NR_execveat, __NR_setns
static const uint16_t worker_never[] = { WORKER_NEVER };
static const uint16_t child_never[] = { NEVER, WORKER_NEVER };

#define FRONT 5
#define CLONES 2
#define MOST (sizeof(child_never) / sizeof(child_never[0]) + CLONES)
#define LONGEST (FRONT + 2 * MOST + CLONES + 3)

/* Where a call goes: one of the returns, or the test of clone's flags. */
enum target { ALLOW, DENY, UNKNOWN, CLONE, TARGETS };

struct call {
	uint16_t nr;
	uint8_t to;
};

struct program {
	struct sock_filter at[LONGEST];
	unsigned n;
	unsigned target[TARGETS];
};

static void add(struct program *p, struct sock_filter instruction)
{
	p->at[p->n++] = instruction;
}

/* Compares the accumulator; where to go is counted from the program's begin. */
static struct sock_filter branch(unsigned at, unsigned how, uint32_t k, unsigned yes, unsigned no)
{
	return (struct sock_filter)BPF_JUMP(BPF_JMP | how | BPF_K, k, (uint8_t)(yes - at - 1), (uint8_t)(no - at - 1));
}

/* A binary search of the N calls, which takes 2 N - 1 instructions. */
static void search(struct program *p, const struct call *calls, unsigned n)
{
	unsigned at = p->n++, half = n / 2;

	if (n == 1) {
		p->at[at] = branch(at, BPF_JEQ, calls[0].nr, p->target[calls[0].to], p->target[ALLOW]);
		return;
	}
	search(p, calls, half);
	p->at[at] = branch(at, BPF_JGE, calls[half].nr, p->n, at + 1);
	search(p, calls + half, n - half);
}

/* Insertion: no heap in a fork of usher. */
static unsigned sorted(struct call *calls, const uint16_t *never, unsigned n, bool clones)
{
	static const struct call of_clones[CLONES] = { { __NR_clone3, UNKNOWN }, { __NR_clone, CLONE } };
	const unsigned all = n + (clones ? CLONES : 0);

	for (unsigned i = 0; i < all; i++) {
		const struct call one = i < n ? (struct call){ never[i], DENY } : of_clones[i - n];
		unsigned at = i;
		for (; at > 0 && calls[at - 1].nr > one.nr; at--)
			calls[at] = calls[at - 1];
		calls[at] = one;
	}
	return all;
}

/*
 * MUST: no test of an argument but clone's, so that the kernel answers all other calls from its cache. clone3 has its flags in memory:
 * ENOSYS makes the C library use clone. A search and not a list, as the kernel runs the program for each of its calls when it is
 * installed (2 us for each step that all take), which each start does four times.
 */
static void build(struct program *p, const uint16_t *never, unsigned n, bool clones)
{
	struct call calls[MOST];
	const unsigned all = sorted(calls, never, n, clones), end = FRONT + 2 * all - 1;

	p->n = 0;
	p->target[CLONE] = end;
	p->target[ALLOW] = end + (clones ? CLONES : 0);
	p->target[DENY] = p->target[ALLOW] + 1;
	p->target[UNKNOWN] = p->target[ALLOW] + 2;
	add(p, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)));
	add(p, branch(p->n, BPF_JEQ, NATIVE_AUDIT_ARCH, p->n + 2, p->n + 1));
	add(p, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
	add(p, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)));
	add(p, branch(p->n, BPF_JGE, NR_LAST + 1, p->target[UNKNOWN], p->n + 1));
	search(p, calls, all);
	if (clones) {
		add(p, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, LOW_HALF(0)));
		add(p, branch(p->n, BPF_JSET, CLONE_THREAD, p->target[ALLOW], p->target[DENY]));
	}
	add(p, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
	add(p, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM));
	add(p, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS));
}

static int install(const uint16_t *never, unsigned n, bool clones, unsigned long flags)
{
	struct program p;

	build(&p, never, n, clones);
	const struct sock_fprog program = { (unsigned short)p.n, p.at };
	return syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program) != 0 ? -EPERM : 0;
}

int harden_child(void)
{
	return install(child_never, sizeof(child_never) / sizeof(child_never[0]), true, 0);
}

int harden_worker(void)
{
	/* A worker's worker has it already: without it this is EBADF. */
	if (setns(-1, 0) < 0 && errno == EPERM)
		return 0;
	return install(worker_never, sizeof(worker_never) / sizeof(worker_never[0]), true, 0);
}

int harden_process(void)
{
	return install(process_never, sizeof(process_never) / sizeof(process_never[0]), false, SECCOMP_FILTER_FLAG_TSYNC);
}
