/* SPDX-License-Identifier: Apache-2.0 */
/* Layers, the guard, grants and limits, as tables: call + rules -> verdict. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/grants.h"
#include "policy/limits.h"
#include "policy/policy.h"
#include "policy/policy_state.h"

#define MAX_FILES 4

struct fixture {
	char dir[64];
	char path[MAX_FILES][128];
	size_t n;
	struct policy *p;
};

static void rules(struct fixture *f, const char *text)
{
	char path[128];
	snprintf(path, sizeof(path), "%s/%zu.rules", f->dir, f->n);
	memcpy(f->path[f->n], path, sizeof(path));
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	f->n++;
}

static int load(struct fixture *f, const char *grants)
{
	const char *files[MAX_FILES], *guarded[] = { "/home/u/.local/state/usher/s1" }, *pinned[] = { "/home/u/odd *?[x]{a,b}.rules" };
	for (size_t i = 0; i < f->n; i++)
		files[i] = f->path[i];
	struct variable v[] = { { "HOME", "/home/u", NULL }, { "PWD", "/w", NULL }, { "TMPDIR", "/tmp", NULL }, { "USER", "u", NULL }, { "UID", "1000", NULL } };
	struct policy_options o = { .files = files, .n_files = f->n, .variables = v, .n_variables = 5, .guarded = guarded,
				    .n_guarded = 1, .pinned = pinned, .n_pinned = 1, .grants_file = grants };
	struct diagnostics found = { 0 };
	int rc = policy_new(&o, &found, &f->p);
	if (rc < 0)
		diagnostics_print(&found, stderr, false);
	diagnostics_free(&found);
	return rc;
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	strcpy(f->dir, "/tmp/usher-policy-XXXXXX");
	if (!f || !mkdtemp(f->dir))
		return -1;
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	char file[160];
	policy_free(f->p);
	for (size_t i = 0; i < f->n; i++)
		unlink(f->path[i]);
	snprintf(file, sizeof(file), "%s/grants", f->dir);
	unlink(file);
	rmdir(f->dir);
	free(f);
	return 0;
}

static struct call file_call(const char *name, op_set ops)
{
	struct call c = { .syscall = "openat", .by = { .pid = getpid(), .image = { .exe = SPAN_LITERAL("/usr/bin/cat") } },
			  .n_objects = 1 };
	c.object[0] = (struct object){ .kind = OBJECT_FILE, .ops = ops, .name = { name, (uint32_t)strlen(name) } };
	return c;
}

static enum verdict_kind decide(struct fixture *f, const char *name, op_set ops)
{
	struct call c = file_call(name, ops);
	struct verdict v;
	policy_decide(f->p, &c, &v);
	assert_non_null(v.where);
	assert_true(v.kind != VERDICT_NONE);
	if (v.kind == VERDICT_DENY)
		assert_true(v.error > 0);
	return v.kind;
}

static void strictest_layer_wins(void **state)
{
	struct fixture *f = *state;
	rules(f, "allow read /a/**\nallow open /b/**\nask write /a/**\n");
	rules(f, "deny read /a/secret\nask read /b/q\nkill read /a/trap\ndefault allow\n");
	assert_int_equal(load(f, NULL), 0);
	static const struct {
		const char *name;
		op_set ops;
		enum verdict_kind want;
	} rows[] = {
		{ "/a/x", OP_READ, VERDICT_ALLOW },       { "/a/secret", OP_READ, VERDICT_DENY },
		{ "/a/trap", OP_READ, VERDICT_KILL },     { "/b/q", OP_READ, VERDICT_ASK },
		{ "/a/x", OP_MODIFY, VERDICT_ASK },       { "/a/x", OP_READ | OP_MODIFY, VERDICT_ASK },
		{ "/c", OP_READ, VERDICT_ALLOW },         { "/c", OP_STAT, VERDICT_ALLOW },
		{ "/b/x", OP_READ | OP_MODIFY, VERDICT_ALLOW },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(decide(f, rows[i].name, rows[i].ops), rows[i].want);
	assert_true(policy_may_ask(f->p));
	assert_null(policy_layer(f->p, 3));
}

static void no_opinion_is_deny(void **state)
{
	struct fixture *f = *state;
	rules(f, "allow read /a/**\nallow create /b/**\n");
	assert_int_equal(load(f, NULL), 0);
	assert_int_equal(decide(f, "/x", OP_READ), VERDICT_DENY);
	assert_int_equal(decide(f, "/x", OP_STAT), VERDICT_ALLOW);
	assert_int_equal(decide(f, "/a/x", OP_READ | OP_MODIFY), VERDICT_DENY);
	/* an operation that is allowed opens nothing for its neighbour, on another object least of all */
	struct call c = file_call("/b/new", OP_CREATE);
	struct verdict v;
	c.n_objects = 2;
	c.object[1] = (struct object){ .kind = OBJECT_FILE, .ops = OP_READ | OP_MODIFY, .name = SPAN_LITERAL("/etc/secret") };
	policy_decide(f->p, &c, &v);
	assert_int_equal(v.kind, VERDICT_DENY);
	assert_int_equal(v.object, 1);
	struct call none = { .syscall = "nothing" };
	policy_decide(f->p, &none, &v);
	assert_int_equal(v.kind, VERDICT_DENY);
	assert_false(policy_may_ask(f->p));
}

