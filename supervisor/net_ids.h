/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who a unix peer sees. The kernel notes the ids of the process that connects, listens
 * or sends: left alone it would be usher's, and with usher as root a caller that dropped its privileges would pass for root.
 *
 * The process id cannot be taken on: where usher has CAP_SYS_ADMIN a message says the caller's, else the caller sends it itself where
 * net_caller_may(), as it listens; else it says usher's, as SO_PEERCRED does after connect.
 */
#ifndef USHER_SUPERVISOR_NET_IDS_H
#define USHER_SUPERVISOR_NET_IDS_H

#include <stdbool.h>
#include <sys/types.h>

#include "supervisor/creds.h"
#include "supervisor/job.h"
#include "supervisor/net_control.h"

/* What this thread was before. */
struct net_ids {
	bool entered;
	uid_t uid[3];
	gid_t gid[3];
	gid_t *groups;
	int n_groups;
	struct __user_cap_data_struct caps[2];
	struct creds creds; /* for callers that kept their ids */
};

/*
 * Gives this thread the caller's real, effective and file system ids, groups and powers until net_ids_leave(): for unix sockets, in place of
 * creds_enter(). Nothing is done unless usher is privileged and some process of the tree has changed its ids. Returns 0 or a negative errno.
 */
int net_ids_enter(struct job *j, struct net_ids *ids);
/* Ends the process when the ids cannot be taken back. Keeps errno. */
void net_ids_leave(struct net_ids *ids);

/* Whether the kernel lets this thread send another process id than its own. */
bool net_ids_may_claim(void);

/*
 * Makes C, the control messages for a unix socket, say who the caller is. -EPERM when it claims to be another, as the kernel would.
 */
int net_ids_control(struct job *j, struct control *c);

/* Makes C, those for any other socket (netlink takes them), say usher's number for the caller's own where the kernel lets nobody claim another's. */
void net_ids_number(struct job *j, struct control *c);

/*
 * Between net_ids_enter() and net_ids_leave(): what net_ids_control() made C say is believed, as far as usher may. The powers that takes count for
 * nothing else where a message is sent to a unix socket. 0 or a negative errno.
 */
int net_ids_vouch(const struct net_ids *ids);

#endif
