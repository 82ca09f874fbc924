/* SPDX-License-Identifier: Apache-2.0 */
/* The file of an index: see index_store.h. */
#include "audit/index_store.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit/index.h"
#include "audit/index_alone.h"
#include "rules/cleanup.h"

#define TABLE_PART "CREATE TABLE part(segment INTEGER PRIMARY KEY, head BLOB)"
#define TABLE_ROW "CREATE TABLE row(id INTEGER PRIMARY KEY, data BLOB)"

enum statement { GET_HEAD, GET_ROW, PUT_HEAD, PUT_ROW, DROP_ROWS, STATEMENTS };

static const char *const sql[STATEMENTS] = {
	[GET_HEAD] = "SELECT head FROM part WHERE segment=?1",
	[GET_ROW] = "SELECT data FROM row WHERE id=?1",
	[PUT_HEAD] = "INSERT OR REPLACE INTO part VALUES(?1,?2)",
	[PUT_ROW] = "INSERT INTO row VALUES(?1,?2)",
	[DROP_ROWS] = "DELETE FROM row WHERE id BETWEEN ?1 AND ?1 + 4294967295",
};

struct index_store {
	sqlite3 *db;
	sqlite3_stmt *statement[STATEMENTS];
	uint32_t segment; /* whose head this is; 0: none */
	struct part_head head;
	struct bytes room;
	uint32_t next; /* row to be put */
};

struct sum {
	uint8_t bytes[crypto_shorthash_BYTES];
};

/* Over what is stored, keyed with the making of the part it belongs to. */
static struct sum sum_of(const uint64_t nonce[2], uint64_t id, const uint8_t *data, size_t len)
{
	struct sum out;
	uint64_t key[2] = { nonce[0] ^ id, nonce[1] };
	_Static_assert(sizeof key == crypto_shorthash_KEYBYTES, "a key of two numbers");
	crypto_shorthash(out.bytes, data, len, (const uint8_t *)key);
	return out;
}

static sqlite3_int64 id_of(uint32_t segment, uint32_t row)
{
	return (sqlite3_int64)segment << 32 | row;
}

static int error_of(int rc)
{
	return rc == SQLITE_BUSY || rc == SQLITE_LOCKED ? -EBUSY : rc == SQLITE_READONLY ? -EROFS : rc == SQLITE_FULL ? -ENOSPC : -EIO;
}

static int execute(struct index_store *s, const char *text)
{
	int rc = sqlite3_exec(s->db, text, NULL, NULL, NULL);
	return rc == SQLITE_OK ? 0 : error_of(rc);
}

/* Whether the file has our two tables and nothing else: no trigger, no view, no expression of somebody's. */
static bool has_our_tables(struct index_store *s)
{
	static const char *const ours[] = { TABLE_PART, TABLE_ROW };
	sqlite3_stmt *q = NULL;
	size_t n = 0;
	bool good = sqlite3_prepare_v2(s->db, "SELECT sql FROM sqlite_master ORDER BY rowid", -1, &q, NULL) == SQLITE_OK;
	while (good && sqlite3_step(q) == SQLITE_ROW) {
		const char *text = (const char *)sqlite3_column_text(q, 0);
		good = n < 2 && text && !strcmp(text, ours[n++]);
	}
	sqlite3_finalize(q);
	return good && n == 2;
}

static int prepare(struct index_store *s, bool make)
{
	int off = 0;
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, &off);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, &off);
	int rc = execute(s, "PRAGMA cell_size_check=ON; PRAGMA synchronous=OFF; PRAGMA page_size=16384; PRAGMA journal_mode=MEMORY;"
			    "PRAGMA temp_store=MEMORY; PRAGMA cache_size=-16384; PRAGMA mmap_size=0");
	if (rc == 0 && make)
		rc = execute(s, TABLE_PART ";" TABLE_ROW);
	if (rc != 0)
		return rc;
	if (!has_our_tables(s))
		return -EIO;
	for (size_t i = 0; i < STATEMENTS; i++)
		if (sqlite3_prepare_v2(s->db, sql[i], -1, &s->statement[i], NULL) != SQLITE_OK)
			return -EIO;
	return 0;
}

/* SQLite would give a new file the mode of the umask, and follow a link. What is not its reader's own is nobody's. */
static int check_file(const char *path, bool make, bool *writable)
{
	struct stat st;
	if (make && unlink(path) != 0 && errno != ENOENT)
		return -errno;
	CLEANUP_FD int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | (make ? O_CREAT | O_EXCL : 0), 0600);
	if (fd < 0 || fstat(fd, &st) != 0)
		return -errno;
	*writable = faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0;
	return S_ISREG(st.st_mode) && st.st_uid == geteuid() && !(st.st_mode & (S_IWGRP | S_IWOTH)) ? 0 : -EPERM;
}

static int path_of(const char *dir, char out[PATH_MAX])
{
	int n = snprintf(out, PATH_MAX, "%s/" INDEX_FILE, dir);
	return n < 0 || n >= PATH_MAX ? -ENAMETOOLONG : 0;
}

int index_store_open(const char *dir, bool make, struct index_store **out)
{
	char path[PATH_MAX];
	bool writable = false;
	int rc = path_of(dir, path);
	if (rc == 0)
		rc = check_file(path, make, &writable);
	if (rc != 0)
		return rc;
	struct index_store *s = calloc(1, sizeof *s);
	if (!s)
		return -ENOMEM;
	int flags = writable ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY;
	const char *vfs = index_alone();
	rc = vfs ? sqlite3_open_v2(path, &s->db, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE, vfs) : SQLITE_NOMEM;
	rc = rc == SQLITE_OK ? prepare(s, make) : error_of(rc);
	if (rc != 0) {
		index_store_close(s);
		return rc;
	}
	*out = s;
	return 0;
}

