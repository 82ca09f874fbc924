/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names that go up out of a directory that is only where a rule leads: "there/../c", as programs say that look for their files beside their own.
 *
 * MUST: such a directory is one by the rules alone, for what the call asks: what they would deny or ask about is none. Nothing is opened here; the
 * name that comes out is looked up and decided on like any other.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include "policy/policy.h"
#include "rules/cleanup.h"
#include "rules/ruleset.h"
#include "supervisor/resolve_internal.h"
#include "supervisor/resolve_name.h"
#include "supervisor/session.h"

/* Where a rule leads T if that were called NAME. 0 or a negative errno. */
static int led(struct job *j, const struct target *t, struct text name, struct text *out)
{
	char to[PATH_MAX];
	struct call call;
	struct verdict v = { 0 };
	struct object goal = { 0 };
	size_t len;

	job_call_alone(j, (uint32_t)(t - j->target), &call);
	struct object *o = &call.object[0];
	o->name = job_span(j, name);
	o->named = (struct span){ NULL, 0 };
	o->identified = false;
	o->kind = t->ops & OPS_NET ? OBJECT_UNIX : OBJECT_FILE;
	if (o->kind == OBJECT_UNIX)
		o->inet.proto = PROTO_UNIX;
	policy_decide(j->session->policy, &call, &v);
	if (v.kind != VERDICT_REWRITE)
		return -ENOENT;
	int rc = rule_rewrite(v.rule, o, to, &len, &goal);
	if (rc < 0)
		return rc;
	if (goal.kind == OBJECT_INET || !len || to[0] != '/')
		return -ENOENT;
	*out = job_copy(j, to, len);
	return out->off ? 0 : -ENOMEM;
}

/* The name of the directory that a rule leads T to by the name THERE, and whether the rule itself says it: no link leads on. LINKS: 0, or LOOK_NO_LINKS. 0 or a negative errno. */
static int led_directory(struct job *j, const struct target *t, struct text there, unsigned links, struct text *name, bool *said)
{
	struct target dir = { .fd = -1, .dir = -1, .ops = OP_STAT };
	struct text to;

	int rc = led(j, t, there, &to);
	if (rc == 0)
		rc = look_named(j, to, LOOK_DIRECTORY | links, &dir);
	/* To go up takes the right to search it. */
	int self CLEANUP_FD = rc == 0 ? look_open(j, dir.fd, ".", O_PATH | O_DIRECTORY, RESOLVE_NO_SYMLINKS) : -1;
	if (rc == 0 && self < 0)
		rc = self;
	cleanup_fd(&dir.fd);
	cleanup_fd(&dir.dir);
	*name = dir.name;
	*said = rc == 0 && span_equal(job_span(j, dir.name), job_span(j, to));
	return rc;
}

/* The directory that the canonical NAME lies in. */
static struct text parent(struct job *j, struct text name)
{
	struct split sp;

	name_split(job_text(j, name), name.len, &sp);
	return job_copy(j, job_text(j, name), sp.dir);
}

int resolve_led_above(struct job *j, const struct target *t)
{
	struct text above = parent(j, t->name), name;
	bool said;

	return above.off ? led_directory(j, t, above, 0, &name, &said) : -ENOMEM;
}

int resolve_up(struct job *j, struct target *t, struct text there, struct text rest, unsigned flags)
{
	struct text real;
	bool said;

	int rc = led_directory(j, t, there, flags & LOOK_NO_LINKS, &real, &said);
	if (rc < 0)
		return rc;
	/* No entry is meant by "..": the kernel refuses it, where the rule leads as anywhere. */
	bool up_itself = (flags & LOOK_PARENT) && !name_without_ending(job_text(j, rest), rest.len);
	struct text from = said && !up_itself ? parent(j, there) : join_name(j, real, "..", 2);
	t->up = from.off ? join_name(j, from, job_text(j, rest), rest.len) : from;
	return t->up.off ? -ENOENT : -ENOMEM;
}
