/* SPDX-License-Identifier: Apache-2.0 */
/* What is squeezed comes back byte by byte, whatever was squeezed before it, after it and beside it; what is alike takes little. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <pthread.h>

#include "rules/squeeze.h"

#define KINDS 5

/* Content number N: words that are alike within a kind, noise in every fifth; 0 to 100,000 bytes. Returns its length. */
static size_t content(unsigned n, unsigned char **out)
{
	static const size_t lengths[] = { 0, 1, 700, 3000, 9000, SQUEEZE_MOST, SQUEEZE_MOST + 1, 100000 };
	size_t len = lengths[n / KINDS % (sizeof(lengths) / sizeof(lengths[0]))];
	unsigned char *at = malloc(len + 1);
	unsigned noise = n * 2654435761u + 1;

	assert_non_null(at);
	for (size_t i = 0; i < len; i++) {
		noise = noise * 1664525u + 1013904223u;
		at[i] = n % KINDS == 4 ? (unsigned char)(noise >> 24) : (unsigned char)("/usr/lib/python3/name"[(i + n % KINDS) % 21] + (noise >> 28 == 0));
	}
	*out = at;
	return len;
}

static struct squeezed *squeeze_number(struct squeezer *z, unsigned n)
{
	unsigned char *bytes;
	size_t len = content(n, &bytes), first = len / 3;
	struct iovec parts[] = { { bytes, first }, { NULL, 0 }, { bytes + first, len - first } };
	void *block = NULL;

	assert_int_equal(squeeze(z, parts, 3, 0, &block), 0);
	assert_int_equal(squeezed_size(block), len);
	free(bytes);
	return block;
}

static void squeezed_free(struct squeezed *s)
{
	squeezed_drop(s);
	free(s);
}

static void is_number(const struct squeezed *s, unsigned n)
{
	unsigned char *bytes;
	size_t len = content(n, &bytes), first = len / 2;
	unsigned char *back = malloc(len + 1);

	assert_non_null(back);
	back[len] = 'E';
	struct iovec parts[] = { { back, first }, { back + first, len - first }, { NULL, 0 } };
	assert_int_equal(unsqueeze(s, parts, 3), 0);
	assert_memory_equal(back, bytes, len);
	assert_int_equal(back[len], 'E');
	free(back);
	free(bytes);
}

static void all_come_back(void **state)
{
	struct squeezed *s[200];
	struct squeezer z;

	squeezer_init(&z);
	for (unsigned n = 0; n < 200; n++)
		s[n] = squeeze_number(&z, n);
	for (unsigned n = 0; n < 200; n += 2) {
		is_number(s[n], n);
		squeezed_free(s[n]);
	}
	squeezer_clear(&z);
	for (unsigned n = 1; n < 200; n += 2) {
		is_number(s[n], n);
		squeezed_free(s[n]);
	}
}

static void make_noise(char *text, size_t len, unsigned noise)
{
	for (size_t i = 0; i < len; i++)
		text[i] = (char)((noise = noise * 1664525u + 1013904223u) >> 24);
}

/* Also where the first was of another kind: then that of a later one is the model. */
static void alike_takes_little(void **state)
{
	struct squeezer z;
	char text[3000];

	squeezer_init(&z);
	struct squeezed *s = squeeze_number(&z, 4 + 3 * KINDS);
	assert_true(squeezed_kept(s) > 3000);
	squeezed_free(s);
	for (unsigned n = 0; n < 200; n++) {
		make_noise(text, sizeof(text), 1);
		snprintf(text + 1000, 20, "secret%u", n);
		struct iovec part = { text, sizeof(text) };
		assert_int_equal(squeeze(&z, &part, 1, 0, (void **)&s), 0);
		assert_true(n < 40 || squeezed_kept(s) < 150);
		squeezed_free(s);
	}
	squeezer_clear(&z);
}

/* Seven programs ask in turns, and each is alike within itself: their names are of other lengths, so that what follows moves. */
static void alike_within_kinds(void **state)
{
	struct squeezer z;
	struct squeezed *s;
	char text[3000];

	squeezer_init(&z);
	for (unsigned n = 0; n < 280; n++) {
		unsigned kind = n % 7;
		size_t len = sizeof(text) - 16 * kind;
		make_noise(text, len, kind + 1);
		snprintf(text + 1000, 20, "secret%u", n);
		assert_int_equal(squeeze(&z, &(struct iovec){ text, len }, 1, 0, (void **)&s), 0);
		assert_true(n < 14 || squeezed_kept(s) < 150);
		squeezed_free(s);
	}
	squeezer_clear(&z);
}

/* More kinds than there are models for, all as long: it goes on, and no model is kept that nobody uses. */
static void unlike_ones_pass(void **state)
{
	struct squeezer z;
	struct squeezed *s;
	char text[3000];

	squeezer_init(&z);
	for (unsigned n = 0; n < 400; n++) {
		make_noise(text, sizeof(text), n % 40 + 1);
		assert_int_equal(squeeze(&z, &(struct iovec){ text, sizeof(text) }, 1, 0, (void **)&s), 0);
		assert_int_equal(squeezed_size(s), sizeof(text));
		char back[sizeof(text)];
		assert_int_equal(unsqueeze(s, &(struct iovec){ back, sizeof(back) }, 1), 0);
		assert_memory_equal(back, text, sizeof(text));
		squeezed_free(s);
	}
	assert_true(z.n_models <= SQUEEZE_MODELS);
	squeezer_clear(&z);
}

/* The caller's own bytes stay its own; the first bytes of a content can be had without the rest. */
static void beside_what_is_the_callers(void **state)
{
	static const size_t lengths[] = { 1, 700, 9000, SQUEEZE_MOST + 1 };
	struct squeezer z;

	squeezer_init(&z);
	for (unsigned n = 0; n < 12; n++) {
		size_t len = lengths[n / 3], head = 8 * (n % 3);
		char *text = malloc(len), *block, first[500], own[16];
		size_t some = len < sizeof(first) ? len : sizeof(first);
		assert_non_null(text);
		make_noise(text, len, 7);
		assert_int_equal(squeeze(&z, &(struct iovec){ text, len }, 1, head, (void **)&block), 0);
		memset(own, 'o', sizeof(own));
		memcpy(block, own, head);
		struct squeezed *s = squeezed_behind(block, head);
		assert_int_equal(squeezed_size(s), len);
		assert_int_equal(unsqueeze(s, &(struct iovec){ first, some }, 1), 0);
		assert_memory_equal(first, text, some);
		char *back = malloc(len);
		assert_non_null(back);
		assert_int_equal(unsqueeze(s, &(struct iovec){ back, len }, 1), 0);
		assert_memory_equal(back, text, len);
		assert_memory_equal(block, own, head);
		squeezed_drop(s);
		free(back);
		free(block);
		free(text);
	}
	squeezer_clear(&z);
}

static void *squeezes(void *z)
{
	for (unsigned n = 0; n < 100; n++) {
		struct squeezed *s = squeeze_number(z, n);
		is_number(s, n);
		squeezed_free(s);
	}
	return NULL;
}

static void threads_share_it(void **state)
{
	struct squeezer z;
	pthread_t thread[4];

	squeezer_init(&z);
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, squeezes, &z), 0);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	squeezer_clear(&z);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_come_back),
		cmocka_unit_test(alike_takes_little),
		cmocka_unit_test(alike_within_kinds),
		cmocka_unit_test(unlike_ones_pass),
		cmocka_unit_test(beside_what_is_the_callers),
		cmocka_unit_test(threads_share_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
