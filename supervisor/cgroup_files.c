/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/cgroup_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rules/cleanup.h"

#define TEXT_MAX 4096

int cgroup_put(int dir, const char *file, const char *text)
{
	int fd CLEANUP_FD = openat(dir, file, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	ssize_t n = write(fd, text, strlen(text));
	return n < 0 ? -errno : n == (ssize_t)strlen(text) ? 0 : -EIO;
}

/* The whole of FILE, ended by a NUL. Returns its length or a negative errno. */
static ssize_t get(int dir, const char *file, char out[TEXT_MAX])
{
	int fd CLEANUP_FD = openat(dir, file, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	ssize_t n = read(fd, out, TEXT_MAX - 1);
	if (n < 0)
		return -errno;
	out[n] = '\0';
	return n;
}

static int number(const char *text, uint64_t *out)
{
	char *end;

	errno = 0;
	unsigned long long v = strtoull(text, &end, 10);
	if (errno || end == text || (*end != '\n' && *end != '\0'))
		return -EIO;
	*out = v;
	return 0;
}

int cgroup_number(int dir, const char *file, const char *key, uint64_t *out)
{
	char text[TEXT_MAX], *save;

	ssize_t n = get(dir, file, text);
	if (n < 0)
		return (int)n;
	if (!key)
		return number(text, out);
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		size_t len = strlen(key);
		if (strncmp(line, key, len) == 0 && line[len] == ' ')
			return number(line + len + 1, out);
	}
	return -EIO;
}

bool cgroup_lists(int dir, const char *file, const char *word)
{
	char text[TEXT_MAX], *save;

	if (get(dir, file, text) < 0)
		return false;
	for (char *at = strtok_r(text, " \n", &save); at; at = strtok_r(NULL, " \n", &save)) {
		if (strcmp(at, word) == 0)
			return true;
	}
	return false;
}

int cgroup_company(int dir)
{
	int fd CLEANUP_FD = openat(dir, "cgroup.procs", O_RDONLY | O_CLOEXEC);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	int self = 0, others = 0, pid;

	if (!f)
		return -errno;
	(void)steal_fd(&fd);
	while (fscanf(f, "%d", &pid) == 1) {
		self += pid == (int)getpid();
		others += pid != (int)getpid();
	}
	fclose(f);
	return self ? others : -ESRCH;
}
