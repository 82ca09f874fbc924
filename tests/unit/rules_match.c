// SPDX-License-Identifier: Apache-2.0
/*
 * Patterns against names: a table of cases, and random patterns, each decided by the
 * compiled index, by the slow matcher and by a matcher written here that is plain enough to be
 * believed.
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

/* ---- the compiled ones ---- */

static struct call reading(const char *name)
{
	struct call c = { .syscall = "test", .n_objects = 1 };
	c.object[0] = (struct object){ .kind = OBJECT_FILE, .ops = OP_READ, .name = { name, (uint32_t)strlen(name) } };
	return c;
}

static const struct rule *first(const struct ruleset *rs, const char *name)
{
	struct call c = reading(name);
	struct verdict v;
	ruleset_decide(rs, &c, &v);
	return v.rule;
}

static void one_pair(const struct ruleset *rs, const char *pattern, const char *name, bool expected)
{
	struct call c = reading(name);
	bool slow = rule_matches(rs, ruleset_rule(rs, 0), &c, 0, OP_READ);
	if (reference(pattern, name) != expected)
		fail_msg("the table or the plain matcher is wrong: %s on %s", pattern, name);
	if ((first(rs, name) != NULL) != expected || slow != expected)
		fail_msg("%s on %s: index %d, slow %d, expected %d", pattern, name, first(rs, name) != NULL, slow, expected);
}

