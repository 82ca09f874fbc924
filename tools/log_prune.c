/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usher log prune --keep AGE: removes whole sessions that ended longer ago, and writes down that it did.
 *
 * MUST: only directories that hold a journal and nothing else are touched; a living session never is; the tombstone
 * (first key, head, records of what went) is on the disk before the first file goes.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "audit/journal.h"
#include "audit/reader.h"
#include "audit/segment.h"
#include "audit/tombstone.h"
#include "rules/cleanup.h"
#include "tools/log.h"
#include "tools/rule_files.h"
#include "tools/tool.h"

static bool is_ours(const char *name)
{
	unsigned n;
	int end = 0;
	return !strcmp(name, "anchor") || !strcmp(name, SEGMENT_UNNAMED) || !strcmp(name, "inflight.jsonl") || !strcmp(name, "reviews") || !strncmp(name, "index.sqlite", 12) ||
	       (sscanf(name, "journal-%6u.jsonl%n", &n, &end) == 1 && end && !name[end]);
}

/* Whether the directory has the anchor file of a journal. */
static bool is_anchored(int fd)
{
	static const char format[] = JOURNAL_FORMAT " ";
	char text[sizeof format - 1];
	CLEANUP_FD int at = openat(fd, "anchor", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	return at >= 0 && read(at, text, sizeof text) == (ssize_t)sizeof text && !memcmp(text, format, sizeof text);
}

/*
 * The time of the session's last change in *when; false when there is a file that is no journal's. Where usher was killed before the first record there
 * is no segment (*begun): the anchor file alone tells then whose directory it is.
 */
static bool only_ours(int fd, time_t *when, bool *begun)
{
	int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = copy < 0 ? NULL : fdopendir(copy);
	bool good = d != NULL;
	struct stat st;
	*when = 0;
	*begun = false;
	for (const struct dirent *e; good && (e = readdir(d));) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		good = is_ours(e->d_name) && fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode);
		*begun |= good && !strncmp(e->d_name, "journal-", 8);
		if (good && st.st_mtime > *when)
			*when = st.st_mtime;
	}
	if (d)
		closedir(d);
	return good && (*begun || is_anchored(fd));
}

static void remove_some(int fd, bool segments)
{
	DIR *d = fdopendir(fcntl(fd, F_DUPFD_CLOEXEC, 0));
	if (!d)
		return;
	rewinddir(d);
	for (const struct dirent *e; (e = readdir(d));)
		if (is_ours(e->d_name) && !strncmp(e->d_name, "journal-", 8) == segments)
			unlinkat(fd, e->d_name, 0);
	closedir(d);
}

/* The secrets first; the segments last, by which a removal that was interrupted is found and finished the next time. */
static void remove_files(int home, int fd, const char *name)
{
	char salts[NAME_MAX + 16];
	journal_salts(salts, sizeof salts, name);
	unlinkat(home, salts, 0);
	remove_some(fd, false);
	remove_some(fd, true);
	unlinkat(home, name, AT_REMOVEDIR);
}

static void say_removed(const char *path, const char *name)
{
	fputs("removed ", stdout);
	put_text(path, strlen(path), stdout);
	putchar('/');
	put_text(name, strlen(name), stdout);
}

/* 1 when the session was removed, 0 when it stays, or a negative errno. */
static int consider(int home, const char *path, const char *name, time_t before)
{
	char dir[PATH_MAX + NAME_MAX + 2];
	struct proof p;
	time_t when;
	bool begun;
	CLEANUP_FD int fd = openat(home, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0 || !only_ours(fd, &when, &begun) || when >= before)
		return 0;
	snprintf(dir, sizeof dir, "%s/%s", path, name);
	if (journal_writer(dir) != 0)
		return 0;
	if (!begun) { /* nothing to write down */
		remove_files(home, fd, name);
		say_removed(path, name);
		puts(" (it never began)");
		return 1;
	}
	if (verify_journal(dir, NULL, 0, &p) != 0)
		return 0;
	int rc = tombstone_append(home, name, &p);
	if (rc != 0)
		return rc;
	remove_files(home, fd, name);
	say_removed(path, name);
	printf(" (%" PRIu64 " records)\n", p.records);
	return 1;
}

/* 30d, 12h, 90m. */
static bool parse_age(const char *text, time_t *out)
{
	char *end;
	unsigned long n = text ? strtoul(text, &end, 10) : 0;
	if (!text || end == text || n > 1000000 || !*end || end[1])
		return false;
	time_t unit = *end == 'd' ? 86400 : *end == 'h' ? 3600 : *end == 'm' ? 60 : *end == 's' ? 1 : 0;
	*out = (time_t)n * unit;
	return unit != 0;
}

static int prune_place(const char *home, time_t before, unsigned *removed)
{
	int rc = 0;
	CLEANUP_FD int fd = open(home, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fcntl(fd, F_DUPFD_CLOEXEC, 0));
	if (!d)
		return -errno;
	for (const struct dirent *e; rc >= 0 && (e = readdir(d));) {
		if (e->d_name[0] == '.')
			continue;
		rc = consider(fd, home, e->d_name, before);
		*removed += rc == 1;
	}
	closedir(d);
	return rc < 0 ? rc : 0;
}

/* Every default place that is there. */
static int prune_places(time_t before, unsigned *removed)
{
	char path[PATH_MAX];
	int rc = 0;
	for (unsigned i = 0; rc == 0 && journal_place(i, path, sizeof path) != 1; i++) {
		if (journal_place(i, path, sizeof path) != 0 || (i && !journal_place_ours(path)))
			continue;
		rc = prune_place(path, before, removed);
		if (rc == -ENOENT || rc == -EACCES)
			rc = 0;
	}
	return rc;
}

int log_prune(struct log *l)
{
	unsigned removed = 0;
	time_t age;
	if (!parse_age(l->keep, &age)) {
		fprintf(stderr, "usher log: prune needs --keep AGE, such as 30d or 12h\n");
		return 1;
	}
	if (l->n_words != 1) {
		fprintf(stderr, "usher log: prune takes one directory that holds sessions, or none: '%s' is no such, or one too many\n", l->words[1]);
		return 1;
	}
	time_t before = time(NULL) - age;
	int rc = l->dir ? prune_place(l->dir, before, &removed) : prune_places(before, &removed);
	printf("%u session%s removed\n", removed, tool_plural(removed));
	return rc;
}
