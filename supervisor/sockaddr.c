/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MUST: lengths and families are judged as Linux judges them (net/ipv4/af_inet.c, net/ipv6/af_inet6.c,
 * net/unix/af_unix.c): too short is nobody, a longer one is cut, not refused.
 */
#include "supervisor/sockaddr.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>

/* The oldest form of sockaddr_in6 has no scope; the kernel still takes it. */
#define SIN6_LEN_RFC2133 24
#define UNIX_HEAD offsetof(struct sockaddr_un, sun_path)
#define FAMILY_SMC 43
#define PROTOCOL_SMC 256
#define PROTOCOL_MPTCP 262

static const uint8_t mapped_prefix[12] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff };

static void from_v4(const struct sockaddr_in *in, struct inet_endpoint *e)
{
	memset(e, 0, sizeof(*e));
	memcpy(e->addr, mapped_prefix, sizeof(mapped_prefix));
	memcpy(e->addr + 12, &in->sin_addr, 4);
	e->port = ntohs(in->sin_port);
}

/* Link-local unicast and the multicast scopes that name an interface. */
static bool scoped(const uint8_t addr[16])
{
	if (addr[0] == 0xfe && (addr[1] & 0xc0) == 0x80)
		return true;
	return addr[0] == 0xff && ((addr[1] & 0x0f) == 1 || (addr[1] & 0x0f) == 2);
}

static void from_v6(const struct sockaddr_in6 *in, size_t len, struct inet_endpoint *e)
{
	memset(e, 0, sizeof(*e));
	memcpy(e->addr, &in->sin6_addr, 16);
	e->port = ntohs(in->sin6_port);
	if (len >= sizeof(*in) && scoped(e->addr))
		e->scope = in->sin6_scope_id;
}

static bool read_inet(const void *bytes, size_t len, struct inet_endpoint *e)
{
	struct sockaddr_in6 in6 = { 0 };
	struct sockaddr_in in;

	memcpy(&in6, bytes, len < sizeof(in6) ? len : sizeof(in6));
	if (in6.sin6_family == AF_INET6 && len >= SIN6_LEN_RFC2133) {
		from_v6(&in6, len, e);
		return true;
	}
	if ((in6.sin6_family == AF_INET || in6.sin6_family == AF_UNSPEC) && len >= sizeof(in)) {
		memcpy(&in, bytes, sizeof(in));
		from_v4(&in, e);
		return true;
	}
	return false;
}

/*
 * AF_UNSPEC: connect dissolves. bind and send on an IPv4 socket take it for IPv4; an IPv6
 * socket sends to its peer then, and since ADDRFORM can make it an IPv4 one meanwhile, none of its bytes are passed.
 */
static void decode_inet(const void *bytes, size_t len, const struct socket_kind *kind, enum address_use use,
			struct address *out)
{
	sa_family_t family = AF_UNSPEC;

	out->kind = ADDRESS_NOBODY;
	if (len >= sizeof(family))
		memcpy(&family, bytes, sizeof(family));
	if (len < sizeof(family) || (family == AF_UNSPEC && use == ADDRESS_CONNECT))
		return;
	if (family == AF_UNSPEC && use == ADDRESS_SEND && kind->domain == AF_INET6) {
		out->kind = ADDRESS_IGNORED;
		return;
	}
	if (read_inet(bytes, len, &out->inet))
		out->kind = ADDRESS_INET;
}

static void decode_unix(const void *bytes, size_t len, enum address_use use, struct address *out)
{
	sa_family_t family;
	const char *path = (const char *)bytes + UNIX_HEAD;

	out->kind = ADDRESS_NOBODY;
	if (len < sizeof(family) || len > sizeof(struct sockaddr_un))
		return;
	memcpy(&family, bytes, sizeof(family));
	if (family != AF_UNIX)
		return;
	if (len == UNIX_HEAD) {
		if (use == ADDRESS_BIND)
			out->kind = ADDRESS_AUTOBIND;
		return;
	}
	size_t room = len - UNIX_HEAD;
	if (path[0]) {
		out->kind = ADDRESS_PATH;
		out->name = (struct span){ path, (uint32_t)strnlen(path, room) };
	} else {
		out->kind = ADDRESS_ABSTRACT;
		out->name = (struct span){ path + 1, (uint32_t)(room - 1) };
	}
}

void sockaddr_decode(const void *bytes, size_t len, const struct socket_kind *kind, enum address_use use,
		     struct address *out)
{
	memset(out, 0, sizeof(*out));
	switch (kind->domain) {
	case AF_INET:
	case AF_INET6:
	case FAMILY_SMC:
		decode_inet(bytes, len, kind, use, out);
		break;
	case AF_UNIX:
		decode_unix(bytes, len, use, out);
		break;
	case AF_NETLINK: /* speaks to the kernel alone */
		out->kind = ADDRESS_NOBODY;
		break;
	default:
		break;
	}
}

