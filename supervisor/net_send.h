/* SPDX-License-Identifier: Apache-2.0 */
/* What is sent: the messages of one sendto, sendmsg or sendmmsg, as copied. */
#ifndef USHER_SUPERVISOR_NET_SEND_H
#define USHER_SUPERVISOR_NET_SEND_H

#include "supervisor/job.h"
#include "supervisor/net_payload.h"
#include "supervisor/sockaddr.h"

struct message {
	struct text name;   /* the address as it will be used; absent: none */
	int target;         /* number of the target it stands for, -1: nothing was to be decided */
	bool pointed;       /* sendto: an address of no length is not the same as none */
	bool vector;        /* data is a vector of n elements, else one buffer of n bytes */
	uint64_t data, n;
	uint64_t control, n_control;
	uint64_t result;    /* sendmmsg: where the number of bytes goes in the caller's memory, else 0 */
};

/* In job->heap, one allocation: it moves with a parked job. */
struct batch {
	struct socket_kind kind;
	unsigned flags;
	bool complete;      /* decoded: not to be read again */
	bool many;          /* sendmmsg */
	bool native;        /* left to the kernel: net_caller_may() */
	uint32_t n;
	struct message m[];
};

/* Sends one message on job->sock as the caller would have. Returns bytes, or a negative errno; *whole: nothing of it is left. */
long message_send(struct job *j, const struct batch *b, const struct message *m, bool *whole);

#endif
