/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What somebody forges who has the user's rights, but not the keys that were erased: whole segments, ends, keys, proofs, tombstones, and
 * journals set back behind their anchors. Each is found and located, and tests/verify.py finds it, too.
 */
#include "audit/tombstone.h"
#include "audit_text.h"

#define FILL 200

/* Lines FROM to TO of T as segment NUMBER of DIR; then FILL newlines, as a session leaves that was killed. */
static void put_segment(const char *dir, unsigned number, const struct text *t, size_t from, size_t to, unsigned fill)
{
	char path[128];
	snprintf(path, sizeof path, "%s/journal-%06u.jsonl", dir, number);
	FILE *f = fdopen(open_anew(path), "w");
	for (size_t i = from; i < to; i++)
		fwrite(t->line[i], 1, t->line_len[i], f);
	while (fill--)
		fputc('\n', f);
	fclose(f);
}

static const char *python_says(const char *dir, char said[160])
{
	char command[256];
	snprintf(command, sizeof command, "python3 tests/verify.py '%s' 2>&1", dir);
	FILE *f = access("tests/verify.py", R_OK) == 0 ? popen(command, "r") : NULL;
	if (!f || !fgets(said, 160, f))
		strcpy(said, "");
	if (f)
		pclose(f);
	return said;
}

/* DIR is damaged at LINE of segment NUMBER; line 0: anywhere in it. */
static void assert_found(const char *dir, unsigned number, uint64_t line)
{
	char name[SEGMENT_NAME_MAX], said[160];
	struct proof p = prove(dir);
	segment_name(name, number);
	if (!p.damaged)
		fail_msg("not found; %lu records, closed %d", (unsigned long)p.records, p.closed);
	assert_string_equal(p.file, name);
	if (line)
		assert_int_equal(p.line, line);
	if (system("command -v python3 >/dev/null") == 0 && *python_says(dir, said))
		assert_true(!strncmp(said, "damaged", 7));
	remove_dir(dir);
	mkdir(dir, 0700);
}

struct two {
	struct text a, b; /* of two sessions, each of 3 epochs with 4 records and a seal, and the end */
	char dir[64];
};

static struct two *two_sessions(void)
{
	struct two *s = malloc(sizeof *s);
	make_closed(fresh_dir(s->dir), 12, 4);
	load(s->dir, &s->a);
	remove_dir(s->dir);
	make_closed(fresh_dir(s->dir), 12, 4);
	load(s->dir, &s->b);
	remove_dir(s->dir);
	mkdir(s->dir, 0700);
	return s;
}

static void drop(struct two *s)
{
	remove_dir(s->dir);
	free(s);
}

static void segments_cannot_move(void **state)
{
	struct two *s = two_sessions();
	const size_t cut[] = { 0, 5, 10, s->a.n };
	for (unsigned gone = 0; gone < 3; gone++) { /* removed; the numbers stay or close the gap */
		for (unsigned close_gap = 0; close_gap < 2; close_gap++) {
			unsigned number = 0;
			for (unsigned i = 0; i < 3; i++)
				if (i != gone)
					put_segment(s->dir, close_gap ? ++number : i + 1, &s->a, cut[i], cut[i + 1], 0);
			assert_found(s->dir, gone == 0 ? (close_gap ? 1 : 2) : gone == 1 ? (close_gap ? 2 : 3) : 2, gone == 2 ? 0 : 1);
		}
	}
	static const unsigned orders[][3] = { { 1, 0, 2 }, { 0, 2, 1 }, { 2, 1, 0 }, { 1, 2, 0 }, { 2, 0, 1 }, { 0, 0, 2 }, { 0, 1, 1 } };
	for (size_t o = 0; o < sizeof orders / sizeof orders[0]; o++) {
		unsigned first = 0;
		for (unsigned i = 0; i < 3; i++)
			put_segment(s->dir, i + 1, &s->a, cut[orders[o][i]], cut[orders[o][i] + 1], 0);
		while (orders[o][first] == first)
			first++;
		assert_found(s->dir, first + 1, 1);
	}
	for (unsigned other = 0; other < 3; other++) { /* one of another session's */
		for (unsigned i = 0; i < 3; i++)
			put_segment(s->dir, i + 1, i == other ? &s->b : &s->a, cut[i], cut[i + 1], 0);
		assert_found(s->dir, other == 0 ? 2 : other + 1, 1);
	}
	put_segment(s->dir, 1, &s->a, 0, s->a.n, 0); /* one more, behind the final seal */
	put_segment(s->dir, 2, &s->a, 3, 4, 0);
	assert_found(s->dir, 2, 1);
	drop(s);
}

