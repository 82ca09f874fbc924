/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kinds of sockets that rules speak of by name: all but those of TCP, UDP, unix and netlink route, whose
 * endpoints are decided on. Pure: the numbers are the kernel's.
 *
 * MUST: the kernel makes no socket of another kind from the same three numbers (PF_INET with SOCK_PACKET is a packet socket).
 */
#ifndef USHER_RULES_SOCKET_KINDS_H
#define USHER_RULES_SOCKET_KINDS_H

#include <stdbool.h>

#include "rules/call.h"

#define SOCKET_NAME_MAX 32

/*
 * Names the kind of what socket(FAMILY, TYPE, PROTOCOL) makes, terminated; flags in TYPE do not count. False for the
 * sockets that every program may make. Any thread.
 */
bool socket_name(int family, int type, int protocol, char out[SOCKET_NAME_MAX]);

/*
 * Whether a kernel without what socket(FAMILY, TYPE, ...) would make misses its type rather than its protocol: SCTP is a protocol of SOCK_STREAM
 * and the only one of SOCK_SEQPACKET.
 */
bool socket_of_type(int family, int type);

/* The errno of a kernel that was built without sockets such as O. */
int socket_absent(const struct object *o);

/* Whether "default allow" alone gives sockets of this NAME: they reach nobody whom TCP and UDP would not reach. */
bool socket_plain(struct span name);

/* Whether what is sent through sockets of this NAME goes past the rules on connect, bind and send. */
bool socket_goes_past(struct span name);

/* Every kind that has a name of its own, and of those that have numbers one each: INDEX from 0; NULL past the end. */
const char *socket_example(unsigned index);

/*
 * What WORD, a name without wildcards in a rule, stands for, into *out ("raw" is "raw:*"; static or WORD itself). Returns NULL, or why
 * no socket is called so.
 */
const char *socket_word(const char *word, const char **out);

#endif
