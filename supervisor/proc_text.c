/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/proc_text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
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

#define WHOLE_FIRST 8192
#define WHOLE_MOST ((size_t)1024 * 1024)

int text_whole(int fd, char **out)
{
	CLEANUP_FREE char *text = NULL;
	size_t room = 0, n = 0;

	for (;;) {
		if (n + 1 >= room) {
			room = room ? room * 2 : WHOLE_FIRST;
			char *bigger = room > WHOLE_MOST ? NULL : realloc(text, room);
			if (!bigger)
				return -ENOMEM;
			text = bigger;
		}
		ssize_t got = read(fd, text + n, room - n - 1);
		if (got < 0)
			return -ESRCH;
		if (got == 0)
			break;
		n += (size_t)got;
	}
	text[n] = '\0';
	*out = steal_pointer(&text);
	return n ? 0 : -ESRCH;
}

int proc_whole(pid_t pid, const char *what, char **out)
{
	char path[48];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, what);
	int fd CLEANUP_FD = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -ESRCH : text_whole(fd, out);
}

const char *proc_stat(pid_t pid, char text[PROC_STAT])
{
	return proc_text(pid, "stat", text, PROC_STAT) ? strrchr(text, ')') : NULL;
}

bool proc_is_own(int proc)
{
	char self[24] = "";

	return readlinkat(proc, "self", self, sizeof(self) - 1) > 0 && strtol(self, NULL, 10) == getpid();
}
