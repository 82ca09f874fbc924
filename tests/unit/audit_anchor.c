/* SPDX-License-Identifier: Apache-2.0 */
/* Anchors: checkpoints a witness can check, and truncation they show. */
#include <errno.h>
#include <sys/stat.h>

#include "audit_util.h"

static struct journal *anchored(const char *dir, const char *where)
{
	struct journal *j = NULL;
	const char *why = NULL;
	int rc = journal_create(&(struct journal_options){ .dir = dir, .anchor = where }, &j, &why);
	if (rc != 0)
		fail_msg("%s: %s", why, strerror(-rc));
	return j;
}

static size_t slurp(const char *path, char *out, size_t cap)
{
	FILE *f = fopen(path, "r");
	assert_non_null(f);
	size_t n = fread(out, 1, cap - 1, f);
	out[n] = '\0';
	fclose(f);
	return n;
}

/* NAME+ID+KEY after "checkpoints ". */
static void parse_verifier(const char *text, char *name, uint8_t id[4], uint8_t key[32])
{
	char encoded[64];
	char hex[9];
	uint8_t bytes[33], hash[32];
	size_t n;
	const char *at = strstr(text, "checkpoints ");
	assert_non_null(at);
	assert_int_equal(sscanf(at, "checkpoints %99[^+]+%8[0-9a-f]+%63s", name, hex, encoded), 3);
	assert_true(hex_read(id, 4, hex));
	assert_int_equal(sodium_base642bin(bytes, sizeof bytes, encoded, strlen(encoded), NULL, &n, NULL, sodium_base64_VARIANT_ORIGINAL), 0);
	assert_int_equal(n, 33);
	assert_int_equal(bytes[0], 1);
	memcpy(key, bytes + 1, 32);
	char message[256];
	int len = snprintf(message, sizeof message, "%s\n", name);
	memcpy(message + len, bytes, 33);
	crypto_hash_sha256(hash, (uint8_t *)message, (size_t)len + 33);
	assert_memory_equal(hash, id, 4);
}

/* A signed note: its text up to the blank line, then the signature line. */
static void check_note(const char *note, const char *name, const uint8_t id[4], const uint8_t key[32])
{
	const char *blank = strstr(note, "\n\n");
	char encoded[128], signer[128];
	uint8_t blob[68];
	size_t n;
	assert_non_null(blank);
	assert_int_equal(sscanf(blank + 2, "\xe2\x80\x94 %127s %127s", signer, encoded), 2);
	assert_string_equal(signer, name);
	assert_int_equal(sodium_base642bin(blob, sizeof blob, encoded, strlen(encoded), NULL, &n, NULL, sodium_base64_VARIANT_ORIGINAL), 0);
	assert_int_equal(n, 68);
	assert_memory_equal(blob, id, 4);
	assert_int_equal(crypto_sign_verify_detached(blob + 4, (const uint8_t *)note, (size_t)(blank + 1 - note), key), 0);
}

static void a_file_gets_checkpoints(void **state)
{
	char dir[64], path[80], where[96], text[8192], name[128], line[256], root[64];
	uint8_t id[4], key[32];
	uint64_t seq;
	fresh_dir(dir);
	snprintf(path, sizeof path, "%s.anchor", dir);
	snprintf(where, sizeof where, "file:%s", path);
	struct journal *j = anchored(dir, where);
	for (int i = 0; i < 5; i++)
		append_note(j, "x", &seq);
	close_with_end(j);
	struct proof p = prove(dir);
	assert_whole(&p);
	slurp(path, text, sizeof text);
	parse_verifier(text, name, id, key);
	const char *note = strstr(text, "\n\n") + 2;
	check_note(note, name, id, key);
	struct digest d;
	merkle_root(&p.log, &d);
	sodium_bin2base64(root, sizeof root, d.bytes, 32, sodium_base64_VARIANT_ORIGINAL);
	snprintf(line, sizeof line, "%s\n%lu\n%s\n", name, (unsigned long)p.seals, root);
	assert_memory_equal(note, line, strlen(line));

	struct anchor *a;
	size_t n;
	struct proof q;
	assert_int_equal(anchor_parse(path, &a, &n), 0);
	assert_int_equal(n, 3); /* the key twice, the head */
	assert_int_equal(verify_journal(dir, a, n, &q), 0);
	assert_whole(&q);

	/* Cut before the end and made to look like a killed session: whole in itself, but not what was anchored. */
	char journal[128];
	snprintf(journal, sizeof journal, "%s/journal-000001.jsonl", dir);
	size_t len = slurp(journal, text, sizeof text);
	char *cut = strstr(text, "{\"seq\":4,");
	memset(cut, '\n', len - (size_t)(cut - text));
	FILE *f = fopen(journal, "w");
	fwrite(text, 1, len, f);
	fclose(f);
	q = prove(dir);
	assert_whole(&q);
	assert_false(q.closed);
	assert_int_equal(verify_journal(dir, a, n, &q), 0);
	assert_true(q.damaged);
	assert_non_null(strstr(q.what, "anchored"));
	free(a);
	unlink(path);
	remove_dir(dir);
}

