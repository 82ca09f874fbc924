/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a file is what it was: the clock of its file system is coarse, so two writes within some milliseconds may look like one. */
#ifndef USHER_SUPERVISOR_STAT_SAME_H
#define USHER_SUPERVISOR_STAT_SAME_H

#include <stdbool.h>
#include <sys/stat.h>
#include <time.h>

static inline bool time_same(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

/* Identity, size and times of two files, or of one at two times. */
static inline bool stat_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size && time_same(a->st_mtim, b->st_mtim) &&
	       time_same(a->st_ctim, b->st_ctim);
}

#endif
