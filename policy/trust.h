/* SPDX-License-Identifier: Apache-2.0 */
/*
 * after=N: how often a person answered an ask in its favour, counted where the rule says: for the program that asked, for each object,
 * or for all. Lock-free; bounded: what finds no place is not counted, and asks on.
 */
#ifndef USHER_POLICY_TRUST_H
#define USHER_POLICY_TRUST_H

#include <stdbool.h>
#include <stdint.h>

#include "rules/call.h"
#include "rules/rule.h"

struct trust;

int trust_new(struct trust **out);
void trust_free(struct trust *t);

/* What RULE (with after=) counts by, for operation BIT on one object of CALL. Of different scopes never the same, but by chance of 2^-64. */
uint64_t trust_key(const struct trust *t, const struct rule *rule, const struct call *call, uint32_t object, unsigned bit);

/* How many answers were counted. */
uint32_t trust_count(const struct trust *t, uint64_t key);

void trust_favour(struct trust *t, uint64_t key);

#endif
