/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lineages share the bytes of names: a build that forks a thousand shells keeps one "/usr/bin/dash".
 *
 * MUST: a lineage holds every name its spans point to, and no other lineage: a chain of daemons that each fork
 * the next one and end does not grow.
 */
#include "supervisor/image.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct name {
	atomic_uint refs;
	uint32_t len;
	char bytes[];
};


struct lineage {
	atomic_uint refs;
	uint32_t n;
	struct name *own;
	struct name **names;  /* of the ancestors */
	struct image image;
	struct image ancestor[];
};

static struct name *name_new(struct span s)
{
	struct name *n = malloc(sizeof(*n) + s.len + 1);

	if (!n)
		return NULL;
	atomic_init(&n->refs, 1);
	n->len = s.len;
	if (s.len)
		memcpy(n->bytes, s.bytes, s.len);
	n->bytes[s.len] = '\0';
	return n;
}

static struct name *name_hold(struct name *n)
{
	atomic_fetch_add_explicit(&n->refs, 1, memory_order_relaxed);
	return n;
}

static void name_put(struct name *n)
{
	if (n && atomic_fetch_sub_explicit(&n->refs, 1, memory_order_acq_rel) == 1)
		free(n);
}

/* The name for IMAGE: shared with LIKE when that is the same file under the same name. */
static struct name *name_for(const struct image *image, const struct lineage *like)
{
	if (like && like->own->len == image->exe.len && !memcmp(like->own->bytes, image->exe.bytes, image->exe.len))
		return name_hold(like->own);
	return name_new(image->exe);
}

static struct lineage *lineage_alloc(uint32_t n)
{
	struct lineage *l = malloc(sizeof(*l) + n * (sizeof(struct image) + sizeof(struct name *)));

	if (!l)
		return NULL;
	atomic_init(&l->refs, 1);
	l->n = n;
	l->names = (struct name **)(void *)(l->ancestor + n);
	return l;
}

static void lineage_own(struct lineage *l, const struct image *image, struct name *own)
{
	l->own = own;
	l->image = *image;
	l->image.exe = (struct span){ own->bytes, own->len };
}

static void lineage_set(struct lineage *l, uint32_t i, const struct image *image, struct name *name)
{
	l->ancestor[i] = *image;
	l->names[i] = name_hold(name);
}

static bool same_file(const struct image *a, const struct image *b)
{
	return a->ino == b->ino && a->dev == b->dev;
}

/*
 * Which ancestor of L goes when there is no room for one more: one whose image stands there again, so that none
 * is lost; else the one before the first of the tree.
 */
static uint32_t expendable(const struct lineage *l, bool *again)
{
	*again = true;
	for (uint32_t i = l->n; i--;) {
		if (same_file(&l->ancestor[i], &l->image))
			return i;
		for (uint32_t k = 0; k < i; k++) {
			if (same_file(&l->ancestor[i], &l->ancestor[k]))
				return i;
		}
	}
	*again = false;
	return l->n > 1 ? l->n - 2 : 0;
}

bool lineage_full(const struct lineage *l)
{
	bool again;

	if (l->n < LINEAGE_MAX)
		return false;
	(void)expendable(l, &again);
	return !again;
}

int lineage_fork(const struct image *image, const struct lineage *parent, struct lineage **out)
{
	uint32_t n = parent ? parent->n + 1 : 0, without = UINT32_MAX;
	bool again;

	if (n > LINEAGE_MAX) {
		n = LINEAGE_MAX;
		without = expendable(parent, &again);
	}
	struct name *own = name_for(image, parent);
	struct lineage *l = own ? lineage_alloc(n) : NULL;
	if (!l) {
		name_put(own);
		return -ENOMEM;
	}
	lineage_own(l, image, own);
	if (n)
		lineage_set(l, 0, &parent->image, parent->own);
	for (uint32_t i = 1; i < n; i++) {
		uint32_t from = i - 1 < without ? i - 1 : i;

		lineage_set(l, i, &parent->ancestor[from], parent->names[from]);
	}
	*out = l;
	return 0;
}

int lineage_exec(const struct image *image, const struct lineage *old, struct lineage **out)
{
	struct name *own = name_for(image, old);
	struct lineage *l = own ? lineage_alloc(old->n) : NULL;

	if (!l) {
		name_put(own);
		return -ENOMEM;
	}
	lineage_own(l, image, own);
	for (uint32_t i = 0; i < old->n; i++)
		lineage_set(l, i, &old->ancestor[i], old->names[i]);
	*out = l;
	return 0;
}

void lineage_put(struct lineage *l)
{
	if (!l || atomic_fetch_sub_explicit(&l->refs, 1, memory_order_acq_rel) != 1)
		return;
	for (uint32_t i = 0; i < l->n; i++)
		name_put(l->names[i]);
	name_put(l->own);
	free(l);
}

const struct image *lineage_image(const struct lineage *l)
{
	return &l->image;
}

const struct image *lineage_ancestors(const struct lineage *l, uint32_t *n)
{
	*n = l->n;
	return l->ancestor;
}

bool lineage_runs(const struct lineage *l, uint64_t dev, uint64_t ino)
{
	return l->image.ino == ino && l->image.dev == dev;
}
