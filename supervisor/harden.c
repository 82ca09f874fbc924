/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/harden.h"

#include <errno.h>
#include <linux/close_range.h>
#include <linux/filter.h>
#include <sched.h>
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

#define DENY_IF(nr) \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##nr, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)

#define BEGIN                                                                                                                  \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),                                               \
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NATIVE_AUDIT_ARCH, 1, 0), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS), \
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),                                          \
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, NR_LAST + 1, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS)

/* What no part of usher ever does once the command runs. */
#define NEVER                                                                                                      \
	DENY_IF(mount), DENY_IF(umount2), DENY_IF(pivot_root), DENY_IF(move_mount), DENY_IF(bpf), DENY_IF(init_module), \
		DENY_IF(finit_module), DENY_IF(delete_module), DENY_IF(kexec_load), DENY_IF(kexec_file_load), DENY_IF(reboot), \
		DENY_IF(io_uring_setup), DENY_IF(perf_event_open), DENY_IF(userfaultfd), DENY_IF(add_key), DENY_IF(keyctl), \
		DENY_IF(personality)

/*
 * MUST: no test of an argument but clone's, so that the kernel answers all other calls from its cache. clone3 has its flags in memory:
 * ENOSYS makes the C library use clone.
 */
static const struct sock_filter worker_code[] = {
	BEGIN,
	NEVER,
	DENY_IF(execve),
	DENY_IF(execveat),
	DENY_IF(setns),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_clone3, 0, 1),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_clone, 0, 3),
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, LOW_HALF(0)),
	BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};

/* Some threads start helper programs (--ask=exec:CMD, --anchor=exec:CMD), and workers enter a mount namespace first. */
static const struct sock_filter process_code[] = {
	BEGIN,
	NEVER,
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};

static int install(const struct sock_filter *code, size_t n, unsigned long flags)
{
	const struct sock_fprog program = { (unsigned short)n, (struct sock_filter *)(uintptr_t)code };

	return syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program) != 0 ? -EPERM : 0;
}

int harden_worker(void)
{
	/* A worker's worker has it already: without it this is EFAULT. */
	if (syscall(__NR_execve, NULL, NULL, NULL) < 0 && errno == EPERM)
		return 0;
	return install(worker_code, sizeof(worker_code) / sizeof(worker_code[0]), 0);
}

int harden_process(void)
{
	return install(process_code, sizeof(process_code) / sizeof(process_code[0]), SECCOMP_FILTER_FLAG_TSYNC);
}
