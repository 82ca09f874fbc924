/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <unistd.h>

#include "supervisor/together.h"

static cpu_set_t mine(void)
{
	cpu_set_t set;

	assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
	return set;
}

static void one_core_the_others_and_back(void **state)
{
	const cpu_set_t before = mine();
	struct together t = { .held = false };
	cpu_set_t now;

	if (CPU_COUNT(&before) < 2)
		skip();
	together_find(&t);
	together_begin(&t);
	now = mine();
	assert_true(t.held && CPU_EQUAL(&now, &before));
	together_stay(&t);
	now = mine();
	assert_int_equal(CPU_COUNT(&now), 1);
	/* the others are all but this one, or this one where all of them are busy */
	together_apart(&t);
	const cpu_set_t others = mine();
	if (!CPU_EQUAL(&others, &now)) {
		CPU_OR(&now, &now, &others);
		assert_int_equal(CPU_COUNT(&others), CPU_COUNT(&before) - 1);
		assert_true(CPU_EQUAL(&now, &before));
	}
	together_leave(&t, 0);
	now = mine();
	assert_true(CPU_EQUAL(&now, &before));
	/* a command is let go once: later it may have chosen for itself */
	together_stay(&t);
	together_command(&t, getpid());
	now = mine();
	assert_true(CPU_EQUAL(&now, &before));
	together_stay(&t);
	together_command(&t, getpid());
	now = mine();
	assert_int_equal(CPU_COUNT(&now), 1);
	together_leave(&t, 0);
}

/* What a thread had of its own comes back as it was; what nobody has any more is not insisted on. */
static void what_was_is_restored(void **state)
{
	const cpu_set_t before = mine();
	struct together t = { .known = false };
	cpu_set_t one, none, now;

	if (CPU_COUNT(&before) < 2)
		skip();
	together_find(&t);
	together_begin(&t);
	one = t.core;
	CPU_ZERO(&none);
	CPU_SET(CPU_SETSIZE - 1, &none);
	together_stay(&t);
	together_restore(&t, 0, &before);
	now = mine();
	assert_true(CPU_EQUAL(&now, &before));
	together_restore(&t, 0, &one);
	now = mine();
	assert_true(CPU_EQUAL(&now, &one));
	together_restore(&t, 0, &none);
	now = mine();
	assert_true(CPU_EQUAL(&now, &before));
	/* and with the end nobody is held */
	together_stay(&t);
	together_end(&t);
	now = mine();
	assert_true(CPU_EQUAL(&now, &before));
	together_stay(&t);
	now = mine();
	assert_true(CPU_EQUAL(&now, &before));
}

static void a_single_core_is_left_alone(void **state)
{
	const cpu_set_t before = mine();
	struct together t = { .held = false };
	cpu_set_t one, now;

	CPU_ZERO(&one);
	for (int i = 0; !CPU_COUNT(&one); i++) {
		if (CPU_ISSET(i, &before))
			CPU_SET(i, &one);
	}
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	together_find(&t);
	together_begin(&t);
	assert_false(t.held);
	together_stay(&t);
	together_apart(&t);
	together_leave(&t, 0);
	together_command(&t, getpid());
	now = mine();
	assert_true(CPU_EQUAL(&now, &one));
	assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_core_the_others_and_back),
		cmocka_unit_test(what_was_is_restored),
		cmocka_unit_test(a_single_core_is_left_alone),
	};

	return cmocka_run_group_tests_name("supervisor_together", tests, NULL, NULL);
}
