/* SPDX-License-Identifier: Apache-2.0 */
/* The index of names: see names_index.h. A record is found by a hash of each name in it; what collides is sorted out by the reader. */
#include "audit/names_index.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit/digest.h"
#include "audit/field.h"
#include "audit/reader.h"
#include "audit/segment.h"
#include "rules/cleanup.h"

#define LINE_CAP ((size_t)128 << 10)

static const char schema[] =
	"PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON; PRAGMA synchronous=OFF; PRAGMA cache_size=-65536; PRAGMA temp_store=MEMORY;"
	"CREATE TABLE IF NOT EXISTS done(one INTEGER PRIMARY KEY CHECK(one=1), place INTEGER, len INTEGER, hash BLOB);"
	"CREATE TABLE IF NOT EXISTS named(hash INTEGER, place INTEGER, len INTEGER, PRIMARY KEY(hash, place)) WITHOUT ROWID;"
	"CREATE TABLE IF NOT EXISTS moved(place INTEGER PRIMARY KEY, len INTEGER);"
	"CREATE TEMP TABLE IF NOT EXISTS wanted(place INTEGER PRIMARY KEY, len INTEGER);";

enum statement { ADD_NAME, ADD_MOVE, WANT_NAME, WANT_MOVES, STATEMENTS };

static const char *const sql[STATEMENTS] = {
	[ADD_NAME] = "INSERT OR REPLACE INTO named VALUES(?1,?2,?3)",
	[ADD_MOVE] = "INSERT OR REPLACE INTO moved VALUES(?1,?2)",
	[WANT_NAME] = "INSERT OR IGNORE INTO wanted SELECT place, len FROM named WHERE hash=?1",
	[WANT_MOVES] = "INSERT OR IGNORE INTO wanted SELECT place, len FROM moved",
};

struct names_index {
	sqlite3 *db;
	sqlite3_stmt *statement[STATEMENTS];
	int dir;
	int fd; /* the segment read last */
	unsigned segment;
	char *line; /* LINE_CAP bytes */
	int64_t place; /* of the last record that is in, its length and hash; 0: none */
	int64_t len;
	struct digest hash;
	bool failed;
};

static int64_t place_of(unsigned segment, uint64_t offset)
{
	return (int64_t)segment << 32 | (int64_t)offset;
}

static int64_t hash_name(const char *text, size_t len)
{
	static const uint8_t key[crypto_shorthash_KEYBYTES];
	uint8_t out[crypto_shorthash_BYTES];
	int64_t v;
	crypto_shorthash(out, (const uint8_t *)text, len, key);
	memcpy(&v, out, sizeof v);
	return v;
}

static bool run(struct names_index *x, enum statement which, int64_t a, int64_t b, int64_t c)
{
	sqlite3_stmt *s = x->statement[which];
	const int64_t values[] = { a, b, c };
	for (int i = 0; i < sqlite3_bind_parameter_count(s); i++)
		sqlite3_bind_int64(s, i + 1, values[i]);
	int rc = sqlite3_step(s);
	sqlite3_reset(s);
	if (rc != SQLITE_DONE)
		x->failed = true;
	return rc == SQLITE_DONE;
}

bool names_index_moves(const char *text, size_t len)
{
	static const char *const calls[] = { "rename", "renameat", "renameat2", "link", "linkat", "symlink", "symlinkat" };
	struct field call;
	if (!memmem(text, len, "\"objects\":[", 11) || !field_find(text, len, "call", &call))
		return false;
	for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
		if (field_is(&call, calls[i]))
			return true;
	return false;
}

static void add_names(struct names_index *x, const char *text, size_t len, int64_t place, int64_t whole)
{
	struct fields f, items;
	struct field one, item;
	fields_begin(&f, text, len);
	while (fields_next(&f, &one)) {
		if (one.kind == FIELD_STRING && (field_key(&one, "object") || field_key(&one, "named")))
			run(x, ADD_NAME, hash_name(one.value, one.len), place, whole);
		if (one.kind != FIELD_LIST || !field_key(&one, "objects"))
			continue;
		fields_begin(&items, one.value, one.len);
		while (fields_next(&items, &item))
			if (item.kind == FIELD_OBJECT)
				add_names(x, item.value, item.len, place, whole);
	}
}

