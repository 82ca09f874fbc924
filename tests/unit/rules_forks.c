// SPDX-License-Identifier: Apache-2.0
/*
 * Many rules in one place: those that share a pattern and differ in their conditions, and those whose patterns share a
 * place. The first that matches decides, as a plain matcher finds it by asking one after another.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules/ruleset.h"
#include "rules_plain.h"
#include "rules_text.h"

#define RULES 120
#define ANCESTORS 4

static uint64_t seed;

static unsigned below(unsigned n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (unsigned)(seed >> 33) % n;
}

static struct span span(const char *text)
{
	return (struct span){ text, (uint32_t)strlen(text) };
}

/* FORM with a number below MOST for each '#'. */
static void fill(char *out, size_t room, const char *form, unsigned most)
{
	size_t n = 0;
	for (; *form && n + 4 < room; form++) {
		if (*form == '#')
			n += (size_t)snprintf(out + n, room - n, "%u", below(most));
		else
			out[n++] = *form;
	}
	out[n] = 0;
}

struct one {
	char pattern[64], by[64], tree[64], sha256[65];
	unsigned op; /* 0: read, 1: modify, 2: both */
};

struct who {
	char name[64], exe[64], above[ANCESTORS][64], sha256[65];
	unsigned n_above;
};

static void program(char *out, bool pattern)
{
	static const char *const forms[] = { "/usr/bin/t#", "/opt/t#/run", "/usr/bin/t#*", "/opt/*/run", "**", "/**/t#",
					     "/usr/bin/*#", "/usr/*n/t#", "/opt/t#/**", "/{usr,opt}/bin/t#", "/usr/**in/t#" };
	fill(out, 64, forms[below(pattern ? 11 : 2)], 30);
}

static void digest(char *out)
{
	memset(out, "0123456789abcdef"[below(16)], 64);
	out[63] = "0123456789abcdef"[below(4)];
	out[64] = 0;
}

static void random_rule(struct one *r, bool exec)
{
	static const char *const patterns[] = { "/srv/**", "/srv/a", "**", "/srv/*", "**/*a*", "/s**a" };
	*r = (struct one){ .op = exec ? 3 : below(3) };
	strcpy(r->pattern, patterns[below(8) ? 0 : below(6)]);
	if (below(10))
		program(r->by, true);
	if (!below(3))
		program(r->tree, true);
	if (exec && below(3))
		digest(r->sha256);
}

static void write_rule(char *text, size_t room, const struct one *r)
{
	static const char *const ops[] = { "read", "modify", "read,modify", "exec" };
	size_t n = strlen(text);
	snprintf(text + n, room - n, "allow %s %s%s%s%s%s%s%s\n", ops[r->op], r->pattern, *r->by ? " by=" : "", r->by, *r->tree ? " tree=" : "",
		 r->tree, *r->sha256 ? " sha256=" : "", r->sha256);
}

static void random_caller(struct who *w, bool exec)
{
	static const char *const names[] = { "/srv/a", "/srv/b/c", "/srv", "/etc/a" };
	*w = (struct who){ .n_above = below(ANCESTORS + 1) };
	strcpy(w->name, names[below(4)]);
	program(w->exe, false);
	if (!below(20))
		strcpy(w->exe, "memfd:x");
	for (unsigned i = 0; i < w->n_above; i++)
		program(w->above[i], false);
	if (w->n_above > 1 && !below(3))
		strcpy(w->above[1], w->above[0]);
	if (exec && below(8))
		digest(w->sha256);
}

static bool runs(const char *pattern, const char *exe)
{
	return *exe == '/' && reference(pattern, exe);
}

static bool plainly(const struct one *r, const struct who *w, unsigned op)
{
	if ((r->op != op && !(r->op == 2 && op < 2)) || !reference(r->pattern, w->name) || (*r->by && !runs(r->by, w->exe)))
		return false;
	if (*r->sha256 && strcmp(r->sha256, w->sha256) != 0)
		return false;
	bool tree = !*r->tree || runs(r->tree, w->exe);
	for (unsigned i = 0; !tree && i < w->n_above; i++)
		tree = runs(r->tree, w->above[i]);
	return tree;
}

static void compare(const struct ruleset *rs, const struct one *rule, const struct who *w, unsigned op)
{
	static const op_set ops[] = { OP_READ, OP_MODIFY, 0, OP_EXEC };
	struct image above[ANCESTORS];
	struct call c = { .syscall = "test", .n_objects = 1, .by = { .image.exe = span(w->exe), .ancestors = above, .n_ancestors = w->n_above } };
	struct verdict v;
	unsigned line = 0;
	memset(above, 0, sizeof(above));
	for (unsigned i = 0; i < w->n_above; i++)
		above[i].exe = span(w->above[i]);
	c.object[0] = (struct object){ .kind = OBJECT_FILE, .ops = ops[op], .name = span(w->name) };
	if (*w->sha256)
		c.object[0].sha256 = span(w->sha256);
	for (unsigned i = 0; i < RULES && !line; i++)
		if (plainly(&rule[i], w, op))
			line = i + 1;
	ruleset_decide(rs, &c, &v);
	if ((v.rule ? v.rule->line : 0) != line)
		fail_msg("%s by %s: rule %u decided, expected %u (op %u, %u above)", w->name, w->exe, v.rule ? v.rule->line : 0, line, op, w->n_above);
}

