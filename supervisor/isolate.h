/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An empty network namespace for the command, with loopback up, on top of the refusal: for root where no rule can ever
 * allow the network. An ordinary user's needs a user namespace, in which the files of all others seem to belong to nobody: made only on request.
 *
 * MUST: what was prepared is entered, or the command does not start.
 */
#ifndef USHER_SUPERVISOR_ISOLATE_H
#define USHER_SUPERVISOR_ISOLATE_H

#include <stdbool.h>

#include "supervisor/user_map.h"

struct policy;

struct isolation {
	int net;   /* descriptor of a namespace that is ready, -1: none */
	bool user; /* the child makes one itself, in a user namespace */
	struct user_map map;
};

/*
 * Prepares what MODE ("auto", "none", or a list as in spaces.h; NULL: auto) and the rules ask for. In the parent, before the fork. Returns 0 (also when auto
 * finds nothing to do or no way to do it), or a negative errno. Release with isolate_done().
 */
int isolate_prepare(const char *mode, const struct policy *policy, struct isolation *out);
void isolate_done(struct isolation *i);

/* In the child, while it has one thread and usher's privileges. Returns 0 or a negative errno. */
int isolate_enter(const struct isolation *i);

/* In force, for the start record: "net", "net, user", or NULL. */
const char *isolate_describe(const struct isolation *i);

#endif