static const struct {
	const char *pattern;
	const char *yes;
	const char *no;
} cases[] = {
	{ "/", "/", "/a /a/b" },
	{ "/a", "/a", "/ /b /aa /a/b /A" },
	{ "/a/b", "/a/b", "/a /a/b/c /a/bb /b/a /ab" },
	{ "/usr/**", "/usr /usr/bin /usr/bin/x /usr/a/b/c/d", "/ /us /usrx /usr2/bin /a/usr" },
	{ "/**", "/ /a /a/b /.x/..y", "" },
	{ "**", "/ /a /a/b/c", "" },
	{ "/*", "/a /abc /.hidden", "/ /a/b" },
	{ "/*/*", "/a/b /x/y", "/ /a /a/b/c" },
	{ "/*/b", "/a/b /x/b", "/b /a/c /a/b/b /a/x/b" },
	{ "/a/*", "/a/b /a/.x /a/..z", "/a /a/b/c /b/b" },
	{ "/a/*/c", "/a/b/c /a/xyz/c", "/a/c /a/b/x/c /a/b/c/d" },
	{ "/a/**/c", "/a/c /a/b/c /a/b/x/c /a/c/c", "/a /c /a/b /a/c/d /a/xc" },
	{ "/a/**/b/**/c", "/a/b/c /a/x/b/y/c /a/b/b/c /a/b/x/y/c", "/a/c /a/b /a/x/c /a/b/c/d" },
	{ "**/.env", "/.env /a/.env /a/b/c/.env", "/a/.envrc /a/x.env /.env/x" },
	{ "**/.git/**", "/.git /a/.git /a/.git/hooks /a/b/.git/x/y", "/a/.gitignore /a/.github/x /git" },
	{ "**/.git/hooks/**", "/p/.git/hooks /p/.git/hooks/pre-commit /a/b/c/d/.git/hooks/x/y /.git/hooks/z",
	  "/p/.git /p/.git/config /p/git/hooks/x /p/.git/hooksx" },
	{ "/**/x", "/x /a/x /a/b/x", "/ /a /x/a /ax" },
	{ "/a/**/**/b", "/a/b /a/x/b /a/x/y/b", "/a /b /a/bc" },
	{ "/a/**/**", "/a /a/b /a/b/c", "/ /b /ab" },
	{ "/a*", "/a /ab /abc", "/ /b /a/b /ba" },
	{ "/*a", "/a /ba /cba", "/ /b /ab /a/a" },
	{ "/a*b", "/ab /axb /axxb /abb", "/a /b /a/b /abc" },
	{ "/*a*", "/a /bab /aa", "/ /b /b/a" },
	{ "/a*b*c", "/abc /axbxc /abbc /abcc", "/ac /ab /abcd /a/b/c" },
	{ "/*.c", "/x.c /.c /a.b.c", "/c /x.cc /a/x.c /x.C" },
	{ "/src/*.c", "/src/a.c /src/.c", "/src/a.h /src/d/a.c /src" },
	{ "/src/**/*.c", "/src/a.c /src/d/a.c /src/d/e/a.c", "/src /a.c /src/d/a.h" },
	{ "/src/**.c", "/src/a.c /src/d/a.c /src/.c", "/src/a /src /src.c /src/d/a.h" },
	{ "/a**b", "/ab /axb /a/b /a/x/y/b /axx/yb", "/a /b /abc /xa/b" },
	{ "/a/x**", "/a/x /a/xy /a/x/y /a/xz/y/z", "/a /a/y /a/y/x" },
	{ "/a/**x/b", "/a/x/b /a/yx/b /a/p/q/yx/b", "/a/b /a/xy/b /a/x/c" },
	{ "/?", "/a /b /.", "/ /ab /a/b" },
	{ "/a?c", "/abc /a.c", "/ac /abbc /a/c" },
	{ "/??", "/ab /..", "/a /abc /a/" },
	{ "/[ab]", "/a /b", "/ /c /ab /a/b" },
	{ "/[a-c]x", "/ax /bx /cx", "/dx /x /Ax /a/x" },
	{ "/[!a]", "/b /c /.", "/a / /bb" },
	{ "/[!a-c]x", "/dx /1x", "/ax /bx /x" },
	{ "/[]]", "/]", "/a /[ /]]" },
	{ "/[a-]", "/a /-", "/b /a-" },
	{ "/[0-9]*", "/1 /12 /1a", "/a1 / /1/2" },
	{ "/proc/[0-9]*/mem", "/proc/1/mem /proc/123/mem", "/proc/self/mem /proc/1/maps /proc/1/task/mem" },
	{ "/{a,b}", "/a /b", "/ab /c / /a/b" },
	{ "/{a,b}/c", "/a/c /b/c", "/c /a /ab/c" },
	{ "/{a,b/c}/d", "/a/d /b/c/d", "/b/d /a/c/d" },
	{ "/x{,y}", "/x /xy", "/ /y /xyy" },
	{ "/{a,b}{c,d}", "/ac /ad /bc /bd", "/a /ab /cd" },
	{ "/a/{*.c,*.h}", "/a/x.c /a/x.h", "/a/x.o /a/b/x.c /a" },
	{ "/{a,b}/**", "/a /b /a/x /b/x/y", "/ /c /ab/x" },
	{ "/home/*/.ssh/**", "/home/u/.ssh /home/u/.ssh/id /home/v/.ssh/a/b", "/home/.ssh /home/u/x/.ssh /home/u/.sshx" },
	{ "/etc/ld.so.*", "/etc/ld.so.cache /etc/ld.so.conf /etc/ld.so.", "/etc/ld.so /etc/ld.so.conf.d/x /etc/ldXso.c" },
	{ "/a/b*/c/**", "/a/b/c /a/bx/c/d /a/b/c/d/e", "/a/c /a/xb/c /a/b/d" },
	{ "/*/x/*/y", "/a/x/b/y /x/x/x/y", "/a/x/y /a/b/x/y /a/x/b/y/z" },
	{ "**/a/*", "/a/b /x/a/b /x/y/a/b", "/a /a/b/c /b/x" },
	{ "**/*.kdbx", "/x.kdbx /a/x.kdbx /a/b/.kdbx", "/x.kdb /a/x.kdbx/y" },
	{ "**/*", "/a /a/b /a/b/c", "" },
	{ "**/*/*", "/a/b /a/b/c", "/a" },
	{ "/a/*/**", "/a/b /a/b/c /a/b/c/d", "/a / /b/c" },
	{ "/a/**/*", "/a/b /a/b/c", "/a / /b" },
	{ "**/id_{rsa,dsa}", "/id_rsa /a/id_dsa /a/b/id_rsa", "/id_rsa.pub /xid_rsa /id_" },
	{ "/tmp/ssh-*/**", "/tmp/ssh-a /tmp/ssh-a/agent.1 /tmp/ssh-/x", "/tmp/ssh /tmp/xssh-a /tmp" },
	{ "/a.b", "/a.b", "/aXb /ab" },
	{ "/a+b(c)", "/a+b(c)", "/aab(c) /ab" },
	{ "/aa*aa", "/aaaa /aaaaa /aaxaa", "/aaa /aa /aaaab" },
	{ "/*a*b*c*", "/abc /xaxbxcx /aabbcc", "/acb /ab /cba" },
};

static size_t check_list(const struct ruleset *rs, const char *pattern, const char *names, bool expected)
{
	char copy[512];
	size_t n = 0;
	snprintf(copy, sizeof(copy), "%s", names);
	for (char *at = copy, *name; (name = strsep(&at, " "));) {
		if (!*name)
			continue;
		one_pair(rs, pattern, name, expected);
		n++;
	}
	return n;
}