/* Makes the chain of T's lines good from line FROM on, keeping seals' roots and signatures as they are: into OUT. */
static size_t chain_again(const struct text *t, size_t from, char *out)
{
	struct digest head = { { 0 } };
	size_t len = 0;
	for (size_t i = 0; i < t->n; i++) {
		char *line = out + len, *prev;
		size_t n = t->line_len[i] - 1;
		memcpy(line, t->line[i], n + 1);
		prev = memmem(line, n, "\"prev\":\"", 8);
		if (i >= from)
			hex_write(prev + 8, head.bytes, 32);
		digest_of(&head, line, n);
		len += n + 1;
	}
	return len;
}

static char *in_line(struct text *t, size_t line, const char *what)
{
	char *at = memmem(t->line[line], t->line_len[line], what, strlen(what));
	assert_non_null(at);
	return at + strlen(what);
}

static bool is_seal(const struct text *t, size_t line)
{
	return memmem(t->line[line], t->line_len[line], "\"type\":\"seal\"", 13) != NULL;
}

/* Keys and signatures that change places; each with the chain left and with the chain made good. */
/* A closed journal, and one whose writer was killed, of a whole session; and beside it a file that is none of its segments. */
static void put_stray(const struct two *s, bool closed, const char *name, const char *bytes)
{
	char path[128];
	put_segment(s->dir, 1, &s->a, 0, closed ? s->a.n : s->a.n - 2, closed ? 0 : FILL);
	snprintf(path, sizeof path, "%s/%s", s->dir, name);
	FILE *f = fdopen(open_anew(path), "w");
	fputs(bytes, f);
	fclose(f);
}

static void assert_beside(struct two *s, bool found, const char *name)
{
	char said[160];
	struct proof p = prove(s->dir);
	assert_int_equal(p.damaged, found);
	if (found)
		assert_string_equal(p.file, name);
	if (system("command -v python3 >/dev/null") == 0 && *python_says(s->dir, said))
		assert_int_equal(!strncmp(said, "damaged", 7), found);
	remove_dir(s->dir);
	mkdir(s->dir, 0700);
}

static void nothing_stands_beside(void **state)
{
	/* After a blank line, as in a segment that was made ahead of use, and where the numbers lead nobody. */
	static const char *const names[] = { "journal-000002.jsonl", "journal-000007.jsonl", "journal-000000.jsonl", "journal-1.jsonl", "journal-x.jsonl" };
	/* What a session leaves: room that was made, a record that did not get its brace. */
	static const char *const left[] = { "", "\n\n\n\n", "\n\"seq\":9,\"a\":\"{\"}\n\n", "\n\"se" };
	struct two *s = two_sessions();
	char path[128];
	for (int closed = 0; closed < 2; closed++) {
		for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
			put_stray(s, closed, names[i], "\n{\"seq\":1,\"type\":\"call\"}\n");
			assert_beside(s, true, names[i]);
		}
		for (size_t i = 0; i < sizeof left / sizeof *left; i++) {
			put_stray(s, closed, "journal-000002.jsonl", left[i]);
			assert_beside(s, false, NULL);
		}
		put_stray(s, closed, "other.jsonl", "{}\n");
		snprintf(path, sizeof path, "%s/journal-x.jsonl", s->dir);
		assert_int_equal(symlink("other.jsonl", path), 0);
		assert_beside(s, true, "journal-x.jsonl");
	}
	drop(s);
	(void)state;
}

static void no_blank_segment_comes_between(void **state)
{
	struct two *s = two_sessions();
	for (unsigned fill = 0; fill < 3; fill++) {
		put_segment(s->dir, 1, &s->a, 0, 7, 0);
		put_segment(s->dir, 2, &s->a, 7, 7, fill);
		put_segment(s->dir, 3, &s->a, 7, s->a.n, 0);
		assert_found(s->dir, 1, 0);
	}
	drop(s);
	(void)state;
}

