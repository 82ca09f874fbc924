/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/facts.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "rules/cleanup.h"
#include "supervisor/procs.h"

#define MAX_FACTS 16
#define FACT_BYTES 8192

struct facts {
	struct fact list[MAX_FACTS];
	size_t n;
	size_t used;
	char bytes[FACT_BYTES];
};

static void add(struct facts *f, const char *key, const char *bytes, size_t len)
{
	if (f->n == MAX_FACTS || !len || len > FACT_BYTES - f->used)
		return;
	char *at = f->bytes + f->used;
	memcpy(at, bytes, len);
	f->used += len;
	f->list[f->n++] = (struct fact){ key, { at, (uint32_t)len } };
}

/* The caller's argument vector, NULs as blanks. A program may change what it shows here; it is a hint for people. */
static void add_cmdline(struct facts *f, pid_t pid)
{
	char path[64], text[1024];

	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	int fd CLEANUP_FD = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text));
	if (n <= 0)
		return;
	for (ssize_t i = 0; i < n; i++) {
		if (!text[i])
			text[i] = ' ';
	}
	while (n > 0 && text[n - 1] == ' ')
		n--;
	add(f, "command", text, (size_t)n);
}

static void add_cwd(struct facts *f, pid_t tid)
{
	char path[64], name[4096];

	snprintf(path, sizeof(path), "/proc/%d/cwd", (int)tid);
	ssize_t n = readlink(path, name, sizeof(name));
	if (n > 0)
		add(f, "cwd", name, (size_t)n);
}

static void add_ancestry(struct facts *f, const struct subject *by)
{
	char text[2048];
	size_t n = 0;

	for (uint32_t i = 0; i < by->n_ancestors && n < sizeof(text) - 64; i++) {
		const struct image *a = &by->ancestors[i];
		int w = snprintf(text + n, sizeof(text) - n, "%s%.*s (%d)", i ? " < " : "",
				 a->exe.len < 200 ? (int)a->exe.len : 200, a->exe.bytes ? a->exe.bytes : "?",
				 (int)a->pid);
		if (w < 0 || (size_t)w >= sizeof(text) - n)
			break;
		n += (size_t)w;
	}
	add(f, "ancestry", text, n);
}

static void add_object(struct facts *f, const struct target *t)
{
	struct stat st;
	char text[160], when[32];
	struct tm tm;

	if (!t->exists || t->fd < 0 || fstat(t->fd, &st) < 0)
		return;
	if (!localtime_r(&st.st_mtime, &tm) || !strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &tm))
		return;
	int n = snprintf(text, sizeof(text), "%s, %" PRId64 " bytes, mode %04o, changed %s",
			 S_ISDIR(st.st_mode) ? "directory" : S_ISREG(st.st_mode) ? "file" : "special file",
			 (int64_t)st.st_size, (unsigned)st.st_mode & 07777, when);
	if (n > 0)
		add(f, "now", text, (size_t)n);
}

/* The first lines of a script about to run. Read through the held object, never through its name. */
static void add_script(struct facts *f, const struct target *t)
{
	char path[64], text[600];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", t->fd);
	int fd CLEANUP_FD = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	ssize_t n = fd < 0 ? -1 : pread(fd, text, sizeof(text), 0);
	if (n > 2 && text[0] == '#' && text[1] == '!')
		add(f, "script", text, (size_t)n);
}

void facts_gather(struct job *j, const struct call *call, struct facts **out)
{
	struct facts *f = calloc(1, sizeof(*f));

	*out = f;
	if (!f)
		return;
	add_cmdline(f, call->by.pid);
	add_cwd(f, call->by.tid);
	add_ancestry(f, &call->by);
	if (j->n_targets && j->target[0].kind == OBJECT_FILE)
		add_object(f, &j->target[0]);
	if (j->n_targets && (j->target[0].ops & OP_EXEC) && j->target[0].fd >= 0 && S_ISREG(j->target[0].mode))
		add_script(f, &j->target[0]);
}

size_t facts_list(const struct facts *f, const struct fact **out)
{
	*out = f ? f->list : NULL;
	return f ? f->n : 0;
}

void facts_free(struct facts *f)
{
	free(f);
}
