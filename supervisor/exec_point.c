/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a rewritten exec reads in its caller's memory: the other path, and other arguments. The new image is compared with
 * the plan like any other, so that whoever changes them meanwhile gains nothing.
 *
 * MUST: nothing that the caller may still use is overwritten. Below the red zone of a stack there are some hundred bytes at least (Go's
 * stacks are that small); what needs more lies in a mapping of its own.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "rules/cleanup.h"
#include "supervisor/exec_plan.h"
#include "supervisor/exec_trace.h"
#include "supervisor/memory.h"
#include "supervisor/session.h"

#define BELOW_STACK 512

/* The path, then the vector, then its strings, as they will lie at AT. */
struct block {
	size_t len, vector, strings;
	struct span front, rest; /* of the strings */
	char *bytes;
};

static bool own_vector(const struct exec_plan *p)
{
	return p->edited || p->start;
}

static uint32_t count_strings(struct span all)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < all.len; i++)
		n += !all.bytes[i];
	return n;
}

static void block_measure(struct job *j, struct block *b)
{
	const struct exec_plan *p = plan_of(j);

	b->vector = (j->target[p->start].name.len + 1 + 7) & ~(size_t)7;
	b->front = p->start ? plan_start_front(p) : (struct span){ NULL, 0 };
	b->rest = p->start ? plan_given(p) : plan_raw(p);
	uint32_t count = count_strings(b->front) + count_strings(b->rest);
	b->strings = b->vector + (own_vector(p) ? (count + 1) * sizeof(uint64_t) : 0);
	b->len = (b->strings + (own_vector(p) ? b->front.len + b->rest.len : 0) + 15) & ~(size_t)15;
}

static int block_fill(struct job *j, struct block *b, uint64_t at)
{
	const struct exec_plan *p = plan_of(j);
	struct span path = job_span(j, j->target[p->start].name);

	b->bytes = calloc(1, b->len);
	if (!b->bytes)
		return -ENOMEM;
	memcpy(b->bytes, path.bytes, path.len);
	if (!own_vector(p))
		return 0;
	char *strings = b->bytes + b->strings, *pointers = b->bytes + b->vector;
	if (b->front.len)
		memcpy(strings, b->front.bytes, b->front.len);
	memcpy(strings + b->front.len, b->rest.bytes, b->rest.len);
	for (const char *s = strings; s < strings + b->front.len + b->rest.len; s += strlen(s) + 1) {
		uint64_t pointer = at + (uint64_t)(s - b->bytes);

		memcpy(pointers, &pointer, sizeof(pointer));
		pointers += sizeof(pointer);
	}
	return 0;
}

/* Where it may lie; *mapped tells that the caller has made another call for it. */
static int find_room(pid_t *tid, const exec_regs *regs, size_t len, uint64_t *at, bool *mapped, int *sig)
{
	*mapped = len > BELOW_STACK;
	if (*sig)
		return -EINTR; /* first its handler, whose frame would lie there */
	if (*mapped)
		return trace_map(tid, len, at, sig);
	*at = (REGS_SP(regs) - REGS_RED_ZONE - len) & ~(uint64_t)15;
	return 0;
}

int exec_point(struct job *j, pid_t *tid, int *sig)
{
	struct block b = { 0 };
	exec_regs before, regs;
	uint64_t at;
	bool mapped;
	int err = trace_regs(*tid, &before);

	if (err)
		return err;
	if (REGS_RESULT(&before) != TRACE_RESTART)
		return -EINTR;
	regs = before;
	block_measure(j, &b);
	err = find_room(tid, &regs, b.len, &at, &mapped, sig);
	if (!err)
		err = block_fill(j, &b, at);
	CLEANUP_FREE char *bytes = b.bytes;
	if (!err)
		err = trace_write(*tid, at, bytes, b.len);
	if (err && mapped && err != -ESRCH && err != -EINTR)
		(void)trace_set_regs(*tid, &before);
	if (err)
		return err;
	regs_exec_path(&regs, at, exec_is_at(j));
	if (own_vector(plan_of(j)))
		regs_exec_argv(&regs, at + b.vector, exec_is_at(j));
	plan_of(j)->mapped = mapped;
	if (mapped)
		regs_again(&regs, j->notif.data.nr);
	return trace_set_regs(*tid, &regs);
}