/* A link to the very records, a directory, a FIFO: in the place of a segment, or made ahead as the next. */
static void segments_are_files(void **state)
{
	struct two *s = two_sessions();
	const size_t cut[] = { 0, 5, 10, s->a.n };
	for (unsigned which = 1; which <= 4; which++) {
		for (unsigned kind = 0; kind < 3; kind++) {
			char path[128], away[128], name[64];
			for (unsigned i = 0; i < 3; i++)
				put_segment(s->dir, i + 1, &s->a, cut[i], cut[i + 1], 0);
			snprintf(name, sizeof name, "journal-%06u.jsonl", which);
			snprintf(path, sizeof path, "%s/%s", s->dir, name);
			snprintf(away, sizeof away, "%s/records", s->dir);
			assert_int_equal(rename(path, away), which == 4 ? -1 : 0);
			assert_int_equal(kind == 0 ? symlink("records", path) : kind == 1 ? mkdir(path, 0700) : mkfifo(path, 0600), 0);
			assert_beside(s, true, name);
		}
	}
	drop(s);
	(void)state;
}

static void keys_cannot_move(void **state)
{
	struct two *s = two_sessions();
	char *out = malloc(MAX_BYTES), hold[128];
	size_t seal[3], n = 0;
	for (size_t i = 0; i < s->a.n && n < 3; i++)
		if (is_seal(&s->a, i))
			seal[n++] = i;
	static const struct {
		const char *what;
		size_t len;
	} fields[] = { { "\"next\":\"", 64 }, { "\"sig\":\"", 128 }, { "\"root\":\"", 64 } };
	for (size_t f = 0; f < 3; f++) {
		for (unsigned good = 0; good < 2; good++) {
			char *x = in_line(&s->a, seal[0], fields[f].what), *y = in_line(&s->a, seal[1], fields[f].what);
			memcpy(hold, x, fields[f].len);
			memcpy(x, y, fields[f].len);
			memcpy(y, hold, fields[f].len);
			store(s->dir, out, good ? chain_again(&s->a, 1, out) : (memcpy(out, s->a.bytes, s->a.len), s->a.len));
			memcpy(y, x, fields[f].len); /* as they were */
			memcpy(x, hold, fields[f].len);
			assert_found(s->dir, 1, seal[0] + 1);
		}
	}
	for (unsigned good = 0; good < 2; good++) { /* the first key of another session */
		char *x = in_line(&s->a, 0, "\"key\":\"");
		memcpy(hold, x, 64);
		memcpy(x, in_line(&s->b, 0, "\"key\":\""), 64);
		store(s->dir, out, good ? chain_again(&s->a, 1, out) : (memcpy(out, s->a.bytes, s->a.len), s->a.len));
		memcpy(x, hold, 64);
		assert_found(s->dir, 1, good ? seal[0] + 1 : 2);
	}
	free(out);
	drop(s);
}

static void put_anchor(const char *dir, const char *bytes, size_t len)
{
	char path[128];
	snprintf(path, sizeof path, "%s/anchor", dir);
	FILE *f = fdopen(open_anew(path), "w");
	fwrite(bytes, 1, len, f);
	fclose(f);
}