/* Of what is allowed the rule counts that a person is to hear of, in whatever layer, on whatever object. */
static void alerts_name_their_rule(void **state)
{
	struct fixture *f = *state;
	rules(f, "default allow\nallow read /a/**\n");
	rules(f, "allow write /a/told log=alert\ndeny delete /a/not\ndefault allow\n");
	assert_int_equal(load(f, NULL), 0);
	struct call c = file_call("/a/x", OP_DELETE);
	struct verdict v;
	c.n_objects = 2;
	c.object[1] = (struct object){ .kind = OBJECT_FILE, .ops = OP_CREATE, .name = SPAN_LITERAL("/a/told") };
	policy_decide(f->p, &c, &v);
	assert_int_equal(v.kind, VERDICT_ALLOW);
	assert_int_equal(v.log, LOG_ALERT);
	assert_int_equal(v.object, 1);
	assert_non_null(strstr(v.where, "/1.rules:1"));
	c.object[0].name = SPAN_LITERAL("/a/not");
	policy_decide(f->p, &c, &v);
	assert_int_equal(v.kind, VERDICT_DENY);
	assert_int_equal(v.object, 0);
	assert_non_null(strstr(v.where, "/1.rules:2"));
}

/* Two layers that each allow half of a call allow nothing together. */
static void layers_are_joined_by_operation(void **state)
{
	struct fixture *f = *state;
	rules(f, "allow read /a\n");
	rules(f, "allow modify /b\n");
	assert_int_equal(load(f, NULL), 0);
	struct call c = file_call("/a", OP_READ);
	struct verdict v;
	policy_decide(f->p, &c, &v);
	assert_int_equal(v.kind, VERDICT_ALLOW);
	c.n_objects = 2;
	c.object[1] = (struct object){ .kind = OBJECT_FILE, .ops = OP_CREATE, .name = SPAN_LITERAL("/b") };
	policy_decide(f->p, &c, &v);
	assert_int_equal(v.kind, VERDICT_DENY);
}