static void test_cases(void **state)
{
	size_t pairs = 0;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[256];
		snprintf(text, sizeof(text), "allow read %s\n", cases[i].pattern);
		struct ruleset *rs = parse(text);
		pairs += check_list(rs, cases[i].pattern, cases[i].yes, true);
		pairs += check_list(rs, cases[i].pattern, cases[i].no, false);
		ruleset_free(rs);
	}
	printf("%zu pairs\n", pairs);
	assert_true(pairs >= 300);
}

/* ---- random ones ---- */

static uint64_t seed;

static unsigned below(unsigned n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (unsigned)(seed >> 33) % n;
}

static void random_component(char *out, bool pattern)
{
	static const char *const parts[] = { "a", "b", "ab", "c", ".", "*", "?", "[ab]", "[!b]", "{a,b}", "{,c}", "**" };
	unsigned n = 1 + below(pattern ? 3 : 2);
	*out = 0;
	while (n--) {
		const char *part = parts[below(pattern ? 12 : 4)];
		size_t len = strlen(out);
		if (*part == '*' && len && out[len - 1] == '*')
			continue;
		strcat(out, part);
	}
}

static void random_name(char *out, bool pattern)
{
	unsigned n = 1 + below(4);
	*out = 0;
	while (n--) {
		char c[64];
		random_component(c, pattern);
		if (pattern && below(4) == 0)
			strcpy(c, "**");
		strcat(out, "/");
		strcat(out, c);
	}
}

/* A part that is empty, '.' or '..' once braces are expanded is not a name: such patterns are refused, and not wanted here. */
static bool usable(const char *pattern)
{
	struct diagnostics found = { 0 };
	struct ruleset *rs = NULL;
	char text[300];
	snprintf(text, sizeof(text), "allow read %.250s\n", pattern);
	int r = strstr(pattern, "/{,c}") ? 1 : ruleset_parse("test", text, strlen(text), NULL, &found, &rs);
	diagnostics_free(&found);
	ruleset_free(rs);
	return r == 0;
}

#define SET 8
#define NAMES 60

static size_t one_set(void)
{
	char pattern[SET][256], text[SET * 300] = "";
	for (unsigned i = 0; i < SET; i++) {
		do
			random_name(pattern[i], true);
		while (!usable(pattern[i]));
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "allow read %.250s\n", pattern[i]);
	}
	struct ruleset *rs = parse(text);
	for (unsigned n = 0; n < NAMES; n++) {
		char name[256];
		random_name(name, false);
		const struct rule *got = first(rs, name), *expected = NULL;
		struct call c = reading(name);
		for (unsigned i = 0; i < SET; i++) {
			bool hit = reference(pattern[i], name);
			if (rule_matches(rs, ruleset_rule(rs, i), &c, 0, OP_READ) != hit)
				fail_msg("slow: %s on %s: expected %d", pattern[i], name, hit);
			if (hit && !expected)
				expected = ruleset_rule(rs, i);
		}
		if (got != expected)
			fail_msg("%s: rule %u decided, expected %u of\n%s", name, got ? got->line : 0,
				 expected ? expected->line : 0, text);
	}
	ruleset_free(rs);
	return (size_t)SET * NAMES;
}

static void test_random(void **state)
{
	const char *given = getenv("SEED");
	seed = given ? strtoull(given, NULL, 0) : UINT64_C(0x5eed5eed5eed5eed);
	size_t pairs = 0;
	while (pairs < 1000000)
		pairs += one_set();
	printf("%zu pairs\n", pairs);
}

/* What one pattern is said to cover it does cover: no lint calls a rule dead that is alive. */
static void test_covers(void **state)
{
	size_t covered = 0, pairs = 0;
	seed = UINT64_C(0xc0c0c0c0c0c0c0c1);
	while (pairs < 60000) {
		char pattern[2][256], text[700];
		for (unsigned i = 0; i < 2; i++) {
			do
				random_name(pattern[i], true);
			while (strchr(pattern[i], '{') || !usable(pattern[i]));
		}
		snprintf(text, sizeof(text), "allow read %.250s\nallow read %.250s\n", pattern[0], pattern[1]);
		struct ruleset *rs = parse(text);
		bool covers = rule_covers(ruleset_rule(rs, 0), ruleset_rule(rs, 1), 0);
		covered += covers;
		for (unsigned n = 0; covers && n < 40; n++) {
			char name[256];
			random_name(name, false);
			if (reference(pattern[1], name) && !reference(pattern[0], name))
				fail_msg("%s is said to cover %s, but not on %s", pattern[0], pattern[1], name);
		}
		pairs++;
		ruleset_free(rs);
	}
	printf("%zu of %zu pairs covered\n", covered, pairs);
	assert_true(covered > 500);
}

