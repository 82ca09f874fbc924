/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/addressed.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* SD_LISTEN_FDS_START; and more than anybody passes. */
enum { FIRST = 3, MOST = 4096 };

/* The number that TEXT is, or 0. */
static long number(const char *text)
{
	char *end = NULL;
	long n = text ? strtol(text, &end, 10) : 0;

	return text && end != text && !*end && n > 0 ? n : 0;
}

/* Where ENVP has NAME, whose value is *VALUE then; NULL: nowhere. */
static char **find(char **envp, const char *name, const char **value)
{
	size_t len = strlen(name);

	for (; *envp; envp++) {
		if (strncmp(*envp, name, len) == 0 && (*envp)[len] == '=') {
			*value = *envp + len + 1;
			return envp;
		}
	}
	return NULL;
}

static long passed(char **envp)
{
	const char *value;
	long n = find(envp, "LISTEN_FDS", &value) ? number(value) : 0;

	return n < MOST ? n : MOST;
}

/* Beyond the exec: what closes there is usher's. */
static bool has_all(long n)
{
	for (int fd = FIRST; fd < FIRST + n; fd++) {
		int flags = fcntl(fd, F_GETFD);
		if (flags < 0 || (flags & FD_CLOEXEC))
			return false;
	}
	return true;
}

static bool rename_one(char *out, size_t size, char **envp, const char *name, pid_t managed)
{
	const char *value;
	char **at = find(envp, name, &value);

	if (!at || number(value) != managed)
		return false;
	(void)snprintf(out, size, "%s=%d", name, getpid());
	*at = out;
	return true;
}

static void leave_out(char **envp, const char *name)
{
	const char *value;
	char **at = find(envp, name, &value);

	for (; at && *at; at++)
		at[0] = at[1];
}

/* The number of a pidfd, which newer versions of systemd pass as well, is usher's too; who is not told of one goes by LISTEN_PID. */
void addressed_take(struct addressed *room, char **envp, pid_t managed)
{
	if (has_all(passed(envp)) && rename_one(room->text[0], sizeof(room->text[0]), envp, "LISTEN_PID", managed))
		leave_out(envp, "LISTEN_PIDFDID");
	rename_one(room->text[1], sizeof(room->text[1]), envp, "WATCHDOG_PID", managed);
}

static bool among(const int *keep, size_t n, int fd)
{
	while (n && *keep != fd) {
		keep++;
		n--;
	}
	return n;
}

int addressed_left_out(const int *keep, size_t n)
{
	long left = number(getenv("LISTEN_PID")) == getpid() ? passed(environ) : 0;
	int fd = FIRST;

	for (; left > 0 && among(keep, n, fd); left--)
		fd++;
	return left > 0 ? fd : -1;
}
