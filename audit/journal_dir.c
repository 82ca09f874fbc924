/* SPDX-License-Identifier: Apache-2.0 */
/* Where journals live: the default place, and the directory of one session. */
#include <errno.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/journal.h"
#include "audit/journal_state.h"
#include "audit/stamp.h"
#include "rules/cleanup.h"

static int below(char *out, size_t cap, const char *base, const char *rest)
{
	if (!base || base[0] != '/')
		return -ENOENT;
	int n = snprintf(out, cap, "%s%s", base, rest);
	return n < 0 || (size_t)n >= cap ? -ENAMETOOLONG : 0;
}

int journal_place(unsigned index, char *out, size_t cap)
{
	const char *state = getenv("XDG_STATE_HOME");
	char own[32];
	switch (index) {
	case 0:
		return state && state[0] == '/' ? below(out, cap, state, "/usher") :
						  below(out, cap, getenv("HOME"), "/.local/state/usher");
	case 1:
		return below(out, cap, getenv("XDG_RUNTIME_DIR"), "/usher-journals");
	case 2:
		snprintf(own, sizeof own, "/usher-%u", (unsigned)geteuid());
		return below(out, cap, "/tmp", own);
	default:
		return 1;
	}
}

bool journal_place_ours(const char *path)
{
	struct stat st;
	return lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() && !(st.st_mode & (S_IRWXG | S_IRWXO));
}

/* mkdir -p; PATH is changed and put back. */
static int make_parents(char *path)
{
	if (access(path, F_OK) == 0)
		return 0;
	for (char *p = path + 1;; p++) {
		if (*p && *p != '/')
			continue;
		char was = *p;
		*p = '\0';
		int rc = mkdir(path, 0700) == 0 || errno == EEXIST ? 0 : -errno;
		*p = was;
		if (rc != 0 || !was)
			return rc;
	}
}

/* Makes the place and asks whether a directory can be made there. The last one lies where everybody can make names. */
static int try_place(unsigned index, char *out, size_t cap)
{
	int rc = journal_place(index, out, cap);
	if (rc == 0)
		rc = make_parents(out);
	if (rc == 0 && faccessat(AT_FDCWD, out, W_OK | X_OK, AT_EACCESS) != 0)
		rc = -errno;
	if (rc == 0 && index == 2 && !journal_place_ours(out))
		rc = -EPERM;
	return rc;
}

/* Names sort by time: 20261120T101726.123456Z-PID. */
static int session_name(char *out, size_t cap)
{
	char stamp[STAMP_LEN], name[STAMP_LEN + 1];
	size_t n = 0, len = strlen(out);
	stamp_write(stamp, stamp_now());
	for (size_t i = 0; i < STAMP_LEN; i++)
		if (stamp[i] != '-' && stamp[i] != ':')
			name[n++] = stamp[i];
	name[n] = '\0';
	int m = snprintf(out + len, cap - len, "/%s-%d", name, (int)getpid());
	return m < 0 || (size_t)m >= cap - len ? -ENAMETOOLONG : 0;
}

/* What there is to say of the best place, which was not to be had for RC. */
static const char *best_place(int rc, const char *out)
{
	const char *home = getenv("HOME");
	if (rc != -ENOENT || out[0])
		return out;
	return !home ? "HOME is not set" : !*home ? "HOME is empty" : "HOME does not begin with /";
}

int journal_default_dir(char *out, size_t cap)
{
	char best[PATH_MAX] = "";
	out[0] = '\0';
	int first = try_place(0, out, cap), rc = first;
	if (rc != 0)
		snprintf(best, sizeof best, "%s", best_place(first, out));
	for (unsigned i = 1; rc != 0 && rc != 1; i++) {
		rc = try_place(i, out, cap);
		if (rc == 0)
			fprintf(stderr, "usher: %s%s%s; the journal goes below %s\n", best, best[0] == '/' ? ": " : ", and XDG_STATE_HOME names no place",
				best[0] == '/' ? strerror(-first) : "", out);
	}
	return rc == 0 ? session_name(out, cap) : first;
}

static int check_ours(int fd)
{
	struct stat st;
	if (fstat(fd, &st) != 0)
		return -errno;
	return st.st_uid != geteuid() || st.st_mode & (S_IWGRP | S_IWOTH) ? -EPERM : 0;
}

/* An existing directory will do when it is empty, ours, and nobody else's to write. */
static int check_empty(int fd)
{
	int rc = check_ours(fd);
	if (rc != 0)
		return rc;
	int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = copy < 0 ? NULL : fdopendir(copy);
	if (!d) {
		if (copy >= 0)
			close(copy);
		return -errno;
	}
	for (const struct dirent *e; rc == 0 && (e = readdir(d));)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			rc = -ENOTEMPTY;
	closedir(d);
	return rc;
}

int journal_open_dir(const char *path, char **name, int *dirfd, bool *made, const char **why)
{
	*why = "cannot make the journal's directory";
	*made = mkdir(path, 0700) == 0;
	if (!*made && errno != EEXIST)
		return -errno;
	CLEANUP_FD int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (*made ? O_NOFOLLOW : 0));
	if (fd < 0)
		return -errno;
	*why = "the journal's directory must be new, or empty and writable by its owner alone";
	int rc = *made ? check_ours(fd) : check_empty(fd);
	if (rc != 0)
		return rc;
	*why = "cannot name the journal's directory";
	CLEANUP_FREE char *real = realpath(path, NULL);
	if (!real)
		return -errno;
	*name = steal_pointer(&real);
	*dirfd = steal_fd(&fd);
	return 0;
}
