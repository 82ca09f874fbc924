/* SPDX-License-Identifier: Apache-2.0 */
/* Rules from a text in the test; cmocka's header comes first. */
#ifndef USHER_TESTS_RULES_TEXT_H
#define USHER_TESTS_RULES_TEXT_H

#include <stdio.h>
#include <string.h>

#include "rules/ruleset.h"

static struct ruleset *parse(const char *text)
{
	struct diagnostics found = { 0 };
	struct ruleset *rs = NULL;
	int r = ruleset_parse("test", text, strlen(text), NULL, &found, &rs);
	if (r)
		diagnostics_print(&found, stderr, false);
	diagnostics_free(&found);
	assert_int_equal(r, 0);
	return rs;
}

#endif
