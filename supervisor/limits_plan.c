/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/limits_plan.h"

#include "policy/policy.h"
#include "supervisor/cgroup.h"

/* Threads are not counted as processes, but there is an end to them where the kernel counts. */
#define TASKS_EACH 16
#define TASKS_MORE 4096

bool limits_collect(const struct policy *policy, uint64_t limit[LIMIT_KINDS])
{
	const struct ruleset *layer;
	bool any = false;

	for (size_t i = 0; (layer = policy_layer(policy, i)); i++) {
		for (int k = 0; k < LIMIT_KINDS; k++) {
			uint64_t v = ruleset_limit(layer, (enum limit_kind)k);
			if (v && (!limit[k] || v < limit[k]))
				limit[k] = v;
			any |= v != 0;
		}
	}
	return any;
}

void limits_group(const uint64_t limit[LIMIT_KINDS], struct cgroup *out)
{
	const struct cgroup_wants wants = { .memory = limit[LIMIT_MEMORY], .tasks = limits_tasks(limit) };

	*out = (struct cgroup){ .dir = -1, .procs = -1 };
	if (limit[LIMIT_CPU] || wants.memory || wants.tasks)
		(void)cgroup_make(&wants, out);
}

uint64_t limits_tasks(const uint64_t limit[LIMIT_KINDS])
{
	uint64_t n = limit[LIMIT_PROCESSES];

	return n ? (n < UINT32_MAX ? n * TASKS_EACH : n) + TASKS_MORE : 0;
}

const char *limits_means(enum limit_kind kind, const struct cgroup *g)
{
	if (kind == LIMIT_FILES || kind == LIMIT_FILESIZE)
		return "rlimit";
	if ((kind == LIMIT_CPU && g->dir >= 0) || (kind == LIMIT_MEMORY && g->memory))
		return "cgroup";
	return "measurement";
}
