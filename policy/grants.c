/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hash table that only grows: an entry is filled in, then published by one
 * store with release order, and lives until the session ends. A revocation is a flag.
 * So readers need nothing but loads with acquire order.
 */
#include "policy/grants.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "policy/limits.h"
#include "rules/cleanup.h"
#include "rules/ruleset.h"

#define BUCKETS 1024

struct entry {
	struct grant grant;
	_Atomic(struct entry *) next;  /* in its bucket */
	_Atomic(struct entry *) newer; /* in order of birth */
	atomic_bool revoked;
	struct ruleset *rules;         /* a pattern; NULL: none */
	int pidfd;                     /* SCOPE_TREE, else -1 */
	char where[32];
	char who[64];
	char bytes[];                  /* exe, argv0, argv, name */
};

struct grants {
	_Atomic(struct entry *) bucket[BUCKETS + 1]; /* the last has the patterns */
	_Atomic(struct entry *) oldest;
	atomic_size_t count;
	pthread_mutex_t lock; /* writers only */
	struct entry *newest;
};

int grants_new(struct grants **out)
{
	struct grants *g = calloc(1, sizeof(*g));
	if (!g)
		return -ENOMEM;
	pthread_mutex_init(&g->lock, NULL);
	*out = g;
	return 0;
}

static void entry_free(struct entry *e)
{
	cleanup_fd(&e->pidfd);
	if (e->rules)
		ruleset_free(e->rules);
	free(e);
}

void grants_free(struct grants *g)
{
	if (!g)
		return;
	struct entry *e = atomic_load(&g->oldest);
	while (e) {
		struct entry *newer = atomic_load(&e->newer);
		entry_free(e);
		e = newer;
	}
	pthread_mutex_destroy(&g->lock);
	free(g);
}

static uint64_t mix(uint64_t h, const void *bytes, size_t len)
{
	const unsigned char *p = bytes;
	for (size_t i = 0; i < len; i++)
		h = (h ^ p[i]) * 0x100000001b3ull;
	return (h ^ len) * 0x9e3779b97f4a7c15ull;
}

/* The bucket of an object (or a directory, the first LEN bytes of its name) as used by EXE. */
static size_t bucket_of(const struct object *o, uint32_t len, struct span exe)
{
	uint64_t h = mix(0xcbf29ce484222325ull, exe.bytes, exe.len);
	h = mix(h + o->kind, o->name.bytes, len);
	if (o->kind == OBJECT_INET)
		h = mix(h + o->inet.port, o->inet.addr, sizeof(o->inet.addr));
	return (h ^ (h >> 32)) % BUCKETS;
}

static bool inet_equal(const struct inet_endpoint *a, const struct inet_endpoint *b)
{
	return a->port == b->port && a->scope == b->scope && a->proto == b->proto &&
	       memcmp(a->addr, b->addr, sizeof(a->addr)) == 0;
}

static bool object_equal(const struct grant *g, const struct object *o)
{
	if (g->object.kind != o->kind)
		return false;
	if (o->kind == OBJECT_INET)
		return inet_equal(&g->object.inet, &o->inet);
	return span_equal(g->object.name, o->name);
}

/* DIR is the whole of NAME, or NAME goes on with a slash behind it. */
bool grants_below(struct span dir, struct span name)
{
	if (dir.len == 0 || dir.len > name.len || memcmp(dir.bytes, name.bytes, dir.len) != 0)
		return false;
	return dir.len == name.len || name.bytes[dir.len] == '/' || (dir.len == 1 && dir.bytes[0] == '/');
}

static bool process_gone(int pidfd)
{
	struct pollfd p = { .fd = pidfd, .events = POLLIN };
	return poll(&p, 1, 0) != 0;
}

static bool in_tree(const struct subject *by, pid_t first)
{
	if (by->pid == first)
		return true;
	for (uint32_t i = 0; i < by->n_ancestors; i++) {
		if (by->ancestors[i].pid == first)
			return true;
	}
	return false;
}

static bool entry_live(const struct entry *e)
{
	if (atomic_load_explicit(&e->revoked, memory_order_acquire))
		return false;
	if (e->grant.until_ns && clock_now_ns() >= e->grant.until_ns)
		return false;
	return e->pidfd < 0 || !process_gone(e->pidfd);
}

