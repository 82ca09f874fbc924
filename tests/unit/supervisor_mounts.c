/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <string.h>

#include "supervisor/mounts.h"

static void usual_places(void **state)
{
	assert_false(mounts_astray("sysfs", "/sys"));
	assert_false(mounts_astray("debugfs", "/sys/kernel/debug"));
	assert_false(mounts_astray("tracefs", "/sys/kernel/tracing"));
	assert_false(mounts_astray("tracefs", "/sys/kernel/debug/tracing"));
	assert_false(mounts_astray("binfmt_misc", "/proc/sys/fs/binfmt_misc"));
	assert_false(mounts_astray("configfs", "/sys/kernel/config"));
}

static void other_places(void **state)
{
	assert_true(mounts_astray("sysfs", "/mnt/root/sys"));
	assert_true(mounts_astray("sysfs", "/sys/fs/fuse/connections"));
	assert_true(mounts_astray("debugfs", "/debug"));
	assert_true(mounts_astray("tracefs", "/sys/kernel/debug"));
	assert_true(mounts_astray("tracefs", "/sys/kernel/tracing2"));
	assert_true(mounts_astray("binfmt_misc", "/binfmt"));
	assert_true(mounts_astray("securityfs", "/sys"));
}

static void others(void **state)
{
	assert_false(mounts_astray("tmpfs", "/tmp"));
	assert_false(mounts_astray("ext4", "/"));
	assert_false(mounts_astray("proc", "/mnt/proc"));
	assert_false(mounts_astray("fuse.sysfs", "/mnt"));
	assert_false(mounts_astray("", "/sys"));
}

static void see(const char *type, const char *dir, void *context)
{
	if (strcmp(type, "proc") == 0 && strcmp(dir, "/proc") == 0)
		*(bool *)context = true;
}

static void every_mount(void **state)
{
	bool proc = false;

	assert_int_equal(mounts_each(see, &proc), 0);
	assert_true(proc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(usual_places),
		cmocka_unit_test(other_places),
		cmocka_unit_test(others),
		cmocka_unit_test(every_mount),
	};

	return cmocka_run_group_tests_name("supervisor_mounts", tests, NULL, NULL);
}
