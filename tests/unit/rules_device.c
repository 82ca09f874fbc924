/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "rules/device.h"

static bool same(struct identity a, struct identity b)
{
	return a.dev == b.dev && a.ino == b.ino;
}

static void files_are_what_they_are(void **state)
{
	assert_true(same(identity_of(S_IFREG | 0644, 0, 5, 77), (struct identity){ 5, 77 }));
	assert_true(same(identity_of(S_IFDIR | 0755, 0, 5, 78), (struct identity){ 5, 78 }));
	assert_true(same(identity_of(S_IFIFO, makedev(7, 0), 5, 79), (struct identity){ 5, 79 }));
	assert_true(same(identity_of(0, makedev(7, 0), 5, 80), (struct identity){ 5, 80 }));
}

static void nodes_are_their_device(void **state)
{
	struct identity disk = identity_of(S_IFBLK | 0600, makedev(7, 0), 5, 77);

	assert_true(same(disk, identity_of(S_IFBLK | 0666, makedev(7, 0), 6, 12)));
	assert_false(same(disk, identity_of(S_IFBLK | 0600, makedev(7, 1), 5, 77)));
	assert_false(same(disk, identity_of(S_IFCHR | 0600, makedev(7, 0), 5, 77)));
	assert_true(disk.dev > UINT32_MAX);
}

static void terminals_are_their_file_systems(void **state)
{
	assert_true(same(identity_of(S_IFCHR, makedev(136, 3), 5, 6), (struct identity){ 5, 6 }));
	assert_true(same(identity_of(S_IFCHR, makedev(143, 255), 5, 6), (struct identity){ 5, 6 }));
	assert_false(same(identity_of(S_IFCHR, makedev(144, 0), 5, 6), (struct identity){ 5, 6 }));
	assert_false(same(identity_of(S_IFBLK, makedev(136, 3), 5, 6), (struct identity){ 5, 6 }));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_are_what_they_are),
		cmocka_unit_test(nodes_are_their_device),
		cmocka_unit_test(terminals_are_their_file_systems),
	};

	return cmocka_run_group_tests_name("rules_device", tests, NULL, NULL);
}
