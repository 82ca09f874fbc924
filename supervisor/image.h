/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lineage: the executable a process runs and those of its ancestors as they were
 * when the process was forked. Immutable and counted, so that a reader needs no lock.
 *
 * MUST: an ancestor that replaces its image after the fork does not change what its child descends from.
 */
#ifndef USHER_SUPERVISOR_IMAGE_H
#define USHER_SUPERVISOR_IMAGE_H

#include <stdbool.h>
#include <sys/types.h>

#include "rules/call.h"

/*
 * Ancestors kept. When there are more, those go whose image stands there a second time, so that
 * no image is forgotten; when there is none, the farthest but the first of the tree.
 */
#define LINEAGE_MAX 48

struct lineage;

/*
 * A new lineage for process PID running IMAGE (its exe is copied), whose ancestors are
 * those of PARENT and PARENT itself (NULL: none). Returns 0 or -ENOMEM.
 */
int lineage_fork(const struct image *image, const struct lineage *parent, struct lineage **out);

/* The same process with another image: OLD's ancestors. Returns 0 or -ENOMEM. */
int lineage_exec(const struct image *image, const struct lineage *old, struct lineage **out);

void lineage_put(struct lineage *l); /* safe on NULL */

/* The process's own image and its ancestors; spans live as long as L. */
const struct image *lineage_image(const struct lineage *l);
const struct image *lineage_ancestors(const struct lineage *l, uint32_t *n);

/* Whether one more ancestor would make L's children forget an image. */
bool lineage_full(const struct lineage *l);

/* Whether L's own image is the file DEV, INO. */
bool lineage_runs(const struct lineage *l, uint64_t dev, uint64_t ino);

#endif