/* What a grant is looked for to answer: OP on one object of CALL, for any rule or ONLY this. */
struct sought {
	const struct call *call;
	const struct object *object;
	op_set op;
	const struct rule *only;
};

static bool pattern_covers(const struct entry *e, const struct sought *s)
{
	struct verdict v[OP_COUNT];
	ruleset_decide_object(e->rules, s->call, (uint32_t)(s->object - s->call->object), v);
	return v[__builtin_ctz(s->op)].kind == e->grant.kind;
}

static bool entry_covers(const struct entry *e, const struct sought *s)
{
	const struct grant *g = &e->grant;
	const struct call *call = s->call;
	const struct object *o = s->object;
	if (g->only != s->only)
		return false;
	if (e->rules && !pattern_covers(e, s))
		return false;
	if ((g->ops & s->op) != s->op || !span_equal(g->exe, call->by.image.exe))
		return false;
	if (e->rules)
		return (g->scope != SCOPE_TREE || in_tree(&call->by, g->tree)) && entry_live(e);
	if (g->below ? o->kind != OBJECT_FILE || !grants_below(g->object.name, o->name) : !object_equal(g, o))
		return false;
	if ((s->op & OP_EXEC) && (!span_equal(g->argv, call_argv(call, o)) || (!g->below && !span_equal(g->argv0, call->argv0))))
		return false;
	if (g->scope == SCOPE_TREE && !in_tree(&call->by, g->tree))
		return false;
	return entry_live(e);
}

/* The strictest that covers: of an allow and a deny for the same thing, the deny. */
static const struct entry *bucket_find(const struct grants *g, size_t bucket, const struct sought *s)
{
	const struct entry *best = NULL;
	const struct entry *e = atomic_load_explicit(&g->bucket[bucket], memory_order_acquire);
	for (; e; e = atomic_load_explicit(&e->next, memory_order_acquire)) {
		if (best && verdict_compare(e->grant.kind, best->grant.kind) <= 0)
			continue;
		if (entry_covers(e, s))
			best = e;
	}
	return best;
}

const struct grant *grants_find(const struct grants *g, const struct call *call, uint32_t object, op_set op, const struct rule *only)
{
	if (atomic_load_explicit(&g->count, memory_order_acquire) == 0)
		return NULL;
	const struct object *o = &call->object[object];
	const struct sought s = { .call = call, .object = o, .op = op, .only = only };
	struct span exe = call->by.image.exe;
	const struct entry *best = bucket_find(g, bucket_of(o, o->name.len, exe), &s);
	const struct entry *wide = bucket_find(g, BUCKETS, &s);
	if (wide && (!best || verdict_compare(wide->grant.kind, best->grant.kind) > 0))
		best = wide;
	for (uint32_t len = o->name.len; o->kind == OBJECT_FILE && len > 0; len--) {
		if (o->name.bytes[len - 1] != '/')
			continue;
		const struct entry *e = bucket_find(g, bucket_of(o, len > 1 ? len - 1 : 1, exe), &s);
		if (e && (!best || verdict_compare(e->grant.kind, best->grant.kind) > 0))
			best = e;
	}
	return best ? &best->grant : NULL;
}

static struct span keep(char **at, struct span s)
{
	if (!s.bytes)
		return (struct span){ NULL, 0 };
	memcpy(*at, s.bytes, s.len);
	struct span kept = { *at, s.len };
	*at += s.len;
	return kept;
}

/* The end of the grant: an instant, or the end of a process. */
static int entry_end(struct entry *e, const struct grant_request *r)
{
	if (r->scope == SCOPE_TIME)
		e->grant.until_ns = clock_now_ns() + r->seconds * 1000000000ull;
	if (r->scope != SCOPE_TREE)
		return 0;
	e->grant.tree = r->call->by.pid;
	e->pidfd = (int)syscall(SYS_pidfd_open, e->grant.tree, 0);
	return e->pidfd < 0 ? -errno : 0;
}

