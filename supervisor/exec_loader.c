/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/exec_loader.h"

#include <string.h>

/* The arguments of the new image: what scripts put in front, then the caller's. */
struct arguments {
	struct span now, then;
	uint32_t taken;
};

static const char *peek(struct arguments *a)
{
	if (!a->now.len) {
		a->now = a->then;
		a->then.len = 0;
	}
	return a->now.len ? a->now.bytes : NULL;
}

/* The next one; NULL when none is left. */
static const char *take(struct arguments *a)
{
	const char *s = peek(a);

	if (s) {
		a->now.len -= (uint32_t)strlen(s) + 1;
		a->now.bytes += strlen(s) + 1;
		a->taken++;
	}
	return s;
}

/* Options of glibc's and musl's loaders that take the next argument as their value. */
static bool takes_value(const char *option)
{
	static const char *const with[] = { "--library-path", "--inhibit-rpath", "--audit", "--preload", "--argv0",
					    "--glibc-hwcaps-prepend", "--glibc-hwcaps-mask" };

	for (size_t i = 0; i < sizeof(with) / sizeof(with[0]); i++) {
		if (!strcmp(option, with[i]))
			return true;
	}
	return false;
}

/* The option that is next, taken with its value; NULL when none is left. "--" ends them. */
static const char *next_option(struct arguments *a)
{
	const char *option = peek(a);

	if (!option || option[0] != '-' || option[1] != '-')
		return NULL;
	(void)take(a);
	if (!option[2])
		return NULL;
	if (takes_value(option))
		(void)take(a);
	return option;
}

static struct arguments behind_first(const struct exec_plan *p)
{
	struct arguments a = { plan_prefix(p), plan_given(p), 0 };

	(void)take(&a);
	return a;
}

struct span loader_program(const struct exec_plan *p, uint32_t *nth)
{
	struct arguments a = behind_first(p);

	while (next_option(&a))
		continue;
	*nth = a.taken; /* argv[0] was the first */
	const char *program = peek(&a);
	return (struct span){ program, program ? (uint32_t)strlen(program) : 0 };
}

/* The variable that does the same as a loader's OPTION ("--preload", musl's "--preload=LIST"), or NULL. */
static const char *option_variable(const char *option)
{
	static const struct {
		const char *option, *variable;
	} same[] = { { "--preload", "LD_PRELOAD" }, { "--audit", "LD_AUDIT" }, { "--library-path", "LD_LIBRARY_PATH" } };

	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
		size_t n = strlen(same[i].option);
		if (strncmp(option, same[i].option, n) == 0 && (!option[n] || option[n] == '='))
			return same[i].variable;
	}
	return NULL;
}

int loader_variables(struct job *j)
{
	struct arguments a = behind_first(plan_of(j));
	const char *option;

	while ((option = next_option(&a))) {
		const char *variable = option_variable(option);
		int err = variable ? plan_env_add(j, variable) : 0;
		if (err)
			return err;
	}
	return 0;
}
