// SPDX-License-Identifier: Apache-2.0
/*
 * Any bytes as a rule file: loaded, then asked. What loads must decide alike by the index
 * and by asking every rule in turn.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules/ruleset.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct variable variables[] = {
	{ "HOME", "/home/u", NULL }, { "PWD", "/home/u/p", NULL }, { "TMPDIR", "/tmp", NULL }, { "USER", "u", NULL }, { "UID", "1000", NULL },
};

static const char *const names[] = { "/", "/a", "/a/b", "/home/u/p/x", "/home/u/.ssh/id", "/usr/bin/x", "/a/b/a/b/a/b", "/.env" };

/* Without components that are empty no path is called so. */
static const char *const others[] = { "", "a/", "a//b", "/a/b/" };

static const struct rule *slow(const struct ruleset *rs, const struct call *call)
{
	const struct rule *r;
	for (size_t i = 0; (r = ruleset_rule(rs, i)); i++)
		if (rule_matches(rs, r, call, 0, call->object[0].ops))
			return r;
	return NULL;
}

static void compare(const struct ruleset *rs, const struct object *object)
{
	struct call call = { .syscall = "fuzz", .n_objects = 1, .argv = SPAN_LITERAL("push origin") };
	struct verdict v;
	call.by.image.exe = SPAN_LITERAL("/usr/bin/make");
	call.object[0] = *object;
	for (unsigned bit = 0; bit < OP_COUNT; bit++) {
		if (!(ruleset_ops(rs) >> bit & 1))
			continue;
		call.object[0].ops = (op_set)(1U << bit);
		ruleset_decide(rs, &call, &v);
		if (v.rule != slow(rs, &call))
			abort();
	}
}

static void ask(const struct ruleset *rs)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		static const enum object_kind kinds[] = { OBJECT_FILE, OBJECT_UNIX, OBJECT_ABSTRACT, OBJECT_SOCKET };
		struct object o = { .name = { names[i], (uint32_t)strlen(names[i]) } };
		for (size_t k = 0; k < 4; k++) {
			o.kind = kinds[k];
			compare(rs, &o);
		}
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		struct object o = { .kind = OBJECT_ABSTRACT, .name = { others[i], (uint32_t)strlen(others[i]) } };
		compare(rs, &o);
	}
	struct object inet = { .kind = OBJECT_INET, .inet = { .port = 443, .proto = PROTO_TCP } };
	compare(rs, &inet);
	inet.inet = (struct inet_endpoint){ .addr = { [10] = 0xff, [11] = 0xff, [12] = 10 }, .port = 53, .proto = PROTO_UDP };
	compare(rs, &inet);
	struct object raw = { .kind = OBJECT_SOCKET, .name = SPAN_LITERAL("raw:icmp") };
	compare(rs, &raw);
	struct object memfd = { .kind = OBJECT_MEMFD, .name = SPAN_LITERAL("memfd:x") };
	compare(rs, &memfd);
	memfd.name = SPAN_LITERAL("memfd:");
	compare(rs, &memfd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct diagnostics found = { 0 };
	struct ruleset *rs = NULL;
	struct ruleset_source from = { .variables = variables, .n_variables = sizeof(variables) / sizeof(variables[0]) };
	/* Included files are of this machine, not of the input. */
	if (memmem(data, size, "include", 7) && !memmem(data, size, "builtin:", 8))
		return -1;
	if (ruleset_parse("fuzz", (const char *)data, size, &from, &found, &rs) == 0 && size < 4096)
		ask(rs);
	FILE *nowhere = fopen("/dev/null", "w");
	if (nowhere) {
		diagnostics_print(&found, nowhere, true);
		fclose(nowhere);
	}
	ruleset_free(rs);
	diagnostics_free(&found);
	return 0;
}
