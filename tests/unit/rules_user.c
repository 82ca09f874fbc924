/* SPDX-License-Identifier: Apache-2.0 */
#include <pwd.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "rules/user.h"

static void as_the_c_library_knows_them(void **state)
{
	static const uid_t some[] = { 0, 1, 65534 };

	(void)state;
	for (size_t i = 0; i < sizeof(some) / sizeof(some[0]); i++) {
		const struct passwd *pw = getpwuid(some[i]);
		struct user user;

		assert_int_equal(user_find(some[i], &user), pw != NULL);
		if (!pw)
			continue;
		assert_string_equal(user.name, pw->pw_name);
		assert_string_equal(user.home, pw->pw_dir);
	}
}

static void nobody_has_that_number(void **state)
{
	struct user user;

	(void)state;
	assert_null(getpwuid(3999999999U));
	assert_false(user_find(3999999999U, &user));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_the_c_library_knows_them),
		cmocka_unit_test(nobody_has_that_number),
	};

	return cmocka_run_group_tests_name("rules_user", tests, NULL, NULL);
}