static void random_endpoint(char *out, size_t room, bool pattern)
{
	static const char *const hosts[] = { "10.0.0.1", "10.0.1.2", "11.0.0.1", "[2001:db8::1]", "[2001:db8:1::1]",
					     "*", "10.0.0.0/8", "10.0.0.0/31", "[2001:db8::/32]", "[2001:db8::/47]", "0.0.0.0/0", "[::]/0" };
	static const char *const ports[] = { "1", "2", "3", "*", "1-2", "2-65535" };
	snprintf(out, room, "%s:%s:%s", below(2) ? "tcp" : "udp", hosts[below(pattern ? 12 : 5)], ports[below(pattern ? 6 : 3)]);
}

static void test_endpoints(void **state)
{
	seed = UINT64_C(0xe0e0e0e0e0e0e0e1);
	for (unsigned round = 0; round < 4000; round++) {
		char text[2000] = "", one[100], query[120];
		for (unsigned i = 0; i < 12; i++) {
			random_endpoint(one, sizeof(one), true);
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "allow connect %s\n", one);
		}
		struct ruleset *rs = parse(text);
		for (unsigned i = 0; i < 20; i++) {
			struct diagnostics found = { 0 };
			struct query q;
			struct verdict v;
			const struct rule *expected = NULL;
			random_endpoint(one, sizeof(one), false);
			snprintf(query, sizeof(query), "connect %s", one);
			assert_int_equal(query_parse(query, NULL, &found, &q), 0);
			ruleset_decide(rs, &q.call, &v);
			for (size_t r = 12; r-- > 0;)
				if (rule_matches(rs, ruleset_rule(rs, r), &q.call, 0, OP_CONNECT))
					expected = ruleset_rule(rs, r);
			if (v.rule != expected)
				fail_msg("%s: %s, expected %s of\n%s", query, v.where, expected ? expected->where : "none", text);
			query_free(&q);
		}
		ruleset_free(rs);
	}
}

/* More places open at once than the walk has room for: every rule is asked in turn, with the same result. */
static void test_overflow(void **state)
{
	static char text[40000], name[2000];
	for (unsigned i = 0; i < 600; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "deny read **/*%c*%u*/x\n", 'a' + (char)(i % 3), i);
	strcat(text, "allow read /**/last\n");
	struct ruleset *rs = parse(text);
	strcpy(name, "/abc");
	for (unsigned i = 0; i < 600; i += 3)
		snprintf(name + strlen(name), sizeof(name) - strlen(name), "%u_", i);
	strcat(name, "/x/last");
	const struct rule *r = first(rs, name);
	assert_non_null(r);
	assert_int_equal(r->line, 601);
	name[strlen(name) - 5] = 0;
	assert_int_equal(first(rs, name)->line, 1);
	ruleset_free(rs);
}

/* What a program may name is bytes: any but NUL, and any length. */
static void test_bytes(void **state)
{
	struct ruleset *rs = parse("deny read \"/x/\\xff\\n\\t y\" \"/a\\*b\" \"/q\\\"q\" /\xc3\xa9/**\n");
	assert_non_null(first(rs, "/x/\xff\n\t y"));
	assert_null(first(rs, "/x/\xfe\n\t y"));
	assert_non_null(first(rs, "/a*b"));
	assert_null(first(rs, "/axb"));
	assert_non_null(first(rs, "/q\"q"));
	assert_non_null(first(rs, "/\xc3\xa9/b"));
	ruleset_free(rs);
	static char text[10000], name[9000];
	strcpy(text, "deny read /");
	memset(text + strlen(text), 'n', 255);
	strcat(text, "/**\n");
	rs = parse(text);
	memset(name, 'n', 256);
	name[0] = '/';
	assert_non_null(first(rs, name));
	for (unsigned i = 256; i < 8000; i += 2)
		memcpy(name + i, "/d", 3);
	assert_non_null(first(rs, name));
	ruleset_free(rs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_covers),
		cmocka_unit_test(test_endpoints),
		cmocka_unit_test(test_overflow),
		cmocka_unit_test(test_bytes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
