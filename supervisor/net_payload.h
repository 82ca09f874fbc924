/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of a send, gathered from the caller piece by piece: each byte is read once. */
#ifndef USHER_SUPERVISOR_NET_PAYLOAD_H
#define USHER_SUPERVISOR_NET_PAYLOAD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

struct payload {
	struct iovec few[8];
	struct iovec *iov; /* few, or malloc'd */
	size_t n;
	size_t at;         /* first element not wholly taken; it is cut as it is taken */
	size_t total;      /* bytes in all, cut to what one call can send */
};

/*
 * Copies and checks the vector of N elements at ADDR of thread TID. Returns 0, or as natively -EMSGSIZE (too many),
 * -EINVAL (a negative length), -EFAULT, or -ENOMEM. payload_free() in every case.
 */
int payload_vector(struct payload *p, pid_t tid, uint64_t addr, uint64_t n);

/* One buffer. */
void payload_buffer(struct payload *p, uint64_t addr, uint64_t len);

/* Copies the next LEN bytes. Returns how many could be read before a fault, -EFAULT when none, -EPERM or -ESRCH. */
ssize_t payload_take(struct payload *p, pid_t tid, char *out, size_t len);

void payload_free(struct payload *p);

#endif
