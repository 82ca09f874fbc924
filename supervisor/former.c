/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MUST: a move is in the list before it has effect, so that whoever reads a name that it gave finds it there; what is in the list stays as it is.
 */
#include "supervisor/former.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "supervisor/gains.h"
#include "supervisor/resolve_internal.h"
#include "supervisor/resolve_name.h"
#include "supervisor/session.h"

#define ROOM ((size_t)16 << 20)
#define NAMES 64 /* that one file may have had */
#define OPS_ITSELF ((op_set)(OP_READ | OP_MODIFY | OP_ATTR | OP_STAT | OP_CONNECT | OP_SEND)) /* what is done to an object, and not to its entry */

struct former {
	const struct former *older;
	uint32_t from;
	uint32_t to;
	char bytes[]; /* both names */
};

static struct span from_of(const struct former *f)
{
	return (struct span){ f->bytes, f->from };
}

static struct span to_of(const struct former *f)
{
	return (struct span){ f->bytes + f->from, f->to };
}

void former_note(struct session *s, struct span from, struct span to)
{
	size_t size = sizeof(struct former) + from.len + to.len;
	struct former *f = s->former_bytes + size <= ROOM ? malloc(size) : NULL;

	if (!f) {
		atomic_store(&s->former_lost, true);
		return;
	}
	s->former_bytes += size;
	f->from = from.len;
	f->to = to.len;
	memcpy(f->bytes, from.bytes, from.len);
	memcpy(f->bytes + from.len, to.bytes, to.len);
	f->older = atomic_load(&s->former);
	atomic_store(&s->former, f);
}

/* The name that NAME was when F->to was F->from, into OUT (PATH_MAX bytes). False: too long. */
static bool before(const struct former *f, struct span name, char *out, struct span *was)
{
	struct span from = from_of(f), to = to_of(f);
	uint32_t rest = name.len - to.len;

	if (from.len + rest > PATH_MAX)
		return false;
	memcpy(out, from.bytes, from.len);
	memcpy(out + from.len, name.bytes + to.len, rest);
	*was = (struct span){ out, from.len + rest };
	return true;
}

/* A move leaves those that others deleted by the new name, with a directory that was removed since, where they are; so does one that fails: each name stays one. */
struct names {
	char *room; /* NAMES times PATH_MAX bytes */
	struct span name[NAMES];
	unsigned n;
};

static bool has(const struct names *all, struct span name)
{
	for (unsigned i = 0; i < all->n; i++) {
		if (span_equal(all->name[i], name))
			return true;
	}
	return false;
}

/* What the names were before F. False: there is no room for them. */
static bool names_before(struct names *all, const struct former *f)
{
	struct span to = to_of(f), was;

	for (unsigned i = 0, n = all->n; i < n; i++) {
		struct span name = all->name[i];
		if (!name_below(name.bytes, name.len, to.bytes, to.len))
			continue;
		if (!all->room && !(all->room = malloc((size_t)NAMES * PATH_MAX)))
			return false;
		if (all->n == NAMES || !before(f, name, all->room + (size_t)all->n * PATH_MAX, &was))
			return false;
		if (!has(all, was))
			all->name[all->n++] = was;
	}
	return true;
}

/* Of ALL, whose first one T has, the name by which the rules allow least of OPS. */
static struct span strictest(struct job *j, const struct names *all, op_set ops, const struct stat *st, bool own)
{
	struct span now = all->name[0], got = now;
	enum verdict_kind kind = gains_decided(j, ops, now, st);

	for (unsigned i = 1; i < all->n; i++) {
		enum verdict_kind there = gains_decided(j, ops, all->name[i], st);
		if (verdict_compare(there, kind) <= 0 || !(gains(j, all->name[i], now, st, own) & ops))
			continue;
		kind = there;
		got = all->name[i];
	}
	return got;
}

static int take_strictest(struct job *j, struct target *t, const struct names *all, const struct stat *st)
{
	if (all->n == 1)
		return 0;
	struct span name = strictest(j, all, t->ops & OPS_ITSELF, st, t->own);
	if (name.bytes == all->name[0].bytes)
		return 0;
	t->name = job_copy(j, name.bytes, name.len);
	return t->name.off ? 0 : -ENOMEM;
}

int former_name(struct job *j, struct target *t, const struct stat *st)
{
	const struct former *f = atomic_load(&j->session->former);
	struct names all = { .name = { job_span(j, t->name) }, .n = 1 };

	if (!(t->ops & OPS_ITSELF))
		return 0;
	if (atomic_load(&j->session->former_lost))
		return resolve_guarded(j);
	while (f && names_before(&all, f))
		f = f->older;
	int rc = f ? resolve_guarded(j) : take_strictest(j, t, &all, st);
	free(all.room);
	return rc;
}
