/* SPDX-License-Identifier: Apache-2.0 */
/* Queries: every word against records that answer it and records that do not; the reader of fields on odd text. */
#include <errno.h>

#include "audit/field.h"
#include "audit/query.h"
#include "audit/stamp.h"
#include "audit_util.h"

#define DENIED                                                                                                         \
	"{\"seq\":7,\"time\":\"2026-11-20T10:00:00.000000Z\",\"type\":\"call\",\"pid\":10,\"tid\":11,\"exe\":\"/usr/bin/python3\"," \
	"\"call\":\"openat\",\"op\":[\"read\"],\"object\":\"/etc/shadow\",\"named\":\"../etc/shadow\",\"verdict\":\"deny\","     \
	"\"rule\":\"agent.rules:12\",\"result\":\"EACCES\"}"
#define RENAMED                                                                                                        \
	"{\"seq\":8,\"time\":\"2026-11-20T11:00:00.000000Z\",\"type\":\"call\",\"pid\":10,\"tid\":10,\"exe\":\"/bin/mv\","       \
	"\"call\":\"rename\",\"op\":[\"create\",\"delete\"],\"object\":\"/w/a\",\"objects\":[{\"op\":[\"delete\"],"              \
	"\"object\":\"/w/a\"},{\"op\":[\"create\"],\"object\":\"/w/b\\uefff\\n\"}],\"verdict\":\"allow\",\"rule\":\"x:1\",\"result\":0}"

static bool answers(const char *word, const char *text)
{
	struct query *q;
	const char *bad;
	uint64_t now;
	assert_true(stamp_read("2026-11-20T11:05:00.000000Z", STAMP_LEN, &now));
	if (query_new(&word, 1, now, &q, &bad) != 0)
		fail_msg("%s: no word", word);
	bool yes = query_match(q, text, strlen(text));
	log_query_free(q);
	return yes;
}

static void words_match(void **state)
{
	static const char *const first[] = { /* answered by DENIED, not by RENAMED */
		"denied", "failed", "path:/etc/**", "/etc/shadow", "path:/etc/s?ad*", "path:../etc/shadow", "path:/{etc,usr}/*",
		"path:/etc/[r-t]hadow", "by:python3", "by:/usr/bin/python*", "op:read", "!op:delete", "call:openat",
		"pid:11", "verdict:deny", "rule:agent", "result:EACCES", "seq:7", "seq:1-7", "until:2026-11-20T10:30", "!/w/**",
		"!since:10m",
	};
	static const char *const second[] = { "!denied", "/w/**", "/w/a", "path:/w/b*", "path:/**/a", "op:create", "op:write", "by:mv",
					      "result:0", "since:10m", "since:2026-11-20T10:30", "since:2026-11-20T11Z", "since:2026-11-20 10:59:59.9", "seq:8-", "!failed", "verdict:allow" };
	for (size_t i = 0; i < sizeof first / sizeof first[0]; i++)
		if (!answers(first[i], DENIED) || answers(first[i], RENAMED))
			fail_msg("%s", first[i]);
	for (size_t i = 0; i < sizeof second / sizeof second[0]; i++)
		if (answers(second[i], DENIED) || !answers(second[i], RENAMED))
			fail_msg("%s", second[i]);
	assert_true(answers("since:2026-11", DENIED) && answers("since:2024-02-29", DENIED));
	/* Before there was a clock: 2^64 ns and half a minute. */
	assert_true(answers("since:307445735m", DENIED));
	assert_false(answers("until:307445735m", DENIED));
}

static void versions_need_not_be_said(void **state)
{
	static const struct {
		const char *word, *exe;
		bool yes;
	} rows[] = {
		{ "by:python3", "/usr/bin/python3.11", true },	  { "by:python", "/usr/bin/python3.11", true },	     { "by:gcc", "/usr/bin/gcc-12", true },
		{ "by:python3.11", "/usr/bin/python3.11", true }, { "by:python3.1", "/usr/bin/python3.11", false },  { "by:python3.", "/usr/bin/python3.11", false },
		{ "by:python2", "/usr/bin/python3.11", false },	  { "by:pytho", "/usr/bin/python3.11", false },	     { "by:gcc-1", "/usr/bin/gcc-12", false },
		{ "by:/usr/bin/gcc", "/usr/bin/gcc-12", false },  { "by:python?", "/usr/bin/python3.11", true },	     { "!by:python3", "/usr/bin/python3.11", false },
		{ "by:12", "12", true },			  { "by:1", "12", false },			     { "by:x", "x", true },
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		char text[256];
		snprintf(text, sizeof text, "{\"seq\":1,\"exe\":\"%s\"}", rows[i].exe);
		if (answers(rows[i].word, text) != rows[i].yes)
			fail_msg("%s of %s", rows[i].word, rows[i].exe);
	}
}

static void programs_are_found_by_content(void **state)
{
	static const char script[] = "{\"seq\":1,\"sha256\":\"aa\",\"objects\":[{\"sha256\":\"aa\"},{\"sha256\":\"bb\"}],\"to_sha256\":\"cc\",\"argv\":\"dd\"}";
	assert_true(answers("sha256:aa", script) && answers("sha256:bb", script) && answers("sha256:cc", script));
	assert_false(answers("sha256:dd", script) || answers("sha256:a", script) || answers("!sha256:bb", script));
	assert_false(answers("sha256:aa", DENIED));
	assert_true(answers("!sha256:aa", DENIED));
}

