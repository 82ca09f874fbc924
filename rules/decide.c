// SPDX-License-Identifier: Apache-2.0
/*
 * The decision of one layer.
 *
 * MUST: for each operation the lowest rule that names it, whose pattern or pin matches the
 * object and whose conditions hold (where a firm refusal of an address matches, only rules that name that very
 * address, wherever they stand, and refusals count beside it); no allocation, no lock; where the index has no room
 * every rule is asked in turn, with the same result.
 */
#include <errno.h>
#include <string.h>

#include "rules/index.h"
#include "rules/socket_kinds.h"

#define NO_RULE UINT32_MAX

struct decision {
	const struct ruleset *rs;
	const struct call *call;
	const struct object *object;
	uint32_t best[OP_COUNT];
	uint32_t firm[OP_COUNT]; /* the first firm rule; these are not among the best */
	uint32_t held[OP_COUNT]; /* the first of the others that a firm one leaves standing: it refuses, or names the very address */
	op_set literal;  /* operations for which a rule that is not firm names the very address */
	uint32_t bound;  /* a rule from here on cannot be the first for any operation */
	unsigned known;  /* conditions (enum fork_by) that hold of every rule behind the present fork */
	bool full;       /* behind some fork the walk had no room */
};

static void set_bound(struct decision *d)
{
	d->bound = 0;
	for (op_set left = d->object->ops; left; left &= (op_set)(left - 1)) {
		uint32_t best = d->best[__builtin_ctz(left)];
		if (best > d->bound)
			d->bound = best;
	}
}

/* RULE speaks of the object for OPS, conditions aside. */
static void consider_ops(struct decision *d, uint32_t number, op_set ops)
{
	const struct compiled_rule *rule = &d->rs->rule[number];
	op_set better = 0;
	for (op_set left = ops & d->object->ops; left; left &= (op_set)(left - 1)) {
		unsigned bit = (unsigned)__builtin_ctz(left);
		if (number < d->best[bit])
			better |= (op_set)(1U << bit);
	}
	if (!better || !conditions_hold(rule->when, d->call, d->object, d->known))
		return;
	for (op_set left = better; left; left &= (op_set)(left - 1))
		d->best[__builtin_ctz(left)] = number;
	set_bound(d);
}

/* RULE matches the object for OPS, conditions aside. */
static void consider(struct decision *d, uint32_t number, op_set ops)
{
	consider_ops(d, number, d->rs->rule[number].pub.ops & ops);
}

static void lower(uint32_t first[OP_COUNT], op_set ops, uint32_t number)
{
	for (; ops; ops &= (op_set)(ops - 1)) {
		uint32_t *at = &first[__builtin_ctz(ops)];
		*at = number < *at ? number : *at;
	}
}

/* As consider(), where firm rules are: every rule that matches counts, not the first alone. */
static void consider_firmly(struct decision *d, uint32_t number, const struct pattern *p)
{
	const struct compiled_rule *rule = &d->rs->rule[number];
	op_set ops = rule->pub.ops & d->object->ops;
	if (!ops || !conditions_hold(rule->when, d->call, d->object, d->known))
		return;
	if (rule->pub.firm) {
		lower(d->firm, ops, number);
		return;
	}
	bool literal = p->inet.prefix == 128;
	d->literal |= literal ? ops : 0;
	if (literal || rule->pub.kind == VERDICT_DENY || rule->pub.kind == VERDICT_KILL)
		lower(d->held, ops, number);
	consider(d, number, ops);
}

/* What opens without naming the address is as if it were not there. */
static void settle_firm(struct decision *d)
{
	for (unsigned bit = 0; bit < OP_COUNT; bit++) {
		if (d->firm[bit] != NO_RULE)
			d->best[bit] = d->literal >> bit & 1 || d->held[bit] < d->firm[bit] ? d->held[bit] : d->firm[bit];
	}
}

/* A bare globstar speaks of what has no name, but of running it, which takes a rule of its own, and of looking at it: nothing is hidden by that. */
static op_set on_nameless(const struct decision *d, const struct term *t)
{
	if (d->object->kind != OBJECT_MEMFD || d->rs->rule[t->rule].pattern[t->pattern].kind == OBJECT_MEMFD)
		return (op_set)~0U;
	return (op_set)~(unsigned)OPS_NAMED;
}

static void seen(void *context, const struct term *t);

static void ask_name(struct decision *d, uint32_t fork, struct span name)
{
	d->full |= !index_walk_fork(d->rs, fork, name.bytes, name.len, seen, d);
}

static void ask_image(struct decision *d, uint32_t fork, const struct image *image)
{
	struct span name;
	if (image_name(image, &name))
		ask_name(d, fork, name);
}

