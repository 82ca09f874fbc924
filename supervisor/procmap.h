/* SPDX-License-Identifier: Apache-2.0 */
/* What lies at an address of another process. */
#ifndef USHER_SUPERVISOR_PROCMAP_H
#define USHER_SUPERVISOR_PROCMAP_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct mapping {
	uint64_t start, end, offset;
	dev_t dev; /* as maps shows it: overlays and btrfs show another one in stat */
	ino_t ino; /* 0: no file */
	char name[PATH_MAX];
};

/* A descriptor (yours) for the others, or a negative errno. */
int mapping_open(pid_t pid);

/*
 * Whether the memory at ADDR is mapped from the file that stat() shows as DEV, INO. On overlays and btrfs, where maps shows another device, the file at the
 * mapping's name is that one and, mapped by usher itself, shown as the mapping is.
 */
bool mapping_is(int fd, uint64_t addr, dev_t dev, ino_t ino);

/* Whether the lowest mapping of a file is of DEV, INO. False also before Linux 6.11, and where maps shows another device. */
bool mapping_lowest_is(int fd, dev_t dev, ino_t ino);

/*
 * The mapping at ADDR. One ioctl since Linux 6.11; before that the text of all mappings is read, at most LINES lines of it. Returns 0, -ENOENT
 * where there is none, or another negative errno.
 */
int mapping_at(int fd, uint64_t addr, unsigned lines, struct mapping *out);

#endif
