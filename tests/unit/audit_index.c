/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The index never changes an answer: random queries over a journal of odd and hostile records give the same with it and without it;
 * an index that is stale, damaged, or another's is noticed.
 */
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/field.h"
#include "audit/index.h"
#include "audit/query.h"
#include "audit/stamp.h"
#include "audit_util.h"

#define BEGIN UINT64_C(1795000000000000000)

static unsigned pick(unsigned *seed, unsigned n)
{
	return (unsigned)rand_r(seed) % n;
}

static const char *const names[] = { "/etc/passwd", "/etc/ssh/ssh_config", "/home/u/a b", "/home/u/d", "/home/u/d/e/f.c", "/tmp/x\\u000ay",
				     "/tmp/\\uef80\\ueffe", "tcp:10.0.0.1:443", "unix:@bus", "/\\u0065tc/passwd", "/home/u/{q}", "" };
static const char *const programs[] = { "/usr/bin/python3.11", "/usr/bin/git", "/opt/x/git", "git" };
static const char *const ops[] = { "read", "create", "delete", "connect", "exec", "stat" };
static const char *const results[] = { "3", "0", "\"EACCES\"", "\"ENOENT\"", "-1", "17" };

/* A record such as usher writes, or almost; the index must see in each what a reader sees. */
static size_t a_record(char *out, size_t cap, unsigned i, unsigned *seed)
{
	char stamp[STAMP_LEN + 1] = "";
	const char *n1 = names[pick(seed, 12)], *n2 = names[pick(seed, 12)];
	stamp_write(stamp, BEGIN + i * UINT64_C(1000000) - (pick(seed, 50) ? 0 : UINT64_C(100000000)));
	switch (pick(seed, 24)) {
	case 0:
		return (size_t)snprintf(out, cap, "{\"seq\":%u,\"time\":\"%s\",\"type\":\"note\",\"event\":\"rules\"}", i, stamp);
	case 1:
		return (size_t)snprintf(out, cap, "no record at all");
	case 2: /* cut: what stands before the cut counts */
		return (size_t)snprintf(out, cap, "{\"seq\":%u,\"time\":\"%s\",\"object\":\"%s\",\"verdict\":\"deny", i, stamp, n1);
	case 3: /* twice, and of another kind than usual */
		return (size_t)snprintf(out, cap, "{\"seq\":\"%u\",\"verdict\":\"deny\",\"verdict\":\"allow\",\"object\":[\"%s\"],\"op\":\"read\",\"pid\":\"7\"}", i, n1);
	case 4:
		return (size_t)snprintf(out, cap, "{\"objects\":[{\"object\":\"%s\",\"objects\":[{\"named\":\"%s\"}]},7,[{\"object\":\"/x\"}]],\"call\":\"link\"}", n1, n2);
	case 5:
		return (size_t)snprintf(out, cap, "{\"seq\":%u,\"time\":\"%s\",\"type\":\"call\",\"pid\":%u,\"tid\":%u,\"call\":\"rename\",\"op\":[\"create\",\"delete\"],"
						  "\"objects\":[{\"op\":[\"delete\"],\"object\":\"%s\"},{\"op\":[\"create\"],\"object\":\"%s\"}],\"verdict\":\"allow\",\"rule\":\"r:%u\",\"result\":0}",
					i, stamp, 10 + pick(seed, 9), 10 + pick(seed, 9), n1, n2, pick(seed, 4));
	default:
		return (size_t)snprintf(out, cap, "{\"seq\":%u,\"time\":\"%s\",\"type\":\"call\",\"pid\":%u,\"tid\":%u,\"exe\":\"%s\",\"call\":\"openat\",\"op\":[\"%s\"],\"object\":\"%s\"%s%s%s,"
						  "\"verdict\":\"%s\",\"rule\":\"%s:%u\"%s%s,\"result\":%s}",
					i, stamp, 10 + pick(seed, 9), 10 + pick(seed, 9), programs[pick(seed, 4)], ops[pick(seed, 6)], n1,
					i % 3 ? "" : ",\"named\":\"", i % 3 ? "" : n2, i % 3 ? "" : "\"", pick(seed, 9) ? "allow" : "deny",
					pick(seed, 2) ? "/etc/u.rules" : "builtin:agent", pick(seed, 30), pick(seed, 20) ? "" : ",\"answer\":{\"by\":\"tty\"}",
					pick(seed, 20) ? "" : ",\"log\":\"alert\"", results[pick(seed, 6)]);
	}
}

