/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MUST: nothing here trusts a string that the watched program can write (comm, cmdline, environ).
 */
#include "supervisor/procs_kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "supervisor/kernel.h"
#include "supervisor/proc_text.h"

/* Newer than Debian 12's headers: Linux 6.13. */
struct usher_pidfd_info {
	uint64_t mask;
	uint64_t cgroup;
	uint32_t pid, tgid, ppid;
	uint32_t ids[8];
	int32_t exit_code;
};

#define USHER_PIDFD_GET_INFO _IOWR(0xFF, 11, struct usher_pidfd_info)
#define USHER_PIDFD_INFO_PID 1
#define USHER_PIDFD_INFO_EXIT 8 /* Linux 6.15 */

_Static_assert(sizeof(struct usher_pidfd_info) == 64, "PIDFD_INFO_SIZE_VER0");

int thread_open(pid_t tid, struct thread_ref *out)
{
	int fd = (int)syscall(SYS_pidfd_open, tid, 0);

	if (fd >= 0) {
		*out = (struct thread_ref){ fd, true, true };
		return 0;
	}
	if (errno != EINVAL && errno != ENOENT)
		return -errno;
	/* No leader. Before 6.9 other threads have none; since then EINVAL says that no such thread exists. */
	fd = (int)syscall(SYS_pidfd_open, tid, PIDFD_THREAD);
	if (fd >= 0) {
		*out = (struct thread_ref){ fd, true, false };
		return 0;
	}
	if (errno != EINVAL)
		return -errno;
	char path[32];
	snprintf(path, sizeof(path), "/proc/%d", tid);
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	*out = (struct thread_ref){ fd, false, false };
	return 0;
}

bool thread_alive(const struct thread_ref *t)
{
	if (t->pidfd)
		return syscall(SYS_pidfd_send_signal, t->fd, 0, NULL, 0) == 0 || errno == EPERM;
	return faccessat(t->fd, "stat", F_OK, 0) == 0;
}

static pid_t status_number(const char *status, const char *key)
{
	const char *at = strstr(status, key);

	return at ? (pid_t)strtol(at + strlen(key), NULL, 10) : -1;
}

static int family_from_status(pid_t tid, pid_t *tgid, pid_t *ppid)
{
	char text[2048];

	if (!proc_text(tid, "status", text, sizeof(text)))
		return -ESRCH;
	/* Name: comes first and has its newlines escaped, so that a line's beginning is the kernel's. */
	*tgid = status_number(text, "\nTgid:");
	*ppid = status_number(text, "\nPPid:");
	return *tgid > 0 && *ppid >= 0 ? 0 : -ESRCH;
}

int thread_family(const struct thread_ref *t, pid_t tid, pid_t *tgid, pid_t *ppid)
{
	struct usher_pidfd_info info = { .mask = USHER_PIDFD_INFO_PID };

	if (t->pidfd && ioctl(t->fd, USHER_PIDFD_GET_INFO, &info) == 0 && (info.mask & USHER_PIDFD_INFO_PID)) {
		*tgid = (pid_t)info.tgid;
		*ppid = (pid_t)info.ppid;
		return *tgid > 0 ? 0 : -ESRCH;
	}
	int err = family_from_status(tid, tgid, ppid);
	if (err)
		return err;
	return thread_alive(t) ? 0 : -ESRCH;
}

int thread_image(int proc, pid_t tid, const struct image *like, char *buf, size_t cap, struct image *out)
{
	char path[PROC_PATH];
	struct stat st;

	put_proc_path(path, tid, "exe");
	if (fstatat(proc, path, &st, 0) < 0)
		return -errno;
	*out = (struct image){ .dev = st.st_dev, .ino = st.st_ino };
	if (like && like->ino == out->ino && like->dev == out->dev) {
		out->exe = like->exe;
		return 0;
	}
	ssize_t n = readlinkat(proc, path, buf, cap);
	if (n < 0)
		return -errno;
	if ((size_t)n == cap)
		return -ENAMETOOLONG;
	out->exe = (struct span){ buf, (uint32_t)n };
	return 0;
}

int thread_getfd(const struct thread_ref *t, int fd)
{
	int got = (int)syscall(SYS_pidfd_getfd, t->fd, fd, 0);

	return got < 0 ? -errno : got;
}

int pidfd_exit_status(int fd, int *status)
{
	struct usher_pidfd_info info = { .mask = USHER_PIDFD_INFO_EXIT };

	if (ioctl(fd, USHER_PIDFD_GET_INFO, &info) < 0)
		return -errno;
	if (!(info.mask & USHER_PIDFD_INFO_EXIT))
		return -ENODATA;
	*status = info.exit_code;
	return 0;
}

bool thread_same_files(pid_t a, pid_t b)
{
	return a == b || syscall(SYS_kcmp, a, b, KCMP_FILES, 0, 0) == 0;
}

bool thread_same_memory(pid_t a, pid_t b)
{
	return syscall(SYS_kcmp, a, b, KCMP_VM, 0, 0) == 0;
}
