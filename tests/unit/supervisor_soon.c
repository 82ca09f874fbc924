/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits of a while. clock_gettime() is ours here: the system's clock is an hour ahead when it is asked, and set back as soon as
 * somebody waits by it.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "supervisor/soon.h"

int clock_gettime(clockid_t clock, struct timespec *out)
{
	int rc = (int)syscall(SYS_clock_gettime, clock, out);
	if (clock == CLOCK_REALTIME)
		out->tv_sec += 3600;
	return rc;
}

static void a_clock_set_back_makes_no_wait_longer(void **state)
{
	pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t c;
	soon_init(&c);
	pthread_mutex_lock(&m);
	alarm(60); /* kills the test that waits for an hour */
	assert_int_equal(soon_wait(&c, &m, 1000000), ETIMEDOUT);
	struct timespec at = soon_at(1999999999), now;
	assert_int_equal(pthread_cond_timedwait(&c, &m, &at), ETIMEDOUT);
	alarm(0);
	clock_gettime(CLOCK_MONOTONIC, &now);
	assert_true(now.tv_sec > at.tv_sec || (now.tv_sec == at.tv_sec && now.tv_nsec >= at.tv_nsec));
	pthread_mutex_unlock(&m);
	pthread_cond_destroy(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_clock_set_back_makes_no_wait_longer),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
