/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MUST: read through process_vm_readv and not /proc/PID/mem, which ignores page
 * protections (a PROT_NONE page would be read where the kernel gives EFAULT).
 */
#include "supervisor/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "rules/cleanup.h"
#include "supervisor/procmap.h"
#include "supervisor/procs.h"
#include "supervisor/session.h"

#define PAGE 4096u
#define AHEAD_USUAL 128u /* pointers of more arguments than most programs get */
#define NAME_USUAL 256u /* longer than nearly all names: copying a whole page costs more than the rare second read */

static int memory_error(void)
{
	return errno == EPERM || errno == ESRCH ? -errno : -EFAULT;
}

/*
 * Whether TID's stack has grown down to ADDR, where nothing was. A call of TID's own lets it grow, as any access does; since Linux 6.5
 * process_vm_readv does not, and /proc/PID/mem does.
 */
static bool stack_grown(pid_t tid, uint64_t addr)
{
	char path[32], byte;
	struct mapping at;
	int maps CLEANUP_FD = mapping_open(tid);

	if (maps < 0 || mapping_at(maps, addr, UINT_MAX, &at) != -ENOENT)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)tid);
	int mem CLEANUP_FD = open(path, O_RDONLY | O_CLOEXEC);
	return mem >= 0 && pread(mem, &byte, 1, (off_t)addr) == 1;
}

/* What process_vm_readv, or process_vm_writev, returns of one piece: once more where it lies on a stack that had to grow. */
static ssize_t carry(ssize_t (*how)(pid_t, const struct iovec *, unsigned long, const struct iovec *, unsigned long, unsigned long), pid_t tid,
		     struct iovec local, uint64_t addr)
{
	struct iovec remote = { (void *)(uintptr_t)addr, local.iov_len };
	ssize_t n = how(tid, &local, 1, &remote, 1, 0);

	if (n >= 0 || errno != EFAULT)
		return n;
	if (stack_grown(tid, addr))
		return how(tid, &local, 1, &remote, 1, 0);
	errno = EFAULT;
	return -1;
}

int memory_read(pid_t tid, uint64_t addr, void *out, size_t len)
{
	if (!len)
		return 0;
	ssize_t n = carry(process_vm_readv, tid, (struct iovec){ out, len }, addr);
	if (n == (ssize_t)len)
		return 0;
	if (n >= 0)
		return -EFAULT;
	return memory_error();
}

/* No read crosses into another page, so that a string which ends before an unmapped one is still read. */
ssize_t memory_string(pid_t tid, uint64_t addr, char *out, size_t cap)
{
	size_t done = 0;

	while (done < cap) {
		size_t page = PAGE - (size_t)((addr + done) & (PAGE - 1));
		size_t want = cap - done < page ? cap - done : page;
		if (!done && want > NAME_USUAL)
			want = NAME_USUAL;
		ssize_t n = carry(process_vm_readv, tid, (struct iovec){ out + done, want }, addr + done);
		if (n <= 0)
			return n == 0 ? -EFAULT : memory_error();
		char *nul = memchr(out + done, '\0', (size_t)n);
		if (nul)
			return nul - out;
		done += (size_t)n;
	}
	return -ENAMETOOLONG;
}

static int write_to(pid_t tid, uint64_t addr, const void *data, size_t len)
{
	ssize_t n = carry(process_vm_writev, tid, (struct iovec){ (void *)(uintptr_t)data, len }, addr);

	if (n == (ssize_t)len)
		return 0;
	if (n >= 0)
		return -EFAULT;
	return memory_error();
}

int memory_open(pid_t tid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)tid);
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int memory_put(int fd, uint64_t addr, const void *data, size_t len)
{
	return pwrite(fd, data, len, (off_t)addr) == (ssize_t)len ? 0 : -EFAULT;
}

/* Another thread execs: by the number, the new image might be what is written to. */
static int give_bound(const struct job *j, uint64_t addr, const void *data, size_t len)
{
	CLEANUP_FD int fd = memory_open((pid_t)j->notif.pid);

	if (fd < 0)
		return fd;
	return job_alive(j) ? memory_put(fd, addr, data, len) : -ESRCH;
}

int memory_give(const struct job *j, uint64_t addr, const void *data, size_t len)
{
	if (!len)
		return job_alive(j) ? 0 : -ESRCH;
	if (!j->proc || !proc_write_begin(j->proc))
		return give_bound(j, addr, data, len);
	int rc = job_alive(j) ? write_to((pid_t)j->notif.pid, addr, data, len) : -ESRCH;
	proc_write_end(j->proc);
	return rc;
}

