/* SPDX-License-Identifier: Apache-2.0 */
/* Where exec rules could lead: the directories (and files) that the command must be able to execute from by itself. */
#ifndef USHER_SUPERVISOR_FLOOR_PLAN_H
#define USHER_SUPERVISOR_FLOOR_PLAN_H

#include <stddef.h>

struct policy;

struct floor_plan {
	char *text; /* absolute names, each with its NUL */
	size_t size;
};

/*
 * MUST: errs towards more. Where the rules leave programs open to question everywhere, the plan is "/". Returns
 * 0 or -ENOMEM. Release with floor_plan_done().
 */
int floor_plan_make(const struct policy *policy, struct floor_plan *out);
/* The name after PREVIOUS (NULL: the first), or NULL at the end. */
const char *floor_plan_next(const struct floor_plan *plan, const char *previous);
void floor_plan_done(struct floor_plan *plan);

#endif