/* The head of a closed journal with RECORDS notes, as an anchor's text. */
static uint64_t closed_head(char *dir, unsigned records, char *text, size_t cap)
{
	char hex[DIGEST_HEX + 1] = "";
	struct journal *j = make_journal(fresh_dir(dir));
	uint64_t seq;
	for (unsigned i = 0; i < records; i++)
		append_note(j, "x", &seq);
	close_with_end(j);
	struct proof p = prove(dir);
	assert_true(p.closed);
	hex_write(hex, p.head.bytes, DIGEST_BYTES);
	snprintf(text, cap, "%lu:%s", (unsigned long)p.records, hex);
	return p.records;
}

static void check_missing(const char *dir, const char *text)
{
	struct anchor *a;
	struct proof q;
	size_t n;
	assert_int_equal(anchor_parse(text, &a, &n), 0);
	assert_int_equal(verify_journal(dir, a, n, &q), 0);
	assert_true(q.damaged);
	assert_non_null(strstr(q.what, "anchored"));
	free(a);
}

/* A closed journal is whole in itself, and still not the one that was anchored when it is shorter than that. */
static void a_closed_one_in_its_place_shows(void **state)
{
	char dir[64], other[64], text[128], head[128];
	uint64_t records = closed_head(dir, 20, text, sizeof text);
	closed_head(other, 4, head, sizeof head);
	check_missing(other, text);
	snprintf(head, sizeof head, "%lu%s", (unsigned long)records + 1, strchr(text, ':'));
	check_missing(dir, head);
	remove_dir(dir);
	remove_dir(other);
}

/* A long session leaves thousands of anchors; the last ones say most. */
static void each_of_many_counts(void **state)
{
	char dir[64], path[80], text[128];
	struct anchor *a;
	struct proof q;
	size_t n;
	closed_head(dir, 8, text, sizeof text);
	*strchr(text, ':') = ' ';
	snprintf(path, sizeof path, "%s.anchor", dir);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	for (int i = 0; i < 5000; i++)
		fprintf(f, "head %s\n", text);
	fclose(f);
	assert_int_equal(anchor_parse(path, &a, &n), 0);
	assert_int_equal(n, 5000);
	assert_int_equal(verify_journal(dir, a, n, &q), 0);
	assert_whole(&q);
	free(a);
	f = fopen(path, "a");
	assert_non_null(f);
	fprintf(f, "head 3 %064d\n", 0);
	fclose(f);
	assert_int_equal(anchor_parse(path, &a, &n), 0);
	assert_int_equal(verify_journal(dir, a, n, &q), 0);
	assert_true(q.damaged);
	free(a);
	/* What was being appended when the power failed says nothing; the same as a line of its own is a mistake. */
	for (int whole = 0; whole < 2; whole++) {
		f = fopen(path, "w");
		assert_non_null(f);
		fprintf(f, "head %s\nusher-journal/2 ed25519 1144dd%s", text, whole ? "\n" : "");
		fclose(f);
		assert_int_equal(anchor_parse(path, &a, &n), whole ? -EINVAL : 0);
		if (whole)
			break;
		assert_int_equal(n, 1);
		assert_int_equal(verify_journal(dir, a, n, &q), 0);
		assert_whole(&q);
		free(a);
	}
	unlink(path);
	remove_dir(dir);
}

