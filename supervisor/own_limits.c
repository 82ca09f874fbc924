/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MUST: the command and what it starts have the limits that usher was started under, soft and hard.
 * MUST: a soft limit that was set for programs (ulimit -S) neither ends usher nor fills its journal.
 */
#include "supervisor/own_limits.h"

#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#define STACK_LEAST (192u * 1024)
#define STACK_WANTED (1024u * 1024)

static const struct own_limit {
	int resource;
	rlim_t enough; /* is not raised beyond that */
	bool last;     /* given back last */
} own[OWN_LIMITS] = {
	[OWN_LIMIT_FILES] = { RLIMIT_NOFILE, RLIM_INFINITY, false }, /* each process of the tree costs one or two */
	{ RLIMIT_STACK, STACK_WANTED, false },
	{ RLIMIT_CPU, RLIM_INFINITY, false },   /* usher's time is that of the whole tree's calls */
	{ RLIMIT_FSIZE, RLIM_INFINITY, false }, /* the journal */
	{ RLIMIT_MEMLOCK, RLIM_INFINITY, false }, /* its keys */
	{ RLIMIT_AS, RLIM_INFINITY, true },
	{ RLIMIT_DATA, RLIM_INFINITY, true },
};

static void raise_one(const struct own_limit *o, struct rlimit *before, bool *raised)
{
	if (getrlimit(o->resource, before) < 0 || before->rlim_cur >= o->enough || before->rlim_cur >= before->rlim_max)
		return;
	struct rlimit more = { before->rlim_max < o->enough ? before->rlim_max : o->enough, before->rlim_max };
	*raised = setrlimit(o->resource, &more) == 0;
}

int own_limits_raise(struct own_limits *l)
{
	struct rlimit now;

	for (size_t i = 0; i < OWN_LIMITS; i++)
		raise_one(&own[i], &l->before[i], &l->raised[i]);
	if (getrlimit(RLIMIT_CPU, &now) == 0 && now.rlim_cur != RLIM_INFINITY)
		fprintf(stderr, "usher: the hard limit on processor time (ulimit -Ht) holds for usher, too: after %llu seconds of its own, for all processes together, the session is killed\n",
			(unsigned long long)now.rlim_cur);
	if (getrlimit(RLIMIT_STACK, &now) == 0 && now.rlim_cur < STACK_LEAST) {
		fprintf(stderr, "usher: a stack of %llu KiB is too little, %u are needed: raise its hard limit (ulimit -Hs)\n",
			(unsigned long long)now.rlim_max / 1024, STACK_LEAST / 1024);
		return -1;
	}
	return 0;
}

/* By the older call: prlimit() is one that the filter may stop. */
static void give_back(const struct own_limits *l, bool last)
{
	for (size_t i = OWN_LIMIT_FILES + 1; i < OWN_LIMITS; i++) {
		if (l->raised[i] && own[i].last == last)
			(void)syscall(SYS_setrlimit, own[i].resource, &l->before[i]);
	}
}

void own_limits_back(const struct own_limits *l)
{
	give_back(l, false);
}

void own_limits_back_last(const struct own_limits *l)
{
	give_back(l, true);
}