static void words_are_all_needed(void **state)
{
	const char *words[] = { "denied", "by:mv" }, *bad;
	struct query *q;
	assert_int_equal(query_new(words, 2, 0, &q, &bad), 0);
	assert_false(query_match(q, DENIED, strlen(DENIED)));
	assert_false(query_match(q, RENAMED, strlen(RENAMED)));
	log_query_free(q);
	assert_int_equal(query_new(words, 0, 0, &q, &bad), 0);
	assert_true(query_match(q, DENIED, strlen(DENIED)));
	log_query_free(q);
}

static void other_words_are_refused(void **state)
{
	static const char *const rows[] = { "nonsense", "path:", "op:fly", "pid:x", "seq:1-x", "since:soon", "until:", "colour:red", "",
					    "since:-5m", "since:+5m", "since: 5m", "until:-5m", "pid:-5", "seq:-5", "seq:1--5", "seq:1- 5",
					    "since:2026-02-30", "since:2026-04-31", "until:2100-02-29", "since:2026-13-01", "since:2026-00-01",
					    "since:2026-1", "since:2026-11-2", "since:2026-11-2T10:00", "since:2026-11-20T1", "since:2026-11-20T10:1", "since:2026-11-20T10:17:2", "since:2026-11-20Zulu" };
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct query *q;
		const char *bad = NULL;
		assert_int_equal(query_new(&rows[i], 1, 0, &q, &bad), -EINVAL);
		assert_ptr_equal(bad, rows[i]);
	}
}

static void names_are_compared_as_bytes(void **state)
{
	assert_true(answers("path:/w/b\xff\n", RENAMED));
	assert_false(answers("path:/w/b\xfe\n", RENAMED));
	assert_false(answers("path:/w/b\\uefff\\n", RENAMED));
}

static void braces_nest(void **state)
{
	assert_true(answers("path:/{usr,{opt,etc}}/shadow", DENIED) && answers("path:/{e{x,t{b,c}},usr}/shadow", DENIED));
	assert_true(answers("path:{/etc/{passwd,shadow}{,.bak},/x}", DENIED));
	assert_false(answers("path:/{usr,{opt,et}}/shadow", DENIED) || answers("path:/{usr,{opt,etc}/shadow", DENIED));
}

/* As in the patterns of rules: a whole component ** is none, too. */
static void any_components_are_none_too(void **state)
{
	static const char *const yes[] = { "path:/etc/**/shadow", "path:/**/etc/**/shadow", "path:**/etc/shadow/**", "path:**/../etc/shadow", "path:**/**/shadow",
					   "path:/{etc,usr}/**/shadow", "path:/etc/**/shadow/**", "path:/e**c/shadow" };
	static const char *const no[] = { "path:/et**/c/shadow", "path:/etc/**/**shado", "path:/etc**/**/x", "path:/**/hadow", "path:/etc***/shadow/x" };
	for (size_t i = 0; i < sizeof yes / sizeof yes[0]; i++)
		if (!answers(yes[i], DENIED))
			fail_msg("%s", yes[i]);
	for (size_t i = 0; i < sizeof no / sizeof no[0]; i++)
		if (answers(no[i], DENIED))
			fail_msg("%s", no[i]);
}

static void odd_text_is_no_record(void **state)
{
	static const char *const rows[] = { "", "{", "}", "{}x", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{\"a\":[1,]}", "{\"a\":\"\\\"}",
					    "{\"a\": 1}", "{a:1}", "{\"a\":tru}", "{\"a\":1.5}", "{\"a\":\"\x80\"}", "[1]",
					    "{\"a\":01}", "{\"a\":\"\\x\"}", "{\"a\":\"\\u00g0\"}", "{\"a\":\"\\u123\"}" };
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		assert_false(field_valid(rows[i], strlen(rows[i])));
	char deep[256] = "{\"a\":";
	memset(deep + 5, '[', 100);
	memset(deep + 105, ']', 100);
	deep[205] = '}';
	assert_false(field_valid(deep, 206)); /* nesting has an end */
	assert_true(field_valid(DENIED, strlen(DENIED)));
	for (size_t n = 0; n < strlen(RENAMED); n++)
		assert_false(field_valid(RENAMED, n));
}

static void times_come_back(void **state)
{
	char text[STAMP_LEN];
	for (uint64_t ns = 0; ns < UINT64_C(8000000000000000000); ns += UINT64_C(12345678901234000)) {
		uint64_t back;
		stamp_write(text, ns);
		assert_true(stamp_read(text, STAMP_LEN, &back));
		assert_int_equal(back, ns);
	}
	stamp_write(text, UINT64_C(951782400123456789)); /* a leap day */
	assert_memory_equal(text, "2000-02-29T00:00:00.123456Z", STAMP_LEN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_match), cmocka_unit_test(versions_need_not_be_said),
		cmocka_unit_test(programs_are_found_by_content), cmocka_unit_test(words_are_all_needed),
		cmocka_unit_test(other_words_are_refused), cmocka_unit_test(names_are_compared_as_bytes),
		cmocka_unit_test(any_components_are_none_too), cmocka_unit_test(braces_nest), cmocka_unit_test(odd_text_is_no_record), cmocka_unit_test(times_come_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