static void test_conditions(void **state)
{
	static char text[RULES * 300];
	static struct one rule[RULES];
	const char *given = getenv("SEED");
	unsigned decided = 0;
	seed = given ? strtoull(given, NULL, 0) : UINT64_C(0xf02cf02cf02cf02c);
	for (unsigned round = 0; round < 400; round++) {
		bool exec = round % 4 == 0;
		*text = 0;
		for (unsigned i = 0; i < RULES; i++) {
			random_rule(&rule[i], exec);
			write_rule(text, sizeof(text), &rule[i]);
		}
		struct ruleset *rs = parse(text);
		for (unsigned i = 0; i < 100; i++, decided++) {
			struct who w;
			random_caller(&w, exec);
			compare(rs, rule, &w, exec ? 3 : below(2));
		}
		ruleset_free(rs);
	}
	printf("%u decisions among %u rules\n", decided, RULES);
}

/* Refusals of addresses that stand firm are found behind forks like any rule. */
static void test_firm(void **state)
{
	static char text[20000];
	*text = 0;
	for (unsigned i = 0; i < 100; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s connect tcp:10.0.0.0/8:* by=/usr/bin/t%u%s\n",
			 i % 3 ? "allow" : "deny", i % 40, i % 3 ? "" : " firm");
	strcat(text, "allow connect tcp:10.0.0.7:80\n");
	struct ruleset *rs = parse(text);
	for (unsigned t = 0; t < 45; t++) {
		char exe[40];
		snprintf(exe, sizeof(exe), "/usr/bin/t%u", t);
		struct call c = { .syscall = "connect", .n_objects = 1, .by.image.exe = span(exe) };
		c.object[0] = (struct object){ .kind = OBJECT_INET, .ops = OP_CONNECT,
					       .inet = { .addr = { [10] = 0xff, [11] = 0xff, 10, 1, 2, 3 }, .port = 80, .proto = PROTO_TCP } };
		struct verdict v;
		unsigned first = 0, firm = 0;
		for (unsigned i = 0; i < 100 && t < 40; i++) {
			if (i % 40 != t)
				continue;
			if (i % 3 == 0 && !firm)
				firm = i + 1;
			if (i % 3 && !first)
				first = i + 1;
		}
		unsigned line = firm ? firm : first;
		ruleset_decide(rs, &c, &v);
		assert_int_equal(v.rule ? v.rule->line : 0, line);
		c.object[0].inet.addr[13] = c.object[0].inet.addr[14] = 0;
		c.object[0].inet.addr[15] = 7;
		ruleset_decide(rs, &c, &v);
		assert_non_null(v.rule);
		assert_int_equal(v.rule->line, firm || !first ? 101 : first); /* the one that names it, where one stands firm */
	}
	ruleset_free(rs);
}

/* Component patterns and patterns for the rest of a name that share what they begin with, end with and hold. */
static void test_crowded_place(void **state)
{
	static const char *const forms[] = { "/x/*a#*", "/x/*#ab#*", "/x/pre#*#*end", "/x/*?#?*/**", "/x/**b#**", "/x/**#.c", "/x/p#**q",
					     "**/*n#*/**", "/x/[ab]*#*", "/x/*com*#", "/x/**com**##", "/x/*a#[0-9]*" };
	static char text[RULES * 100], pattern[RULES][80];
	unsigned pairs = 0;
	seed = UINT64_C(0xc10dc10dc10dc10d);
	while (pairs < 1000000) {
		*text = 0;
		for (unsigned i = 0; i < RULES; i++) {
			fill(pattern[i], sizeof(pattern[i]), forms[below(12)], 60);
			strcat(strcat(strcat(text, "allow read "), pattern[i]), "\n");
		}
		struct ruleset *rs = parse(text);
		for (unsigned n = 0; n < 40; n++, pairs += RULES) {
			static const char *const parts[] = { "a", "b", "com", "pre", "end", "n", "q", "p", "ab", "/", ".c", "" };
			char name[200] = "/x/z";
			unsigned line = 0;
			for (unsigned k = 1 + below(8); k; k--) {
				const char *part = parts[below(12)];
				size_t len = strlen(name);
				if (*part == '/' ? name[len - 1] != '/' : true)
					snprintf(name + len, sizeof(name) - len, "%s", part);
				if (below(2))
					snprintf(name + strlen(name), sizeof(name) - strlen(name), "%u", below(60));
			}
			if (name[strlen(name) - 1] == '/')
				strcat(name, "e");
			struct call c = { .syscall = "test", .n_objects = 1 };
			struct verdict v;
			c.object[0] = (struct object){ .kind = OBJECT_FILE, .ops = OP_READ, .name = span(name) };
			for (unsigned i = 0; i < RULES && !line; i++)
				line = reference(pattern[i], name) ? i + 1 : 0;
			ruleset_decide(rs, &c, &v);
			if ((v.rule ? v.rule->line : 0) != line)
				fail_msg("%s: rule %u decided, expected %u: %s", name, v.rule ? v.rule->line : 0, line, line ? pattern[line - 1] : "none");
		}
		ruleset_free(rs);
	}
	printf("%u pairs\n", pairs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_conditions),
		cmocka_unit_test(test_firm),
		cmocka_unit_test(test_crowded_place),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