/* LEN bytes of the journal at PLACE into x->line. */
static bool read_at(struct names_index *x, int64_t place, int64_t len)
{
	unsigned segment = (unsigned)(place >> 32);
	char name[SEGMENT_NAME_MAX];
	if (len < 1 || (size_t)len > LINE_CAP || !segment)
		return false;
	if (segment != x->segment) {
		segment_name(name, segment);
		if (x->fd >= 0)
			close(x->fd);
		x->fd = openat(x->dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
		x->segment = segment;
	}
	return x->fd >= 0 && pread(x->fd, x->line, (size_t)len, (off_t)(place & UINT32_MAX)) == (ssize_t)len;
}

/* Whether the last record that is in stands in the journal where it stood: then so do all before it, by the chain. */
static bool belongs(struct names_index *x)
{
	sqlite3_stmt *s = NULL;
	struct digest now;
	bool good = false;
	if (sqlite3_prepare_v2(x->db, "SELECT place, len, hash FROM done", -1, &s, NULL) == SQLITE_OK &&
	    sqlite3_step(s) == SQLITE_ROW && sqlite3_column_bytes(s, 2) == DIGEST_BYTES) {
		x->place = sqlite3_column_int64(s, 0);
		x->len = sqlite3_column_int64(s, 1);
		memcpy(x->hash.bytes, sqlite3_column_blob(s, 2), DIGEST_BYTES);
		good = read_at(x, x->place, x->len);
		if (good)
			digest_of(&now, x->line, (size_t)x->len);
		good = good && !memcmp(now.bytes, x->hash.bytes, DIGEST_BYTES);
	}
	sqlite3_finalize(s);
	return good;
}

static void take(struct names_index *x, const struct line *l)
{
	unsigned segment;
	if (l->bytes[0] != '{' || l->len > LINE_CAP || sscanf(l->file, "journal-%u.jsonl", &segment) != 1)
		return;
	x->place = place_of(segment, l->offset);
	x->len = (int64_t)l->len;
	add_names(x, l->bytes, l->len, x->place, x->len);
	if (names_index_moves(l->bytes, l->len))
		run(x, ADD_MOVE, x->place, x->len, 0);
	memcpy(x->line, l->bytes, l->len);
}

static int keep_done(struct names_index *x)
{
	sqlite3_stmt *s = NULL;
	digest_of(&x->hash, x->line, (size_t)x->len);
	bool good = sqlite3_prepare_v2(x->db, "INSERT OR REPLACE INTO done VALUES(1,?,?,?)", -1, &s, NULL) == SQLITE_OK;
	if (good) {
		sqlite3_bind_int64(s, 1, x->place);
		sqlite3_bind_int64(s, 2, x->len);
		sqlite3_bind_blob(s, 3, x->hash.bytes, DIGEST_BYTES, SQLITE_STATIC);
		good = sqlite3_step(s) == SQLITE_DONE;
	}
	sqlite3_finalize(s);
	return good ? 0 : -EIO;
}

/* What the journal has behind the last record that is in. */
static int extend(struct names_index *x, const char *dir)
{
	struct reader *r;
	struct line line;
	int64_t before = x->place;
	int rc = reader_open_at(dir, (unsigned)(x->place >> 32), x->place ? (uint64_t)(x->place & UINT32_MAX) + (uint64_t)x->len : 0, &r);
	if (rc != 0)
		return rc;
	while (!x->failed && (rc = reader_next(r, &line)) == 1)
		take(x, &line);
	reader_close(r);
	if (x->failed || rc < 0)
		return rc < 0 ? rc : -EIO;
	return x->place == before ? 0 : keep_done(x);
}

static bool execute(struct names_index *x, const char *text)
{
	return sqlite3_exec(x->db, text, NULL, NULL, NULL) == SQLITE_OK;
}

static int bring_up_to_date(struct names_index *x, const char *dir)
{
	if (!execute(x, schema) || !execute(x, "BEGIN IMMEDIATE"))
		return -EIO;
	for (size_t i = 0; i < STATEMENTS; i++)
		if (sqlite3_prepare_v2(x->db, sql[i], -1, &x->statement[i], NULL) != SQLITE_OK)
			return -EIO;
	if (!belongs(x)) {
		x->place = x->len = 0;
		if (!execute(x, "DELETE FROM done; DELETE FROM named; DELETE FROM moved"))
			return -EIO;
	}
	int rc = extend(x, dir);
	return rc == 0 && execute(x, "COMMIT") ? 0 : rc ? rc : -EIO;
}

int names_index_open(const char *dir, bool make, struct names_index **out)
{
	char path[PATH_MAX];
	struct names_index *x = calloc(1, sizeof *x);
	int rc = -ENOMEM;
	if (!x)
		return rc;
	x->fd = -1;
	x->dir = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	x->line = malloc(LINE_CAP);
	/* SQLite would give the file the mode of the umask. */
	CLEANUP_FD int fd = x->dir < 0 ? -1 : openat(x->dir, NAMES_INDEX_FILE, O_RDWR | O_CLOEXEC | O_NOFOLLOW | (make ? O_CREAT : 0), 0600);
	if (fd < 0)
		rc = -errno;
	int n = snprintf(path, sizeof path, "%s/" NAMES_INDEX_FILE, dir);
	if (fd >= 0 && x->line && n > 0 && (size_t)n < sizeof path)
		rc = sqlite3_open_v2(path, &x->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE, NULL) ==
				     SQLITE_OK ?
			     bring_up_to_date(x, dir) :
			     -EIO;
	if (rc != 0) {
		names_index_close(x);
		return rc;
	}
	*out = x;
	return 0;
}

void names_index_close(struct names_index *x)
{
	if (!x)
		return;
	for (size_t i = 0; i < STATEMENTS; i++)
		sqlite3_finalize(x->statement[i]);
	sqlite3_close(x->db);
	if (x->fd >= 0)
		close(x->fd);
	if (x->dir >= 0)
		close(x->dir);
	free(x->line);
	free(x);
}

int names_index_want(struct names_index *x, const char *text, size_t len)
{
	return run(x, WANT_NAME, hash_name(text, len), 0, 0) ? 0 : -EIO;
}

int names_index_want_moves(struct names_index *x)
{
	return run(x, WANT_MOVES, 0, 0, 0) ? 0 : -EIO;
}

int names_index_lines(struct names_index *x, void (*each)(void *context, const char *text, size_t len), void *context)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(x->db, "SELECT place, len FROM wanted ORDER BY place", -1, &s, NULL) == SQLITE_OK ? 0 : -EIO;
	while (rc == 0 && sqlite3_step(s) == SQLITE_ROW) {
		int64_t place = sqlite3_column_int64(s, 0), len = sqlite3_column_int64(s, 1);
		if (read_at(x, place, len) && x->line[0] == '{')
			each(context, x->line, (size_t)len);
		else
			rc = -EIO;
	}
	sqlite3_finalize(s);
	execute(x, "DELETE FROM wanted");
	return rc;
}
