/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/endpoint_text.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

static const char *proto_name(enum proto proto)
{
	switch (proto) {
	case PROTO_TCP:
		return "tcp";
	case PROTO_UDP:
		return "udp";
	case PROTO_UNIX:
		return "unix";
	case PROTO_OTHER:
		break;
	}
	return "other";
}

size_t endpoint_text(const struct inet_endpoint *e, char out[ENDPOINT_TEXT_MAX])
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	const char *proto = proto_name(e->proto);
	char addr[INET6_ADDRSTRLEN] = "?", scope[16] = "";

	if (memcmp(e->addr, mapped, sizeof(mapped)) == 0) {
		inet_ntop(AF_INET, e->addr + 12, addr, sizeof(addr));
		return (size_t)snprintf(out, ENDPOINT_TEXT_MAX, "%s:%s:%u", proto, addr, e->port);
	}
	inet_ntop(AF_INET6, e->addr, addr, sizeof(addr));
	if (e->scope)
		snprintf(scope, sizeof(scope), "%%%u", e->scope);
	return (size_t)snprintf(out, ENDPOINT_TEXT_MAX, "%s:[%s%s]:%u", proto, addr, scope, e->port);
}
