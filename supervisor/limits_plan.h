/* SPDX-License-Identifier: Apache-2.0 */
/* What the rules limit, and by what means it is held here. */
#ifndef USHER_SUPERVISOR_LIMITS_PLAN_H
#define USHER_SUPERVISOR_LIMITS_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "rules/ruleset.h"

struct cgroup;
struct policy;

/* The smallest of all layers; 0: none (milliseconds, bytes, processes, descriptors). Returns whether there is any. */
bool limits_collect(const struct policy *policy, uint64_t limit[LIMIT_KINDS]);

/* Makes the control group that these limits ask for, where one can be had: without one /proc has to do. */
void limits_group(const uint64_t limit[LIMIT_KINDS], struct cgroup *out);

/* Processes and threads that the control group may have; 0: any number. */
uint64_t limits_tasks(const uint64_t limit[LIMIT_KINDS]);

/* "cgroup", "rlimit" or "measurement". */
const char *limits_means(enum limit_kind kind, const struct cgroup *g);

#endif
