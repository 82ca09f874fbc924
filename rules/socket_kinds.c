// SPDX-License-Identifier: Apache-2.0
#include "rules/socket_kinds.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define TYPE_MASK 0xf
#define FAMILIES 46
#define PROTO_DCCP 33
#define PROTO_L2TP 115
#define PROTO_SMC 256
#define PROTO_MPTCP 262
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* By family number; NULL: it has none, or more than the family tells its sockets apart. */
static const char *const families[FAMILIES] = {
	NULL,     NULL,        NULL,    "ax25",    "ipx",      "appletalk", "netrom",     "bridge",     "atmpvc", "x25",
	NULL,     "rose",      "decnet", "netbeui", "security", "key",       NULL,         "packet",     "ash",    "econet",
	"atmsvc", "rds",       "sna",   "irda",    "pppox",    "wanpipe",   "llc",        "infiniband", "mpls",   "can",
	"tipc",   "bluetooth", "iucv",  "rxrpc",   "isdn",     "phonet",    "ieee802154", "caif",       "alg",    "nfc",
	"vsock",  "kcm",       "qipcrtr", "smc",   "xdp",      "mctp",
};

struct numbered {
	unsigned number;
	const char *name;
};

static const struct numbered raws[] = {
	{ 1, "raw:icmp" }, { 2, "raw:igmp" }, { 6, "raw:tcp" },    { 17, "raw:udp" },  { 47, "raw:gre" },  { 50, "raw:esp" },
	{ 51, "raw:ah" },  { 58, "raw:icmpv6" }, { 89, "raw:ospf" }, { 132, "raw:sctp" }, { 255, "raw:raw" },
};

static const struct numbered netlinks[] = {
	{ 2, "netlink:usersock" },    { 3, "netlink:firewall" },   { 4, "netlink:sock_diag" },       { 5, "netlink:nflog" },
	{ 6, "netlink:xfrm" },        { 7, "netlink:selinux" },    { 8, "netlink:iscsi" },           { 9, "netlink:audit" },
	{ 10, "netlink:fib_lookup" }, { 11, "netlink:connector" }, { 12, "netlink:netfilter" },      { 13, "netlink:ip6_fw" },
	{ 14, "netlink:dnrtmsg" },    { 15, "netlink:kobject_uevent" }, { 16, "netlink:generic" },   { 18, "netlink:scsitransport" },
	{ 19, "netlink:ecryptfs" },   { 20, "netlink:rdma" },      { 21, "netlink:crypto" },         { 22, "netlink:smc" },
};

/* Kinds of the internet families, and one example of each kind that has numbers. */
static const char *const others[] = { "ping",      "mptcp",     "sctp",       "dccp",  "l2tp", "raw:0",
				      "netlink:1", "family:46", "protocol:3", "type:0" };

static const char *find(const struct numbered *list, size_t n, unsigned number)
{
	for (size_t i = 0; i < n; i++)
		if (list[i].number == number)
			return list[i].name;
	return NULL;
}

static bool named(const char *name, const char *prefix, unsigned number, char out[SOCKET_NAME_MAX])
{
	if (name)
		snprintf(out, SOCKET_NAME_MAX, "%s", name);
	else
		snprintf(out, SOCKET_NAME_MAX, "%s:%u", prefix, number);
	return true;
}

static bool stream_name(unsigned protocol, char out[SOCKET_NAME_MAX])
{
	static const struct numbered streams[] = {
		{ IPPROTO_SCTP, "sctp" }, { PROTO_DCCP, "dccp" }, { PROTO_SMC, "smc" }, { PROTO_MPTCP, "mptcp" },
	};

	if (protocol == 0 || protocol == IPPROTO_TCP)
		return false;
	return named(find(streams, COUNT(streams), protocol), "protocol", protocol, out);
}

static bool datagram_name(unsigned protocol, char out[SOCKET_NAME_MAX])
{
	static const struct numbered datagrams[] = {
		{ IPPROTO_ICMP, "ping" }, { IPPROTO_ICMPV6, "ping" }, { PROTO_L2TP, "l2tp" },
	};

	if (protocol == 0 || protocol == IPPROTO_UDP || protocol == IPPROTO_UDPLITE)
		return false;
	return named(find(datagrams, COUNT(datagrams), protocol), "protocol", protocol, out);
}

static bool inet_name(int family, unsigned type, unsigned protocol, char out[SOCKET_NAME_MAX])
{
	switch (type) {
	case SOCK_STREAM:
		return stream_name(protocol, out);
	case SOCK_DGRAM:
		return datagram_name(protocol, out);
	case SOCK_RAW:
		return named(find(raws, COUNT(raws), protocol), "raw", protocol, out);
	case SOCK_SEQPACKET:
		return named(protocol == 0 || protocol == IPPROTO_SCTP ? "sctp" : NULL, "protocol", protocol, out);
	case SOCK_DCCP:
		return named("dccp", NULL, 0, out);
	case SOCK_PACKET:
		return named(family == AF_INET ? "packet" : NULL, "type", type, out);
	default:
		return named(NULL, "type", type, out);
	}
}

