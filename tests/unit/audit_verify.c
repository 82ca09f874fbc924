/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Damage of every kind is found and named: each single bit, records dropped, doubled, swapped, cut, tails that
 * were signed again; and the independent verifier in tests/verify.py comes to the same result.
 */
#include "audit_text.h"

static struct proof prove_bytes(const char *dir, const char *bytes, size_t len)
{
	store(dir, bytes, len);
	return prove(dir);
}

static void every_bit_counts(void **state)
{
	char dir[64], path[128];
	struct text *t = malloc(sizeof *t);
	make_closed(fresh_dir(dir), 4, 2);
	load(dir, t);
	path_of(dir, path);
	int fd = open(path, O_WRONLY);
	for (size_t line = 0, at = 0; line < t->n; at += t->line_len[line++]) {
		for (size_t i = at; i < at + t->line_len[line]; i++) {
			for (int bit = 0; bit < 8; bit++) {
				char c = (char)(t->bytes[i] ^ 1 << bit);
				assert_int_equal(pwrite(fd, &c, 1, (off_t)i), 1);
				struct proof p = prove(dir);
				if (!p.damaged)
					fail_msg("bit %d of byte %zu (%zu of %zu in line %zu) %.30s: not found, closed %d torn %lu", bit, i, i - at, t->line_len[line], line + 1, t->bytes + i - 10, p.closed, (unsigned long)p.torn);
				/* The chain shows a change when the next record does not continue. */
				assert_in_range(p.line, line + 1, line + 3);
			}
			assert_int_equal(pwrite(fd, &t->bytes[i], 1, (off_t)i), 1);
		}
	}
	close(fd);
	struct proof p = prove(dir);
	assert_whole(&p);
	remove_dir(dir);
	free(t);
}

static void assert_damaged_at(const char *dir, const char *bytes, size_t len, size_t line)
{
	struct proof p = prove_bytes(dir, bytes, len);
	assert_true(p.damaged);
	assert_in_range(p.line, line, line + 1);
}

static void records_cannot_move(void **state)
{
	char dir[64], *out = malloc(2 * MAX_BYTES);
	struct text *t = malloc(sizeof *t);
	size_t order[MAX_LINES + 1];
	make_closed(fresh_dir(dir), 9, 3);
	load(dir, t);
	for (size_t i = 0; i < t->n; i++) {
		size_t n = 0;
		for (size_t k = 0; k < t->n; k++) /* dropped */
			if (k != i)
				order[n++] = k;
		assert_damaged_at(dir, out, arrange(t, order, n, out), i + 1);
		n = 0;
		for (size_t k = 0; k < t->n; k++) { /* doubled */
			order[n++] = k;
			if (k == i)
				order[n++] = k;
		}
		assert_damaged_at(dir, out, arrange(t, order, n, out), i + 2);
		for (size_t j = i + 1; j < t->n; j++) { /* swapped */
			for (size_t k = 0; k < t->n; k++)
				order[k] = k == i ? j : k == j ? i : k;
			assert_damaged_at(dir, out, arrange(t, order, t->n, out), i + 1);
		}
	}
	remove_dir(dir);
	free(out);
	free(t);
}

static void nothing_can_be_cut_off(void **state)
{
	char dir[64];
	struct text *t = malloc(sizeof *t);
	make_closed(fresh_dir(dir), 4, 2);
	load(dir, t);
	for (size_t len = 0; len < t->len; len++) {
		struct proof p = prove_bytes(dir, t->bytes, len);
		assert_true(p.damaged);
	}
	for (size_t k = 0, at = 0; k < t->n; at += t->line_len[k++]) { /* a blank line put in */
		char *out = malloc(t->len + 1);
		memcpy(out, t->bytes, at);
		out[at] = '\n';
		memcpy(out + at + 1, t->bytes + at, t->len - at);
		assert_damaged_at(dir, out, t->len + 1, k + 1);
		free(out);
	}
	remove_dir(dir);
	free(t);
}

