/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What file_places, file_limits, file_rights and file_own share. Each runs its parts, each part in a process of its own, in an empty directory, and
 * prints the same natively and under a policy that allows everything.
 */
#ifndef USHER_TESTS_PLACES_H
#define USHER_TESTS_PLACES_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static inline void say(const char *what, long rc)
{
	if (rc < 0)
		printf("%s: %s\n", what, strerrorname_np(errno));
	else
		printf("%s: %ld\n", what, rc);
}

static inline void look(const char *what, const char *path)
{
	struct stat st;

	if (lstat(path, &st) < 0)
		say(what, -1);
	else
		printf("%s: %o %u:%u size %ld links %lu\n", what, (unsigned)st.st_mode, (unsigned)st.st_uid, (unsigned)st.st_gid,
		       S_ISREG(st.st_mode) ? (long)st.st_size : -1L, (unsigned long)st.st_nlink);
}

static inline long open_close(const char *path, int flags, mode_t mode)
{
	int fd = open(path, flags | O_CLOEXEC, mode);

	if (fd >= 0)
		close(fd);
	return fd < 0 ? -1 : 0;
}

static inline void put(const char *path, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, "text\n", 5) != 5 || fchmod(fd, mode) < 0) {
		perror(path);
		exit(2);
	}
	close(fd);
}

static inline void run(void (*part)(void))
{
	int status;

	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		part();
		fflush(stdout);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		printf("a part ended with %x\n", (unsigned)status);
}

static inline int run_all(int argc, char **argv, void (*const parts[])(void), size_t n)
{
	if (argc != 2 || chdir(argv[1]) < 0) {
		fprintf(stderr, "usage: %s DIRECTORY\n", argv[0]);
		return 2;
	}
	umask(022);
	for (size_t i = 0; i < n; i++)
		run(parts[i]);
	return 0;
}

#endif