int memory_path(struct job *j, uint64_t addr, struct text *out)
{
	struct text t = job_alloc(j, PATH_MAX);
	if (!t.off)
		return -ENOMEM;
	ssize_t n = memory_string((pid_t)j->notif.pid, addr, job_text(j, t), PATH_MAX);
	if (n < 0) {
		job_trim(j, &t, 0);
		return (int)n;
	}
	job_trim(j, &t, (size_t)n);
	*out = t;
	return 0;
}

static size_t usual_part(uint64_t addr)
{
	size_t page = PAGE - (size_t)(addr & (PAGE - 1));

	return page < NAME_USUAL ? page : NAME_USUAL;
}

/* Both in one read, where both are as short as names are. */
static bool read_two(struct job *j, const uint64_t addr[2], char two[2][NAME_USUAL], size_t len[2])
{
	struct iovec local[2], remote[2];

	for (int i = 0; i < 2; i++) {
		len[i] = usual_part(addr[i]);
		local[i] = (struct iovec){ two[i], len[i] };
		remote[i] = (struct iovec){ (void *)(uintptr_t)addr[i], len[i] };
	}
	if (process_vm_readv((pid_t)j->notif.pid, local, 2, remote, 2, 0) != (ssize_t)(len[0] + len[1]))
		return false;
	for (int i = 0; i < 2; i++) {
		const char *nul = memchr(two[i], '\0', len[i]);
		if (!nul)
			return false;
		len[i] = (size_t)(nul - two[i]);
	}
	return true;
}

int memory_two_paths(struct job *j, const uint64_t addr[2], struct text out[2], int *late)
{
	char two[2][NAME_USUAL];
	size_t len[2];

	if (!read_two(j, addr, two, len)) {
		int rc = memory_path(j, addr[0], &out[0]);
		if (rc == 0)
			*late = memory_path(j, addr[1], &out[1]);
		return rc;
	}
	for (int i = 0; i < 2; i++) {
		out[i] = job_copy(j, two[i], len[i]);
		if (!out[i].off)
			return -ENOMEM;
	}
	return 0;
}

/* Bytes of whole pointers from ADDR on its page, few enough. */
static size_t pointers_part(uint64_t addr)
{
	size_t page = addr ? PAGE - (size_t)(addr & (PAGE - 1)) : 0;

	return (page < AHEAD_USUAL ? page : AHEAD_USUAL) & ~(sizeof(uint64_t) - 1);
}

int memory_path_ahead(struct job *j, uint64_t addr, uint64_t vector, struct text *path, struct text *ahead)
{
	char name[NAME_USUAL], pointers[AHEAD_USUAL];
	struct iovec local[2] = { { name, usual_part(addr) }, { pointers, pointers_part(vector) } };
	struct iovec remote[2] = { { (void *)(uintptr_t)addr, local[0].iov_len }, { (void *)(uintptr_t)vector, local[1].iov_len } };
	ssize_t n = process_vm_readv((pid_t)j->notif.pid, local, 2, remote, 2, 0);
	const char *nul = n == (ssize_t)(local[0].iov_len + local[1].iov_len) ? memchr(name, '\0', local[0].iov_len) : NULL;

	if (!nul)
		return memory_path(j, addr, path);
	*path = job_copy(j, name, (size_t)(nul - name));
	*ahead = job_copy(j, pointers, local[1].iov_len);
	return path->off && ahead->off ? 0 : -ENOMEM;
}

int memory_copy(struct job *j, uint64_t addr, size_t len, struct text *out)
{
	struct text t = job_alloc(j, len);
	if (!t.off)
		return -ENOMEM;
	int rc = memory_read((pid_t)j->notif.pid, addr, job_text(j, t), len);
	if (rc < 0) {
		job_trim(j, &t, 0);
		return rc;
	}
	*out = t;
	return 0;
}

bool job_alive(const struct job *j)
{
	/* a late interruption of the call before this one says nothing about the caller: taken for gone, it would hang */
	while (ioctl(j->session->listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &j->notif.id) < 0) {
		if (errno == EINTR)
			continue;
		if (errno != ENOENT)
			session_kill(j->session); /* a listener that does not tell: callers would wait for ever */
		return false;
	}
	return true;
}
