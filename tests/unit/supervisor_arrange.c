/* SPDX-License-Identifier: Apache-2.0 */
/* Which worker receives where: when a single receiver stays on its core, and when several receive. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/resource.h>

#include "supervisor/arrange.h"

static bool stays_after(struct stay *s, pid_t tid, unsigned calls)
{
	bool stays = false;

	for (unsigned i = 0; i < calls; i++)
		stays = arrange_stays(s, tid);
	return stays;
}

/* A few calls of the same caller: it stays; another one: it is free to follow. */
static void stays_for_one_caller(void **state)
{
	struct stay s = { 0 };

	(void)state;
	assert_false(arrange_stays(&s, 10));
	assert_true(stays_after(&s, 10, 5));
	assert_true(arrange_stays(&s, 10));
	assert_false(arrange_stays(&s, 11));
	assert_true(stays_after(&s, 11, 5));
	assert_false(arrange_stays(&s, 10));
}

/* A caller that the kernel moved to another core must not be pulled back for ever. */
static void lets_go_now_and_then(void **state)
{
	struct stay s = { 0 };
	unsigned freed = 0;

	(void)state;
	for (unsigned i = 0; i < 1000; i++)
		freed += !arrange_stays(&s, 10);
	assert_in_range(freed, 5, 50);
}

static void here_is_one_of_its_cores(void **state)
{
	struct arrangement a;

	(void)state;
	memset(&a, 0, sizeof(a));
	arrange_init(&a, NULL);
	int here = arrange_here(&a);
	if (a.cores == 1) {
		assert_int_equal(here, -1);
		return;
	}
	assert_in_range(here, 0, a.cores - 1);
	arrange_bind(&a, here);
	assert_int_equal(sched_getcpu(), a.core[here]);
	assert_int_equal(arrange_here(&a), here);
	arrange_bind(&a, -1);
}

/* However many workers make each other, each is as far ahead as the first. */
static void *second(void *first)
{
	arrange_ahead(true);
	*(int *)first = getpriority(PRIO_PROCESS, 0);
	return NULL;
}

static void *makes_second(void *second_nice)
{
	pthread_t t;
	int own;

	arrange_ahead(true);
	own = getpriority(PRIO_PROCESS, 0);
	assert_int_equal(pthread_create(&t, NULL, second, second_nice), 0);
	pthread_join(t, NULL);
	return *(int *)second_nice == own ? second_nice : NULL;
}

static void threads_are_equally_ahead(void **state)
{
	pthread_t t;
	void *same = NULL;
	int nice;

	(void)state;
	assert_int_equal(pthread_create(&t, NULL, makes_second, &nice), 0);
	pthread_join(t, &same);
	assert_ptr_equal(same, &nice);
}

/* More receivers where callers interleave, one where they come in turn. */
static void receivers_follow_the_callers(void **state)
{
	struct arrangement a;
	unsigned want = 1;

	(void)state;
	memset(&a, 0, sizeof(a));
	a.cores = 4;
	for (int i = 0; i < 2 * ARRANGE_WINDOW; i++)
		want = arrange_note(&a, 10 + i % 3, want);
	assert_int_equal(want, 3);
	for (int i = 0; i < 2 * ARRANGE_WINDOW; i++)
		want = arrange_note(&a, 10 + i % 20, want);
	assert_int_equal(want, 1);
	a.cores = 2;
	for (int i = 0; i < 2 * ARRANGE_WINDOW; i++)
		want = arrange_note(&a, 10 + i % 4, want);
	assert_int_equal(want, 3);
	for (int i = 0; i < 2 * ARRANGE_WINDOW; i++)
		want = arrange_note(&a, 10 + i % 5, want);
	assert_int_equal(want, 3);
	for (int i = 0; i < 2 * ARRANGE_WINDOW; i++)
		want = arrange_note(&a, 10 + i % 32, want);
	assert_int_equal(want, 3);
	a.cores = 4;
	for (int i = 0; i < 2 * ARRANGE_WINDOW; i++)
		want = arrange_note(&a, 10 + i / ARRANGE_WINDOW, want);
	assert_int_equal(want, 1);
}

