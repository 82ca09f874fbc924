/* SPDX-License-Identifier: Apache-2.0 */
/* Tombstones: see tombstone.h. */
#include "audit/tombstone.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/epoch.h"
#include "audit/field.h"
#include "audit/record.h"
#include "audit/stamp.h"
#include "rules/cleanup.h"
#include "rules/plain_file.h"

#define LINE_MAX_BYTES 4096
#define SIG_TAIL ",\"sig\":\""

/* In a page that no dump gets. */
struct secrets {
	uint8_t now[crypto_sign_SECRETKEYBYTES];
	uint8_t next[crypto_sign_SECRETKEYBYTES];
};

/* The hash of the last line; zeros of an empty file. */
static int last_hash(int fd, struct digest *out)
{
	char tail[LINE_MAX_BYTES + 2];
	off_t end = lseek(fd, 0, SEEK_END), from = end > (off_t)sizeof tail ? end - (off_t)sizeof tail : 0;
	*out = (struct digest){ 0 };
	if (end <= 0)
		return end < 0 ? -errno : 0;
	ssize_t n = pread(fd, tail, sizeof tail, from);
	if (n < 1 || tail[n - 1] != '\n')
		return n < 0 ? -errno : -EBADMSG;
	const char *start = memrchr(tail, '\n', (size_t)n - 1);
	if (!start && from)
		return -EBADMSG;
	start = start ? start + 1 : tail;
	digest_of(out, start, (size_t)(tail + n - 1 - start));
	return 0;
}

/* The key the last line named; a new one where there is none. */
static int read_key(int home, uint8_t secret[crypto_sign_SECRETKEYBYTES])
{
	uint8_t public[crypto_sign_PUBLICKEYBYTES];
	CLEANUP_FD int fd = plain_open(home, TOMBSTONE_KEY, O_RDONLY | O_NOFOLLOW);
	if (fd < 0 && fd != -ENOENT)
		return fd;
	if (fd >= 0)
		return read(fd, secret, crypto_sign_SECRETKEYBYTES) == crypto_sign_SECRETKEYBYTES ? 0 : -EBADMSG;
	crypto_sign_keypair(public, secret);
	return 0;
}

static int write_key(int home, const uint8_t secret[crypto_sign_SECRETKEYBYTES])
{
	CLEANUP_FD int fd = plain_open(home, TOMBSTONE_KEY, O_WRONLY | O_CREAT | O_NOFOLLOW);
	if (fd < 0)
		return fd;
	if (pwrite(fd, secret, crypto_sign_SECRETKEYBYTES, 0) != crypto_sign_SECRETKEYBYTES || fdatasync(fd) != 0)
		return errno ? -errno : -EIO;
	return 0;
}

static size_t write_fields(char *buf, const char *name, const struct proof *p, const struct digest *prev, const struct secrets *s)
{
	char stamp[STAMP_LEN], hex[DIGEST_HEX];
	const uint8_t *const keys[] = { p->key, prev->bytes, s->now + crypto_sign_SEEDBYTES, s->next + crypto_sign_SEEDBYTES };
	static const char *const names[] = { "first_key", "prev", "key", "next" };
	struct record r;
	stamp_write(stamp, stamp_now());
	record_begin(&r, buf, LINE_MAX_BYTES - 256, "tombstone");
	record_bytes(&r, "time", (struct span){ stamp, STAMP_LEN });
	record_text(&r, "session", name);
	record_text(&r, "state", p->damaged ? "damaged" : p->closed ? "whole" : "whole, not closed");
	record_int(&r, "records", (int64_t)p->records);
	hex_write(hex, p->head.bytes, DIGEST_BYTES);
	record_bytes(&r, "head", (struct span){ hex, DIGEST_HEX });
	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
		hex_write(hex, keys[i], DIGEST_BYTES);
		record_bytes(&r, names[i], (struct span){ hex, DIGEST_HEX });
	}
	return record_finish(&r); /* the length without one brace: what is signed has not its closing one */
}

/* The line goes before the key: a crash between the two leaves the old key, by which the next line is told from a forged one. */
static int append(int home, int fd, const char *name, const struct proof *p, struct secrets *s)
{
	char line[LINE_MAX_BYTES];
	uint8_t sig[crypto_sign_BYTES], public[crypto_sign_PUBLICKEYBYTES];
	struct digest prev;
	int rc = last_hash(fd, &prev);
	if (rc == 0)
		rc = read_key(home, s->now);
	if (rc != 0)
		return rc;
	crypto_sign_keypair(public, s->next);
	size_t n = write_fields(line, name, p, &prev, s);
	if (!n)
		return -EMSGSIZE;
	crypto_sign_detached(sig, NULL, (uint8_t *)line, n, s->now);
	memcpy(line + n, SIG_TAIL, sizeof SIG_TAIL - 1);
	n += sizeof SIG_TAIL - 1;
	hex_write(line + n, sig, sizeof sig);
	n += 2 * sizeof sig;
	memcpy(line + n, "\"}\n", 3);
	n += 3;
	off_t before = lseek(fd, 0, SEEK_END);
	errno = ENOSPC; /* of a write that is cut short */
	if (write(fd, line, n) != (ssize_t)n) {
		rc = -errno;
		(void)!ftruncate(fd, before); /* half a line would end all pruning */
		return rc;
	}
	if (fdatasync(fd) != 0)
		return -errno;
	return write_key(home, s->next);
}

