/* SPDX-License-Identifier: Apache-2.0 */
/* Finds lines beside a journal: see stray.h. A segment that was made ahead of use is blank, or has the torn beginning of a record, which lacks its brace. */
#include "audit/stray.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rules/cleanup.h"

#define BLOCK 65536

static bool named_as_segment(const char *name)
{
	size_t n = strlen(name), head = strlen("journal-"), end = strlen(".jsonl");
	return n >= head + end && !strncmp(name, "journal-", head) && !strcmp(name + n - end, ".jsonl");
}

static bool is_segment(const char *name, uint32_t last)
{
	char own[SEGMENT_NAME_MAX];
	unsigned number;
	if (sscanf(name, "journal-%u.jsonl", &number) != 1 || !number || number > last)
		return false;
	segment_name(own, number);
	return !strcmp(own, name);
}

/* Whether a line in BYTES begins with a brace; LINE_BEGINS says whether the first byte begins one. */
static bool has_record(const char *bytes, size_t n, bool line_begins)
{
	const char *p = bytes;
	while ((p = memchr(p, '{', n - (size_t)(p - bytes)))) {
		if (p == bytes ? line_begins : p[-1] == '\n')
			return true;
		p++;
	}
	return false;
}

/* A link, and what is no file, may say something else to whoever reads it next: 1 as well. */
static int holds_records(int dirfd, const char *name)
{
	char block[BLOCK];
	struct stat st;
	bool line_begins = true;
	ssize_t n;
	CLEANUP_FD int fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return errno == ELOOP || errno == ENXIO ? 1 : errno == ENOENT ? 0 : -errno;
	if (fstat(fd, &st) != 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return 1;
	while ((n = read(fd, block, sizeof block)) > 0) {
		if (has_record(block, (size_t)n, line_begins))
			return 1;
		line_begins = block[n - 1] == '\n';
	}
	return n < 0 ? -errno : 0;
}

int stray_find(const char *dir, uint32_t last, char name[SEGMENT_NAME_MAX])
{
	DIR *d = opendir(dir);
	int rc = 0;
	if (!d)
		return -errno;
	for (const struct dirent *e; rc == 0 && (e = readdir(d));) {
		if (!named_as_segment(e->d_name) || is_segment(e->d_name, last))
			continue;
		rc = holds_records(dirfd(d), e->d_name);
		snprintf(name, SEGMENT_NAME_MAX, "%.*s", SEGMENT_NAME_MAX - 1, e->d_name);
	}
	closedir(d);
	return rc;
}
