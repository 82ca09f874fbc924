/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MUST: what is written is what was shown; a rule that the loader refuses, or that
 * would not answer the question it was made for, is never written.
 */
#include "policy/standing.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "policy/guard.h"
#include "policy/policy_state.h"
#include "rules/cleanup.h"
#include "rules/ruleset.h"
#include "rules/strbuf.h"

void standing_pattern(struct strbuf *to, const struct object *o, const struct settlement *s)
{
	struct span directory = s->directory;
	char endpoint[128];
	struct text_buffer t;
	if (s->pattern) {
		strbuf_printf(to, " \"%s\"", s->pattern);
		return;
	}
	switch (o->kind) {
	case OBJECT_INET:
		text_start(&t, endpoint, sizeof(endpoint));
		text_object(&t, o, 0);
		strbuf_printf(to, " %s", endpoint);
		return;
	case OBJECT_UNIX:
		guard_pattern(to, "unix:", o->name, "");
		return;
	case OBJECT_ABSTRACT:
		guard_pattern(to, "unix:@", o->name, "");
		return;
	case OBJECT_NONE:
	case OBJECT_FILE:
	case OBJECT_MEMFD:
	case OBJECT_SOCKET:
		break;
	}
	if (directory.bytes)
		guard_pattern(to, "", directory, directory.len == 1 ? "**" : "/**");
	else
		guard_pattern(to, "", o->name, "");
}

/* NAME="PATTERN" for an option. */
static void write_option(struct strbuf *to, const char *name, struct span value)
{
	CLEANUP_STRBUF struct strbuf part = { 0 };
	CLEANUP_FREE char *text = NULL;

	guard_pattern(&part, "", value, "");
	if (strbuf_end(&part, &text, NULL) == 0)
		strbuf_printf(to, " %s=%s", name, text + 1);
	else
		to->failed = true;
}

static void write_rule(struct strbuf *to, const struct asked *a, uint32_t object, unsigned bit, const struct settlement *s)
{
	struct span argv = call_argv(&a->call, &a->call.object[object]);

	strbuf_printf(to, "%s %s", verdict_name(s->answer.kind), op_name(bit));
	standing_pattern(to, &a->call.object[object], s);
	if (a->call.by.image.exe.len)
		write_option(to, "by", a->call.by.image.exe);
	if ((1u << bit) == OP_EXEC && argv.len)
		write_option(to, "argv", argv);
	else if ((1u << bit) == OP_EXEC)
		strbuf_puts(to, " argv=\"\""); /* none, and not any */
	strbuf_puts(to, "\n");
}

/* Whether TEXT loads and answers every operation that was ASKED about. */
static bool answers(const char *text, const struct asked *a, const op_set asked[CALL_OBJECTS], enum verdict_kind kind)
{
	struct diagnostics found = { 0 };
	struct ruleset_source none = { .path = "grants" };
	struct ruleset *rules = NULL;
	bool good = ruleset_parse("grants", text, strlen(text), &none, &found, &rules) == 0;
	diagnostics_free(&found);
	for (uint32_t i = 0; good && i < a->call.n_objects; i++) {
		struct verdict v[OP_COUNT];
		ruleset_decide_object(rules, &a->call, i, v);
		for (op_set ops = asked[i]; good && ops; ops &= (op_set)(ops - 1))
			good = v[__builtin_ctz(ops)].kind == kind;
	}
	if (rules)
		ruleset_free(rules);
	return good;
}

/* Nothing that could end the quotes around it. */
static bool pattern_plain(const char *p)
{
	for (; *p; p++) {
		if (*p < 0x20 || *p > 0x7e || *p == '"')
			return false;
		if (*p == '\\' && !*++p)
			return false;
	}
	return true;
}

static void find_asked(struct policy *p, const struct call *call, op_set asked[CALL_OBJECTS])
{
	op_set any = 0;
	for (uint32_t i = 0; p && i < call->n_objects; i++)
		any |= asked[i] = policy_asked(p, call, i);
	for (uint32_t i = 0; !any && i < call->n_objects; i++)
		asked[i] = call->object[i].ops;
}

int standing_rule(struct policy *p, const struct asked *a, const struct settlement *s, char *out, size_t cap)
{
	if (s->pattern && !pattern_plain(s->pattern))
		return -EINVAL;
	if (a->verdict.narrow && s->answer.scope == SCOPE_ALWAYS) /* it would say nothing of the variables, or the content, that made the question */
		return -EINVAL;
	struct strbuf to = { 0 };
	CLEANUP_FREE char *text = NULL;
	size_t len = 0;
	op_set asked[CALL_OBJECTS] = { 0 };
	find_asked(p, &a->call, asked);
	for (uint32_t i = 0; i < a->call.n_objects; i++) {
		for (unsigned bit = 0; bit < OP_COUNT; bit++) {
			if (asked[i] & (1u << bit))
				write_rule(&to, a, i, bit, s);
		}
	}
	int rc = strbuf_end(&to, &text, &len);
	if (rc < 0)
		return rc;
	if (len >= cap)
		return -ENOSPC;
	memcpy(out, text, len + 1);
	return answers(out, a, asked, s->answer.kind) ? 0 : -EINVAL;
}

void standing_place(const char *file)
{
	char dir[PATH_MAX];
	struct stat st;
	if ((size_t)snprintf(dir, sizeof(dir), "%s", file) >= sizeof(dir))
		return;
	for (int up = 0; up < 2; up++) {
		char *slash = strrchr(dir, '/');
		if (!slash || slash == dir)
			return;
		*slash = '\0';
	}
	if (lstat(dir, &st) < 0 && errno == ENOENT)
		mkdir(dir, 0700); /* where it cannot be made, the guard layer closes its name */
}

static void make_parents(const char *file)
{
	CLEANUP_FREE char *path = strdup(file);
	if (!path)
		return;
	for (char *p = path + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		mkdir(path, 0700);
		*p = '/';
	}
}

bool standing_writable(const char *file)
{
	char at[PATH_MAX];
	if (!file || (size_t)snprintf(at, sizeof(at), "%s", file) >= sizeof(at))
		return false;
	while (access(at, W_OK) < 0) {
		char *slash = errno == ENOENT ? strrchr(at, '/') : NULL;
		if (!slash || slash == at)
			return false;
		*slash = '\0';
	}
	return true;
}

/* Half a rule may be wider than the whole: what was written of it is taken back, unless another session has written behind it. */
static int take_back(int fd, off_t old, off_t written)
{
	struct stat st;
	if (fstat(fd, &st) == 0 && st.st_size == old + written && ftruncate(fd, old) < 0)
		return -errno;
	return -ENOSPC;
}

/* A line that somebody left without its end is not the beginning of this one. */
static int append_line(int fd, off_t old, const char *text)
{
	char last = '\n';
	if (old > 0 && pread(fd, &last, 1, old - 1) < 0)
		return -errno;
	struct iovec part[2] = { { "\n", last != '\n' }, { (void *)(uintptr_t)text, strlen(text) } };
	ssize_t n = writev(fd, part, 2);
	if (n < 0)
		return -errno;
	if ((size_t)n != part[0].iov_len + part[1].iov_len)
		return take_back(fd, old, n);
	return fsync(fd) < 0 ? -errno : 0;
}

int standing_append(const char *file, const char *text)
{
	if (!file)
		return -ENOENT;
	make_parents(file);
	CLEANUP_FD int fd = open(file, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600); /* a link is followed, as in reading: usher's guard closes both */
	struct stat st;
	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 022))
		return -EPERM;
	return append_line(fd, st.st_size, text);
}