/* One file for all sessions: each journal is held to its own heads, and none takes the place of one that was not anchored there. */
static void a_file_of_several_sessions(void **state)
{
	char dir[2][64], other[64], path[80], where[96], text[8192], cut[160];
	struct anchor *a;
	struct proof q;
	size_t n;
	uint64_t seq;
	(void)state;
	snprintf(path, sizeof path, "%s.anchors", fresh_dir(dir[0]));
	snprintf(where, sizeof where, "file:%s", path);
	for (int i = 0; i < 2; i++) {
		if (i)
			fresh_dir(dir[i]);
		struct journal *j = anchored(dir[i], where);
		for (int k = 0; k < 3 + 4 * i; k++)
			append_note(j, "x", &seq);
		close_with_end(j);
	}
	assert_int_equal(anchor_parse(path, &a, &n), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(verify_journal(dir[i], a, n, &q), 0);
		assert_whole(&q);
		assert_true(q.closed && q.among_others);
	}
	closed_head(other, 30, text, sizeof text);
	assert_int_equal(verify_journal(other, a, n, &q), 0);
	assert_true(q.damaged);
	for (int i = 0; i < 2; i++) {
		snprintf(cut, sizeof cut, "%s/journal-000001.jsonl", dir[i]);
		size_t len = slurp(cut, text, sizeof text);
		char *from = strstr(text, i ? "{\"seq\":5," : "{\"seq\":2,");
		memset(from, '\n', len - (size_t)(from - text));
		FILE *f = fopen(cut, "w");
		fwrite(text, 1, len, f);
		fclose(f);
		assert_int_equal(verify_journal(dir[i], a, n, &q), 0);
		assert_true(q.damaged);
		assert_non_null(strstr(q.what, "anchored"));
	}
	free(a);
	/* A head without the key behind it is of the session before; without any key it is every journal's. */
	for (int keyed = 0; keyed < 2; keyed++) {
		FILE *f = fopen(path, "w");
		assert_non_null(f);
		if (keyed)
			fprintf(f, "usher-journal/2 ed25519 %064d\n\n", 1);
		fprintf(f, "head 1 %064d\n", 2);
		fclose(f);
		assert_int_equal(anchor_parse(path, &a, &n), 0);
		assert_int_equal(a[n - 1].has_key, keyed);
		assert_int_equal(verify_journal(other, a, n, &q), 0);
		assert_true(q.damaged);
		free(a);
	}
	unlink(path);
	remove_dir(dir[0]);
	remove_dir(dir[1]);
	remove_dir(other);
}

static void a_command_gets_checkpoints(void **state)
{
	char dir[64], where[160], path[80], text[8192], name[128];
	uint8_t id[4], key[32];
	uint64_t seq;
	fresh_dir(dir);
	snprintf(path, sizeof path, "%s.anchor", dir);
	snprintf(where, sizeof where, "exec:cat >>%s", path);
	struct journal *j = anchored(dir, where);
	append_note(j, "x", &seq);
	close_with_end(j);
	slurp(path, text, sizeof text);
	parse_verifier(text, name, id, key);
	check_note(strstr(text, "\n\n") + 2, name, id, key);
	unlink(path);
	remove_dir(dir);
}

static void an_anchor_that_fails_stops_the_start(void **state)
{
	static const char *const rows[] = { "exec:exit 3", "file:/no/such/place", "elsewhere", "exec:" };
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		char dir[64];
		struct journal *j = NULL;
		const char *why = NULL;
		fresh_dir(dir);
		assert_true(journal_create(&(struct journal_options){ .dir = dir, .anchor = rows[i] }, &j, &why) < 0);
		assert_non_null(strstr(why, "anchor"));
		assert_null(j);
		remove_dir(dir);
	}
}

static void merkle_proofs_hold(void **state)
{
	struct digest leaf[40], path[64], root, got;
	for (size_t i = 0; i < 40; i++)
		digest_of(&leaf[i], &i, sizeof i);
	for (size_t n = 1; n <= 40; n++) {
		struct merkle m = { 0 };
		for (size_t i = 0; i < n; i++)
			merkle_add(&m, &leaf[i]);
		merkle_root(&m, &root);
		for (size_t i = 0; i < n; i++) {
			size_t len = merkle_path(leaf, n, i, path);
			assert_true(merkle_climb(&leaf[i], i, n, path, len, &got));
			assert_memory_equal(&got, &root, sizeof root);
			bool led = merkle_climb(&leaf[(i + 1) % 40], i, n, path, len, &got);
			assert_true(!led || memcmp(&got, &root, sizeof root) != 0);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_gets_checkpoints),
		cmocka_unit_test(a_closed_one_in_its_place_shows),
		cmocka_unit_test(each_of_many_counts), cmocka_unit_test(a_file_of_several_sessions),
		cmocka_unit_test(a_command_gets_checkpoints),
		cmocka_unit_test(an_anchor_that_fails_stops_the_start),
		cmocka_unit_test(merkle_proofs_hold),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
