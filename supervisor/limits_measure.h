/* SPDX-License-Identifier: Apache-2.0 */
/* What the processes of the tree use, as /proc tells it. */
#ifndef USHER_SUPERVISOR_LIMITS_MEASURE_H
#define USHER_SUPERVISOR_LIMITS_MEASURE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct process;

/* Memory of the measuring thread's own, reused from one look to the next; zero before the first. */
struct census {
	struct process *all;
	size_t n, room;
};

struct usage {
	uint64_t cpu_ms;    /* of the living and of those that somebody of the tree or the guardian has waited for */
	uint64_t bytes;     /* resident; pages that processes share count for each */
	uint64_t processes;
};

/* Measures all that lives below GUARDIAN. Returns 0 or a negative errno. */
int census_take(struct census *c, pid_t guardian, struct usage *out);

void census_free(struct census *c);

#endif