static void guard_cannot_be_loosened(void **state)
{
	struct fixture *f = *state;
	char proc[64];
	rules(f, "default allow\nallow open,write,exec /**\n");
	char grants[128], sub[160];
	snprintf(grants, sizeof(grants), "%s/conf/usher/grants", f->dir);
	assert_int_equal(load(f, grants), 0);
	static const struct {
		const char *name;
		op_set ops;
		enum verdict_kind want;
	} rows[] = {
		{ "/home/u/.local/state/usher/s1", OP_READ, VERDICT_DENY },
		{ "/home/u/.local/state/usher/s1/0.jsonl", OP_READ, VERDICT_DENY },
		{ "/home/u/.local/state/usher/s1/0.jsonl", OP_MODIFY, VERDICT_DENY },
		{ "/home/u/.local/state/usher/s1/x", OP_CREATE, VERDICT_DENY },
		{ "/home/u/.local/state/usher", OP_DELETE, VERDICT_DENY },
		{ "/home/u/.local", OP_DELETE, VERDICT_DENY },
		{ "/home/u", OP_DELETE, VERDICT_DENY },
		{ "/home/u/.local/share", OP_DELETE, VERDICT_ALLOW },
		{ "/home/u/.local/state/usher/s2", OP_READ, VERDICT_ALLOW },
		{ "/home/u/odd *?[x]{a,b}.rules", OP_READ, VERDICT_ALLOW },
		{ "/home/u/odd *?[x]{a,b}.rules", OP_MODIFY, VERDICT_DENY },
		{ "/home/u/odd *?[x]{a,b}.rules", OP_DELETE, VERDICT_DENY },
		{ "/home/u/odd abcx", OP_MODIFY, VERDICT_ALLOW },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(decide(f, rows[i].name, rows[i].ops), rows[i].want);
	assert_int_equal(decide(f, grants, OP_CREATE), VERDICT_DENY);
	assert_int_equal(decide(f, grants, OP_READ), VERDICT_DENY);
	snprintf(sub, sizeof(sub), "%s/conf/usher", f->dir);
	assert_int_equal(decide(f, sub, OP_CREATE), VERDICT_DENY);
	assert_int_equal(access(sub, F_OK), -1); /* only the place where it would be is made */
	snprintf(sub, sizeof(sub), "%s/conf", f->dir);
	assert_int_equal(decide(f, sub, OP_DELETE), VERDICT_DENY);
	assert_int_equal(rmdir(sub), 0);
	static const char *const refused[] = { "mem", "environ", "maps", "fd", "fd/3", "root/etc", "cwd", "task/1/mem", "exe" };
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		snprintf(proc, sizeof(proc), "/proc/%d/%s", getpid(), refused[i]);
		assert_int_equal(decide(f, proc, OP_READ), VERDICT_DENY);
	}
	snprintf(proc, sizeof(proc), "/proc/%d/stat", getpid());
	assert_int_equal(decide(f, proc, OP_READ), VERDICT_ALLOW);
	assert_int_equal(decide(f, proc, OP_MODIFY), VERDICT_DENY);
	snprintf(proc, sizeof(proc), "/proc/%d", getpid());
	assert_int_equal(decide(f, proc, OP_READ), VERDICT_ALLOW);
}

/* A home directory that is not there yet, as its owner may write it. */
static void guarded_names_are_normal(void **state)
{
	struct fixture *f = *state;
	char grants[128], name[160];

	rules(f, "default allow\n");
	snprintf(grants, sizeof(grants), "%s/./no/./x/../usher/grants", f->dir);
	assert_int_equal(load(f, grants), 0);
	snprintf(name, sizeof(name), "%s/no/usher/grants", f->dir);
	assert_int_equal(decide(f, name, OP_READ), VERDICT_DENY);
	snprintf(name, sizeof(name), "%s/no", f->dir);
	assert_int_equal(decide(f, name, OP_CREATE), VERDICT_DENY);
	assert_int_equal(decide(f, name, OP_DELETE), VERDICT_DENY);
	assert_true(access(name, F_OK) < 0 || rmdir(name) == 0);
	snprintf(name, sizeof(name), "%s/nothing", f->dir);
	assert_int_equal(decide(f, name, OP_CREATE), VERDICT_ALLOW);
}

/* What the guard lets pass is no permission. */
static void guard_opens_nothing(void **state)
{
	struct fixture *f = *state;
	char proc[64];
	rules(f, "allow read /usr/**\n");
	assert_int_equal(load(f, NULL), 0);
	snprintf(proc, sizeof(proc), "/proc/%d/stat", getpid());
	assert_int_equal(decide(f, proc, OP_READ), VERDICT_DENY);
}