int tombstone_append(int home, const char *name, const struct proof *p)
{
	struct secrets *s;
	CLEANUP_FD int fd = plain_open(home, TOMBSTONE_FILE, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW);
	if (fd < 0)
		return fd;
	if (flock(fd, LOCK_EX) != 0)
		return -errno;
	int rc = sodium_init() < 0 ? -ENOSYS : key_page_new((void **)&s);
	if (rc != 0)
		return rc;
	errno = 0;
	rc = append(home, fd, name, p, s);
	key_page_free(s);
	return rc;
}

static bool take_hex(const char *text, size_t len, const char *key, uint8_t *out, size_t n)
{
	struct field f;
	return field_find(text, len, key, &f) && f.len == 2 * n && hex_read(out, n, f.value);
}

/* KEY: what the line before named; FIRST: any. A line whose key was used twice comes from a crash and is as good. */
static bool line_good(const char *line, size_t len, bool first, const struct digest *head, uint8_t key[32], uint8_t used[32])
{
	struct digest prev;
	uint8_t own[32], next[32], sig[crypto_sign_BYTES];
	const size_t tail = sizeof SIG_TAIL - 1 + 2 * sizeof sig + 2;
	if (!field_valid(line, len) || len < tail || memcmp(line + len - tail, SIG_TAIL, sizeof SIG_TAIL - 1) != 0 ||
	    !take_hex(line, len, "prev", prev.bytes, sizeof prev.bytes) || !take_hex(line, len, "key", own, sizeof own) ||
	    !take_hex(line, len, "next", next, sizeof next) ||
	    !hex_read(sig, sizeof sig, line + len - tail + sizeof SIG_TAIL - 1))
		return false;
	if (memcmp(prev.bytes, head->bytes, sizeof prev.bytes) != 0 ||
	    (!first && memcmp(own, key, sizeof own) != 0 && memcmp(own, used, sizeof own) != 0))
		return false;
	if (crypto_sign_verify_detached(sig, (const uint8_t *)line, len - tail, own) != 0)
		return false;
	memcpy(used, own, sizeof own);
	memcpy(key, next, sizeof next);
	return true;
}

/* Whether the key that lies beside PATH is KEY's, or USED's: what a crash between a line and its new key leaves. -ENOENT: there is none. */
static int key_follows(const char *path, const uint8_t key[32], const uint8_t used[32])
{
	struct secrets *s;
	const char *slash = strrchr(path, '/');
	CLEANUP_FREE char *dir = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
	CLEANUP_FD int home = dir ? open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	if (home < 0 || faccessat(home, TOMBSTONE_KEY, F_OK, 0) != 0)
		return -ENOENT;
	int rc = key_page_new((void **)&s);
	if (rc != 0)
		return rc;
	rc = read_key(home, s->now);
	const uint8_t *public = s->now + crypto_sign_SEEDBYTES;
	if (rc == 0)
		rc = !memcmp(public, key, 32) || !memcmp(public, used, 32);
	key_page_free(s);
	return rc;
}

int tombstone_verify(const char *path, uint64_t *lines, bool *all)
{
	CLEANUP_FREE char *line = NULL;
	ssize_t n;
	struct digest head = { 0 };
	uint8_t key[32] = { 0 }, used[32] = { 0 };
	bool good = true;
	int fd = plain_open(AT_FDCWD, path, O_RDONLY);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	if (!f || sodium_init() < 0)
		return fd < 0 ? fd : -errno;
	*lines = 0;
	while (good && (n = plain_line(f, &line)) > 0) {
		good = line[n - 1] == '\n' && line_good(line, (size_t)n - 1, *lines == 0, &head, key, used);
		digest_of(&head, line, (size_t)n - 1);
		*lines += good;
	}
	int unread = ferror(f) ? -EIO : line ? 0 : -ENOMEM;
	fclose(f);
	if (unread)
		return unread;
	int follows = good ? key_follows(path, key, used) : 0;
	*all = follows == 1;
	if (follows < 0 && follows != -ENOENT)
		return follows;
	return good && follows != 0 ? 0 : 1;
}
