/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "supervisor/thread_ids.h"

static const char whole[] = "Name:\tx\nUid:\t1\t2\t3\t4\nGid:\t5\t6\t7\t8\nFDSize:\t64\nGroups:\t9 10 4294967294 \nNStgid:\t1\n"
			    "CapInh:\t0000000000000000\nCapPrm:\t00000000a80425fb\nCapEff:\t000001ffffffffff\n";

static void a_status_is_read(void **state)
{
	struct thread_ids ids;

	assert_int_equal(thread_ids_parse(whole, &ids), 0);
	assert_int_equal(ids.uid[ID_REAL], 1);
	assert_int_equal(ids.uid[ID_FS], 4);
	assert_int_equal(ids.gid[ID_EFFECTIVE], 6);
	assert_int_equal(ids.n_groups, 3);
	assert_int_equal(ids.groups[2], 4294967294u);
	assert_true(ids.cap_permitted == 0xa80425fbu);
	assert_true(ids.cap_effective == 0x1ffffffffffull);
	free(ids.groups);
}

/* A status that was cut off says nothing. */
static void what_is_cut_off_is_not_known(void **state)
{
	char text[sizeof(whole)];
	struct thread_ids ids;

	for (size_t len = 0; len < strlen(whole) - sizeof("000001ffffffffff"); len++) {
		memcpy(text, whole, len);
		text[len] = '\0';
		assert_int_equal(thread_ids_parse(text, &ids), -EIO);
		assert_null(ids.groups);
	}
}

static void one_s_own_are_what_the_kernel_says(void **state)
{
	struct thread_ids ids;

	assert_int_equal(thread_ids_read(getpid(), &ids), 0);
	assert_int_equal(ids.uid[ID_EFFECTIVE], geteuid());
	assert_int_equal(ids.gid[ID_REAL], getgid());
	assert_int_equal(ids.n_groups, getgroups(0, NULL));
	assert_int_equal(thread_groups_set(ids.groups, ids.n_groups), 0); /* whoever may not change them, too */
	free(ids.groups);
	assert_int_equal(thread_ids_read(4194304, &ids), -ESRCH);
	assert_null(ids.groups);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_status_is_read),
		cmocka_unit_test(what_is_cut_off_is_not_known),
		cmocka_unit_test(one_s_own_are_what_the_kernel_says),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
