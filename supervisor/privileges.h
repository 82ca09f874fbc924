/* SPDX-License-Identifier: Apache-2.0 */
/* What usher itself may do beyond an ordinary user. */
#ifndef USHER_SUPERVISOR_PRIVILEGES_H
#define USHER_SUPERVISOR_PRIVILEGES_H

#include <stdbool.h>
#include <stddef.h>

/* Whether a process of the tree could have less power than usher: it is root or holds a capability. Errs towards true. */
bool privileges_held(void);

/*
 * Whether one of the calls that nothing works without is refused by a filter around usher (process_vm_readv(2) is by Docker 20.10's): *call is the first
 * of them. Takes no descriptor. Returns 0 or a negative errno.
 */
int privileges_refused(const char **call);

/* Whether usher can read processes that hide themselves, or that changed their user (CAP_SYS_PTRACE). Errs towards false. */
bool privileges_read_any(void);

/* Whether the kernel gives usher another process's descriptors at all (pidfd_getfd(2)); Docker's filter, for one, refuses them. */
bool privileges_take_descriptors(void);

/* Whether the calling thread may take another root (CAP_SYS_CHROOT): between creds_enter() and creds_leave(), whether the caller may. */
bool privileges_change_root(void);

/*
 * The calling thread lays down the N capabilities CAPS. Where it may not drop them from its bounding set (CAP_SETPCAP) no_new_privs must keep an
 * exec from having them again. Returns 0 or a negative errno.
 */
int privileges_lay_down(const unsigned *caps, size_t n);

/*
 * Where rules restrict whom the tree reaches: the calling thread lays down CAP_NET_ADMIN. With other addresses and routes the tree
 * would reach others by the same words, and so would everybody outside. usher lays it down as well: a message to the kernel that names its
 * addressee (netlink) counts with the powers of who sends it, usher. Returns 0 or a negative errno.
 */
int privileges_leave_network(void);

#endif