/* Another session's records beside the anchor that was there: the least thing a forger has to think of. */
static void records_stay_with_their_anchor(void **state)
{
	struct two *s = two_sessions();
	char line[160], said[160];
	struct proof p;
	int len = snprintf(line, sizeof line, "usher-journal/2 ed25519 %.64s\n", in_line(&s->a, 0, "\"key\":\""));
	for (unsigned own = 0; own < 2; own++) {
		for (unsigned killed = 0; killed < 2; killed++) {
			const struct text *t = own ? &s->a : &s->b;
			put_segment(s->dir, 1, t, 0, killed ? t->n - 2 : t->n, killed ? FILL : 0);
			put_anchor(s->dir, line, (size_t)len);
			p = prove(s->dir);
			assert_int_equal(p.damaged, !own);
			if (own)
				continue;
			assert_string_equal(p.file, "anchor");
			assert_int_equal(p.line, 1);
			assert_int_equal(p.seq, 1);
			if (system("command -v python3 >/dev/null") == 0 && *python_says(s->dir, said))
				assert_true(!strncmp(said, "damaged", 7));
		}
	}
	/* What a copy or a power cut leaves says nothing; what is cut, or has more behind it, was written by another. */
	for (size_t n = 0; n <= (size_t)len + 1; n++) {
		char cut[sizeof line + 1];
		snprintf(cut, sizeof cut, "%s\n", line);
		put_anchor(s->dir, cut, n);
		assert_int_equal(prove(s->dir).damaged, n && n != (size_t)len);
	}
	memset(line, 0, sizeof line);
	put_anchor(s->dir, line, (size_t)len);
	assert_false(prove(s->dir).damaged);
	drop(s);
}

/* An end that usher never wrote: chained on, without a seal it proves nothing, with a seal of the thief's it is found. */
static void ends_cannot_be_forged(void **state)
{
	struct two *s = two_sessions();
	char *out = malloc(MAX_BYTES), hex[65] = "";
	struct proof p;
	for (size_t upto = 1; upto < s->a.n - 2; upto++) {
		struct digest head;
		size_t len = 0;
		for (size_t i = 0; i < upto; i++) {
			memcpy(out + len, s->a.line[i], s->a.line_len[i]);
			len += s->a.line_len[i];
		}
		digest_of(&head, s->a.line[upto - 1], s->a.line_len[upto - 1] - 1);
		hex_write(hex, head.bytes, 32);
		len += (size_t)sprintf(out + len, "{\"seq\":%zu,\"time\":\"2026-11-20T10:00:00.000000Z\",\"prev\":\"%s\",\"type\":\"end\",\"status\":0}\n", upto + 1, hex);
		memset(out + len, '\n', FILL);
		store(s->dir, out, len + FILL);
		p = prove(s->dir);
		assert_false(p.damaged);
		assert_false(p.closed);
		assert_true(p.proven <= upto);
	}
	size_t len = forge(&s->a, s->a.n - 2, out); /* end and final seal anew */
	store(s->dir, out, len);
	assert_found(s->dir, 1, s->a.n);
	free(out);
	drop(s);
}

static void assert_agreed(const char *dir, bool damaged, const char *what)
{
	char said[160];
	struct proof p = prove(dir);
	if (p.damaged != damaged)
		fail_msg("%s: usher says %s", what, p.damaged ? "damaged" : "whole");
	if (system("command -v python3 >/dev/null") == 0 && *python_says(dir, said) && !strncmp(said, "damaged", 7) != damaged)
		fail_msg("%s: verify.py says %s", what, said);
}

/* One more record that is chained on as it should be, NUMBER and TIME as given, with REST behind them and as many of PAD as that says. */
static void chain_on(const struct two *s, char *out, const char *number, const char *time, const char *rest, const char *pad, size_t pads, const char *end)
{
	struct digest head;
	char hex[65] = "";
	size_t len = 0;
	for (size_t i = 0; i < 3; i++) {
		memcpy(out + len, s->a.line[i], s->a.line_len[i]);
		len += s->a.line_len[i];
	}
	digest_of(&head, s->a.line[2], s->a.line_len[2] - 1);
	hex_write(hex, head.bytes, 32);
	len += (size_t)sprintf(out + len, "{\"seq\":%s,\"time\":\"%s\",\"prev\":\"%s\",\"type\":\"call\"%s", number, time, hex, rest);
	while (pads--)
		len += (size_t)sprintf(out + len, "%s", pad);
	len += (size_t)sprintf(out + len, "%s}\n", end);
	memset(out + len, '\n', FILL);
	store(s->dir, out, len + FILL);
}

#define NESTED "]]]]]]]]]]]]]]]"

