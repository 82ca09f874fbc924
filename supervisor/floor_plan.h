/* SPDX-License-Identifier: Apache-2.0 */
/* Where exec rules could lead: the directories (and files) that the command must be able to execute from by itself. */
#ifndef USHER_SUPERVISOR_FLOOR_PLAN_H
#define USHER_SUPERVISOR_FLOOR_PLAN_H

#include <stddef.h>

struct policy;

struct floor_plan {
	char **names; /* absolute */
	size_t count;
	size_t room;
};

/*
 * MUST: errs towards more. Where the rules leave programs open to question everywhere, the plan is "/". Returns
 * 0 or -ENOMEM. Release with floor_plan_done().
 */
int floor_plan_make(const struct policy *policy, struct floor_plan *out);
void floor_plan_done(struct floor_plan *plan);

#endif
