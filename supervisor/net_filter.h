/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which sockets can be made at all: decided in the filter, by registers.
 *
 * MUST: a family, type or protocol that is not in the list does not exist, or is decided on by its name where some rule could give such
 * sockets, nor does UDP exist where no rule could allow it; only low
 * halves are compared, since the kernel takes ints.
 */
#ifndef USHER_SUPERVISOR_NET_FILTER_H
#define USHER_SUPERVISOR_NET_FILTER_H

#include <linux/filter.h>
#include <stdbool.h>

#define NET_FILTER_LEN 29

/* What some rule could give. */
struct net_sockets {
	bool udp;
	bool others; /* a kind of socket that rules name: usher decides on each */
};

/*
 * Writes NET_FILTER_LEN instructions: they answer socket and socketpair calls that are refused (those for UDP too
 * unless GIVE says so), send to usher what others are, and let all else fall out at the end. The accumulator holds the call's number on the
 * way in and out; no argument of another call is loaded.
 */
void net_filter(const struct net_sockets *give, struct sock_filter out[NET_FILTER_LEN]);

#endif
