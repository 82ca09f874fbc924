/* SPDX-License-Identifier: Apache-2.0 */
/* MUST: page protections of the caller are honoured (process_vm_readv). */
#include "supervisor/net_payload.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "supervisor/memory.h"

/* MAX_RW_COUNT: the kernel sends no more in one call. */
#define MOST 0x7ffff000u
/* No process has so much to send from: the kernel asks that of each of several, and cuts a single one short first. */
#define ROOM ((size_t)1 << 56)

static int check(struct payload *p)
{
	for (size_t i = 0; i < p->n; i++) {
		if ((ssize_t)p->iov[i].iov_len < 0)
			return -EINVAL;
	}
	for (size_t i = 0; i < p->n; i++) {
		if (p->n > 1 && p->iov[i].iov_len > ROOM)
			return -EFAULT;
		if (p->iov[i].iov_len > MOST - p->total)
			p->iov[i].iov_len = MOST - p->total;
		p->total += p->iov[i].iov_len;
	}
	return 0;
}

int payload_vector(struct payload *p, pid_t tid, uint64_t addr, uint64_t n)
{
	memset(p, 0, sizeof(*p));
	p->iov = p->few;
	if (n > IOV_MAX)
		return -EMSGSIZE;
	if (n > sizeof(p->few) / sizeof(p->few[0]))
		p->iov = malloc(n * sizeof(struct iovec));
	if (!p->iov)
		return -ENOMEM;
	int rc = memory_read(tid, addr, p->iov, n * sizeof(struct iovec));
	if (rc < 0)
		return rc;
	p->n = n;
	return check(p);
}

void payload_buffer(struct payload *p, uint64_t addr, uint64_t len)
{
	memset(p, 0, sizeof(*p));
	p->iov = p->few;
	p->n = 1;
	p->total = len > MOST ? MOST : len;
	p->few[0] = (struct iovec){ (void *)(uintptr_t)addr, p->total };
}

static void advance(struct payload *p, size_t n)
{
	while (p->at < p->n && n >= p->iov[p->at].iov_len)
		n -= p->iov[p->at++].iov_len;
	if (n) {
		p->iov[p->at].iov_base = (char *)p->iov[p->at].iov_base + n;
		p->iov[p->at].iov_len -= n;
	}
}

ssize_t payload_take(struct payload *p, pid_t tid, char *out, size_t len)
{
	struct iovec local = { out, len };
	size_t done = 0;

	/* the kernel fills the local buffer and stops: the remote vector may be longer */
	while (done < len) {
		local = (struct iovec){ out + done, len - done };
		ssize_t n = process_vm_readv(tid, &local, 1, p->iov + p->at, p->n - p->at, 0);
		if (n < 0 && !done)
			return errno == EPERM || errno == ESRCH ? -errno : -EFAULT;
		if (n <= 0)
			break;
		done += (size_t)n;
		advance(p, (size_t)n);
	}
	return (ssize_t)done;
}

void payload_free(struct payload *p)
{
	if (p->iov != p->few)
		free(p->iov);
	p->iov = p->few;
}
