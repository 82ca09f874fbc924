/* SPDX-License-Identifier: Apache-2.0 */
/* What interpreters are told to run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "supervisor/exec_script.h"

#define FOUND(language, strings, name, after) found(language, (struct span){ strings, sizeof(strings) }, name, (struct span){ after, sizeof(after) - 1 })

static void found(enum script_language language, struct span strings, const char *name, struct span after)
{
	char out[SCRIPT_TEXT];
	struct span rest;

	script_find(language, strings, "/work", out, &rest);
	assert_string_equal(out, name);
	assert_int_equal(rest.len, after.len);
	if (after.len)
		assert_memory_equal(rest.bytes, after.bytes, after.len);
}

static enum script_language of(const char *path)
{
	return script_language((struct span){ path, (uint32_t)strlen(path) });
}

static void languages(void **state)
{
	assert_int_equal(of("/usr/bin/python3.11"), SCRIPT_PYTHON);
	assert_int_equal(of("/opt/x/python"), SCRIPT_PYTHON);
	assert_int_equal(of("/usr/bin/node"), SCRIPT_NODE);
	assert_int_equal(of("/usr/bin/dash"), SCRIPT_SHELL);
	assert_int_equal(of("/usr/bin/bash"), SCRIPT_SHELL);
	assert_int_equal(of("/usr/bin/pythonic"), SCRIPT_NONE);
	assert_int_equal(of("/usr/bin/shred"), SCRIPT_NONE);
	assert_int_equal(of("python3"), SCRIPT_NONE);
	assert_int_equal(of("/"), SCRIPT_NONE);
	assert_int_equal(script_language((struct span){ NULL, 0 }), SCRIPT_NONE);
}

static void scripts(void **state)
{
	FOUND(SCRIPT_PYTHON, "python3\0-B\0-W\0error\0x.py\0a\0b c", "/work/x.py", "a\0b c\0");
	FOUND(SCRIPT_PYTHON, "python3\0-Wc\0/x.py", "/x.py", "");
	FOUND(SCRIPT_PYTHON, "python3\0-Ec\0print(1)\0a", "-c", "a\0");
	FOUND(SCRIPT_PYTHON, "python3\0-m\0pip\0install", "-m pip", "install\0");
	FOUND(SCRIPT_PYTHON, "python3\0-", "", "");
	FOUND(SCRIPT_PYTHON, "python3", "", "");
	FOUND(SCRIPT_PYTHON, "python3\0-m", "", "");
	FOUND(SCRIPT_NODE, "node\0--require\0./a.js\0b.js\0-x", "/work/b.js", "-x\0");
	FOUND(SCRIPT_NODE, "node\0-pe\0" "1+1", "-p", "");
	FOUND(SCRIPT_SHELL, "sh\0-ec\0exit 1\0name", "-c", "name\0");
	FOUND(SCRIPT_SHELL, "bash\0-euo\0pipefail\0./run.sh\0" "1", "/work/./run.sh", "1\0");
	FOUND(SCRIPT_SHELL, "bash\0+o\0posix\0--\0", "/work/", "");
	FOUND(SCRIPT_SHELL, "-bash", "", "");
	/* Nothing, and a value that is missing. */
	found(SCRIPT_SHELL, (struct span){ "", 0 }, "", (struct span){ NULL, 0 });
	FOUND(SCRIPT_SHELL, "bash\0-c", "-c", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(languages), cmocka_unit_test(scripts) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
