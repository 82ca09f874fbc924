// SPDX-License-Identifier: Apache-2.0
/*
 * Internet endpoints.
 *
 * MUST: one address has one form: IPv4 is v4-mapped, whichever way it was written, so that
 * ::ffff:10.0.0.1 and 10.0.0.1 are ruled on alike.
 */
#include "rules/endpoint.h"

#include <arpa/inet.h>
#include <string.h>

static const uint8_t mapped[12] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff };

static int fail(struct glob_error *wrong, size_t at, const char *message)
{
	*wrong = (struct glob_error){ message, at };
	return 1;
}

void endpoint_mask(uint8_t addr[16], unsigned prefix)
{
	for (unsigned i = 0; i < 16; i++) {
		unsigned keep = prefix > i * 8 ? prefix - i * 8 : 0;
		if (keep < 8)
			addr[i] &= (uint8_t)(0xff00U >> keep);
	}
}

/* Digits only, at most MAX. Returns false for anything else. */
static bool number(const char *text, size_t len, uint32_t max, uint32_t *out)
{
	uint32_t value = 0;
	if (!len || len > 9)
		return false;
	for (size_t i = 0; i < len; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		value = value * 10 + (uint32_t)(text[i] - '0');
	}
	*out = value;
	return value <= max;
}

static int parse_port(const char *text, size_t len, size_t at, struct glob_error *wrong, struct inet_pattern *out)
{
	static const char expected[] = "not a port; a number up to 65535, a range LOW-HIGH or '*' was expected";
	uint32_t lo, hi;
	if (len == 1 && *text == '*') {
		out->port_lo = 0;
		out->port_hi = 65535;
		return 0;
	}
	const char *dash = memchr(text, '-', len);
	size_t first = dash ? (size_t)(dash - text) : len;
	if (!number(text, first, 65535, &lo))
		return fail(wrong, at, expected);
	hi = lo;
	if (dash && !number(dash + 1, len - first - 1, 65535, &hi))
		return fail(wrong, at + first + 1, expected);
	if (hi < lo)
		return fail(wrong, at, "the port range runs backwards; LOW-HIGH was expected");
	out->port_lo = (uint16_t)lo;
	out->port_hi = (uint16_t)hi;
	return 0;
}

static bool parse_addr(const char *text, size_t len, uint8_t addr[16], unsigned *bits)
{
	char copy[INET6_ADDRSTRLEN + 1];
	if (len >= sizeof(copy))
		return false;
	memcpy(copy, text, len);
	copy[len] = 0;
	*bits = 128;
	if (inet_pton(AF_INET6, copy, addr) == 1)
		return true;
	memcpy(addr, mapped, sizeof(mapped));
	*bits = 32;
	return inet_pton(AF_INET, copy, addr + 12) == 1;
}

static int parse_host(const char *text, size_t len, size_t at, struct glob_error *wrong, struct inet_pattern *out)
{
	unsigned bits;
	uint32_t prefix;
	out->prefix = 0;
	if (len == 1 && *text == '*')
		return 0;
	const char *slash = memchr(text, '/', len);
	size_t n = slash ? (size_t)(slash - text) : len;
	if (!parse_addr(text, n, out->addr, &bits))
		return fail(wrong, at,
			    "not an address; IPv4, [IPv6], ADDRESS/BITS or '*' was expected; a host name is none, rules know no names");
	prefix = bits;
	if (slash && !number(slash + 1, len - n - 1, bits, &prefix))
		return fail(wrong, at + n + 1, bits == 32 ? "not a prefix length; 0 to 32 was expected"
							  : "not a prefix length; 0 to 128 was expected");
	uint8_t written[16];
	memcpy(written, out->addr, sizeof(written));
	out->prefix = (uint8_t)(bits == 32 ? prefix + 96 : prefix);
	endpoint_mask(out->addr, out->prefix);
	out->cut = memcmp(written, out->addr, sizeof(written)) != 0;
	return 0;
}

/* Takes the brackets off: "[v6]", "[v6]/64" or "[v6/64]". */
static int parse_bracketed(const char *text, size_t len, size_t at, struct glob_error *wrong, struct inet_pattern *out)
{
	char host[64];
	const char *close = memchr(text, ']', len);
	if (!close)
		return fail(wrong, at, "'[' without ']' around an IPv6 address");
	size_t inside = (size_t)(close - text) - 1, behind = len - inside - 2;
	if (inside + behind >= sizeof(host) || (behind && close[1] != '/'))
		return fail(wrong, at, "not an address; [IPv6] or [IPv6]/BITS was expected");
	if (inside == 1 && text[1] == '*')
		return fail(wrong, at, "'*' stands without brackets, for IPv4 and IPv6 alike");
	memcpy(host, text + 1, inside);
	memcpy(host + inside, close + 1, behind);
	return parse_host(host, inside + behind, at + 1, wrong, out);
}

