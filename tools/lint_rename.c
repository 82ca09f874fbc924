// SPDX-License-Identifier: Apache-2.0
/*
 * A rename of a directory is refused where what lies below would gain reading, modifying, deleting or attributes. Running is not
 * among these: whoever may read a program may run a copy. A refusal to run that such a rename leads around is told of.
 *
 * MUST: asks the evaluator, and only tells of what it would let happen.
 */
#include <stdio.h>
#include <string.h>

#include "tools/rule_files.h"

/* All layers of one name, for one operation, as an ordinary caller. */
static enum verdict_kind decide(const struct check *c, const char *name, size_t len, op_set op, const struct rule **rule)
{
	struct call call = { .syscall = "query", .n_objects = 1, .by.image.exe = SPAN_LITERAL("/") };
	struct verdict all = { .kind = VERDICT_NONE };
	call.object[0] = (struct object){ .kind = OBJECT_FILE, .ops = op, .name = { name, (uint32_t)len } };
	for (size_t i = 0; i < c->n_files; i++) {
		struct verdict v;
		ruleset_decide(c->layer[i], &call, &v);
		if (verdict_compare(v.kind, all.kind) > 0)
			all = v;
	}
	*rule = all.rule;
	return all.kind == VERDICT_NONE ? VERDICT_DENY : all.kind;
}

static bool allows(const struct check *c, const char *name, size_t len, op_set op)
{
	const struct rule *unused;
	return decide(c, name, len, op, &unused) == VERDICT_ALLOW;
}

/* Whether the rename is refused because something below would gain by it. */
static bool gains(const struct check *c, const char *from, size_t from_len, const char *to, size_t to_len)
{
	static const op_set seen_to[] = { OP_READ, OP_MODIFY, OP_DELETE, OP_ATTR };
	for (size_t i = 0; i < sizeof(seen_to) / sizeof(seen_to[0]); i++) {
		const struct rule *unused;
		enum verdict_kind before = decide(c, from, from_len, seen_to[i], &unused);
		enum verdict_kind after = decide(c, to, to_len, seen_to[i], &unused);
		if (before != VERDICT_ALLOW && verdict_compare(before, after) > 0)
			return true;
	}
	return false;
}

/* INSIDE lies below its first DIR bytes, which a rename would change. */
static bool leads_around(const struct check *c, const char *inside, size_t len, size_t dir)
{
	char to[PATH_MAX];
	int n = snprintf(to, sizeof(to), "%.*s~%s", (int)dir, inside, inside + dir);
	if (n <= 0 || (size_t)n >= sizeof(to) || !allows(c, inside, dir, OP_DELETE) || !allows(c, to, dir + 1, OP_CREATE))
		return false;
	return allows(c, to, (size_t)n, OP_EXEC) && !gains(c, inside, len, to, (size_t)n);
}

bool check_renames(const struct check *c, const struct rule *rule, uint32_t *column, char *out, size_t cap)
{
	struct rule_pattern p;
	const struct rule *by;
	char inside[PATH_MAX];
	if (rule->kind != VERDICT_DENY || !(rule->ops & OP_EXEC) || rule_conditional(rule))
		return false;
	for (uint32_t i = 0; rule_pattern(rule, i, &p); i++) {
		if (p.kind != OBJECT_FILE || !p.tree || p.prefix_len < 2 || p.prefix_len + 3 > sizeof(inside))
			continue;
		size_t len = (size_t)snprintf(inside, sizeof(inside), "%.*s/x", (int)p.prefix_len, p.prefix);
		if (decide(c, inside, len, OP_EXEC, &by) != VERDICT_DENY || by != rule)
			continue;
		for (size_t dir = p.prefix_len; dir > 1; dir--) {
			if (inside[dir] != '/' || !leads_around(c, inside, len, dir))
				continue;
			*column = p.column;
			snprintf(out, cap, "the rules let %.*s be renamed, and what lies below be run then; deny delete of it as well",
				 (int)(dir < 200 ? dir : 200), inside);
			return true;
		}
	}
	return false;
}
