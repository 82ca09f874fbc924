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
#include "supervisor/stat_same.h"

#define HASHED_MAX (1024ll * 1024 * 1024)

bool hash_known(struct hash_cache *c, const struct stat *st, char out[HASH_HEX])
{
	bool found = false;

	pthread_mutex_lock(&c->lock);
	for (unsigned i = 0; i < HASH_PLACES && !found; i++) {
		found = c->at[i].hex[0] && stat_same(&c->at[i].st, st);
		if (found)
			memcpy(out, c->at[i].hex, HASH_HEX);
	}
	pthread_mutex_unlock(&c->lock);
	return found;
}

void hash_keep(struct hash_cache *c, const struct stat *st, const char hex[HASH_HEX])
{
	pthread_mutex_lock(&c->lock);
	unsigned i = c->next++ % HASH_PLACES;
	c->at[i].st = *st;
	memcpy(c->at[i].hex, hex, HASH_HEX);
	pthread_mutex_unlock(&c->lock);
}

int hash_read(int fd, char out[HASH_HEX])
{
	struct sha256_ctx ctx;
	unsigned char hash[SHA256_DIGEST_SIZE], block[32 * 1024];
	off_t at = 0;
	ssize_t n;

	sha256_init(&ctx);
	while (at <= HASHED_MAX && (n = pread(fd, block, sizeof(block), at)) > 0) {
		sha256_update(&ctx, (size_t)n, block);
		at += n;
	}
	if (at > HASHED_MAX)
		return -EFBIG;
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
	if (hash_known(c, &st, out))
		return 0;
	int rc = hash_read(fd, out);
	if (rc == 0)
		hash_keep(c, &st, out);
	return rc;
}