bool inet_is_v4(const struct inet_endpoint *e)
{
	return memcmp(e->addr, mapped_prefix, sizeof(mapped_prefix)) == 0;
}

bool inet_is_loopback(const struct inet_endpoint *e)
{
	static const uint8_t v6[16] = { [15] = 1 };

	return (inet_is_v4(e) && e->addr[12] == 127) || memcmp(e->addr, v6, sizeof(v6)) == 0;
}

bool inet_is_any(const struct inet_endpoint *e)
{
	static const uint8_t zero[16];

	return memcmp(e->addr + (inet_is_v4(e) ? 12 : 0), zero, inet_is_v4(e) ? 4 : 16) == 0;
}

static void choose_local(const struct inet_endpoint *local, struct inet_endpoint *e)
{
	static const uint8_t loopback4[4] = { 127, 0, 0, 1 };
	bool local4 = local && inet_is_v4(local);

	if (inet_is_v4(e) && local4 && !inet_is_any(local)) {
		memcpy(e->addr, local->addr, 16);
	} else if (inet_is_v4(e) || local4) {
		memcpy(e->addr, mapped_prefix, sizeof(mapped_prefix));
		memcpy(e->addr + 12, loopback4, 4);
	} else {
		memset(e->addr, 0, 16);
		e->addr[15] = 1;
	}
}

void sockaddr_pin_any(void *bytes, size_t len, const struct inet_endpoint *local, struct inet_endpoint *e)
{
	sa_family_t family;

	choose_local(local, e);
	memcpy(&family, bytes, sizeof(family));
	if (family == AF_INET6 && len >= SIN6_LEN_RFC2133)
		memcpy((char *)bytes + offsetof(struct sockaddr_in6, sin6_addr), e->addr, 16);
	else if (family != AF_INET6 && len >= sizeof(struct sockaddr_in))
		memcpy((char *)bytes + offsetof(struct sockaddr_in, sin_addr), e->addr + 12, 4);
}

int sockaddr_encode(const struct inet_endpoint *e, int domain, struct sockaddr_storage *out)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(e->port) };
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6, .sin6_port = htons(e->port), .sin6_scope_id = e->scope };

	memset(out, 0, sizeof(*out));
	if (domain == AF_INET6) {
		memcpy(&in6.sin6_addr, e->addr, 16);
		memcpy(out, &in6, sizeof(in6));
		return (int)sizeof(in6);
	}
	if (!inet_is_v4(e))
		return -EAFNOSUPPORT;
	memcpy(&in.sin_addr, e->addr + 12, 4);
	memcpy(out, &in, sizeof(in));
	return (int)sizeof(in);
}

size_t sockaddr_text(const void *bytes, size_t len, char *out)
{
	struct inet_endpoint e;
	char addr[INET6_ADDRSTRLEN];
	sa_family_t family = AF_UNSPEC;
	int n;

	if (len < sizeof(family) || !read_inet(bytes, len, &e))
		return 0;
	memcpy(&family, bytes, sizeof(family));
	if (family != AF_INET6) {
		inet_ntop(AF_INET, e.addr + 12, addr, sizeof(addr));
		n = snprintf(out, ENDPOINT_TEXT, "%s:%u", addr, e.port);
	} else {
		inet_ntop(AF_INET6, e.addr, addr, sizeof(addr));
		if (e.scope)
			n = snprintf(out, ENDPOINT_TEXT, "[%s%%%u]:%u", addr, e.scope, e.port);
		else
			n = snprintf(out, ENDPOINT_TEXT, "[%s]:%u", addr, e.port);
	}
	return n > 0 ? (size_t)n : 0;
}

enum proto socket_proto(const struct socket_kind *kind)
{
	if (kind->domain == AF_UNIX)
		return PROTO_UNIX;
	if (kind->domain == FAMILY_SMC)
		return PROTO_TCP;
	if (kind->domain != AF_INET && kind->domain != AF_INET6)
		return PROTO_OTHER;
	if (kind->type == SOCK_RAW)
		return PROTO_OTHER;
	if (kind->protocol == IPPROTO_TCP || kind->protocol == PROTOCOL_MPTCP || kind->protocol == PROTOCOL_SMC)
		return PROTO_TCP;
	/* UDP-Lite has addresses and ports as UDP has them: a rule on udp speaks of both */
	return kind->protocol == IPPROTO_UDP || kind->protocol == IPPROTO_UDPLITE ? PROTO_UDP : PROTO_OTHER;
}

bool socket_ruled(const struct socket_kind *kind)
{
	return socket_proto(kind) != PROTO_OTHER;
}
