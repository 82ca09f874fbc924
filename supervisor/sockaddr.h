/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a socket address means to the kernel. Pure: bytes in, meaning out.
 *
 * MUST: an address of which the kernel could make a destination or a local name is never ADDRESS_NOBODY,
 * whichever internet family the socket has by the time it is used (IPV6_ADDRFORM changes it).
 */
#ifndef USHER_SUPERVISOR_SOCKADDR_H
#define USHER_SUPERVISOR_SOCKADDR_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#include "rules/call.h"

enum address_use { ADDRESS_CONNECT, ADDRESS_BIND, ADDRESS_SEND };

enum address_kind {
	ADDRESS_UNKNOWN = 0, /* a socket family that is not mediated: refuse */
	ADDRESS_NOBODY,      /* names nobody: the kernel refuses it, or dissolves a connection; pass it on as it is */
	ADDRESS_IGNORED,     /* the kernel does not look at it: pass none of its bytes */
	ADDRESS_INET,
	ADDRESS_PATH,
	ADDRESS_ABSTRACT,    /* the name excludes the leading NUL */
	ADDRESS_AUTOBIND,    /* bind: the kernel picks an abstract name */
};

struct address {
	enum address_kind kind;
	struct inet_endpoint inet; /* proto is not set here */
	struct span name;          /* points into the bytes that were decoded */
};

/* The parts of a socket that decide what an address means. */
struct socket_kind {
	int domain;
	int type;
	int protocol;
};

/* Decodes BYTES (at most sizeof(struct sockaddr_storage)) for a socket of KIND. Any thread; no error: see enum address_kind. */
void sockaddr_decode(const void *bytes, size_t len, const struct socket_kind *kind, enum address_use use,
		     struct address *out);

/* Whether E is 0.0.0.0 or ::, in any form. As a destination it means this machine. */
bool inet_is_any(const struct inet_endpoint *e);
bool inet_is_v4(const struct inet_endpoint *e);

/* Whether no packet to E leaves the machine, whatever addresses that has: 127.0.0.0/8 and ::1. That none is sent by another interface net_leaves.h sees to. */
bool inet_is_loopback(const struct inet_endpoint *e);

/*
 * The address that a destination of 0.0.0.0 or :: leads to: LOCAL (what the socket is bound to, NULL when unknown) when it is an IPv4 address,
 * else loopback. Writes it into *e and into the LEN bytes of the address itself, so that what is decided is what is used.
 */
void sockaddr_pin_any(void *bytes, size_t len, const struct inet_endpoint *local, struct inet_endpoint *e);

/*
 * Writes E as an address of DOMAIN (AF_INET or AF_INET6; IPv4 on AF_INET6 becomes v4-mapped).
 * Returns the length, or -EAFNOSUPPORT when E is IPv6 and DOMAIN is AF_INET.
 */
int sockaddr_encode(const struct inet_endpoint *e, int domain, struct sockaddr_storage *out);

#define ENDPOINT_TEXT 80

/*
 * The address as the program said it: "10.0.0.1:80", "[::ffff:10.0.0.1]:80", "[fe80::1%2]:80". Returns the length
 * (0 when it is no internet address). OUT has ENDPOINT_TEXT bytes.
 */
size_t sockaddr_text(const void *bytes, size_t len, char *out);

/* MPTCP and SMC connect as TCP does: rules on tcp speak of them. */
enum proto socket_proto(const struct socket_kind *kind);

/* Whether rules on endpoints speak of the addresses of such a socket: of all others they know none. */
bool socket_ruled(const struct socket_kind *kind);

#endif
