/* SPDX-License-Identifier: Apache-2.0 */
/* The sessions in the default place, and who writes one. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/journal.h"
#include "audit/reader.h"
#include "rules/cleanup.h"

pid_t journal_writer(const char *dir)
{
	CLEANUP_FD int at = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CLEANUP_FD int fd = at < 0 ? -1 : openat(at, "anchor", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct flock lock = { .l_type = F_RDLCK, .l_whence = SEEK_SET };
	if (fd < 0 || fcntl(fd, F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK)
		return 0;
	return lock.l_pid > 0 ? lock.l_pid : -1;
}

static bool is_session(int home, const char *name)
{
	struct stat st;
	char first[NAME_MAX + 32];
	if (name[0] == '.')
		return false;
	snprintf(first, sizeof first, "%s/journal-000001.jsonl", name);
	return fstatat(home, first, &st, 0) == 0;
}

/* The newest name in PATH that is later than BEST goes there. Returns 1, 0 where there is none, or a negative errno. */
static int newest_in(const char *path, char best[NAME_MAX + 1])
{
	int found = 0;
	DIR *d = opendir(path);
	if (!d)
		return errno == ENOENT || errno == ENOTDIR ? 0 : -errno;
	for (const struct dirent *e; (e = readdir(d));) {
		if (strcmp(e->d_name, best) > 0 && is_session(dirfd(d), e->d_name)) {
			strcpy(best, e->d_name);
			found = 1;
		}
	}
	closedir(d);
	return found;
}

int journal_newest(char *out, size_t cap)
{
	char best[NAME_MAX + 1] = "", place[PATH_MAX];
	int rc = -ENOENT;
	for (unsigned i = 0; journal_place(i, place, sizeof place) != 1; i++) {
		if (journal_place(i, place, sizeof place) != 0 || (i && !journal_place_ours(place)))
			continue;
		int found = newest_in(place, best);
		if (found == 0 || (found < 0 && rc != -ENOENT)) /* what was found elsewhere is an answer */
			continue;
		int n = snprintf(out, cap, "%s%s%s", place, found < 0 ? "" : "/", found < 0 ? "" : best);
		rc = n < 0 || (size_t)n >= cap ? -ENAMETOOLONG : found < 0 ? found : 0;
	}
	return rc;
}

const char *journal_newest_error(int rc, const char *out, char *text, size_t cap)
{
	if (rc == -ENOENT || rc == -ENAMETOOLONG)
		return "there is no session in the default place; name a directory";
	snprintf(text, cap, "%s: %s; whether a session is there cannot be told: give the directories above it back their modes, or name a directory", out,
		 strerror(-rc));
	return text;
}
