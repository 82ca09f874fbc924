/* SPDX-License-Identifier: Apache-2.0 */
/* Which call a piece of code ends with, and whose EINTR stays. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include <cmocka.h>

#include "supervisor/interrupted.h"

#define CODE(...) (const uint8_t[]){ __VA_ARGS__, 0x0f, 0x05 }, sizeof((const uint8_t[]){ __VA_ARGS__, 0x0f, 0x05 })

#ifdef __x86_64__
static void numbers_are_read(void **state)
{
	(void)state;
	/* glibc: mkdir, open64, __open64_nocancel, __restore_rt, splice-like loads */
	assert_int_equal(interrupted_number(CODE(0xf3, 0x0f, 0x1e, 0xfa, 0xb8, 83, 0, 0, 0)), 83);
	assert_int_equal(interrupted_number(CODE(0x9c, 0xff, 0xff, 0xff, 0xb8, 1, 1, 0, 0)), 257);
	assert_int_equal(interrupted_number(CODE(0x90, 0xb8, 1, 1, 0, 0, 0x48, 0x89, 0xfe, 0xbf, 0x9c, 0xff, 0xff, 0xff)), 257);
	assert_int_equal(interrupted_number(CODE(0x48, 0xc7, 0xc0, 15, 0, 0, 0)), 15);
	assert_int_equal(interrupted_number(CODE(0x90, 0xb8, 0xf3, 0, 0, 0, 0x8b, 0x7c, 0x24, 8)), 0xf3);
	assert_int_equal(interrupted_number(CODE(0x90, 0xb8, 0x52, 0, 0, 0, 0x4c, 0x8b, 0x4c, 0x24, 8)), 0x52);
	assert_int_equal(interrupted_number(CODE(0x90, 0xb8, 0x52, 0, 0, 0, 0x45, 0x31, 0xc0, 0x31, 0xff)), 0x52);
	assert_int_equal(interrupted_number(CODE(0x90, 0xb8, 0x52, 0, 0, 0, 0x49, 0x89, 0xca)), 0x52);
}

static void doubts_are_no_number(void **state)
{
	(void)state;
	assert_int_equal(interrupted_number(CODE(0x41, 0xb8, 83, 0, 0, 0)), -1);            /* r8d */
	assert_int_equal(interrupted_number(CODE(0x90, 0x89, 0xf8)), -1);                   /* eax from edi */
	assert_int_equal(interrupted_number(CODE(0x90, 0xb8, 83, 0, 0, 0, 0x89, 0xf8)), -1); /* then eax from edi */
	assert_int_equal(interrupted_number(CODE(0x90, 0xb8, 83, 0, 0, 0, 0x31, 0xc0)), -1); /* then zero */
	assert_int_equal(interrupted_number(CODE(0x90, 0xb8, 83, 0, 0, 0, 0x8b, 0x44, 0x24, 8)), -1); /* then loaded */
	assert_int_equal(interrupted_number(CODE(0x90, 0xb8, 83, 0, 0, 0, 0x48, 0x8b, 0x44, 0x24, 8)), -1);
	assert_int_equal(interrupted_number(CODE(0x90, 0xb8, 83, 0, 0, 0, 0xff, 0xd0)), -1); /* a call between */
	assert_int_equal(interrupted_number(CODE(0x90, 0xb8, 0xff, 0xff, 0xff, 0xff)), -1);
	/* glibc's syscall(): the number came in a register */
	assert_int_equal(interrupted_number(CODE(0x48, 0x89, 0xf8, 0x48, 0x89, 0xf7, 0x48, 0x89, 0xd6, 0x48, 0x89, 0xca, 0x4d, 0x89, 0xc2,
						 0x4d, 0x89, 0xc8, 0x4c, 0x8b, 0x4c, 0x24, 0x08)), -1);
	const uint8_t other[] = { 0x90, 0x90, 0xb8, 83, 0, 0, 0, 0xcd, 0x80 };
	assert_int_equal(interrupted_number(other, sizeof(other)), -1);
	assert_int_equal(interrupted_number(other, 0), -1);
	const uint8_t shortest[] = { 0xb8, 83, 0, 0, 0, 0x0f, 0x05 };
	assert_int_equal(interrupted_number(shortest, sizeof(shortest)), -1); /* what stands before it is not seen */
}