/* A power cut keeps the page that a record begins in and not the next. What came before is whole; with more behind it is damage. */
static void torn_records_do_not_count(void **state)
{
	char dir[64], *out = malloc(2 * MAX_BYTES);
	struct text *t = malloc(sizeof *t);
	make_closed(fresh_dir(dir), 6, 3);
	load(dir, t);
	for (size_t i = 0, at = 0; i + 1 < t->n; at += t->line_len[i++]) {
		memcpy(out, t->bytes, at);
		memset(out + at, '\n', 100);
		struct proof before = { 0 };
		if (i)
			before = prove_bytes(dir, out, at + 100);
		for (size_t k = 1; k < t->line_len[i] - 1; k++) {
			memcpy(out + at, t->bytes + at, k);
			if (out[at + k - 1] == '}')
				continue;
			memset(out + at + k, '\n', 100);
			struct proof p = prove_bytes(dir, out, at + k + 100);
			if (p.damaged || p.torn != k || p.records != i || memcmp(&p.head, &before.head, sizeof p.head) != 0)
				fail_msg("line %zu cut to %zu: damaged %d (%s), torn %lu, records %lu", i + 1, k, p.damaged, p.what, (unsigned long)p.torn, (unsigned long)p.records);
			assert_true(prove_bytes(dir, out, at + k).damaged);	/* nothing behind it: cut off */
			assert_true(prove_bytes(dir, out, at + k + 1).damaged);
			memcpy(out + at + k + 1, t->bytes + at, t->line_len[i]);
			if (k % 7 == 0)
				assert_damaged_at(dir, out, at + k + 1 + t->line_len[i], i + 1);
		}
	}
	remove_dir(dir);
	free(out);
	free(t);
}

/* Of blocks that never reached the disk some file systems give back zeros, of a file that was growing many. */
static void zeros_are_a_torn_record(void **state)
{
	static const size_t many[] = { 4096, 70000, 500000, 3000000 };
	char dir[64], *out = calloc(1, 2 * MAX_BYTES + 3100000);
	struct text *t = malloc(sizeof *t);
	make_closed(fresh_dir(dir), 6, 3);
	load(dir, t);
	for (size_t i = 0; i < sizeof many / sizeof *many; i++) {
		size_t at = t->line_len[0] + t->line_len[1], behind = at + 20 + many[i];
		memcpy(out, t->bytes, at + 20);
		memset(out + at + 20, 0, many[i]);
		struct proof p = prove_bytes(dir, out, behind);
		assert_true(p.damaged);
		assert_non_null(strstr(p.what, "a power cut"));
		memset(out + behind, '\n', 100);
		p = prove_bytes(dir, out, behind + 100);
		if (p.damaged || p.torn != 20 + many[i] || p.records != 2)
			fail_msg("%zu zeros: damaged %d (%s), torn %lu, records %lu", many[i], p.damaged, p.what, (unsigned long)p.torn, (unsigned long)p.records);
		memcpy(out + behind + 1, t->bytes + at, t->line_len[2]);
		assert_damaged_at(dir, out, behind + 1 + t->line_len[2], 3);
	}
	remove_dir(dir);
	free(out);
	free(t);
	(void)state;
}

/* Room is made ahead behind records, never before them. */
static void no_segment_begins_with_room(void **state)
{
	char dir[64], path[128];
	struct text *t = malloc(sizeof *t);
	make_closed(fresh_dir(dir), 2, 2);
	load(dir, t);
	snprintf(path, sizeof path, "%s/journal-000002.jsonl", dir);
	FILE *f = fdopen(open_anew(path), "w");
	fwrite(t->bytes, 1, t->len, f);
	fclose(f);
	struct proof p = prove_bytes(dir, "\n\n", 2);
	assert_true(p.damaged);
	assert_string_equal(p.file, "journal-000001.jsonl");
	remove_dir(dir);
	free(t);
	(void)state;
}

static void another_format_is_told(void **state)
{
	char dir[64];
	struct text *t = malloc(sizeof *t);
	make_closed(fresh_dir(dir), 2, 2);
	load(dir, t);
	char *format = memmem(t->bytes, t->len, "usher-journal/2", 15);
	assert_non_null(format);
	format[14] = '1';
	struct proof p = prove_bytes(dir, t->bytes, t->len);
	assert_true(p.damaged);
	assert_non_null(strstr(p.what, "usher-journal/1"));
	remove_dir(dir);
	free(t);
	(void)state;
}