static void desk_sockets_are_guarded(void **state)
{
	struct fixture *f = *state;
	char dir[256], name[300];
	rules(f, "default allow\n");
	assert_int_equal(load(f, NULL), 0);
	if (policy_desk_dir(dir, sizeof(dir)) < 0)
		skip();
	snprintf(name, sizeof(name), "%s/1.sock", dir);
	struct call c = file_call(name, OP_CONNECT);
	struct verdict v;
	c.object[0].kind = OBJECT_UNIX;
	c.object[0].inet.proto = PROTO_UNIX;
	policy_decide(f->p, &c, &v);
	assert_int_equal(v.kind, VERDICT_DENY);
	assert_int_equal(decide(f, name, OP_READ), VERDICT_DENY);
}

static uint64_t grant(struct fixture *f, const struct call *c, op_set ops, enum verdict_kind kind, enum answer_scope scope,
		      const char *directory)
{
	uint64_t id = 0;
	struct grant_request r = { .call = c, .ops = ops, .kind = kind, .scope = scope, .seconds = 1, .who = "test" };
	if (directory)
		r.directory = (struct span){ directory, (uint32_t)strlen(directory) };
	assert_int_equal(grants_add(policy_grants(f->p), &r, &id), 0);
	return id;
}

static void grants_answer_asks_only(void **state)
{
	struct fixture *f = *state;
	rules(f, "deny read /a/no\nask read,modify /a/**\n");
	assert_int_equal(load(f, NULL), 0);
	struct call c = file_call("/a/x", OP_READ | OP_MODIFY);
	struct verdict v;
	uint64_t id = grant(f, &c, OP_READ, VERDICT_ALLOW, SCOPE_SESSION, NULL);
	assert_int_equal(decide(f, "/a/x", OP_READ), VERDICT_ALLOW);
	assert_int_equal(decide(f, "/a/x", OP_READ | OP_MODIFY), VERDICT_ASK);
	assert_int_equal(decide(f, "/a/xx", OP_READ), VERDICT_ASK);
	struct call other = c;
	other.object[0].ops = OP_READ;
	policy_decide(f->p, &other, &v);
	assert_string_equal(v.where, "grant:1");
	other.by.image.exe = SPAN_LITERAL("/usr/bin/other");
	policy_decide(f->p, &other, &v);
	assert_int_equal(v.kind, VERDICT_ASK);
	assert_int_equal(grants_revoke(policy_grants(f->p), id), 0);
	assert_int_equal(grants_revoke(policy_grants(f->p), id), -ENOENT);
	assert_int_equal(decide(f, "/a/x", OP_READ), VERDICT_ASK);
	struct call no = file_call("/a/no", OP_READ);
	grant(f, &no, OP_READ, VERDICT_ALLOW, SCOPE_SESSION, NULL);
	assert_int_equal(decide(f, "/a/no", OP_READ), VERDICT_DENY);
	grant(f, &c, OP_READ, VERDICT_ALLOW, SCOPE_SESSION, NULL);
	grant(f, &c, OP_READ, VERDICT_DENY, SCOPE_SESSION, NULL);
	assert_int_equal(decide(f, "/a/x", OP_READ), VERDICT_DENY);
}

