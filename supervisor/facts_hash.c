/* SPDX-License-Identifier: Apache-2.0 */
/* Hashes of programs, kept for as long as the file stays what it was. */
#include "supervisor/facts_hash.h"

#include <errno.h>
#include <fcntl.h>
#include <nettle/sha2.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rules/cleanup.h"

#define HASHED_MAX (1024ll * 1024 * 1024)

static bool same_time(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static bool same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       same_time(a->st_mtim, b->st_mtim) && same_time(a->st_ctim, b->st_ctim);
}

static bool look_up(struct hash_cache *c, const struct stat *st, char out[HASH_HEX])
{
	bool found = false;

	pthread_mutex_lock(&c->lock);
	for (unsigned i = 0; i < HASH_PLACES && !found; i++) {
		found = c->at[i].hex[0] && same_file(&c->at[i].st, st);
		if (found)
			memcpy(out, c->at[i].hex, HASH_HEX);
	}
	pthread_mutex_unlock(&c->lock);
	return found;
}

static void keep(struct hash_cache *c, const struct stat *st, const char hex[HASH_HEX])
{
	pthread_mutex_lock(&c->lock);
	unsigned i = c->next++ % HASH_PLACES;
	c->at[i].st = *st;
	memcpy(c->at[i].hex, hex, HASH_HEX);
	pthread_mutex_unlock(&c->lock);
}

static int hash_all(int fd, char out[HASH_HEX])
{
	struct sha256_ctx ctx;
	unsigned char hash[SHA256_DIGEST_SIZE], block[32 * 1024];
	ssize_t n;

	sha256_init(&ctx);
	while ((n = read(fd, block, sizeof(block))) > 0)
		sha256_update(&ctx, (size_t)n, block);
	if (n < 0)
		return -errno;
	sha256_digest(&ctx, sizeof(hash), hash);
	sodium_bin2hex(out, HASH_HEX, hash, sizeof(hash));
	return 0;
}

int hash_of(struct hash_cache *c, const char *path, char out[HASH_HEX])
{
	struct stat st;
	int fd CLEANUP_FD = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_size > HASHED_MAX)
		return -EINVAL;
	if (look_up(c, &st, out))
		return 0;
	int rc = hash_all(fd, out);
	if (rc == 0)
		keep(c, &st, out);
	return rc;
}
