/* SPDX-License-Identifier: Apache-2.0 */
/* Which intents of the chain have no outcome. */
#include "audit/intents.h"
#include "audit_util.h"

#define HEAD "\"time\":\"2026-11-20T10:17:26.123456Z\",\"prev\":\"00\","
#define INTENT(seq, tid, call) "{\"seq\":" seq "," HEAD "\"intent\":true,\"type\":\"call\",\"pid\":5,\"tid\":" tid ",\"call\":\"" call "\"}"
#define DONE(seq, tid, call) "{\"seq\":" seq "," HEAD "\"type\":\"call\",\"pid\":5,\"tid\":" tid ",\"call\":\"" call "\",\"result\":0}"

static bool takes(struct intents *in, const char *text)
{
	char *exact = strdup(text);
	assert_non_null(exact);
	bool is = intents_note(in, exact, strlen(exact));
	free(exact);
	return is;
}

static void settles(void **state)
{
	struct intents in = { 0 };
	assert_false(takes(&in, DONE("1", "5", "rename")));
	assert_true(takes(&in, INTENT("2", "5", "rename")));
	assert_true(takes(&in, INTENT("3", "6", "unlink")));
	assert_int_equal(in.n, 2);
	assert_false(takes(&in, DONE("4", "6", "rename"))); /* another thread */
	assert_false(takes(&in, DONE("5", "5", "unlink"))); /* another call */
	assert_false(takes(&in, "{\"seq\":6," HEAD "\"type\":\"answer\",\"pid\":5,\"tid\":5,\"call\":\"rename\"}"));
	assert_int_equal(in.n, 2);
	assert_false(takes(&in, DONE("7", "5", "rename")));
	assert_int_equal(in.n, 1);
	assert_non_null(memmem(in.at[0].text, in.at[0].len, "unlink", 6));
	assert_true(takes(&in, INTENT("8", "6", "unlink"))); /* begun again */
	assert_int_equal(in.n, 1);
	assert_non_null(memmem(in.at[0].text, in.at[0].len, "\"seq\":8", 7));
	intents_free(&in);
}

/* What stands in a slot has no number: it is in flight by itself. */
static void takes_the_chain_alone(void **state)
{
	struct intents in = { 0 };
	assert_false(takes(&in, "{\"intent\":true,\"after\":7,\"type\":\"call\",\"pid\":5,\"tid\":5,\"call\":\"open\"}"));
	assert_false(takes(&in, "{\"seq\":1," HEAD "\"type\":\"call\",\"object\":\"\\\"intent\\\":true\"}"));
	assert_false(takes(&in, "no record"));
	assert_int_equal(in.n, 0);
	for (unsigned i = 0; i < 100; i++) {
		char text[256];
		snprintf(text, sizeof text, INTENT("%u", "%u", "open"), i + 1, i + 1);
		assert_true(takes(&in, text));
	}
	assert_int_equal(in.n, 100);
	assert_false(in.failed);
	intents_free(&in);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(settles),
		cmocka_unit_test(takes_the_chain_alone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
