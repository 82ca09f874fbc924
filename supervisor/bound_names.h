/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names that the tree has bound unix sockets to. For rules on connect and send that say own.
 *
 * MUST: what is called own is a file that a socket of the tree's made. It is known by its number, by when it was made and by the kernel's handle of it: whoever
 * got that number later is another.
 */
#ifndef USHER_SUPERVISOR_BOUND_NAMES_H
#define USHER_SUPERVISOR_BOUND_NAMES_H

#include <stdbool.h>

struct bound_names;
struct sock_diag;

/* DIAG is asked, and outlives it. 0 or -ENOMEM. Lives as long as the session. */
int bound_names_new(struct sock_diag *diag, struct bound_names **out);

/* Whether the kernel tells of the unix sockets here: 0, -ENOENT where it has no unix_diag, or another negative errno. */
int bound_names_told(struct sock_diag *diag);

/* SOCK, which a process of the tree has, was bound to LEAF in DIR just now. Forgotten where the kernel does not say that it is that file. B may be NULL. Any thread. */
void bound_names_add(struct bound_names *b, int sock, int dir, const char *leaf);

/* Whether FILE, a descriptor of it, is such a name. B may be NULL. Any thread. */
bool bound_names_has(struct bound_names *b, int file);

/* The same of NAME in DIR. */
bool bound_names_at(struct bound_names *b, int dir, const char *name);

#endif
