/* SPDX-License-Identifier: Apache-2.0 */
/* Hashes of programs, kept for as long as the file is certain to stay what it was. */
#include "supervisor/facts_hash.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <nettle/sha2.h>
#include <pthread.h>
#include <sched.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "policy/thread.h"
#include "rules/cleanup.h"
#include "supervisor/stat_same.h"

#define HASHED_MAX (1024ll * 1024 * 1024)
#define SETTLED_S 2 /* coarser than any file system's clock */
#define HASHED_NOW (8 * 1024 * 1024) /* some 7 ms, three times that without the processor's own instructions */

bool hash_known(struct hash_cache *c, const struct stat *st, uint64_t image, char out[HASH_HEX])
{
	bool found = false;

	pthread_mutex_lock(&c->lock);
	for (unsigned i = 0; i < HASH_PLACES && !found; i++) {
		found = c->at[i].hex[0] && (!c->at[i].image || c->at[i].image == image) && stat_same(&c->at[i].st, st);
		if (found)
			memcpy(out, c->at[i].hex, HASH_HEX);
	}
	pthread_mutex_unlock(&c->lock);
	return found;
}

void hash_keep(struct hash_cache *c, const struct stat *st, uint64_t image, const char hex[HASH_HEX])
{
	pthread_mutex_lock(&c->lock);
	unsigned i = c->next++ % HASH_PLACES;
	c->at[i].st = *st;
	c->at[i].image = image;
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

/* A file that is read while the question about its program waits already. */
struct behind {
	struct hash_cache *cache;
	int fd;
	uint64_t image;
	struct stat st;
};

static void *hash_behind(void *arg)
{
	const struct sched_param none = { 0 };
	struct behind *b = arg;
	char hex[HASH_HEX];

	/* Whoever shows the question, and answers it, has the processor first. */
	(void)sched_setscheduler(0, SCHED_IDLE, &none);
	if (hash_read(b->fd, hex) == 0)
		hash_keep(b->cache, &b->st, b->image, hex);
	atomic_store(&b->cache->busy, false);
	close(b->fd);
	free(b);
	return NULL;
}

/* One at a time: whoever comes meanwhile may ask again. The process ends with the thread, which holds nothing. */
static void read_behind(struct hash_cache *c, int *fd, const struct stat *st, uint64_t image)
{
	if (atomic_exchange(&c->busy, true))
		return;
	struct behind *b = malloc(sizeof(*b));
	pthread_t thread;
	if (b) {
		*b = (struct behind){ c, *fd, image, *st };
		if (thread_start(&thread, hash_behind, b) == 0) {
			pthread_detach(thread);
			*fd = -1;
			return;
		}
	}
	free(b);
	atomic_store(&c->busy, false);
}

/*
 * Whether the times of FD's file tell of every write from now on. On a tmpfs one through a shared mapping moves none of them, and who knows what lies
 * below an overlay, or serves a file system.
 */
static bool times_tell(int fd, const struct stat *st)
{
	struct timespec now;
	struct statfs fs;

	clock_gettime(CLOCK_REALTIME, &now);
	if (now.tv_sec - st->st_ctim.tv_sec < SETTLED_S || fstatfs(fd, &fs) < 0)
		return false;
	return fs.f_type == EXT4_SUPER_MAGIC || fs.f_type == XFS_SUPER_MAGIC || fs.f_type == BTRFS_SUPER_MAGIC;
}

int hash_soon(struct hash_cache *c, const char *path, uint64_t image, char out[HASH_HEX])
{
	struct stat st;
	int fd CLEANUP_FD = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_size > HASHED_MAX)
		return -EINVAL;
	if (hash_known(c, &st, image, out))
		return 0;
	uint64_t holds_for = times_tell(fd, &st) ? 0 : image;
	if (st.st_size > HASHED_NOW) {
		read_behind(c, &fd, &st, holds_for);
		return -EINPROGRESS;
	}
	int rc = hash_read(fd, out);
	if (rc == 0)
		hash_keep(c, &st, holds_for, out);
	return rc;
}
