/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel tells of the sockets of a network namespace (sock_diag(7)). */
#ifndef USHER_SUPERVISOR_SOCK_DIAG_H
#define USHER_SUPERVISOR_SOCK_DIAG_H

#include <linux/netlink.h>
#include <stdbool.h>
#include <sys/types.h>

struct inet_endpoint;
struct sock_diag;

/* 0 or -ENOMEM. Lives as long as the session. */
int sock_diag_new(struct sock_diag **out);

/* Closes its socket. D may be NULL. */
void sock_diag_free(struct sock_diag *d);

/* A socket that asks about the calling thread's network namespace, or a negative errno. Async-signal-safe. */
int sock_diag_asker(void);

/* FD, of sock_diag_asker(), is D's now: the tree has another network namespace than usher. Before the first question. D may be NULL. */
void sock_diag_use(struct sock_diag *d, int fd);

/*
 * Puts QUESTION (SOCK_DIAG_BY_FAMILY), which gets a number, and waits for no answer that is not there: the kernel has answered when it has taken the question. The first
 * message of the answer is in ANSWER, of CAP bytes; its length, or what the kernel refused it by, -EPROTO for what is none. One question at a time. Any thread.
 */
ssize_t sock_diag_ask(struct sock_diag *d, struct nlmsghdr *question, struct nlmsghdr *answer, size_t cap);

/* Whether the kernel tells of TCP sockets and of UDP's: 0, -ENOENT where it has no inet_diag, or another negative errno. Asked once. Any thread. */
int sock_diag_told(struct sock_diag *d);

/*
 * Whether it is known that nobody listens, or of UDP has a socket, where CLIENT, which connects to the loopback address TO, would arrive: by the kernel's own search
 * for that socket. False where CLIENT has another network namespace, or the kernel has no inet_diag. D may be NULL. Any thread.
 */
bool sock_diag_vacant(struct sock_diag *d, const struct inet_endpoint *to, int client);

#endif