static bool same_image(const struct image *a, const struct image *b)
{
	return a->exe.len == b->exe.len && a->exe.bytes && b->exe.bytes && memcmp(a->exe.bytes, b->exe.bytes, a->exe.len) == 0;
}

static void ask_tree(struct decision *d, uint32_t fork)
{
	const struct subject *by = &d->call->by;
	const struct image *before = &by->image;
	ask_image(d, fork, before);
	for (uint32_t i = 0; by->ancestors && i < by->n_ancestors; i++) {
		/* A shell below a shell: once is enough. */
		if (!same_image(before, &by->ancestors[i]))
			ask_image(d, fork, &by->ancestors[i]);
		before = &by->ancestors[i];
	}
}

static void take_fork(struct decision *d, const struct term *t)
{
	unsigned before = d->known;
	d->known |= t->by;
	if (t->by == FORK_BY)
		ask_image(d, t->fork, &d->call->by.image);
	else if (t->by == FORK_TREE)
		ask_tree(d, t->fork);
	else if (d->object->sha256.bytes)
		ask_name(d, t->fork, d->object->sha256);
	d->known = before;
}

static void seen(void *context, const struct term *t)
{
	struct decision *d = context;
	bool inet = d->object->kind == OBJECT_INET, firm = inet && d->rs->firm;
	for (;; t = &d->rs->index.term[t->next]) {
		const struct pattern *p = &d->rs->rule[t->rule].pattern[t->pattern];
		if (t->rule >= d->bound && !firm)
			return;
		if (t->fork)
			take_fork(d, t);
		else if (firm && pattern_matches(p, d->object, 0))
			consider_firmly(d, t->rule, p);
		else if (!firm && (!inet || pattern_matches(p, d->object, 0)))
			consider(d, t->rule, on_nameless(d, t));
		if (!t->next)
			return;
	}
}

bool ruleset_pins_object(const struct ruleset *rs, uint64_t dev, uint64_t ino)
{
	uint64_t key = slot_key(0, SLOT_PIN, 0, pin_hash(dev, ino));
	uint32_t at = (uint32_t)key;
	const struct slot *s;
	while ((s = slots_from(&rs->index.pins, key, &at))) {
		if (rs->pin[s->value].dev == dev && rs->pin[s->value].ino == ino)
			return true;
	}
	return false;
}

static void ask_pins(struct decision *d)
{
	const struct index *ix = &d->rs->index;
	if (!d->object->identified || !ix->pins.slot)
		return;
	uint64_t key = slot_key(0, SLOT_PIN, 0, pin_hash(d->object->dev, d->object->ino));
	uint32_t at = (uint32_t)key;
	const struct slot *s;
	while ((s = slots_from(&ix->pins, key, &at))) {
		const struct pin *p = &d->rs->pin[s->value];
		if (p->dev == d->object->dev && p->ino == d->object->ino)
			consider_ops(d, p->rule, d->rs->rule[p->rule].pub.ops | pin_parting(p, &d->rs->rule[p->rule], d->object));
	}
}

static void ask_rule(struct decision *d, uint32_t number, const struct pattern *p)
{
	if (d->object->kind == OBJECT_INET && d->rs->firm) {
		if (pattern_matches(p, d->object, 0))
			consider_firmly(d, number, p);
		return;
	}
	for (unsigned bit = 0; bit < OP_COUNT; bit++)
		if (pattern_matches(p, d->object, (op_set)(1U << bit)))
			consider(d, number, (op_set)(1U << bit));
}

static void ask_every_rule(struct decision *d)
{
	for (uint32_t i = 0; i < d->rs->n_rules; i++)
		for (uint32_t p = 0; p < d->rs->rule[i].n_patterns; p++)
			ask_rule(d, i, &d->rs->rule[i].pattern[p]);
}

int refusal_errno(const struct object *o, op_set op)
{
	if (op == OP_SOCKET && o->kind == OBJECT_SOCKET)
		return socket_absent(o);
	return op == OP_STAT ? ENOENT : EACCES;
}

static int refusal(const struct object *o, unsigned bit, const struct rule *rule)
{
	return rule && rule->error ? rule->error : refusal_errno(o, (op_set)(1U << bit));
}

/* Programs without a name (memfd, O_TMPFILE, deleted) run only where a rule names them: a default that allows is silent about them. */
static bool nameless(const struct object *o, unsigned bit)
{
	return 1U << bit == OP_EXEC && o->kind == OBJECT_MEMFD;
}

/*
 * A kind of socket that no rule names. What goes through most of them is decided on by no rule: a layer that does more than
 * allow addresses refuses them, so that they are no way round it. A default that allows gives plain ones alone.
 */