static void segment_path(const char *dir, unsigned segment, char out[128])
{
	snprintf(out, 128, "%s/journal-%06u.jsonl", dir, segment);
}

/* SEGMENTS of RECORDS each, the last line of some without its newline. */
static void make_odd(const char *dir, unsigned segments, unsigned records, unsigned *seed)
{
	char path[128], line[2048];
	unsigned i = 0;
	mkdir(dir, 0700);
	for (unsigned s = 1; s <= segments; s++) {
		segment_path(dir, s, path);
		FILE *f = fopen(path, "w");
		for (unsigned r = 0; r < records; r++) {
			size_t n = a_record(line, sizeof line, ++i, seed);
			fwrite(line, 1, n, f);
			if (r + 1 < records || s % 2)
				fputs(pick(seed, 40) ? "\n" : "\n\n\n", f);
		}
		fclose(f);
	}
}

/* --- answers --- */

struct answer {
	const struct query *q;
	char *text;
	size_t len, cap;
};

static void keep(void *context, const char *text, size_t len)
{
	struct answer *a = context;
	if (!query_match(a->q, text, len))
		return;
	if (a->len + len + 1 > a->cap) {
		a->cap = 2 * (a->len + len + 1);
		a->text = realloc(a->text, a->cap);
	}
	memcpy(a->text + a->len, text, len);
	a->text[a->len + len] = '\n';
	a->len += len + 1;
}

static void scan(const char *dir, struct answer *a)
{
	struct reader *r;
	struct line l;
	assert_int_equal(reader_open(dir, &r), 0);
	while (reader_next(r, &l) == 1)
		if (l.bytes[0] == '{')
			keep(a, l.bytes, l.len);
	reader_close(r);
}

static void random_query(unsigned *seed, const char **words, size_t *n)
{
	static const char *const all[] = {
		"denied", "asked", "failed", "alert", "in-flight", "path:/etc/**", "path:/etc/passwd", "/home/u/d/**", "path:/home/u/a b", "path:**",
		"path:/tmp/x?y", "path:tcp:10.*", "path:{/etc,/home/u}/*", "path:/home/u/{q}", "path:/home/u/\\{q}", "path:unix:@bus", "by:git", "by:/opt/x/git",
		"by:python*", "op:read", "op:write", "op:net", "op:exec", "call:rename", "call:link", "verdict:deny", "type:note", "type:call", "result:ENOENT",
		"result:3", "event:rules", "pid:12", "pid:10-11", "pid:7", "rule:builtin", "rule:rules:2", "seq:100-200", "seq:250", "seq:900-", "since:2026-11-18T11:06:41",
		"until:2026-11-18T11:06:41.2", "since:2026-11-18T11:06:40.9", "!denied", "!path:/etc/**", "!op:read", "!since:2026-11-18T11:06:41", "/none",
	};
	*n = 1 + pick(seed, 3);
	for (size_t i = 0; i < *n; i++)
		words[i] = all[pick(seed, sizeof all / sizeof all[0])];
}

/* Asks both ways. Returns what the index said: 0 when it answered. */
static int ask_both(const char *dir, struct index *x, unsigned *seed)
{
	const char *words[3], *bad;
	size_t n;
	struct query *q;
	random_query(seed, words, &n);
	assert_int_equal(query_new(words, n, BEGIN, &q, &bad), 0);
	struct answer by_index = { .q = q }, whole = { .q = q };
	int rc = index_select(x, q, keep, &by_index);
	if (rc == 0) {
		scan(dir, &whole);
		if (whole.len != by_index.len || (whole.len && memcmp(whole.text, by_index.text, whole.len) != 0))
			fail_msg("%s %s %s: %zu bytes by the index, %zu without it", words[0], n > 1 ? words[1] : "", n > 2 ? words[2] : "",
				 by_index.len, whole.len);
	} else {
		assert_int_equal(by_index.len, 0);
	}
	free(by_index.text);
	free(whole.text);
	log_query_free(q);
	return rc;
}

