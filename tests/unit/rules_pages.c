/* SPDX-License-Identifier: Apache-2.0 */
/* Memory whose pages come at once: of every size whole and writable, and nothing lost where there is none to be had. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <sys/mman.h>

#include "rules/pages.h"

#define PAGE 4096u

static const size_t sizes[] = { 1, PAGE, 8 * PAGE - 1, 8 * PAGE, 8 * PAGE + 1, 31 * PAGE + 5, 32 * PAGE, 300 * PAGE + 17 };

/* How many of the whole pages of N bytes at AT are there. */
static size_t present(const char *at, size_t n, size_t *whole)
{
	unsigned char in[512];
	size_t skip = -(uintptr_t)at % PAGE, count = 0;

	*whole = (n - skip) / PAGE;
	assert_true(*whole <= sizeof(in));
	assert_int_equal(mincore((void *)(uintptr_t)(at + skip), *whole * PAGE, in), 0);
	for (size_t i = 0; i < *whole; i++)
		count += in[i] & 1;
	return count;
}

static void is_all_writable(void **state)
{
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		char *at = pages_to_fill(sizes[i]);

		assert_non_null(at);
		memset(at, 'x', sizes[i]);
		assert_true(at[0] == 'x' && at[sizes[i] - 1] == 'x');
		free(at);
		at = pages_zeroed(sizes[i]);
		assert_non_null(at);
		for (size_t k = 0; k < sizes[i]; k++)
			assert_int_equal(at[k], 0);
		free(at);
	}
}

/* The control: of malloc's own mapping only the first page is there, with malloc's note of its size. */
static void comes_at_once(void **state)
{
	size_t n = 300 * PAGE, whole;
	char *plain = malloc(n), *at = pages_to_fill(n);

	assert_true(plain && at);
	if (present(plain, n, &whole) < whole)
		assert_int_equal(present(at, n, &whole), whole);
	free(plain);
	free(at);
}

/* What is beside the whole pages stays. */
static void is_given_back(void **state)
{
	size_t n = 30 * PAGE, whole;
	char *at = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(at, MAP_FAILED);
	memset(at, 'x', n);
	assert_int_equal(present(at, n, &whole), 30);
	pages_give_back(at + 100, n - 200);
	assert_int_equal(present(at, n, &whole), 2);
	assert_true(at[PAGE - 1] == 'x' && at[n - PAGE] == 'x' && at[PAGE] == 0);
	pages_give_back(at + 100, 200);
	pages_give_back(at + 100, PAGE - 50);
	assert_true(at[100] == 'x' && at[299] == 'x');
	assert_int_equal(munmap(at, n), 0);
}

/* More stack than there is, and none of either. */
static void none_is_no_error(void **state)
{
	pages_ahead((size_t)1 << 30, PAGE);
	pages_ahead(0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_all_writable),
		cmocka_unit_test(comes_at_once),
		cmocka_unit_test(is_given_back),
		cmocka_unit_test(none_is_no_error),
	};

	return cmocka_run_group_tests_name("rules_pages", tests, NULL, NULL);
}
