/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TCP sockets that the tree listens on. For rules on connect that say own.
 *
 * MUST: what is called own is what will be reached: the listening socket is held from before the connect until the connection was made or has failed,
 * however soon the call returns, by its cookie (SO_COOKIE, never another's), and nobody else listens on its address and port while it does: one that
 * shares them (SO_REUSEPORT) is nobody's.
 */
#ifndef USHER_SUPERVISOR_LISTENERS_H
#define USHER_SUPERVISOR_LISTENERS_H

#include "rules/call.h"

struct listeners;
struct procs;

/* 0 or -ENOMEM. Lives as long as the session. */
int listeners_new(struct listeners **out);

/*
 * Has SOCK listen, which process PID has as its descriptor FD. Where it did not before, and shares its port with nobody, it is the tree's alone from now
 * on, and that of each process that has it listen later, too. One that shared it once may do so whatever it says later: the kernel remembers that of the port. Returns 0 or a negative errno. L may be NULL. Any thread.
 */
int listeners_listen(struct listeners *l, pid_t pid, int fd, int sock, int backlog);

/* SO_REUSEPORT of SOCK, refused where that would share what is alone. Returns 0 or a negative errno. Any thread. */
int listeners_share(struct listeners *l, int sock, int on);

/*
 * The tree's socket that CLIENT, connecting to TO, reaches: a descriptor, which holds it there as long as it is open, or -1. None but loopback addresses lead to
 * one. L may be NULL. Any thread.
 */
int listeners_hold(struct listeners *l, struct procs *ps, const struct inet_endpoint *to, int client);

/* As listeners_hold(), where none of those that called listen(2) has the socket any more: with whoever of the tree has got it from them. Takes some milliseconds. */
int listeners_seek(struct listeners *l, struct procs *ps, const struct inet_endpoint *to, int client);

/* CLIENT's connect is to find who listens, instead of leaving it to the first write (TCP_FASTOPEN_CONNECT). */
void listeners_hurry(int client);

/* CLIENT is to connect to OWN, from listeners_hold(): a number for listeners_made(), which has to follow, or -EAGAIN. Any thread. */
int listeners_await(struct listeners *l, int client, int own);

/*
 * The connect has returned; BEGUN: the connection that is under way is its. 1: it is not made yet (OWN has no room), and the two are held until it is,
 * by listeners_look(). 0: it is made, or was refused. -ECONNREFUSED: OWN was shut down meanwhile, and it is ended. Any thread.
 */
int listeners_made(struct listeners *l, int awaited, bool begun);

/* Lets go of those that were made, ends those to what was shut down. Whether some are left to look at. L may be NULL. Any thread. */
bool listeners_look(struct listeners *l);

#endif
