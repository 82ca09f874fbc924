/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/thread_state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rules/cleanup.h"
#include "supervisor/proc_text.h"
#include "supervisor/procs_kernel.h"

#define STATUS_MAX 8192 /* a process with some thousand groups has more */

static ssize_t read_text(int proc, pid_t tid, const char *what, char *text, size_t cap)
{
	char name[PROC_PATH];

	put_proc_path(name, tid, what);
	CLEANUP_FD int fd = openat(proc, name, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, cap - 1);
	if (n < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	text[n] = '\0';
	return n ? n : -ESRCH;
}

/* Name: comes first and has its newlines escaped, so that a line's beginning is the kernel's. */
static const char *line_of(const char *status, const char *key)
{
	const char *at = strstr(status, key);

	return at ? at + strlen(key) : NULL;
}

int thread_state_parse(const char *status, struct thread_state *out)
{
	const char *state = line_of(status, "\nState:\t"), *tgid = line_of(status, "\nTgid:\t");
	const char *parent = line_of(status, "\nPPid:\t");
	const char *tracer = line_of(status, "\nTracerPid:\t"), *threads = line_of(status, "\nThreads:\t");
	const char *blocked = line_of(status, "\nSigBlk:\t"), *filters = line_of(status, "\nSeccomp_filters:\t");

	if (!state || !tgid || !parent || !tracer || !threads || !blocked || !filters || !strchr(filters, '\n'))
		return -EIO;
	*out = (struct thread_state){
		.state = *state,
		.tgid = (pid_t)strtol(tgid, NULL, 10),
		.parent = (pid_t)strtol(parent, NULL, 10),
		.tracer = (pid_t)strtol(tracer, NULL, 10),
		.threads = (unsigned)strtoul(threads, NULL, 10),
		.filters = (unsigned)strtoul(filters, NULL, 10),
		.blocked = strtoull(blocked, NULL, 16),
	};
	return 0;
}

/* What most of it stands behind are the groups. */
static int state_of_many_groups(int proc, pid_t tid, struct thread_state *out)
{
	CLEANUP_FREE char *text = NULL;
	char name[PROC_PATH];

	put_proc_path(name, tid, "status");
	CLEANUP_FD int fd = openat(proc, name, O_RDONLY | O_CLOEXEC);
	int rc = fd < 0 ? -ESRCH : text_whole(fd, &text);
	return rc < 0 ? rc : thread_state_parse(text, out);
}

int thread_state(int proc, pid_t tid, struct thread_state *out)
{
	char text[STATUS_MAX];
	ssize_t n = read_text(proc, tid, "status", text, sizeof(text));
	int rc = n < 0 ? (int)n : thread_state_parse(text, out);

	return rc == -EIO && n == STATUS_MAX - 1 ? state_of_many_groups(proc, tid, out) : rc;
}

int thread_call_parse(const char *text, struct thread_call *out)
{
	char *end;

	if (strncmp(text, "running", 7) == 0)
		return -EAGAIN;
	*out = (struct thread_call){ .nr = strtol(text, &end, 10) };
	if (end == text)
		return -EIO;
	uint64_t *const word[] = { &out->arg[0], &out->arg[1], &out->arg[2], &out->arg[3],
				   &out->arg[4], &out->arg[5], &out->sp,     &out->ip };
	for (unsigned i = out->nr < 0 ? 6 : 0; i < sizeof(word) / sizeof(word[0]); i++) {
		const char *at = end;

		*word[i] = strtoull(at, &end, 16);
		if (end == at)
			return -EIO;
	}
	return 0;
}

int thread_call(int proc, pid_t tid, struct thread_call *out)
{
	char text[256];
	ssize_t n = read_text(proc, tid, "syscall", text, sizeof(text));

	return n < 0 ? (int)n : thread_call_parse(text, out);
}