/* What is a record to one reader is one to every other. */
static void readers_agree(void **state)
{
	static const char good[] = "2026-02-28T10:00:00.000000Z";
	static const struct {
		const char *what, *number, *time, *rest, *pad;
		size_t pads;
		const char *end;
		bool damaged;
	} lines[] = {
		{ "control", "4", good, "", "", 0, "", false },
		{ "a day that is none", "4", "2027-02-29T10:00:00.000000Z", "", "", 0, "", true },
		{ "one that is in leap years", "4", "2028-02-29T10:00:00.000000Z", "", "", 0, "", false },
		{ "fifteen lists", "4", good, ",\"a\":", "[", 15, "1" NESTED, false },
		{ "sixteen", "4", good, ",\"a\":[", "[", 15, "1" NESTED "]", true },
		{ "sixteen, and nothing within", "4", good, ",\"a\":[", "[", 15, NESTED "]", false },
		{ "thousands", "4", good, ",\"a\":", "[", 20000, NESTED, true },
		{ "a long line", "4", good, ",\"a\":\"", "x", 65000, "\"", false },
		{ "one that is too long", "4", good, ",\"a\":\"", "x", 67000, "\"", true },
		{ "a number that is too long", "400000000000000000000000000000", good, "", "", 0, "", true },
	};
	static const char *const names[] = { "journal-000002x.jsonl", "journal-2.jsonl", "journal-0000002.jsonl", "journal-4294967298.jsonl", "journal-000002.jsonl.jsonl" };
	struct two *s = two_sessions();
	char *out = malloc(MAX_BYTES + 100000), from[128], to[128];
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		chain_on(s, out, lines[i].number, lines[i].time, lines[i].rest, lines[i].pad, lines[i].pads, lines[i].end);
		assert_agreed(s->dir, lines[i].damaged, lines[i].what);
	}
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) { /* the second segment by another name */
		put_segment(s->dir, 1, &s->a, 0, 7, 0);
		put_segment(s->dir, 2, &s->a, 7, s->a.n, 0);
		assert_agreed(s->dir, false, "control");
		snprintf(from, sizeof from, "%s/journal-000002.jsonl", s->dir);
		snprintf(to, sizeof to, "%s/%s", s->dir, names[i]);
		assert_int_equal(rename(from, to), 0);
		assert_agreed(s->dir, true, names[i]);
		unlink(to);
	}
	free(out);
	drop(s);
	(void)state;
}

/* Set back to any earlier state, with filling as if it had been killed there: each anchor from later on tells. */
static void anchors_tell_of_a_journal_set_back(void **state)
{
	struct two *s = two_sessions();
	char *out = malloc(MAX_BYTES), text[96], hex[65] = "";
	for (size_t keep = 1; keep <= s->a.n; keep++) {
		size_t len = 0;
		for (size_t i = 0; i < keep; i++) {
			memcpy(out + len, s->a.line[i], s->a.line_len[i]);
			len += s->a.line_len[i];
		}
		memset(out + len, '\n', FILL);
		store(s->dir, out, keep == s->a.n ? len : len + FILL);
		for (size_t at = 0; at < s->a.n; at++) {
			struct digest hash;
			struct anchor *a;
			struct proof p;
			size_t n;
			digest_of(&hash, s->a.line[at], s->a.line_len[at] - 1);
			hex_write(hex, hash.bytes, 32);
			snprintf(text, sizeof text, "%zu:%s", at + 1, hex);
			assert_int_equal(anchor_parse(text, &a, &n), 0);
			assert_int_equal(verify_journal(s->dir, a, n, &p), 0);
			free(a);
			assert_int_equal(p.damaged, at + 1 > keep);
			if (p.damaged)
				assert_int_equal(p.seq, keep + 1);
		}
	}
	free(out);
	drop(s);
}

