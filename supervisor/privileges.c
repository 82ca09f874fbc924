/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/privileges.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

struct caps {
	struct __user_cap_data_struct word[_LINUX_CAPABILITY_U32S_3];
};

static bool caps_read(struct caps *out)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };

	return syscall(__NR_capget, &head, out->word) == 0;
}

bool privileges_held(void)
{
	struct caps c;

	if (geteuid() == 0 || !caps_read(&c))
		return true;
	return (c.word[0].effective | c.word[1].effective | c.word[0].permitted | c.word[1].permitted) != 0;
}

static bool caps_has(unsigned cap)
{
	struct caps c;

	return caps_read(&c) && (c.word[CAP_TO_INDEX(cap)].effective & CAP_TO_MASK(cap)) != 0;
}

bool privileges_read_any(void)
{
	return caps_has(CAP_SYS_PTRACE);
}

static long read_own_byte(void)
{
	char byte = 0, copy;
	struct iovec here = { &copy, 1 }, there = { &byte, 1 };

	return process_vm_readv(getpid(), &here, 1, &there, 1, 0);
}

int privileges_refused(const char **call)
{
	*call = "process_vm_readv";
	if (read_own_byte() < 0)
		return -errno;
	/* The others are asked for what nobody can have: of a call that is let through the kernel says so. */
	*call = "pidfd_open";
	if (syscall(SYS_pidfd_open, -1, 0) < 0 && errno != EINVAL)
		return -errno;
	*call = "openat2";
	if (syscall(SYS_openat2, -1, "", NULL, 0) < 0 && errno != EINVAL)
		return -errno;
	*call = "ptrace";
	return syscall(SYS_ptrace, PTRACE_DETACH, 0, 0, 0) < 0 && errno != ESRCH ? -errno : 0;
}

bool privileges_take_descriptors(void)
{
	return syscall(SYS_pidfd_getfd, -1, 0, 0) < 0 && errno == EBADF;
}

bool privileges_change_root(void)
{
	return caps_has(CAP_SYS_CHROOT);
}

int privileges_lay_down(const unsigned *caps, size_t n)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct caps c;

	if (!caps_read(&c))
		return -errno;
	for (size_t i = 0; i < n; i++) {
		uint32_t kept = ~(uint32_t)CAP_TO_MASK(caps[i]);
		struct __user_cap_data_struct *word = &c.word[CAP_TO_INDEX(caps[i])];

		if (prctl(PR_CAPBSET_DROP, caps[i], 0, 0, 0) < 0 && errno != EPERM)
			return -errno;
		word->effective &= kept;
		word->permitted &= kept;
		word->inheritable &= kept;
	}
	return syscall(__NR_capset, &head, c.word) < 0 ? -errno : 0;
}

int privileges_leave_network(void)
{
	static const unsigned laid[] = { CAP_NET_ADMIN };

	return privileges_lay_down(laid, 1);
}
