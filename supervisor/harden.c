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

int harden_start(void)
{
	const struct rlimit none = { 0, 0 };

	if (setrlimit(RLIMIT_CORE, &none) < 0)
		return -errno;
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
#define CLONES 4
#define ENDS 3
#define LONGEST (FRONT + sizeof(child_never) / sizeof(child_never[0]) + CLONES + ENDS)

struct program {
	struct sock_filter at[LONGEST];
	unsigned n;
};

static void add(struct program *p, struct sock_filter instruction)
{
	p->at[p->n++] = instruction;
}

/* Compares the accumulator; where to go is counted from the program's begin. */
static void branch(struct program *p, unsigned how, uint32_t k, unsigned yes, unsigned no)
{
	unsigned next = p->n + 1;

	add(p, (struct sock_filter)BPF_JUMP(BPF_JMP | how | BPF_K, k, (uint8_t)(yes - next), (uint8_t)(no - next)));
}

/*
 * MUST: no test of an argument but clone's, so that the kernel answers all other calls from its cache. clone3 has its flags in memory:
 * ENOSYS makes the C library use clone. All refusals share one return: the kernel takes 2 us to install each instruction, and each start
 * installs this four times.
 */
static void build(struct program *p, const uint16_t *never, unsigned n, bool clones)
{
	const unsigned allow = FRONT + n + (clones ? CLONES : 0), deny = allow + 1, unknown = allow + 2;

	add(p, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)));
	branch(p, BPF_JEQ, NATIVE_AUDIT_ARCH, p->n + 2, p->n + 1);
	add(p, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
	add(p, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)));
	branch(p, BPF_JGE, NR_LAST + 1, unknown, p->n + 1);
	for (unsigned i = 0; i < n; i++)
		branch(p, BPF_JEQ, never[i], deny, p->n + 1);
	if (clones) {
		branch(p, BPF_JEQ, __NR_clone3, unknown, p->n + 1);
		branch(p, BPF_JEQ, __NR_clone, p->n + 1, allow);
		add(p, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, LOW_HALF(0)));
		branch(p, BPF_JSET, CLONE_THREAD, allow, deny);
	}
	add(p, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
	add(p, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM));
	add(p, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS));
}

static int install(const uint16_t *never, unsigned n, bool clones, unsigned long flags)
{
	struct program p = { .n = 0 };

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