static void proofs_cannot_be_forged(void **state)
{
	struct digest leaf[13], path[64], root, got;
	for (size_t i = 0; i < 13; i++)
		digest_of(&leaf[i], &i, sizeof i);
	for (size_t n = 2; n <= 13; n++) {
		struct merkle m = { 0 };
		for (size_t i = 0; i < n; i++)
			merkle_add(&m, &leaf[i]);
		merkle_root(&m, &root);
		for (size_t i = 0; i < n; i++) {
			size_t len = merkle_path(leaf, n, i, path);
			for (size_t bit = 0; bit < len * 256; bit += 7) { /* every step, in some of its bits */
				path[bit / 256].bytes[bit % 256 / 8] ^= (uint8_t)(1 << bit % 8);
				assert_true(!merkle_climb(&leaf[i], i, n, path, len, &got) || memcmp(&got, &root, 32) != 0);
				path[bit / 256].bytes[bit % 256 / 8] ^= (uint8_t)(1 << bit % 8);
			}
			for (size_t other = 0; other < n; other++) /* another place */
				if (other != i)
					assert_true(!merkle_climb(&leaf[i], other, n, path, len, &got) || memcmp(&got, &root, 32) != 0);
			assert_true(!merkle_climb(&leaf[i], i, n, path, len - 1, &got) || memcmp(&got, &root, 32) != 0);
			path[len] = leaf[0];
			assert_true(!merkle_climb(&leaf[i], i, n, path, len + 1, &got) || memcmp(&got, &root, 32) != 0);
		}
	}
}

/* --- tombstones --- */

static void assert_tombstones(const char *path, const char *bytes, size_t len, int rc, uint64_t lines)
{
	uint64_t n;
	bool all;
	int fd = open_anew(path);
	assert_int_equal(write(fd, bytes, len), len);
	close(fd);
	assert_int_equal(tombstone_verify(path, &n, &all), rc);
	assert_int_equal(n, lines);
	if (rc == 0)
		assert_true(all);
}

static void tombstones_cannot_be_forged(void **state)
{
	char dir[64], path[128], bytes[8192], out[8192];
	size_t start[6] = { 0 };
	struct proof p = { .records = 7 };
	mkdir(fresh_dir(dir), 0700);
	int home = open(dir, O_RDONLY | O_DIRECTORY);
	for (int i = 0; i < 4; i++)
		assert_int_equal(tombstone_append(home, i % 2 ? "one" : "two", &p), 0);
	snprintf(path, sizeof path, "%s/" TOMBSTONE_FILE, dir);
	int fd = open(path, O_RDONLY);
	ssize_t len = read(fd, bytes, sizeof bytes);
	close(fd);
	assert_in_range(len, 100, sizeof bytes - 1);
	for (size_t i = 0, n = 1; i < (size_t)len; i++)
		if (bytes[i] == '\n')
			start[n++] = i + 1;
	assert_tombstones(path, bytes, (size_t)len, 0, 4);
	for (size_t i = 0; i < (size_t)len; i++) { /* every bit */
		size_t line = 0;
		while (start[line + 1] <= i)
			line++;
		for (int bit = 0; bit < 8; bit++) {
			memcpy(out, bytes, (size_t)len);
			out[i] = (char)(out[i] ^ 1 << bit);
			assert_tombstones(path, out, (size_t)len, 1, line);
		}
	}
	for (size_t k = 0; k < 4; k++) {
		size_t n = start[k + 1] - start[k];
		memcpy(out, bytes, start[k]); /* dropped: the last one, too */
		memcpy(out + start[k], bytes + start[k + 1], (size_t)len - start[k + 1]);
		assert_tombstones(path, out, (size_t)len - n, 1, k);
		memcpy(out, bytes, start[k + 1]); /* doubled */
		memcpy(out + start[k + 1], bytes + start[k], (size_t)len - start[k]);
		assert_tombstones(path, out, (size_t)len + n, 1, k + 1);
	}
	for (size_t cut = 0; cut < (size_t)len; cut++) {
		size_t line = 0;
		while (start[line + 1] <= cut)
			line++;
		assert_tombstones(path, bytes, cut, 1, line);
	}
	assert_tombstones(path, bytes, (size_t)len, 0, 4);
	close(home);
	remove_dir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(segments_cannot_move),		     cmocka_unit_test(nothing_stands_beside),
		cmocka_unit_test(no_blank_segment_comes_between),   cmocka_unit_test(segments_are_files),
		cmocka_unit_test(keys_cannot_move),		     cmocka_unit_test(records_stay_with_their_anchor),
		cmocka_unit_test(ends_cannot_be_forged),	     cmocka_unit_test(anchors_tell_of_a_journal_set_back),
		cmocka_unit_test(proofs_cannot_be_forged),	     cmocka_unit_test(tombstones_cannot_be_forged),
		cmocka_unit_test(readers_agree),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