/* A kill leaves a record without its brace, and often the next segment ready: blank, that is no record behind it. */
static void room_made_ahead_is_nothing_behind_it(void **state)
{
	char dir[64], path[128], *out = malloc(2 * MAX_BYTES);
	struct text *t = malloc(sizeof *t);
	make_closed(fresh_dir(dir), 6, 3);
	load(dir, t);
	snprintf(path, sizeof path, "%s/journal-000002.jsonl", dir);
	for (size_t i = 0, at = 0; i + 1 < t->n; at += t->line_len[i++]) {
		memcpy(out, t->bytes, at);
		for (size_t k = 1; k < t->line_len[i] - 2; k += 16) {
			memset(out + at, '\n', k + 101);
			memcpy(out + at + 1, t->bytes + at + 1, k);
			for (int begun = 0; begun < 2; begun++) {
				FILE *f = fdopen(open_anew(path), "w");
				fputs(begun ? "{\n\n\n" : "\n\n\n\n", f);
				fclose(f);
				struct proof p = prove_bytes(dir, out, at + k + 101);
				if (p.damaged != begun || p.records != i || (!begun && p.torn != k))
					fail_msg("line %zu torn at %zu, %d: damaged %d (%s), torn %lu, records %lu", i + 1, k, begun, p.damaged, p.what, (unsigned long)p.torn, (unsigned long)p.records);
			}
		}
	}
	remove_dir(dir);
	free(out);
	free(t);
	(void)state;
}

static void tails_cannot_be_signed_again(void **state)
{
	char dir[64], *out = malloc(MAX_BYTES);
	struct text *t = malloc(sizeof *t);
	make_closed(fresh_dir(dir), 9, 3);
	load(dir, t);
	for (size_t from = 0; from < t->n; from++) {
		size_t len = forge(t, from, out), seal = from;
		while (!memmem(t->line[seal], t->line_len[seal], "\"type\":\"seal\"", 13))
			seal++;
		struct proof p = prove_bytes(dir, out, len);
		assert_true(p.damaged);
		assert_int_equal(p.line, seal + 1); /* the first signature the thief has to give */
		assert_non_null(strstr(p.what, "signature"));
	}
	remove_dir(dir);
	free(out);
	free(t);
}

static void anchors_hold(void **state)
{
	char dir[64], other[64], hex[65] = "", text[128];
	struct anchor *a;
	struct proof p, q;
	size_t n;
	make_closed(fresh_dir(dir), 4, 2);
	make_closed(fresh_dir(other), 4, 2);
	p = prove(dir);
	hex_write(hex, p.head.bytes, 32);
	snprintf(text, sizeof text, "%lu:%s", (unsigned long)p.records, hex);
	assert_int_equal(anchor_parse(text, &a, &n), 0);
	assert_int_equal(verify_journal(dir, a, n, &q), 0);
	assert_whole(&q);
	assert_int_equal(verify_journal(other, a, n, &q), 0);
	assert_true(q.damaged);
	free(a);
	snprintf(text, sizeof text, "%s/anchor", dir); /* the first key */
	assert_int_equal(anchor_parse(text, &a, &n), 0);
	assert_int_equal(verify_journal(dir, a, n, &q), 0);
	assert_whole(&q);
	assert_int_equal(verify_journal(other, a, n, &q), 0);
	assert_true(q.damaged); /* a whole journal, but another */
	free(a);
	assert_int_equal(anchor_parse("12:xyz", &a, &n), -22);
	assert_null(a);
	remove_dir(dir);
	remove_dir(other);
}

/* --- the independent verifier --- */

