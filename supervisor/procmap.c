/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/procmap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "rules/cleanup.h"
#include "supervisor/procs_kernel.h"

/* Linux 6.11; not in Debian 12's headers. */
struct usher_procmap_query {
	uint64_t size, query_flags, query_addr;
	uint64_t vma_start, vma_end, vma_flags, vma_page_size, vma_offset, inode;
	uint32_t dev_major, dev_minor, vma_name_size, build_id_size;
	uint64_t vma_name_addr, build_id_addr;
};

#define USHER_PROCMAP_QUERY _IOWR('f', 17, struct usher_procmap_query)

int mapping_open(pid_t pid)
{
	char path[sizeof("/proc/") + PROC_PATH] = "/proc/";

	put_proc_path(path + strlen(path), pid, "maps");
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

#define USHER_PROCMAP_NEXT 0x10 /* or the first one after the address */
#define USHER_PROCMAP_FILE 0x20 /* of a file */

/* FLAGS: USHER_PROCMAP_*. Without the name, which costs the kernel a walk up the tree, where NAMED is false. */
static int mapping_query(int fd, uint64_t addr, uint64_t flags, bool named, struct mapping *out)
{
	struct usher_procmap_query q = { .size = sizeof(q), .query_flags = flags, .query_addr = addr };

	out->name[0] = '\0';
	if (named) {
		q.vma_name_addr = (uint64_t)(uintptr_t)out->name;
		q.vma_name_size = sizeof(out->name);
	}
	if (ioctl(fd, USHER_PROCMAP_QUERY, &q) < 0)
		return -errno;
	out->start = q.vma_start;
	out->end = q.vma_end;
	out->offset = q.vma_offset;
	out->dev = makedev(q.dev_major, q.dev_minor);
	out->ino = q.inode;
	return 0;
}

static bool mapping_line(char *line, uint64_t addr, struct mapping *out)
{
	unsigned long from, to, offset, inode;
	unsigned major_, minor_;
	int name = 0;

	if (sscanf(line, "%lx-%lx %*s %lx %x:%x %lu %n", &from, &to, &offset, &major_, &minor_, &inode, &name) < 6)
		return false;
	if (addr < from || addr >= to)
		return false;
	line[strcspn(line, "\n")] = '\0';
	*out = (struct mapping){ .start = from, .end = to, .offset = offset, .dev = makedev(major_, minor_), .ino = inode };
	snprintf(out->name, sizeof(out->name), "%s", line + name);
	return true;
}

static int mapping_read(int fd, uint64_t addr, unsigned lines, struct mapping *out)
{
	CLEANUP_FREE char *line = NULL;
	size_t cap = 0;
	int err = -ENOENT;

	if (lseek(fd, 0, SEEK_SET) < 0)
		return -errno;
	CLEANUP_FD int own = dup(fd);
	FILE *f = own < 0 ? NULL : fdopen(own, "r");
	if (!f)
		return -errno;
	own = -1; /* F's */
	while (err == -ENOENT && lines-- && getline(&line, &cap, f) > 0) {
		if (mapping_line(line, addr, out))
			err = 0;
	}
	fclose(f);
	return err;
}

int mapping_at(int fd, uint64_t addr, unsigned lines, struct mapping *out)
{
	int err = mapping_query(fd, addr, 0, true, out);

	return err == -ENOTTY ? mapping_read(fd, addr, lines, out) : err;
}

/* Whether maps would show the file open at FD as it shows AT: usher maps it itself and looks. */
static bool shown_alike(int fd, const struct mapping *at)
{
	struct mapping own;
	CLEANUP_FD int maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	void *here = mmap(NULL, 1, PROT_READ, MAP_PRIVATE, fd, 0);

	if (here == MAP_FAILED)
		return false;
	int err = maps < 0 ? -errno : mapping_at(maps, (uint64_t)(uintptr_t)here, UINT_MAX, &own);
	munmap(here, 1);
	return !err && own.dev == at->dev && own.ino == at->ino;
}

/* Whether AT's name leads to the file DEV, INO, and AT is a mapping of that one. The name alone proves nothing: it may lead elsewhere by now. */
static bool is_by_name(const struct mapping *at, dev_t dev, ino_t ino)
{
	char path[sizeof("/proc/self/fd/") + 16];
	struct stat st;
	CLEANUP_FD int held = open(at->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

	if (held < 0 || fstat(held, &st) < 0 || st.st_dev != dev || st.st_ino != ino || !S_ISREG(st.st_mode))
		return false;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", held);
	CLEANUP_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd >= 0 && shown_alike(fd, at);
}

bool mapping_is(int fd, uint64_t addr, dev_t dev, ino_t ino)
{
	struct mapping at;
	int err = mapping_query(fd, addr, 0, false, &at);

	if (!err && at.ino == ino && at.dev == dev)
		return true;
	if ((err && err != -ENOTTY) || mapping_at(fd, addr, UINT_MAX, &at) || at.name[0] != '/' || at.ino != ino)
		return false;
	return at.dev == dev || is_by_name(&at, dev, ino);
}

bool mapping_lowest_is(int fd, dev_t dev, ino_t ino)
{
	struct mapping at;

	return mapping_query(fd, 0, USHER_PROCMAP_NEXT | USHER_PROCMAP_FILE, false, &at) == 0 && at.ino == ino && at.dev == dev;
}