static void grants_have_scopes(void **state)
{
	struct fixture *f = *state;
	rules(f, "ask read /a/**\nask exec /bin/git\n");
	assert_int_equal(load(f, NULL), 0);
	struct call c = file_call("/a/d/x", OP_READ);
	struct verdict v;
	uint64_t id;
	struct grant_request bad = { .call = &c, .ops = OP_READ, .kind = VERDICT_ALLOW, .scope = SCOPE_SESSION,
				     .directory = SPAN_LITERAL("/a/dd") };
	assert_int_equal(grants_add(policy_grants(f->p), &bad, &id), -EINVAL);
	bad.directory = SPAN_LITERAL("/a/d/");
	grant(f, &c, OP_READ, VERDICT_ALLOW, SCOPE_SESSION, "/a/d");
	assert_int_equal(decide(f, "/a/d/y/z", OP_READ), VERDICT_ALLOW);
	assert_int_equal(decide(f, "/a/d", OP_READ), VERDICT_ALLOW);
	assert_int_equal(decide(f, "/a/dx", OP_READ), VERDICT_ASK);
	c = file_call("/a/time", OP_READ);
	grant(f, &c, OP_READ, VERDICT_ALLOW, SCOPE_TIME, NULL);
	assert_int_equal(decide(f, "/a/time", OP_READ), VERDICT_ALLOW);
	usleep(1100 * 1000);
	assert_int_equal(decide(f, "/a/time", OP_READ), VERDICT_ASK);
	c = file_call("/a/tree", OP_READ);
	grant(f, &c, OP_READ, VERDICT_ALLOW, SCOPE_TREE, NULL);
	struct image above = { .exe = SPAN_LITERAL("/bin/sh"), .pid = getpid() };
	struct call child = c;
	child.by.pid = 1;
	policy_decide(f->p, &child, &v);
	assert_int_equal(v.kind, VERDICT_ASK);
	child.by.ancestors = &above;
	child.by.n_ancestors = 1;
	policy_decide(f->p, &child, &v);
	assert_int_equal(v.kind, VERDICT_ALLOW);
	c = file_call("/bin/git", OP_EXEC);
	c.argv = SPAN_LITERAL("push origin");
	grant(f, &c, OP_EXEC, VERDICT_ALLOW, SCOPE_SESSION, NULL);
	policy_decide(f->p, &c, &v);
	assert_int_equal(v.kind, VERDICT_ALLOW);
	c.argv = SPAN_LITERAL("push origin --force");
	policy_decide(f->p, &c, &v);
	assert_int_equal(v.kind, VERDICT_ASK);
}

static void standing_grants(void **state)
{
	struct fixture *f = *state;
	char file[128];
	snprintf(file, sizeof(file), "%s/grants", f->dir);
	FILE *to = fopen(file, "w");
	assert_non_null(to);
	fputs("allow read /a/**\ndeny read /b/no\nallow read /c/**\n", to);
	fclose(to);
	chmod(file, 0600);
	rules(f, "ask read /a/** /b/**\ndeny read /c/**\n");
	assert_int_equal(load(f, file), 0);
	assert_int_equal(decide(f, "/a/x", OP_READ), VERDICT_ALLOW);
	assert_int_equal(decide(f, "/b/x", OP_READ), VERDICT_ASK);
	assert_int_equal(decide(f, "/b/no", OP_READ), VERDICT_DENY);
	assert_int_equal(decide(f, "/c/x", OP_READ), VERDICT_DENY);
	assert_int_equal(decide(f, "/d", OP_READ), VERDICT_DENY);
}

static void write_grants(const char *file, const char *text)
{
	FILE *to = fopen(file, "w");
	assert_non_null(to);
	fputs(text, to);
	fclose(to);
	chmod(file, 0600);
}

/* What a standing grant says holds, or is an error: it never means less than it says. */
static void standing_grants_hold_to_their_options(void **state)
{
	static const char *const unkept[] = { "allow read /a limit=2/h\n", "rewrite read /a -> /b\n", "ask read /a after=2\n", "ask read /a review\n",
					    "limit processes 2\n", "env drop FOO\n", "redact \"--pin \"*\n", "default deny\n" };
	struct fixture *f = *state;
	char file[128];
	snprintf(file, sizeof(file), "%s/grants", f->dir);
	rules(f, "ask read /a /b\n");
	for (size_t i = 0; i < sizeof(unkept) / sizeof(unkept[0]); i++) {
		write_grants(file, unkept[i]);
		assert_int_equal(load(f, file), 1);
	}
	write_grants(file, "deny read /a errno=ENOENT log=alert\nallow read /b\n");
	assert_int_equal(load(f, file), 0);
	struct call c = file_call("/a", OP_READ);
	struct verdict v;
	policy_decide(f->p, &c, &v);
	assert_int_equal(v.kind, VERDICT_DENY);
	assert_int_equal(v.error, ENOENT);
	assert_int_equal(v.log, LOG_ALERT);
	assert_int_equal(decide(f, "/b", OP_READ), VERDICT_ALLOW);
}

