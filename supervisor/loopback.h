/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sockets that are heard on the loopback interface alone, whatever address they listen on. For rules on bind that say loopback.
 *
 * A socket is bound to that interface (SO_BINDTOIFINDEX, socket(7); an ordinary user's since Linux 5.7) when it listens and not when it is bound: most that
 * are bound and do not listen connect to somewhere else.
 *
 * MUST: nobody takes that back. The kernel asks for CAP_NET_RAW, and the filter refuses the options that would (WHEN_ROUTED).
 */
#ifndef USHER_SUPERVISOR_LOOPBACK_H
#define USHER_SUPERVISOR_LOOPBACK_H

#include <stdbool.h>
#include <sys/socket.h>

#define LOOPBACK_INTERFACE 1u /* LOOPBACK_IFINDEX: of every network namespace */

struct loopback;

/* 0 or -ENOMEM. Lives as long as the session. */
int loopback_new(struct loopback **out);

/*
 * bind(2). OPEN: it is decided that what listens there may be heard by everybody; that is remembered, of the last 512. L may be NULL. Returns 0 or a
 * negative errno. Any thread.
 */
int loopback_bind(struct loopback *l, int sock, const struct sockaddr_storage *to, socklen_t len, bool open);

/* Between the two nobody of the session binds a socket of the internet. L may be NULL. Any thread. */
void loopback_begin(struct loopback *l);
void loopback_end(struct loopback *l);

/* Whether it is known that SOCK was bound so to the address that it has. Any thread. */
bool loopback_is_open(struct loopback *l, int sock);

/* Has SOCK be heard on the loopback interface alone. Returns 0, or -EACCES: it has another interface. Any thread. */
int loopback_confine(int sock);

bool loopback_confined(int sock);

#endif