static size_t mutate(const struct text *t, unsigned *seed, char *out)
{
	size_t order[MAX_LINES + 1], n = t->n, i = (size_t)rand_r(seed) % n, k = (size_t)rand_r(seed) % n;
	for (size_t l = 0; l < n; l++)
		order[l] = l;
	size_t len = arrange(t, order, n, out);
	switch (rand_r(seed) % 9) {
	case 0: /* untouched, but for filling: a session killed just before its end */
		memset(out + len, '\n', 100);
		return len + 100;
	case 1:
		memmove(order + i, order + i + 1, (n - i - 1) * sizeof *order);
		return arrange(t, order, n - 1, out);
	case 2:
		order[n] = order[i];
		return arrange(t, order, n + 1, out);
	case 3:
		order[i] = k;
		order[k] = i;
		return arrange(t, order, n, out);
	case 4:
		return (size_t)rand_r(seed) % len;
	case 5: /* cut, with filling behind: killed while it wrote */
		len = (size_t)rand_r(seed) % len;
		memset(out + len, '\n', 100);
		if (rand_r(seed) % 2)
			len = (size_t)((char *)memchr(out + len, '\n', 200) - out);
		return len + 50;
	case 6:
		return forge(t, i, out);
	case 7: /* killed, and a bit of what came last: it may pass as another record, but for both */
		n = i ? i : 1;
		len = arrange(t, order, n, out);
		memset(out + len, '\n', 100);
		out[len - t->line_len[n - 1] + (size_t)rand_r(seed) % t->line_len[n - 1]] ^= (char)(1 << rand_r(seed) % 8);
		return len + 100;
	default:
		out[(size_t)rand_r(seed) % len] ^= (char)(1 << rand_r(seed) % 8);
		return len;
	}
}

#define BATCH 100

/* Runs the other verifier over the first N directories below TOP; what it says of each in SAID. */
static bool ask_python(const char *top, int n, char said[][128])
{
	char command[512];
	snprintf(command, sizeof command, "python3 tests/verify.py $(seq -f '%s/%%g' 0 %d)", top, n - 1);
	FILE *f = popen(command, "r");
	int lines = 0;
	while (f && lines < n && fgets(said[lines], 128, f))
		lines++;
	if (f)
		pclose(f);
	return lines == n;
}

static void another_verifier_agrees(void **state)
{
	if (system("command -v python3 >/dev/null") != 0 || access("tests/verify.py", R_OK) != 0)
		skip();
	char top[64], base[64], dir[128], *out = malloc(2 * MAX_BYTES);
	char(*said)[128] = malloc(sizeof(char[BATCH][128]));
	const char *count = getenv("JOURNALS");
	struct text *t = malloc(sizeof *t);
	unsigned seed = 11;
	make_closed(fresh_dir(base), 6, 3);
	load(base, t);
	fresh_dir(top);
	mkdir(top, 0700);
	for (int done = 0, all = count ? atoi(count) : getenv("QUICK") ? 200 : 1000; done < all; done += BATCH) {
		bool mine[BATCH];
		for (int i = 0; i < BATCH; i++) {
			snprintf(dir, sizeof dir, "%s/%d", top, i);
			struct proof p = prove_bytes(dir, out, mutate(t, &seed, out));
			mine[i] = p.damaged;
		}
		assert_true(ask_python(top, BATCH, said));
		for (int i = 0; i < BATCH; i++)
			if (mine[i] != !strncmp(said[i], "damaged", 7))
				fail_msg("%s/%d: usher says %s, verify.py %s", top, i, mine[i] ? "damaged" : "whole", said[i]);
	}
	remove_dir(top);
	remove_dir(base);
	free(out);
	free(said);
	free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_bit_counts),	   cmocka_unit_test(records_cannot_move),
		cmocka_unit_test(nothing_can_be_cut_off),  cmocka_unit_test(torn_records_do_not_count),
		cmocka_unit_test(no_segment_begins_with_room), cmocka_unit_test(another_format_is_told),
		cmocka_unit_test(zeros_are_a_torn_record), cmocka_unit_test(room_made_ahead_is_nothing_behind_it),
		cmocka_unit_test(tails_cannot_be_signed_again),
		cmocka_unit_test(anchors_hold),		   cmocka_unit_test(another_verifier_agrees),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
