/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/plain_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "rules/cleanup.h"

int plain_open(int dir, const char *name, int flags)
{
	struct stat st;
	CLEANUP_FD int fd = openat(dir, name, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0600);

	if (fd < 0 || fstat(fd, &st) < 0)
		return errno == ENXIO ? -EINVAL : -errno; /* a socket, or a pipe that nobody reads */
	if (S_ISREG(st.st_mode))
		return steal_fd(&fd);
	return S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
}

FILE *plain_lines(const char *name, int flags)
{
	CLEANUP_FD int fd = plain_open(AT_FDCWD, name, O_RDONLY | flags);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");

	if (f)
		(void)steal_fd(&fd);
	else if (fd < 0)
		errno = -fd;
	return f;
}

ssize_t plain_line(FILE *f, char **line)
{
	size_t n = 0;

	if (!*line && !(*line = malloc(PLAIN_LINE + 1)))
		return -1;
	for (int c = 0; c != '\n' && n < PLAIN_LINE && (c = getc_unlocked(f)) != EOF;)
		(*line)[n++] = (char)c;
	(*line)[n] = '\0';
	return (ssize_t)n;
}
