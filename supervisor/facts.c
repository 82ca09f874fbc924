/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/facts.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "policy/show.h"
#include "rules/cleanup.h"
#include "supervisor/facts_file.h"
#include "supervisor/facts_hash.h"
#include "supervisor/facts_host.h"
#include "supervisor/lookups.h"
#include "supervisor/pool.h"
#include "supervisor/procs.h"
#include "supervisor/session.h"

#define MAX_FACTS 24
#define FACT_BYTES 24576
#define SPARE 5
#define SPARE_BYTES 2048
#define ANCESTOR_SHOWN 200
#define ANCESTOR_TEXT (ANCESTOR_SHOWN + 80) /* with what names it where it is cut, and its number */
#define DIFFED_MAX (64 * 1024) /* of each text */

struct facts {
	struct fact list[MAX_FACTS];
	size_t n;
	size_t used;
	size_t spare; /* facts about the caller that are still to come: many long names leave them their room */
	char bytes[FACT_BYTES];
};

static void add(struct facts *f, const char *key, const char *bytes, size_t len)
{
	if (f->n >= MAX_FACTS - f->spare || !len || len + f->spare * SPARE_BYTES > FACT_BYTES - f->used)
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

static bool read_cwd(pid_t tid, char name[PATH_MAX])
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/cwd", (int)tid);
	ssize_t n = readlink(path, name, PATH_MAX - 1);
	name[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* Each name as one word: none looks like one and another. */
static void add_ancestry(struct facts *f, const struct subject *by)
{
	char text[2048];
	struct text_buffer t;

	text_start(&t, text, sizeof(text));
	for (uint32_t i = 0; i < by->n_ancestors && t.len < sizeof(text) - ANCESTOR_TEXT; i++) {
		const struct image *a = &by->ancestors[i];
		text_add(&t, "%s", i ? " < " : "");
		text_word(&t, a->exe.bytes ? a->exe : SPAN_LITERAL("?"), ANCESTOR_SHOWN);
		text_add(&t, " (%d)", (int)a->pid);
	}
	add(f, "ancestry", text, t.len);
}

/* A large program's is not known at its first question, which is not kept waiting for it. */
static void add_program(struct facts *f, const struct job *j, pid_t pid)
{
	uint64_t image = proc_serial(j->proc);
	char path[64], hex[HASH_HEX];

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	if (hash_soon(&j->session->pool->hashes, path, image, hex) == 0)
		add(f, "sha256", hex, HASH_HEX - 1);
}

/* What is there now. With several objects each says which it is: a target's name comes first then. */
static void add_object(struct facts *f, const struct job *j, const struct target *t)
{
	char text[160], line[PATH_MAX + sizeof(text)];
	struct span name = job_span(j, t->name);
	int n = fact_now(j, t, text, sizeof(text));

	if (n <= 0 || n >= (int)sizeof(text))
		return;
	if (j->n_targets == 1) {
		add(f, "now", text, (size_t)n);
		return;
	}
	n = snprintf(line, sizeof(line), "%.*s: %s", (int)name.len, name.bytes ? name.bytes : "", text);
	if (n > 0 && n < (int)sizeof(line))
		add(f, "now", line, (size_t)n);
}

static void add_links(struct facts *f, const struct job *j, const struct target *t, const char *cwd)
{
	char text[2048];
	size_t n = fact_links((pid_t)j->notif.pid, cwd, job_span(j, t->named), text, sizeof(text));

	add(f, "links", text, n);
}

/* The first lines of a script about to run. Read through the held object, never through its name. */
static void add_script(struct facts *f, const struct target *t)
{
	char text[600];
	ssize_t n = fact_read(t->fd, text, sizeof(text));

	if (n > 2 && text[0] == '#' && text[1] == '!')
		add(f, "script", text, (size_t)n);
}

/* What a file that takes another's place would change. */
static void add_diff(struct facts *f, const struct job *j)
{
	int from CLEANUP_FD = fact_hold(j, &j->target[0]);
	int to CLEANUP_FD = fact_hold(j, &j->target[1]);
	CLEANUP_FREE char *old = malloc(DIFFED_MAX);
	CLEANUP_FREE char *new = malloc(DIFFED_MAX);
	char text[2000];
	ssize_t n = old ? fact_read(to, old, DIFFED_MAX) : -1;
	ssize_t m = new ? fact_read(from, new, DIFFED_MAX) : -1;

	if (n < 0 || m < 0 || n == DIFFED_MAX || m == DIFFED_MAX)
		return;
	struct span before = { old, (uint32_t)n }, after = { new, (uint32_t)m };
	add(f, "diff", text, fact_diff(before, after, text, sizeof(text)));
}

static void add_host(struct facts *f, const struct target *t)
{
	char text[512];

	add(f, "host", text, fact_host(&t->inet, text, sizeof(text)));
}

static void add_lookups(struct facts *f, const struct job *j)
{
	char text[LOOKUP_TEXT];

	add(f, "lookups", text, lookups_text(j->proc, text));
}

static void add_targets(struct facts *f, const struct job *j, const char *syscall, const char *cwd)
{
	bool inet = false;

	for (uint32_t i = 0; i < j->n_targets; i++) {
		const struct target *t = &j->target[i];
		inet = inet || t->kind == OBJECT_INET;
		if (t->kind == OBJECT_INET)
			add_host(f, t);
		if (t->kind != OBJECT_FILE && t->kind != OBJECT_UNIX)
			continue;
		add_links(f, j, t, cwd);
		add_object(f, j, t);
	}
	if (inet)
		add_lookups(f, j);
	if (j->n_targets && (j->target[0].ops & OP_EXEC))
		add_script(f, &j->target[0]);
	if (j->n_targets == 2 && strncmp(syscall, "rename", 6) == 0 && j->target[0].exists && j->target[1].exists)
		add_diff(f, j);
}

void facts_gather(const struct job *j, const struct call *call, struct facts **out)
{
	struct facts *f = calloc(1, sizeof(*f));
	char cwd[PATH_MAX];

	*out = f;
	if (!f)
		return;
	/* On a small screen the end is cut: what is at stake comes first. */
	bool known = read_cwd(call->by.tid, cwd);
	f->spare = SPARE;
	add_targets(f, j, call->syscall, known ? cwd : NULL);
	f->spare = 1; /* the stack's, which comes last */
	add_cmdline(f, call->by.pid);
	if (known)
		add(f, "cwd", cwd, strlen(cwd));
	add_ancestry(f, &call->by);
	add_program(f, j, call->by.pid);
}

void facts_stack(struct facts *f, const char *stack)
{
	if (!f)
		return;
	f->spare = 0;
	add(f, "stack", stack, strlen(stack));
}

struct span facts_find(const struct facts *f, const char *key)
{
	for (size_t i = 0; f && i < f->n; i++) {
		if (strcmp(f->list[i].key, key) == 0)
			return f->list[i].value;
	}
	return (struct span){ NULL, 0 };
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
