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

int former_name(struct job *j, struct target *t, const struct stat *st)
{
	const struct former *f = atomic_load(&j->session->former);
	char names[2][PATH_MAX];
	struct span now = job_span(j, t->name), name = now, was;
	unsigned i = 0;

	if (!(t->ops & OPS_ITSELF))
		return 0;
	if (atomic_load(&j->session->former_lost))
		return resolve_guarded(j);
	for (; f; f = f->older) {
		struct span to = to_of(f);
		if (!name_below(name.bytes, name.len, to.bytes, to.len))
			continue;
		if (!before(f, name, names[i], &was))
			return resolve_guarded(j);
		if (gains(j, was, now, st) & t->ops & OPS_ITSELF) {
			t->name = job_copy(j, was.bytes, was.len);
			return t->name.off ? 0 : -ENOMEM;
		}
		name = was;
		i = !i;
	}
	return 0;
}
