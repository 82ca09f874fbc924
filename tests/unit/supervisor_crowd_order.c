/* SPDX-License-Identifier: Apache-2.0 */
/* In which order the calls of a crowd are served: rare callers first, busy ones in turn, nobody never. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "supervisor/crowd_order.h"

#define MS 1000
#define BUSY 100

static void add(struct order *o, pid_t process, uint32_t now, int core)
{
	struct seccomp_notif n = { .pid = (uint32_t)process };

	order_add(o, &n, process, order_rank(o, process, now), core);
}

static pid_t serve(struct order *o, uint32_t now, int core)
{
	struct seccomp_notif n;
	pid_t process;

	if (!order_next(o, core, &n, &process))
		return 0;
	assert_int_equal(n.pid, process);
	order_answered(o, process, process, core, now);
	return process;
}

/* BUSY processes that call again 20 us after each answer, served for ROUNDS calls. Returns the time. */
static uint32_t flood(struct order *o, unsigned rounds)
{
	uint32_t now = 1000 * MS;

	for (pid_t p = 1; p <= BUSY; p++)
		add(o, p, now, -1);
	for (unsigned i = 0; i < rounds; i++) {
		pid_t p = serve(o, now, 0);
		now += 20;
		add(o, p, now, 0);
	}
	return now;
}

static struct order *fresh(void)
{
	struct order *o = calloc(1, sizeof(*o));

	assert_non_null(o);
	order_init(o);
	return o;
}

static void rare_comes_before_the_busy(void **state)
{
	struct order *o = fresh();
	uint32_t now = flood(o, 1000);

	(void)state;
	order_answered(o, 900, 900, 0, now - 2 * MS);
	uint8_t rank = order_rank(o, 900, now);
	assert_true(order_is_rare(o, rank));
	order_answered(o, 50, 50, 0, now - 20);
	assert_int_equal(order_rank(o, 50, now), 0); /* the control: one of the busy is not */
	order_answered(o, 900, 900, 0, now - 2 * MS);
	add(o, 900, now, 0);
	assert_true(serve(o, now, 0) == 900 || serve(o, now, 0) == 900); /* one of two at most is the oldest instead */
	free(o);
}

/* Where what was called waits in the kernel before it is received everybody's pause is long; one is still longer. */
static void waits_in_the_kernel_make_nobody_rare(void **state)
{
	struct order *o = fresh();
	uint32_t now = 1000 * MS;

	(void)state;
	for (unsigned i = 0; i < 2000; i++) {
		order_answered(o, 1 + (pid_t)(i % BUSY), 1, 0, now - 8 * MS - i % 50);
		uint8_t rank = order_rank(o, 1 + (pid_t)(i % BUSY), now);
		if (i > 200)
			assert_false(order_is_rare(o, rank));
	}
	order_answered(o, 900, 900, 0, now - 12 * MS);
	assert_true(order_is_rare(o, order_rank(o, 900, now)));
	free(o);
}

static void busy_ones_are_served_alike(void **state)
{
	struct order *o = fresh();
	unsigned served[BUSY + 1] = { 0 };
	uint32_t now = flood(o, 0);

	(void)state;
	for (unsigned i = 0; i < 100 * BUSY; i++) {
		pid_t p = serve(o, now, (int)(i % 2));
		served[p]++;
		now += 20;
		add(o, p, now, (int)(i % 2));
	}
	for (pid_t p = 1; p <= BUSY; p++)
		assert_in_range(served[p], 90, 110);
	free(o);
}

/* However many rare ones come, the oldest of the busy is served. */
static void nobody_starves(void **state)
{
	struct order *o = fresh();
	uint32_t now = flood(o, 500);
	unsigned busy = 0;

	(void)state;
	for (unsigned i = 0; i < 320; i++) {
		struct seccomp_notif n = { .pid = 1000 + i };
		order_add(o, &n, (pid_t)(1000 + i), 12, 0);
		busy += serve(o, now, 0) <= BUSY;
	}
	assert_in_range(busy, 19, 21);
	free(o);
}

/* A worker takes those of its own core a little before their turn, and not more. */
static void own_core_comes_a_little_earlier(void **state)
{
	struct order *o = fresh();
	uint32_t now = 1000 * MS;

	(void)state;
	for (pid_t p = 1; p <= 200; p++) {
		order_answered(o, p, p, p > 190 || p == 20 ? 1 : 0, now);
		add(o, p, now, -1);
	}
	assert_int_equal(serve(o, now, 1), 20);
	assert_int_equal(serve(o, now, 1), 1); /* the next of core 1 has 190 before it */
	assert_int_equal(serve(o, now, 0), 2);
	free(o);
}

/* Threads of one process count as one, each where it runs. */
static void threads_have_cores_of_their_own(void **state)
{
	struct order *o = fresh();
	struct seccomp_notif n = { .pid = 11 };
	pid_t process;

	(void)state;
	order_answered(o, 10, 11, 0, 1000 * MS);
	order_answered(o, 10, 12, 1, 1000 * MS);
	order_add(o, &n, 10, order_rank(o, 10, 1000 * MS + 10), -1);
	n.pid = 12;
	order_add(o, &n, 10, order_rank(o, 10, 1000 * MS + 10), -1);
	assert_true(order_next(o, 1, &n, &process));
	assert_int_equal(n.pid, 12);
	assert_int_equal(process, 10);
	free(o);
}

static void holds_so_many(void **state)
{
	struct order *o = fresh();
	unsigned n = 0;

	(void)state;
	assert_int_equal(serve(o, 0, -1), 0);
	while (order_has_room(o))
		add(o, (pid_t)++n, 1000 * MS, -1);
	assert_int_equal(n, ORDER_MAX);
	for (; n; n--)
		assert_int_not_equal(serve(o, 1000 * MS, -1), 0);
	assert_int_equal(serve(o, 0, -1), 0);
	assert_true(order_has_room(o));
	free(o);
}

/* What is received on a promise has a place, whatever others take in meanwhile. */
static void a_promise_holds(void **state)
{
	struct order *o = fresh();
	unsigned n = 1;

	(void)state;
	assert_true(order_promise(o));
	for (; order_has_room(o); n++)
		add(o, (pid_t)n, 1000, 0);
	assert_int_equal(n, ORDER_MAX);
	assert_false(order_promise(o));
	order_keep(o);
	add(o, (pid_t)n, 1000, 0);
	assert_false(order_has_room(o));
	assert_int_not_equal(serve(o, 1000, 0), 0);
	assert_true(order_promise(o));
	free(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rare_comes_before_the_busy),
		cmocka_unit_test(waits_in_the_kernel_make_nobody_rare),
		cmocka_unit_test(busy_ones_are_served_alike),
		cmocka_unit_test(nobody_starves),
		cmocka_unit_test(own_core_comes_a_little_earlier),
		cmocka_unit_test(threads_have_cores_of_their_own),
		cmocka_unit_test(holds_so_many),
		cmocka_unit_test(a_promise_holds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