static int entry_new(const struct grant_request *r, struct entry **out)
{
	const struct object *o = &r->call->object[r->object];
	struct span name = r->directory.bytes ? r->directory : o->name;
	if (r->rules)
		name = (struct span){ r->pattern, (uint32_t)strlen(r->pattern) };
	struct span argv = (r->ops & OP_EXEC) ? call_argv(r->call, o) : (struct span){ NULL, 0 };
	struct span argv0 = (r->ops & OP_EXEC) && !r->rules && !r->directory.bytes ? r->call->argv0 : (struct span){ NULL, 0 };
	struct span exe = r->call->by.image.exe;
	struct entry *e = calloc(1, sizeof(*e) + exe.len + argv0.len + argv.len + name.len);
	if (!e)
		return -ENOMEM;
	char *at = e->bytes;
	e->pidfd = -1;
	e->grant = (struct grant){ .kind = r->kind, .scope = r->scope, .below = r->directory.bytes != NULL, .pattern = r->rules != NULL,
				   .ops = r->ops, .only = r->only, .exe = keep(&at, exe), .argv0 = keep(&at, argv0), .argv = keep(&at, argv),
				   .object = { .kind = o->kind, .ops = r->ops, .inet = o->inet } };
	e->grant.object.name = keep(&at, name);
	e->grant.where = e->where;
	e->grant.who = e->who;
	snprintf(e->who, sizeof(e->who), "%s", r->who ? r->who : "");
	int rc = entry_end(e, r);
	if (rc < 0) {
		entry_free(e);
		return rc;
	}
	*out = e;
	return 0;
}

/* Makes E visible; its number is its place in the order of birth. */
static int publish(struct grants *g, struct entry *e, size_t bucket)
{
	pthread_mutex_lock(&g->lock);
	size_t n = atomic_load(&g->count);
	if (n >= GRANTS_MAX) {
		pthread_mutex_unlock(&g->lock);
		return -ENOSPC;
	}
	e->grant.id = n + 1;
	snprintf(e->where, sizeof(e->where), "grant:%zu", n + 1);
	atomic_store_explicit(&e->next, atomic_load(&g->bucket[bucket]), memory_order_relaxed);
	atomic_store_explicit(&g->bucket[bucket], e, memory_order_release);
	atomic_store_explicit(g->newest ? &g->newest->newer : &g->oldest, e, memory_order_release);
	g->newest = e;
	atomic_store_explicit(&g->count, n + 1, memory_order_release);
	pthread_mutex_unlock(&g->lock);
	return 0;
}

int grants_add(struct grants *g, const struct grant_request *r, uint64_t *id)
{
	if (r->object >= r->call->n_objects || r->scope == SCOPE_ONCE ||
	    (r->kind != VERDICT_ALLOW && r->kind != VERDICT_DENY && r->kind != VERDICT_KILL))
		return -EINVAL;
	const struct object *o = &r->call->object[r->object];
	if (r->directory.bytes && (o->kind != OBJECT_FILE || !grants_below(r->directory, o->name)))
		return -EINVAL;
	struct entry *e = NULL;
	int rc = entry_new(r, &e);
	if (rc < 0)
		return rc;
	e->rules = r->rules;
	rc = publish(g, e, e->rules ? BUCKETS : bucket_of(o, e->grant.object.name.len, e->grant.exe));
	if (rc < 0) {
		e->rules = NULL; /* the caller's still */
		entry_free(e);
	} else {
		*id = e->grant.id;
	}
	return rc;
}

int grants_revoke(struct grants *g, uint64_t id)
{
	struct entry *e = atomic_load_explicit(&g->oldest, memory_order_acquire);
	for (; e; e = atomic_load_explicit(&e->newer, memory_order_acquire)) {
		if (e->grant.id == id)
			return entry_live(e) && !atomic_exchange(&e->revoked, true) ? 0 : -ENOENT;
	}
	return -ENOENT;
}

void grants_each(const struct grants *g, void (*each)(void *context, const struct grant *grant), void *context)
{
	const struct entry *e = atomic_load_explicit(&g->oldest, memory_order_acquire);
	for (; e; e = atomic_load_explicit(&e->newer, memory_order_acquire)) {
		if (entry_live(e))
			each(context, &e->grant);
	}
}
