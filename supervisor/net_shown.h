/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The addresses that getpeername shows instead of the true ones: of sockets that a rule with show=asked led elsewhere.
 *
 * A socket is known by its cookie, which the kernel never gives twice: copies of the descriptor in any process show the same. An epoll
 * set holds each weakly: the kernel takes a socket out of it when its last descriptor closes, and reading back what is left tells which
 * entries can go.
 */
#ifndef USHER_SUPERVISOR_NET_SHOWN_H
#define USHER_SUPERVISOR_NET_SHOWN_H

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/un.h>

/* Room for what a program may have asked for. */
struct shown_address {
	socklen_t len; /* 0: the true one is shown */
	char bytes[sizeof(struct sockaddr_un)];
};

#define SHOWN_MOST 65536 /* sockets open at one time */

struct policy;
struct shown;

/* Whether some rule says show=asked. Without one there is no need of the rest. */
bool shown_wanted(const struct policy *policy);

/* 0 or a negative errno. All that follows may be called by any thread. */
int shown_new(struct shown **out);
void shown_free(struct shown *s);

/* Makes room for SOCK, so that shown_note() cannot fail. 0, -ENOBUFS when SHOWN_MOST sockets are open, or -ENOMEM. */
int shown_hold(struct shown *s, int sock);

/* From now on ADDRESS is shown for SOCK, which is held; with a length of 0 the true one again, held or not. */
void shown_note(struct shown *s, int sock, const struct shown_address *address);

/* What is shown for SOCK; false: the true one. */
bool shown_look(struct shown *s, int sock, struct shown_address *out);

/* Entries kept, for tests. */
unsigned shown_count(struct shown *s);

#endif
