/* SPDX-License-Identifier: Apache-2.0 */
/* What of the network the rules could ever let the command reach, whoever asks and whatever a person answers. */
#ifndef USHER_SUPERVISOR_NET_REACH_H
#define USHER_SUPERVISOR_NET_REACH_H

#include <stdbool.h>

struct policy;

struct net_reach {
	bool tcp;
	bool udp;
	bool abstract; /* unix sockets with an abstract name */
	bool others;   /* sockets of a kind that rules name (socket) */
	bool groups;   /* UDP may be sent to every address, whoever asks; MUST err towards less */
	bool anywhere; /* and TCP connected; MUST err towards less */
	bool restricted; /* some file says more of the network than "default allow" */
};

/* MUST: errs towards more. */
void net_reach(const struct policy *policy, struct net_reach *out);

#endif