/* What conditions ask for is known however a rule writes it, and a grant's is looked up with the layers'. */
static void conditions_are_known(void **state)
{
	struct fixture *f = *state;
	char file[128];
	snprintf(file, sizeof(file), "%s/grants", f->dir);
	rules(f, "ask read /a reason=\"by=me, uid=0\"\ndeny exec ** e\"nv=LD_*\"\n");
	write_grants(file, "allow read /a by=/x\ndeny exec ** sha\"256=e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\"\ndeny read /a tree=/y\n");
	assert_int_equal(load(f, file), 0);
	assert_int_equal(policy_wants(f->p), WANTS_ENV);
	assert_int_equal(policy_wants_known(f->p), WANTS_ENV | WANTS_BY | WANTS_SHA256 | WANTS_TREE);
}

static int charge(struct fixture *f, const struct call *call, struct verdict *v, struct charged *done)
{
	*done = (struct charged){ 0 };
	return policy_charge(f->p, call, v, done);
}

static void limits_are_charged(void **state)
{
	struct fixture *f = *state;
	rules(f, "allow read /a limit=3/h\nallow read /b limit=1/h else=ask\nask read /c limit=2/h\nallow read /d\n");
	assert_int_equal(load(f, NULL), 0);
	struct verdict v;
	struct charged done;
	for (uint32_t i = 1; i <= 3; i++) {
		struct call c = file_call("/a", OP_READ);
		policy_decide(f->p, &c, &v);
		assert_int_equal(charge(f, &c, &v, &done), 0);
		assert_int_equal(done.used, i);
	}
	struct call a = file_call("/a", OP_READ), b = file_call("/b", OP_READ), c = file_call("/c", OP_READ), d = file_call("/d", OP_READ);
	policy_decide(f->p, &a, &v);
	assert_int_equal(charge(f, &a, &v, &done), 1);
	assert_int_equal(v.kind, VERDICT_DENY);
	assert_int_equal(done.used, 3);
	policy_decide(f->p, &b, &v);
	assert_int_equal(charge(f, &b, &v, &done), 0);
	policy_decide(f->p, &b, &v);
	assert_int_equal(charge(f, &b, &v, &done), 1);
	assert_int_equal(v.kind, VERDICT_ASK);
	for (int i = 0; i < 2; i++) {
		policy_decide(f->p, &c, &v);
		assert_int_equal(v.kind, VERDICT_ALLOW);
		assert_int_equal(charge(f, &c, &v, &done), 0);
	}
	policy_decide(f->p, &c, &v);
	assert_int_equal(v.kind, VERDICT_ASK);
	policy_decide(f->p, &d, &v);
	assert_int_equal(charge(f, &d, &v, &done), 0);
	assert_int_equal(done.used, 0);
}

/* A call that is decided anew is charged for what is decided then, and no rule twice; nor is one paid that was beyond its limit. */
static void limits_are_charged_anew(void **state)
{
	struct fixture *f = *state;
	rules(f, "allow read /a limit=2/h\nallow read /b limit=1/h\ndefault allow\n");
	assert_int_equal(load(f, NULL), 0);
	struct call a = file_call("/a", OP_READ), b = file_call("/b", OP_READ), link = file_call("/link", OP_READ);
	struct charged done = { 0 }, other = { 0 };
	struct verdict v;
	policy_decide(f->p, &link, &v);
	assert_int_equal(policy_charge(f->p, &link, &v, &done), 0);
	for (int i = 0; i < 2; i++) {
		policy_decide(f->p, &a, &v);
		assert_int_equal(policy_charge(f->p, &a, &v, &done), 0);
		assert_int_equal(done.used, 1);
	}
	policy_decide(f->p, &b, &v);
	assert_int_equal(policy_charge(f->p, &b, &v, &done), 0);
	for (int i = 0; i < 2; i++) {
		policy_decide(f->p, &b, &v);
		assert_int_equal(policy_charge(f->p, &b, &v, &other), 1);
		assert_int_equal(v.kind, VERDICT_DENY);
	}
}