/* A shell that runs programs one by one, some calls each: nobody waits beside another. */
static void programs_in_turn_are_no_crowd(void **state)
{
	struct arrangement a;
	unsigned want = 1;

	(void)state;
	memset(&a, 0, sizeof(a));
	a.cores = 2;
	for (int i = 0; i < 20 * ARRANGE_WINDOW; i++) {
		want = arrange_note(&a, i % 5 == 4 ? 10 : 100 + i / 5, want);
		assert_int_equal(want, 1);
		assert_in_range(atomic_load(&a.callers), 0, 1);
	}
	for (int i = 0; i < 20 * ARRANGE_WINDOW; i++) /* posix_spawn: whoever starts them makes no call itself */
		assert_int_equal(arrange_note(&a, 1000 + i / 3, 1), 1);
	for (int i = 0; i < 2 * ARRANGE_WINDOW; i++) /* two rows of them beside each other */
		want = arrange_note(&a, (i % 2 ? 10000 : 20000) + i / 10, want);
	assert_in_range(atomic_load(&a.callers), 4, ARRANGE_WINDOW);
}

/* Giving way that takes whole time slices is left for a while; one that does now and then is not. */
static void gives_way_where_it_is_short(void **state)
{
	struct way w = { 0 };

	(void)state;
	for (uint32_t t = 0; t < 1000; t++) {
		assert_true(arrange_gives_way(&w, t));
		arrange_gave_way(&w, t % 100 ? 20 : 3000, t);
	}
	for (uint32_t t = 0; t < 3; t++)
		arrange_gave_way(&w, 3000, 2000);
	assert_false(arrange_gives_way(&w, 2001));
	assert_false(arrange_gives_way(&w, 2000 + 100000));
	assert_true(arrange_gives_way(&w, 2000 + 300000));
	arrange_gave_way(&w, 3000, 2000 + 300000);
	assert_false(arrange_gives_way(&w, 2000 + 300001));
}

static bool pairs_after(struct pairing *p, unsigned calls, uint64_t ran_us, uint64_t given_us, bool now)
{
	for (unsigned i = 0; i < calls; i++)
		now = arrange_pairs(p, ran_us * 1000, given_us * 1000, now);
	return now;
}

/* A caller that is moved at each descriptor gets two; not one that is moved now and then, nor one that works between its calls. */
static void two_receive_for_a_caller_that_is_moved(void **state)
{
	struct pairing p = { 0 };
	bool pair = false;

	(void)state;
	for (int i = 0; i < 1000; i++)
		assert_false(pair = arrange_pairs(&p, 4000, i % 16 ? 3000 : 90000, pair));
	assert_false(pairs_after(&p, 1000, 30, 40, false));
	assert_true(pairs_after(&p, 200, 4, 25, false));
	assert_true(pairs_after(&p, 1000, 4, 3, true));
	assert_false(pairs_after(&p, 200, 30, 3, true));
}

/* ... and while there is no other caller. */
static void a_pair_is_for_one_caller(void **state)
{
	struct arrangement a;
	unsigned want = 1;

	(void)state;
	memset(&a, 0, sizeof(a));
	a.cores = 2;
	atomic_store(&a.pair, true);
	for (int i = 0; i < 2 * ARRANGE_WINDOW; i++)
		want = arrange_note(&a, 10, want);
	assert_int_equal(want, 2);
	assert_false(arrange_pins(&a, want));
	for (int i = 0; i < ARRANGE_WINDOW; i++)
		want = arrange_note(&a, 10 + i / (ARRANGE_WINDOW / 2), want);
	assert_int_equal(want, 1);
	assert_false(atomic_load(&a.pair));
	for (int i = 0; i < ARRANGE_WINDOW; i++)
		want = arrange_note(&a, 10 + i % 2, want);
	assert_int_equal(want, 2);
	assert_true(arrange_pins(&a, want));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stays_for_one_caller),
		cmocka_unit_test(lets_go_now_and_then),
		cmocka_unit_test(here_is_one_of_its_cores),
		cmocka_unit_test(threads_are_equally_ahead),
		cmocka_unit_test(receivers_follow_the_callers),
		cmocka_unit_test(programs_in_turn_are_no_crowd),
		cmocka_unit_test(gives_way_where_it_is_short),
		cmocka_unit_test(two_receive_for_a_caller_that_is_moved),
		cmocka_unit_test(a_pair_is_for_one_caller),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