/* Whatever bytes there are: nothing is read beyond them (the sanitizers watch). */
static void any_bytes(void **state)
{
	uint8_t code[CALL_CODE];

	(void)state;
	srandom(1);
	for (int i = 0; i < 200000; i++) {
		size_t len = (size_t)random() % (sizeof(code) + 1);
		uint8_t *exact = malloc(len ? len : 1);
		assert_non_null(exact);
		for (size_t k = 0; k < len; k++)
			exact[k] = (uint8_t)(random() % 4 ? 0x48 + random() % 2 * 0x70 : random());
		if (len > 2) {
			exact[len - 2] = 0x0f;
			exact[len - 1] = 0x05;
		}
		assert_true(interrupted_number(exact, len) >= -1);
		free(exact);
	}
}
#endif

static void own_answers_stay(void **state)
{
	struct interruptions all = { .lock = PTHREAD_MUTEX_INITIALIZER };

	(void)state;
	assert_false(interrupted_keeps(&all, 7, 0x1000));
	interrupted_by_usher(&all, 7, 0x1000);
	assert_false(interrupted_keeps(&all, 8, 0x1000));
	assert_false(interrupted_keeps(&all, 7, 0x1002));
	assert_true(interrupted_keeps(&all, 7, 0x1000));
	assert_true(interrupted_keeps(&all, 7, 0x1000)); /* a second handler before the first instruction */
	for (uint64_t ip = 0x2000; ip < 0x2000 + INTERRUPTION_WAYS; ip++)
		interrupted_by_usher(&all, 7, ip);
	assert_false(interrupted_keeps(&all, 7, 0x1000)); /* a call that never came back from its handler gives up its place */
	assert_true(interrupted_keeps(&all, 7, 0x2000));
	interruptions_free(&all);
}

static void what_is_made_again_is_forgotten(void **state)
{
	struct interruptions all = { .lock = PTHREAD_MUTEX_INITIALIZER };

	(void)state;
	interrupted_restarts(&all, 7, 0x1000);
	interrupted_by_usher(&all, 7, 0x1000);
	interrupted_by_usher(&all, 7, 0x2000);
	interrupted_restarts(&all, 7, 0x1000);
	assert_false(interrupted_keeps(&all, 7, 0x1000));
	assert_true(interrupted_keeps(&all, 7, 0x2000));
	interruptions_free(&all);
}

/* A thousand times the same call of one thread, whose handlers may never return, takes no place from the others. */
static void those_of_thousands_of_threads_are_known(void **state)
{
	struct interruptions all = { .lock = PTHREAD_MUTEX_INITIALIZER };

	(void)state;
	for (pid_t tid = 1000; tid < 1000 + INTERRUPTION_SETS * INTERRUPTION_WAYS; tid++)
		interrupted_by_usher(&all, tid, 0x1000);
	for (int i = 0; i < 1000; i++)
		interrupted_by_usher(&all, 1000, 0x1000);
	for (pid_t tid = 1000; tid < 1000 + INTERRUPTION_SETS * INTERRUPTION_WAYS; tid++)
		assert_true(interrupted_keeps(&all, tid, 0x1000));
	interruptions_free(&all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#ifdef __x86_64__
		cmocka_unit_test(numbers_are_read),
		cmocka_unit_test(doubts_are_no_number),
		cmocka_unit_test(any_bytes),
#endif
		cmocka_unit_test(own_answers_stay),
		cmocka_unit_test(what_is_made_again_is_forgotten),
		cmocka_unit_test(those_of_thousands_of_threads_are_known),
	};

	return cmocka_run_group_tests_name("supervisor_interrupted", tests, NULL, NULL);
}