void index_store_close(struct index_store *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < STATEMENTS; i++)
		sqlite3_finalize(s->statement[i]);
	sqlite3_close(s->db);
	free(s->room.at);
	free(s);
}

void index_store_remove(const char *dir)
{
	char path[PATH_MAX];
	if (path_of(dir, path) == 0)
		unlink(path);
}

/* --- reading --- */

/* The bytes of the one column, without the hash behind them, into s->room: 1, 0 when there is no such row, or -EIO. */
static int get(struct index_store *s, enum statement which, sqlite3_int64 id, struct sum *sum)
{
	sqlite3_stmt *q = s->statement[which];
	sqlite3_bind_int64(q, 1, id);
	int rc = sqlite3_step(q);
	int len = rc == SQLITE_ROW ? sqlite3_column_bytes(q, 0) : 0;
	const uint8_t *data = len ? sqlite3_column_blob(q, 0) : NULL;
	int out = rc == SQLITE_DONE ? 0 : -EIO;
	s->room.len = 0;
	if (data && (size_t)len >= sizeof *sum && bytes_put(&s->room, data, (size_t)len - sizeof *sum)) {
		memcpy(sum, data + s->room.len, sizeof *sum);
		out = 1;
	}
	sqlite3_reset(q);
	return out;
}

static bool same(const struct sum *a, const struct sum *b)
{
	return !memcmp(a->bytes, b->bytes, sizeof a->bytes);
}

int index_store_head(struct index_store *s, uint32_t segment, struct part_head *out)
{
	static const uint64_t none[2];
	struct sum stored, now;
	s->segment = 0;
	int rc = get(s, GET_HEAD, segment, &stored);
	if (rc <= 0)
		return rc;
	now = sum_of(none, segment, s->room.at, s->room.len);
	if (s->room.len != sizeof s->head || !same(&now, &stored))
		return -EIO;
	memcpy(&s->head, s->room.at, sizeof s->head);
	if (!part_known(&s->head))
		return -EIO;
	s->segment = segment;
	*out = s->head;
	return 1;
}

int index_store_row(struct index_store *s, uint32_t segment, uint32_t row, const uint8_t **data, const uint8_t **end)
{
	struct sum stored, now;
	struct part_head h;
	if (s->segment != segment && index_store_head(s, segment, &h) != 1)
		return -EIO;
	int rc = get(s, GET_ROW, id_of(segment, row), &stored);
	if (rc <= 0)
		return -EIO;
	now = sum_of(s->head.nonce, row, s->room.at, s->room.len);
	if (!same(&now, &stored))
		return -EIO;
	*data = s->room.at;
	*end = s->room.at + s->room.len;
	return 0;
}

/* --- writing --- */

static int put(struct index_store *s, enum statement which, sqlite3_int64 id, const uint8_t *data, size_t len, const struct sum *sum)
{
	sqlite3_stmt *q = s->statement[which];
	s->room.len = 0;
	if (!bytes_put(&s->room, data, len) || !bytes_put(&s->room, sum, sizeof *sum))
		return -ENOMEM;
	sqlite3_bind_int64(q, 1, id);
	sqlite3_bind_blob64(q, 2, s->room.at, s->room.len, SQLITE_STATIC);
	int rc = sqlite3_step(q);
	sqlite3_reset(q);
	sqlite3_bind_null(q, 2);
	return rc == SQLITE_DONE ? 0 : error_of(rc);
}

static int put_one(struct index_store *s, uint32_t row, const uint8_t *data, size_t len)
{
	struct sum sum = sum_of(s->head.nonce, row, data, len);
	return put(s, PUT_ROW, id_of(s->segment, row), data, len, &sum);
}

/* The rows of values are all there, if empty: one that is missing is damage. */
static int put_empty(struct index_store *s, uint32_t upto)
{
	int rc = 0;
	for (; rc == 0 && s->next < upto && s->next < ROW_NAMES + NAME_ROWS; s->next++)
		if (s->next < KEY_VALUES || s->next >= ROW_NAMES)
			rc = put_one(s, s->next, (const uint8_t *)"", 0);
	return rc;
}

static int put_row(void *context, uint32_t row, const uint8_t *data, size_t len)
{
	struct index_store *s = context;
	int rc = put_empty(s, row);
	s->next = row + 1;
	return rc == 0 ? put_one(s, row, data, len) : rc;
}

int index_store_begin(struct index_store *s)
{
	return execute(s, "BEGIN IMMEDIATE");
}

int index_store_put(struct index_store *s, uint32_t segment, struct index_part *p)
{
	static const uint64_t none[2];
	sqlite3_stmt *drop = s->statement[DROP_ROWS];
	s->segment = segment;
	s->next = 0;
	s->head = *index_part_head(p);
	sqlite3_bind_int64(drop, 1, id_of(segment, 0));
	int rc = sqlite3_step(drop);
	sqlite3_reset(drop);
	if (rc != SQLITE_DONE)
		return error_of(rc);
	struct sum sum = sum_of(none, segment, (const uint8_t *)&s->head, sizeof s->head);
	rc = put(s, PUT_HEAD, segment, (const uint8_t *)&s->head, sizeof s->head, &sum);
	return rc == 0 ? index_part_rows(p, put_row, s) : rc;
}

int index_store_end(struct index_store *s)
{
	return execute(s, "COMMIT");
}
