/* SPDX-License-Identifier: Apache-2.0 */
/* What a program's file is, by its SHA-256: for people, who compare it with one they know. */
#ifndef USHER_SUPERVISOR_FACTS_HASH_H
#define USHER_SUPERVISOR_FACTS_HASH_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#define HASH_PLACES 128
#define HASH_HEX 65

struct hash_cache {
	pthread_mutex_t lock;
	atomic_bool busy; /* a file is being read for hash_soon() */
	unsigned next;
	struct {
		struct stat st;
		uint64_t image;     /* for whom: 0 for all */
		char hex[HASH_HEX]; /* empty: the place is free */
	} at[HASH_PLACES];
};

/* What was kept, for all or for IMAGE, of a file that is as ST says; and what to keep of it, for IMAGE or (0) for all. Thread safe. */
bool hash_known(struct hash_cache *c, const struct stat *st, uint64_t image, char out[HASH_HEX]);
void hash_keep(struct hash_cache *c, const struct stat *st, uint64_t image, const char hex[HASH_HEX]);

/* Reads FD from its beginning. Returns 0, -EFBIG beyond a gigabyte, or another negative errno. */
int hash_read(int fd, char out[HASH_HEX]);

/*
 * Of the regular file at PATH (a magic link of /proc), the program of IMAGE (proc_serial(), taken before): while it runs nobody writes the file, and what is known
 * of it holds. For others that is so only where a write would move its times. One of more than some megabytes is read by a thread of its own, in the way of nobody:
 * -EINPROGRESS until it is known; C must last. Returns 0 or a negative errno.
 */
int hash_soon(struct hash_cache *c, const char *path, uint64_t image, char out[HASH_HEX]);

#endif
