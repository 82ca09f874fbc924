/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the whole tree may use (`limit wall 10m`): measured in /proc ten times a second, not by a control group. At a limit the tree is ended.
 *
 * MUST: the record that names the limit is in the journal before the tree is ended.
 */
#ifndef USHER_SUPERVISOR_LIMITS_H
#define USHER_SUPERVISOR_LIMITS_H

#include "supervisor/session.h"

#define LIMIT_STATUS 124 /* usher's exit status when a limit has ended the tree, as timeout(1) */

struct limits;

/* Starts to measure when a layer has limits; *out is NULL otherwise. 0 or a negative errno. */
int limits_start(struct session *s, struct limits **out);

/* The name of the limit that has ended the tree, NULL while none has. */
const char *limits_reached(struct limits *l);

/* Stops measuring and frees. NULL is fine. */
void limits_stop(struct limits *l);

#endif