static void same_answers(void **state)
{
	unsigned seed = 7, answered = 0, rounds = getenv("QUICK") ? 200 : 500;
	for (unsigned j = 0; j < 4; j++) {
		char dir[64];
		struct index *x;
		make_odd(fresh_dir(dir), 1 + j, j == 3 ? 3000 : 700, &seed);
		assert_int_equal(index_make(dir, NULL, NULL), 0);
		assert_int_equal(index_open(dir, &x), 0);
		for (unsigned i = 0; i < rounds; i++) {
			int rc = ask_both(dir, x, &seed);
			assert_true(rc == 0 || rc == 1);
			answered += rc == 0;
		}
		index_close(x);
		remove_dir(dir);
	}
	assert_in_range(answered, rounds, 4 * rounds); /* most are answered by the index */
}

/* Opens the index of DIR and asks N times. */
static unsigned ask_some(const char *dir, unsigned n, unsigned *seed)
{
	struct index *x;
	unsigned answered = 0;
	assert_int_equal(index_open(dir, &x), 0);
	for (unsigned i = 0; i < n; i++)
		answered += ask_both(dir, x, seed) == 0;
	index_close(x);
	return answered;
}

static void what_changed_is_noticed(void **state)
{
	unsigned seed = 3;
	char dir[64], path[128], other[128], line[2048];
	make_odd(fresh_dir(dir), 3, 500, &seed);
	assert_int_equal(index_make(dir, NULL, NULL), 0);
	for (unsigned i = 0; i < 40; i++) {
		segment_path(dir, 1 + pick(&seed, 3), path);
		int fd = open(path, O_RDWR);
		struct stat st;
		fstat(fd, &st);
		switch (i % 4) {
		case 0: { /* records overwritten in their places, and the times put back */
			char *text = malloc((size_t)st.st_size);
			assert_int_equal(pread(fd, text, (size_t)st.st_size, 0), st.st_size);
			for (char *p = text; (p = memmem(p, (size_t)(text + st.st_size - p), "\"allow\"", 7));)
				memcpy(p, pick(&seed, 2) ? "\"deny\" " : "\"kill\" ", 7);
			assert_int_equal(pwrite(fd, text, (size_t)st.st_size, 0), st.st_size);
			futimens(fd, (struct timespec[]){ st.st_atim, st.st_mtim });
			free(text);
			break;
		}
		case 1: {
			size_t n = a_record(line, sizeof line, 9000 + i, &seed);
			line[n] = '\n';
			assert_int_equal(pwrite(fd, line, n + 1, st.st_size), n + 1);
			break;
		}
		case 2:
			assert_int_equal(ftruncate(fd, st.st_size * 9 / 10), 0);
			break;
		default: /* two segments change places */
			segment_path(dir, 1 + (i / 4) % 2, path);
			segment_path(dir, 3, other);
			char hold[160];
			snprintf(hold, sizeof hold, "%s.hold", path);
			rename(path, hold);
			rename(other, path);
			rename(hold, other);
		}
		close(fd);
		assert_true(ask_some(dir, 20, &seed) > 0);
	}
	remove_dir(dir);
}

static void damage_is_noticed(void **state)
{
	unsigned seed = 5, noticed = 0, harmless = 0;
	char dir[64], path[128];
	make_odd(fresh_dir(dir), 2, 600, &seed);
	snprintf(path, sizeof path, "%s/" INDEX_FILE, dir);
	for (unsigned i = 0; i < (getenv("QUICK") ? 60u : 200u); i++) {
		struct index *x = NULL;
		struct stat st;
		char c;
		assert_int_equal(index_make(dir, NULL, NULL), 0);
		int fd = open(path, O_RDWR);
		fstat(fd, &st);
		for (unsigned k = 0; k < 1 + i % 3; k++) {
			off_t at = (off_t)(pick(&seed, 1 << 30) % (unsigned)st.st_size);
			assert_int_equal(pread(fd, &c, 1, at), 1);
			c = (char)(c ^ 1 << pick(&seed, 8));
			assert_int_equal(pwrite(fd, &c, 1, at), 1);
		}
		if (i % 10 == 0)
			assert_int_equal(ftruncate(fd, (off_t)(pick(&seed, 1 << 30) % (unsigned)st.st_size)), 0);
		close(fd);
		int rc = index_open(dir, &x);
		for (unsigned k = 0; rc == 0 && k < 8; k++) {
			rc = ask_both(dir, x, &seed);
			rc = rc == 1 ? 0 : rc;
		}
		index_close(x);
		noticed += rc != 0;
		harmless += rc == 0;
	}
	assert_true(noticed > 0 && harmless > 0);
	remove_dir(dir);
}