static struct verdict unnamed_socket(const struct ruleset *rs, const struct object *o)
{
	struct verdict v = { .kind = VERDICT_DENY, .error = socket_absent(o), .where = rs->otherwise_where };
	if (rs->restricts)
		v.where = rs->rule[rs->restricts - 1].pub.where;
	else if (rs->otherwise == VERDICT_ALLOW && socket_plain(o->name))
		v.kind = VERDICT_ALLOW;
	else if (rs->otherwise == VERDICT_ALLOW || rs->otherwise == VERDICT_NONE)
		v.kind = VERDICT_NONE;
	if (v.kind == VERDICT_NONE || !v.where)
		v.where = "default";
	return v;
}

static struct verdict by_default(const struct ruleset *rs, const struct object *o, unsigned bit)
{
	if (o->kind == OBJECT_SOCKET)
		return unnamed_socket(rs, o);
	bool speaks = 1U << bit != OP_STAT && rs->otherwise != VERDICT_NONE &&
		      !(rs->otherwise == VERDICT_ALLOW && nameless(o, bit));
	return (struct verdict){ .kind = speaks ? rs->otherwise : VERDICT_NONE, .error = refusal(o, bit, NULL),
				 .unnamed = 1U << bit == OP_STAT,
				 .where = speaks ? rs->otherwise_where : "default" };
}

void ruleset_decide_object(const struct ruleset *rs, const struct call *call, uint32_t object,
			   struct verdict out[OP_COUNT])
{
	struct decision d = { .rs = rs, .call = call, .object = &call->object[object], .bound = NO_RULE };
	for (unsigned bit = 0; bit < OP_COUNT; bit++)
		d.best[bit] = d.firm[bit] = d.held[bit] = NO_RULE;
	if ((d.object->ops & rs->ops) != 0) {
		ask_pins(&d);
		if (!index_walk(rs, d.object, seen, &d) || d.full)
			ask_every_rule(&d);
		if (rs->firm)
			settle_firm(&d);
	}
	for (op_set left = d.object->ops; left; left &= (op_set)(left - 1)) {
		unsigned bit = (unsigned)__builtin_ctz(left);
		if (bit >= OP_COUNT)
			break;
		out[bit] = by_default(rs, d.object, bit);
		if (d.best[bit] != NO_RULE) {
			const struct rule *r = &rs->rule[d.best[bit]].pub;
			out[bit] = (struct verdict){ .kind = r->kind, .error = refusal(d.object, bit, r), .log = r->log,
						     .evidence = r->evidence, .loopback = r->loopback, .rule = r, .where = r->where };
		}
		out[bit].object = object;
	}
}

/* How strict a part is within the whole: what is left open weighs more than what is allowed or rewritten. */
static int weight(const struct verdict *v)
{
	if (v->kind == VERDICT_NONE)
		return v->unnamed ? -1 : 25;
	return verdict_compare(v->kind, VERDICT_NONE) * 10;
}

static bool mixed_rewrite(const struct object *o, const struct verdict each[OP_COUNT])
{
	const struct rule *to = NULL;
	bool straight = false;
	for (op_set left = o->ops & (op_set)~(unsigned)OP_STAT; left; left &= (op_set)(left - 1)) {
		const struct verdict *v = &each[__builtin_ctz(left)];
		if (v->kind != VERDICT_REWRITE) {
			straight = true;
			continue;
		}
		if (to && v->rule != to)
			return true;
		to = v->rule;
	}
	return to && straight;
}

void verdicts_join(struct verdict *into, const struct call *call, uint32_t object, const struct verdict each[OP_COUNT])
{
	const struct object *o = &call->object[object];
	int heaviest = into->where ? weight(into) : -2;
	bool mixed = mixed_rewrite(o, each);
	for (op_set left = o->ops; left; left &= (op_set)(left - 1)) {
		struct verdict v = each[__builtin_ctz(left)];
		if (mixed && v.kind == VERDICT_REWRITE)
			v.kind = VERDICT_DENY;
		if (weight(&v) <= heaviest)
			continue;
		heaviest = weight(&v);
		*into = v;
	}
}

void ruleset_decide(const struct ruleset *rs, const struct call *call, struct verdict *out)
{
	struct verdict each[OP_COUNT];
	*out = (struct verdict){ .kind = VERDICT_NONE, .error = EACCES };
	for (uint32_t i = 0; i < call->n_objects && i < CALL_OBJECTS; i++) {
		ruleset_decide_object(rs, call, i, each);
		verdicts_join(out, call, i, each);
	}
	if (!out->where)
		out->where = "default";
}