int endpoint_parse(const char *text, struct glob_error *wrong, struct inet_pattern *out)
{
	*out = (struct inet_pattern){ .proto = strncmp(text, "udp:", 4) == 0 ? PROTO_UDP : PROTO_TCP };
	const char *host = text + 4;
	const char *colon = strrchr(host, ':');
	const char *bracket = strchr(host, ']');
	if (!colon || (bracket && colon < bracket))
		return fail(wrong, strlen(text), "the port is missing; HOST:PORT was expected, '*' stands for any");
	size_t len = (size_t)(colon - host);
	/* Without brackets a forgotten port would be the address's last group. */
	if (*host != '[' && memchr(host, ':', len) && strspn(host, "0123456789abcdefABCDEF:./") >= len)
		return fail(wrong, 4, "an IPv6 address stands in brackets; [IPv6]:PORT was expected");
	int r = *host == '[' ? parse_bracketed(host, len, 4, wrong, out) : parse_host(host, len, 4, wrong, out);
	if (r)
		return r;
	return parse_port(colon + 1, strlen(colon + 1), (size_t)(colon + 1 - text), wrong, out);
}

int endpoint_parse_one(const char *text, struct glob_error *wrong, struct inet_endpoint *out)
{
	struct inet_pattern p;
	if (strncmp(text, "tcp:", 4) != 0 && strncmp(text, "udp:", 4) != 0)
		return fail(wrong, 0, "tcp:ADDRESS:PORT or udp:ADDRESS:PORT was expected");
	if (endpoint_parse(text, wrong, &p))
		return 1;
	if (p.prefix != 128 || p.port_lo != p.port_hi)
		return fail(wrong, 4, "one address and one port were expected");
	*out = (struct inet_endpoint){ .port = p.port_lo, .proto = p.proto };
	memcpy(out->addr, p.addr, sizeof(out->addr));
	return 0;
}

/* Whether an address of IPv4 (here ::ffff:a.b.c.d) can match. */
static bool covers_v4(const struct inet_pattern *from)
{
	unsigned bits = from->prefix < 96 ? from->prefix : 96;

	for (unsigned i = 0; i < bits; i++)
		if ((from->addr[i / 8] ^ mapped[i / 8]) >> (7 - i % 8) & 1)
			return false;
	return true;
}

static bool is_v4(const struct inet_pattern *to)
{
	return to->prefix >= 96 && covers_v4(to);
}

const char *endpoint_cannot_lead(op_set ops, const struct endpoint_side *from, const struct endpoint_side *to)
{
	bool inet = from->kind == OBJECT_INET, crosses = inet != (to->kind == OBJECT_INET);
	bool datagram = (inet && from->inet->proto == PROTO_UDP) || (to->kind == OBJECT_INET && to->inet->proto == PROTO_UDP);
	if (!(ops & OPS_NET))
		return NULL;
	if (crosses && datagram)
		return "udp leads to udp alone: a datagram socket keeps its family";
	if (crosses && ops != OP_CONNECT)
		return "only connect leads from tcp to unix or back: bind and send keep the family of their socket";
	if ((ops & OP_BIND) && !inet && from->kind != to->kind)
		return "bind leads from a path to a path, from an abstract name to an abstract name";
	if (crosses || !inet)
		return NULL;
	if (from->inet->proto != to->inet->proto)
		return "tcp leads to tcp or unix, udp to udp";
	if (to->inet->prefix == 0 || is_v4(to->inet) || !covers_v4(from->inet))
		return NULL;
	if (ops != OP_CONNECT || datagram)
		return "only connect of tcp leads from IPv4 to IPv6; on the left an IPv6 address or network was expected";
	return NULL;
}

bool endpoint_matches(const struct inet_pattern *p, const struct inet_endpoint *e)
{
	if (p->proto != e->proto || e->port < p->port_lo || e->port > p->port_hi)
		return false;
	unsigned whole = p->prefix / 8, rest = p->prefix % 8;
	if (memcmp(p->addr, e->addr, whole) != 0)
		return false;
	return !rest || (e->addr[whole] & (0xff00U >> rest) & 0xff) == p->addr[whole];
}

bool endpoint_covers(const struct inet_pattern *wide, const struct inet_pattern *narrow)
{
	struct inet_endpoint e = { .port = narrow->port_lo, .proto = narrow->proto };
	memcpy(e.addr, narrow->addr, sizeof(e.addr));
	return wide->prefix <= narrow->prefix && endpoint_matches(wide, &e) && narrow->port_hi <= wide->port_hi;
}
