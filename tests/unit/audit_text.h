/* SPDX-License-Identifier: Apache-2.0 */
/* A closed journal in memory, line by line, and what a thief would make of it. */
#ifndef USHER_TESTS_AUDIT_TEXT_H
#define USHER_TESTS_AUDIT_TEXT_H

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit_util.h"

#define MAX_LINES 64
#define MAX_BYTES (64 * 1024)

/* A closed journal in memory, line by line. */
struct text {
	char bytes[MAX_BYTES];
	size_t len;
	const char *line[MAX_LINES];
	size_t line_len[MAX_LINES]; /* newline included */
	size_t n;
};

static inline void path_of(const char *dir, char out[128])
{
	snprintf(out, 128, "%.90s/journal-000001.jsonl", dir);
}

static inline void load(const char *dir, struct text *t)
{
	char path[128];
	path_of(dir, path);
	int fd = open(path, O_RDONLY);
	ssize_t len = read(fd, t->bytes, sizeof t->bytes);
	close(fd);
	assert_in_range(len, 1, sizeof t->bytes - 1);
	t->len = (size_t)len;
	t->n = 0;
	for (const char *p = t->bytes, *end = t->bytes + len; p < end; p += t->line_len[t->n++]) {
		t->line[t->n] = p;
		t->line_len[t->n] = (size_t)((const char *)memchr(p, '\n', (size_t)(end - p)) - p) + 1;
	}
}

/* A new file each time: ext4 writes one that was cut to nothing out to the disk when it is closed (mount option auto_da_alloc). */
static inline int open_anew(const char *path)
{
	unlink(path);
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	assert_true(fd >= 0);
	return fd;
}

static inline void store(const char *dir, const char *bytes, size_t len)
{
	char path[128];
	path_of(dir, path);
	mkdir(dir, 0700);
	int fd = open_anew(path);
	assert_int_equal(write(fd, bytes, len), len);
	close(fd);
}

/* RECORDS notes, a seal after every EPOCH of them, closed. */
static inline void make_closed(const char *dir, int records, int epoch)
{
	struct journal *j = make_journal(dir);
	for (int i = 0; i < records; i++) {
		char text[32];
		uint64_t seq;
		snprintf(text, sizeof text, "record %d", i);
		assert_int_equal(append_note(j, text, &seq), 0);
		if (i % epoch == epoch - 1)
			seal_now(j);
	}
	close_with_end(j);
}

/* The lines of T in the order of ORDER. */
static inline size_t arrange(const struct text *t, const size_t *order, size_t n, char *out)
{
	size_t len = 0;
	for (size_t i = 0; i < n; i++) {
		memcpy(out + len, t->line[order[i]], t->line_len[order[i]]);
		len += t->line_len[order[i]];
	}
	return len;
}

/*
 * What a thief can do who has taken the machine but not the erased keys: rewrite everything from line FROM on,
 * with numbers, chain and roots in order, signed by a key of his own.
 */
static inline size_t forge(const struct text *t, size_t from, char *out)
{
	uint8_t pk[32], sk[64], sig[64];
	struct digest head = { { 0 } };
	struct merkle tree = { 0 };
	size_t len = 0;
	crypto_sign_keypair(pk, sk);
	for (size_t i = 0; i < t->n; i++) {
		char *line = out + len;
		size_t n = t->line_len[i] - 1;
		memcpy(line, t->line[i], n);
		line[n] = '\0';
		bool seal = strstr(line, "\"type\":\"seal\"") != NULL;
		if (i >= from) {
			struct digest root;
			hex_write(strstr(line, "\"prev\":\"") + 8, head.bytes, 32);
			char *text = strstr(line, "record ");
			if (text)
				memcpy(text, "forged", 6);
			if (seal) {
				merkle_root(&tree, &root);
				hex_write(strstr(line, "\"root\":\"") + 8, root.bytes, 32);
				char *next = strstr(line, "\"next\":\""), *end = strstr(line, SEAL_SIG);
				if (next)
					hex_write(next + 8, pk, 32);
				crypto_sign_detached(sig, NULL, (uint8_t *)line, (size_t)(end - line), sk);
				hex_write(end + strlen(SEAL_SIG), sig, 64);
			}
		}
		if (seal)
			tree = (struct merkle){ 0 };
		digest_of(&head, line, n);
		merkle_add(&tree, &head);
		line[n] = '\n';
		len += n + 1;
	}
	return len;
}

#endif
