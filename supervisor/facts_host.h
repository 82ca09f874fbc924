/* SPDX-License-Identifier: Apache-2.0 */
/* Names of addresses, for people. */
#ifndef USHER_SUPERVISOR_FACTS_HOST_H
#define USHER_SUPERVISOR_FACTS_HOST_H

#include <stddef.h>

#include "rules/call.h"

/*
 * The names that /etc/hosts has for the address of E, with a word on where they come from, into OUT. Returns the length, 0 when it has none.
 * Nobody else is asked: a question must not make traffic of its own, and a name server may say anything of an address.
 */
size_t fact_host(const struct inet_endpoint *e, char *out, size_t cap);

#endif
