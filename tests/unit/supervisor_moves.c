/* SPDX-License-Identifier: Apache-2.0 */
/* When what was read of a thread may be remembered, and when it holds no longer. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "supervisor/moves.h"

static void remembers(void **state)
{
	struct moves m = { 0 };
	int value = -1;
	pid_t me = getpid();

	assert_false(moves_known(&m, 0, me, &value));
	move_note note = moves_remember(&m, moves_before(&m), me, 0777);
	assert_true(moves_known(&m, note, me, &value));
	assert_int_equal(value, 0777);
	assert_false(moves_known(&m, note, me + 1, &value));
	note = moves_remember(&m, moves_before(&m), me, 0);
	assert_true(moves_known(&m, note, me, &value));
	assert_int_equal(value, 0);
}

static void forgets(void **state)
{
	struct moves m = { 0 };
	int value;
	pid_t me = getpid();
	uint64_t before = moves_before(&m);
	move_note note = moves_remember(&m, before, me, 1);

	moves_begin(&m, me);
	assert_false(moves_known(&m, note, me, &value));
	moves_settled(&m, me);
	assert_int_equal(m.pendings, 0);
	assert_false(moves_known(&m, note, me, &value));
	/* read before the move, remembered after it */
	assert_int_equal(moves_remember(&m, before, me, 1), 0);
	assert_int_not_equal(moves_remember(&m, moves_before(&m), me, 1), 0);
}

/* A move that was under way when it was read, and is done when it is remembered: nobody knows which of the two was read. */
static void overlaps(void **state)
{
	struct moves m = { 0 };
	pid_t me = getpid();

	moves_begin(&m, me);
	uint64_t before = moves_before(&m);
	moves_settled(&m, me);
	assert_int_equal(moves_remember(&m, before, me + 1, 1), 0);
	assert_int_not_equal(moves_remember(&m, moves_before(&m), me + 1, 1), 0);
}

/* A process that runs until it is killed, or who made it ends. */
static pid_t runner(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			;
	}
	return pid;
}

/* Of a thread that runs it cannot be told whether it has moved, and nobody's place is remembered meanwhile. */
static void waits(void **state)
{
	struct moves m = { 0 };
	pid_t runs = runner();

	moves_begin(&m, runs);
	assert_int_equal(moves_remember(&m, moves_before(&m), runs, 1), 0);
	assert_int_equal(moves_remember(&m, moves_before(&m), getpid(), 1), 0);
	moves_begin(&m, runs); /* again: the first is done */
	assert_int_equal(m.pendings, 1);
	moves_settled(&m, getpid());
	assert_int_equal(m.pendings, 1);
	moves_settled(&m, runs);
	assert_int_equal(m.pendings, 0);
	kill(runs, SIGKILL);
	waitpid(runs, NULL, 0);
}

/* Those who ended, or wait in another call, have moved. */
static void others(void **state)
{
	struct moves m = { 0 };
	int p[2];
	char c;

	assert_int_equal(pipe(p), 0);
	pid_t waiter = fork();
	if (waiter == 0)
		_exit(write(p[1], "", 1) != 1 || pause());
	assert_int_equal(read(p[0], &c, 1), 1);
	moves_begin(&m, waiter);
	for (int i = 0; i < 1000 && !moves_remember(&m, moves_before(&m), waiter, 1); i++)
		usleep(1000);
	assert_int_equal(m.pendings, 0);
	assert_int_not_equal(moves_remember(&m, moves_before(&m), waiter, 1), 0);
	moves_begin(&m, waiter);
	kill(waiter, SIGKILL);
	waitpid(waiter, NULL, 0);
	for (int i = 0; i < 1000 && !moves_remember(&m, moves_before(&m), getpid(), 1); i++)
		usleep(1000);
	assert_int_equal(m.pendings, 0);
	close(p[0]);
	close(p[1]);
}

#define MANY (MOVES_PENDING + 2)

/* More than there is room for at first: nothing is remembered while one of them runs, and all is again once they are done. */
static void too_many(void **state)
{
	struct moves m = { 0 };
	pid_t run[MANY];

	for (int i = 0; i < MANY; i++) {
		run[i] = runner();
		moves_begin(&m, run[i]);
	}
	for (int i = 0; i < MANY; i++) {
		assert_int_equal(m.pendings, MANY - i);
		assert_int_equal(moves_remember(&m, moves_before(&m), getpid(), 1), 0);
		moves_settled(&m, run[i]);
		kill(run[i], SIGKILL);
		waitpid(run[i], NULL, 0);
	}
	assert_int_equal(m.pendings, 0);
	assert_int_not_equal(moves_remember(&m, moves_before(&m), getpid(), 1), 0);
	for (struct moves_room *next, *r = m.room.more; r; r = next) {
		next = r->more;
		free(r);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(remembers), cmocka_unit_test(forgets), cmocka_unit_test(overlaps),
		cmocka_unit_test(waits), cmocka_unit_test(others), cmocka_unit_test(too_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