static void bucket_refills(void **state)
{
	struct bucket b = { 0 };
	uint64_t now = 1000000000ull * 1000;
	uint32_t used;
	for (int i = 0; i < 60; i++)
		assert_true(bucket_take(&b, 60, 60, now, &used));
	assert_int_equal(used, 60);
	assert_false(bucket_take(&b, 60, 60, now, &used));
	assert_false(bucket_has(&b, 60, 60, now + 999999999ull));
	assert_true(bucket_take(&b, 60, 60, now + 1000000000ull, &used));
	assert_false(bucket_take(&b, 60, 60, now + 1000000000ull, &used));
	assert_true(bucket_take(&b, 60, 60, now + 3600000000000ull, &used));
	assert_int_equal(used, 1);
}

struct taker {
	struct bucket *b;
	uint32_t got;
};

static void *take_many(void *arg)
{
	struct taker *t = arg;
	uint32_t used;
	for (int i = 0; i < 1000; i++)
		t->got += bucket_take(t->b, 1000, 3600, 1, &used);
	return NULL;
}

static void bucket_is_exact_under_threads(void **state)
{
	struct bucket b = { 0 };
	struct taker t[4];
	pthread_t thread[4];
	uint32_t sum = 0;
	for (int i = 0; i < 4; i++) {
		t[i] = (struct taker){ &b, 0 };
		pthread_create(&thread[i], NULL, take_many, &t[i]);
	}
	for (int i = 0; i < 4; i++) {
		pthread_join(thread[i], NULL);
		sum += t[i].got;
	}
	assert_int_equal(sum, 1000);
}

struct reader {
	struct fixture *f;
	atomic_bool *stop;
};

static void *read_grants(void *arg)
{
	struct reader *r = arg;
	while (!atomic_load(r->stop)) {
		enum verdict_kind k = decide(r->f, "/a/x", OP_READ);
		assert_true(k == VERDICT_ASK || k == VERDICT_ALLOW);
	}
	return NULL;
}

static void readers_and_writers_of_grants(void **state)
{
	struct fixture *f = *state;
	rules(f, "ask read /a/**\n");
	assert_int_equal(load(f, NULL), 0);
	atomic_bool stop = false;
	struct reader r = { f, &stop };
	pthread_t thread[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, read_grants, &r);
	struct call c = file_call("/a/x", OP_READ);
	for (int i = 0; i < 2000; i++) {
		uint64_t id = grant(f, &c, OP_READ, VERDICT_ALLOW, SCOPE_SESSION, NULL);
		assert_int_equal(grants_revoke(policy_grants(f->p), id), 0);
	}
	atomic_store(&stop, true);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	assert_int_equal(decide(f, "/a/x", OP_READ), VERDICT_ASK);
}

static void broken_files_start_nothing(void **state)
{
	struct fixture *f = *state;
	rules(f, "allow raed /a\n");
	rules(f, "also wrong\n");
	assert_int_equal(load(f, NULL), 1);
	assert_null(f->p);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(strictest_layer_wins),  CASE(no_opinion_is_deny),      CASE(layers_are_joined_by_operation), CASE(alerts_name_their_rule),
		CASE(guard_cannot_be_loosened), CASE(guard_opens_nothing),  CASE(desk_sockets_are_guarded), CASE(guarded_names_are_normal),
		CASE(grants_answer_asks_only), CASE(grants_have_scopes),    CASE(standing_grants),
		CASE(standing_grants_hold_to_their_options), CASE(conditions_are_known), CASE(limits_are_charged), CASE(limits_are_charged_anew), CASE(bucket_refills), CASE(bucket_is_exact_under_threads),
		CASE(readers_and_writers_of_grants), CASE(broken_files_start_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