static unsigned count_found(const char *dir, const char *word)
{
	struct index *x;
	struct query *q;
	const char *bad;
	unsigned n = 0;
	assert_int_equal(query_new(&word, 1, stamp_now(), &q, &bad), 0);
	struct answer a = { .q = q }, whole = { .q = q };
	assert_int_equal(index_open(dir, &x), 0);
	assert_int_equal(index_select(x, q, keep, &a), 0);
	scan(dir, &whole);
	assert_int_equal(a.len, whole.len);
	for (size_t i = 0; i < a.len; i++)
		n += a.text[i] == '\n';
	index_close(x);
	log_query_free(q);
	free(a.text);
	free(whole.text);
	return n;
}

static void append_event(struct journal *j, const char *event)
{
	char buf[512];
	struct record r;
	record_begin(&r, buf, sizeof buf, "note");
	record_text(&r, "event", event);
	assert_int_equal(journal_append(j, &r, NULL), 0);
}

static void a_journal_grows(void **state)
{
	char dir[64];
	struct journal *j = make_journal(fresh_dir(dir));
	for (int i = 0; i < 2000; i++)
		append_event(j, i % 100 ? "common" : "rare");
	assert_int_equal(index_make(dir, NULL, NULL), 0);
	assert_int_equal(count_found(dir, "event:rare"), 20);
	for (int i = 0; i < 150; i++)
		append_event(j, i % 100 ? "common" : "rare");
	assert_int_equal(count_found(dir, "event:rare"), 22);
	for (int i = 0; i < 60000; i++) /* more than is read line by line */
		append_event(j, i % 10000 ? "common" : "rare");
	assert_int_equal(count_found(dir, "event:rare"), 28);
	close_with_end(j);
	assert_int_equal(count_found(dir, "event:rare"), 28);
	assert_int_equal(count_found(dir, "type:end"), 1);
	remove_dir(dir);
}

static void sql(const char *file, const char *text)
{
	sqlite3 *db;
	assert_int_equal(sqlite3_open(file, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

/* Whoever made it, an index that is not as we make it is not used. */
static void what_is_not_ours_is_refused(void **state)
{
	static const char *const changes[] = {
		"CREATE TRIGGER t AFTER INSERT ON part BEGIN DELETE FROM row; END", "CREATE VIEW v AS SELECT 1", "DROP TABLE row; CREATE VIEW row AS SELECT 1 AS id, x'' AS data",
		"CREATE INDEX i ON part(head)", "UPDATE row SET data = (SELECT data FROM row WHERE id = (SELECT max(id) FROM row)) WHERE id & 1023 = 6",
		"DELETE FROM row WHERE id & 1023 = 6", "UPDATE part SET head = x'00'", "UPDATE part SET head = 7", "UPDATE row SET data = NULL",
	};
	unsigned seed = 9;
	char dir[64], other[64], path[128], link[128];
	struct index *x;
	struct query *q;
	const char *bad, *word = "type:note";
	make_odd(fresh_dir(dir), 2, 300, &seed);
	make_odd(fresh_dir(other), 2, 300, &seed);
	snprintf(path, sizeof path, "%s/" INDEX_FILE, dir);
	snprintf(link, sizeof link, "%s/" INDEX_FILE, other);
	assert_int_equal(query_new(&word, 1, BEGIN, &q, &bad), 0);
	for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
		struct answer a = { .q = q };
		assert_int_equal(index_make(dir, NULL, NULL), 0);
		sql(path, changes[i]);
		int rc = index_open(dir, &x);
		if (rc == 0) {
			rc = index_select(x, q, keep, &a);
			index_close(x);
		}
		assert_int_equal(rc, -EIO);
		assert_int_equal(a.len, 0);
	}
	assert_int_equal(index_make(dir, NULL, NULL), 0);
	chmod(path, 0620);
	assert_int_equal(index_open(dir, &x), -EPERM);
	chmod(path, 0600);
	assert_int_equal(symlink(path, link), 0);
	assert_int_equal(index_open(other, &x), -ELOOP);
	unlink(link);
	assert_int_equal(rename(path, link), 0); /* that of another journal is brought up to date */
	assert_true(ask_some(other, 20, &seed) > 0);
	log_query_free(q);
	remove_dir(dir);
	remove_dir(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_answers),
		cmocka_unit_test(what_changed_is_noticed),
		cmocka_unit_test(damage_is_noticed),
		cmocka_unit_test(a_journal_grows),
		cmocka_unit_test(what_is_not_ours_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
