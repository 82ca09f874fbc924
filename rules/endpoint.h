/* SPDX-License-Identifier: Apache-2.0 */
/* Endpoints as written: tcp:HOST:PORT, udp:HOST:PORT. (unix: is a name, see the parser.) */
#ifndef USHER_RULES_ENDPOINT_H
#define USHER_RULES_ENDPOINT_H

#include "rules/compiled.h"

/*
 * Parses TEXT ("tcp:10.0.0.0/8:80-90", "udp:[2001:db8::/32]:*"), which begins with one of the two. Returns 0, or 1 with
 * *wrong saying what was expected and where.
 */
int endpoint_parse(const char *text, struct glob_error *wrong, struct inet_pattern *out);

/* The same of one address and one port. TEXT may be anything. */
int endpoint_parse_one(const char *text, struct glob_error *wrong, struct inet_endpoint *out);

/* One side of a rewrite. */
struct endpoint_side {
	enum object_kind kind;
	const struct inet_pattern *inet; /* of OBJECT_INET */
};

/*
 * Why a socket cannot be led from what FROM says to what TO says for OPS: a connect of a stream can take another socket; bind, send and datagrams
 * stay with the one there is. NULL: it can.
 */
const char *endpoint_cannot_lead(op_set ops, const struct endpoint_side *from, const struct endpoint_side *to);

/* Whether the address, port and protocol are among those of the pattern. */
bool endpoint_matches(const struct inet_pattern *p, const struct inet_endpoint *e);

/* Whether all of NARROW's endpoints are among WIDE's. */
bool endpoint_covers(const struct inet_pattern *wide, const struct inet_pattern *narrow);

/* Clears all but the first PREFIX bits. */
void endpoint_mask(uint8_t addr[16], unsigned prefix);

#endif