bool socket_name(int family, int type, int protocol, char out[SOCKET_NAME_MAX])
{
	unsigned number = (unsigned)family;

	if (family == AF_UNIX || (family == AF_NETLINK && protocol == 0))
		return false;
	if (family == AF_INET || family == AF_INET6)
		return inet_name(family, (unsigned)type & TYPE_MASK, (unsigned)protocol, out);
	if (family == AF_NETLINK)
		return named(find(netlinks, COUNT(netlinks), (unsigned)protocol), "netlink", (unsigned)protocol, out);
	return named(number < FAMILIES ? families[number] : NULL, "family", number, out);
}

static bool begins(struct span name, const char *with)
{
	size_t len = strlen(with);

	return name.len >= len && memcmp(name.bytes, with, len) == 0;
}

static bool one_of(struct span name, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (name.len == strlen(list[i]) && begins(name, list[i]))
			return true;
	return false;
}

bool socket_of_type(int family, int type)
{
	int bare = type & TYPE_MASK;

	return (family == AF_INET || family == AF_INET6) && bare != SOCK_STREAM && bare != SOCK_DGRAM && bare != SOCK_PACKET;
}

int socket_absent(const struct object *o)
{
	struct span name = o->name;
	static const char *const protocols[] = { "ping", "mptcp", "sctp", "dccp", "l2tp", "smc" };

	if (o->of_type || begins(name, "raw:") || begins(name, "type:"))
		return ESOCKTNOSUPPORT;
	if (one_of(name, protocols, COUNT(protocols)) || begins(name, "netlink:") || begins(name, "protocol:"))
		return EPROTONOSUPPORT;
	return EAFNOSUPPORT;
}

bool socket_plain(struct span name)
{
	static const char *const plain[] = { "ping", "netlink:sock_diag" };

	return begins(name, "raw:") || one_of(name, plain, COUNT(plain));
}

/* MPTCP and SMC connect as TCP does, and are ruled on as TCP; the others here speak to the kernel alone. */
bool socket_goes_past(struct span name)
{
	static const char *const ruled[] = { "mptcp", "smc", "alg", "key" };

	return !one_of(name, ruled, COUNT(ruled)) && !begins(name, "netlink:");
}

const char *socket_example(unsigned index)
{
	static const struct {
		const struct numbered *list;
		size_t n;
	} lists[] = { { raws, COUNT(raws) }, { netlinks, COUNT(netlinks) } };

	if (index < COUNT(others))
		return others[index];
	index -= (unsigned)COUNT(others);
	for (size_t i = 0; i < COUNT(lists); i++) {
		if (index < lists[i].n)
			return lists[i].list[index].name;
		index -= (unsigned)lists[i].n;
	}
	for (unsigned f = 0; f < FAMILIES; f++)
		if (families[f] && index-- == 0)
			return families[f];
	return NULL;
}

/* Numbers that have no name: written in one way. */
static bool is_numbered(const char *word)
{
	static const struct {
		const char *prefix;
		int family, type;
	} kinds[] = { { "raw:", AF_INET, SOCK_RAW }, { "netlink:", AF_NETLINK, SOCK_RAW }, { "protocol:", AF_INET, SOCK_STREAM } };
	const char *colon = strchr(word, ':');
	char *end, name[SOCKET_NAME_MAX] = "";

	if (!colon || colon[1] < '0' || colon[1] > '9')
		return false;
	unsigned long number = strtoul(colon + 1, &end, 10);
	if (*end || number > UINT32_MAX)
		return false;
	for (size_t i = 0; i < COUNT(kinds); i++)
		if (begins((struct span){ word, (uint32_t)strlen(word) }, kinds[i].prefix))
			return socket_name(kinds[i].family, kinds[i].type, (int)number, name) && strcmp(name, word) == 0;
	if (strncmp(word, "family:", 7) == 0)
		return socket_name((int)number, 0, 1, name) && strcmp(name, word) == 0;
	snprintf(name, sizeof(name), "type:%lu", number);
	return number <= TYPE_MASK && strcmp(name, word) == 0;
}

const char *socket_word(const char *word, const char **out)
{
	static const char *const ruled[] = { "tcp", "udp", "unix", "netlink:route" };
	struct span said = { word, (uint32_t)strlen(word) };
	const char *name;

	*out = word;
	if (strcmp(word, "raw") == 0 || strcmp(word, "netlink") == 0) {
		*out = *word == 'r' ? "raw:*" : "netlink:*";
		return NULL;
	}
	if (one_of(said, ruled, COUNT(ruled)))
		return "every program may make these; whom they reach is ruled on by connect, bind and send";
	for (unsigned i = 0; (name = socket_example(i)); i++)
		if (strcmp(word, name) == 0)
			return NULL;
	return is_numbered(word) ? NULL
				 : "not a kind of socket; raw, ping, packet, netlink:NAME, mptcp, sctp, vsock, alg, another name that usher.rules(5) lists, or * was expected";
}
