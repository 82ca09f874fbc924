/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/proc_text.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "rules/cleanup.h"

bool file_text(const char *path, char *out, size_t size)
{
	int fd CLEANUP_FD = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, out, size - 1);

	out[n > 0 ? n : 0] = '\0';
	return n > 0;
}

bool proc_text(pid_t pid, const char *what, char *out, size_t size)
{
	char path[48];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, what);
	return file_text(path, out, size);
}

const char *proc_stat(pid_t pid, char text[PROC_STAT])
{
	return proc_text(pid, "stat", text, PROC_STAT) ? strrchr(text, ')') : NULL;
}
