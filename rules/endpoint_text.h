/* SPDX-License-Identifier: Apache-2.0 */
#ifndef USHER_RULES_ENDPOINT_TEXT_H
#define USHER_RULES_ENDPOINT_TEXT_H

#include <stddef.h>

#include "rules/call.h"

/* The longest: "proto:[v6%scope]:port". */
#define ENDPOINT_TEXT_MAX 96

/* An endpoint as rules write it: "tcp:10.0.0.1:80", "udp:[fe80::1%2]:53". Returns the length; always terminated. */
size_t endpoint_text(const struct inet_endpoint *e, char out[ENDPOINT_TEXT_MAX]);

#endif
