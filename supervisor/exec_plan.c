/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/exec_plan.h"

#include <errno.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "supervisor/session.h"

/* Left free in the arena for names and what others add. */
#define ARENA_RESERVE (24 * 1024)

/* What scripts put in front of arguments, joined: a name as long as they come, and three lines, with each byte escaped at the worst. */
#define FRONT_ROOM (10 * 1024)

#define KERNEL_ARGS_MOST (6u << 20)    /* three quarters of the usual stack */
#define KERNEL_ARGS_LEAST (128u << 10) /* ARG_MAX */

static int plan_called(struct job *j, const struct args *raw)
{
	size_t len = strlen(raw->bytes);

	if (len + 2 * ARENA_RESERVE > JOB_ARENA - j->used)
		return -E2BIG;
	j->argv0 = job_copy(j, raw->bytes, len);
	return j->argv0.off ? 0 : -ENOMEM;
}

/* The joined arguments are laid behind it. */
static int front_new(struct job *j)
{
	if (!j->session->tells_argv)
		return 0;
	struct text room = job_alloc(j, FRONT_ROOM);
	plan_of(j)->front = room.off;
	return room.off ? 0 : -E2BIG;
}

static int plan_join(struct job *j, const struct args *raw)
{
	int whole, err = front_new(j);
	size_t cap = JOB_ARENA - j->used;

	if (err || raw->count < 2)
		return err;
	if (cap < 2 * ARENA_RESERVE)
		return -ENOMEM;
	j->argv = job_alloc(j, cap - ARENA_RESERVE);
	if (!j->argv.off)
		return -ENOMEM;
	size_t n = args_join(args_after_first(raw), job_text(j, j->argv), j->argv.len, &whole);
	job_trim(j, &j->argv, n);
	return whole ? 0 : -E2BIG; /* what rules cannot see is not run */
}

/* The names of RAW's variables into the arena, each with its NUL. */
static int env_names(struct job *j, const struct args *raw)
{
	size_t n = 0;

	if (raw->len > JOB_ARENA - j->used - ARENA_RESERVE || j->used > JOB_ARENA - 2 * ARENA_RESERVE)
		return -E2BIG; /* what rules cannot see is not run */
	j->env = job_alloc(j, raw->len + 1);
	if (!j->env.off)
		return -ENOMEM;
	char *out = job_text(j, j->env);
	for (const char *at = raw->bytes; at && at < raw->bytes + raw->len; at += strlen(at) + 1) {
		size_t len = strcspn(at, "=");

		memcpy(out + n, at, len);
		out[n + len] = '\0';
		n += len + 1;
	}
	job_trim(j, &j->env, n);
	return 0;
}

void plan_args_begin(struct job *j)
{
	struct exec_plan *p = plan_of(j);

	p->has_args = p->raw_count > 1;
	p->args = p->has_args ? (p->edited ? j->argv_to : j->argv) : (struct text){ p->front + FRONT_ROOM, 0 };
}

int plan_args_before(struct job *j, const struct args *more)
{
	struct exec_plan *p = plan_of(j);
	uint32_t blank = p->has_args, room = p->args.off - p->front;
	char *front = j->arena + p->front;
	int whole;

	if (room < blank)
		return -E2BIG; /* what is in front already fills it */
	room -= blank;
	size_t n = args_join((struct span){ more->bytes, (uint32_t)more->len }, front, room, &whole);
	if (!whole)
		return -E2BIG;
	memmove(front + (room - n), front, n);
	if (blank)
		front[room] = ' ';
	p->args.off -= (uint32_t)n + blank;
	p->args.len += (uint32_t)n + blank;
	p->has_args = true;
	return 0;
}

/* Where the next argument begins, behind END where there is none. */
static const char *behind_joined(const char *at, const char *end)
{
	while (at < end && *at != ' ')
		at += 1 + (*at == '\\');
	return at + 1;
}

void plan_args_tell(struct job *j, struct target *t, uint32_t skip)
{
	const struct exec_plan *p = plan_of(j);
	const char *args = j->arena + p->args.off, *at = args, *end = args + p->args.len;

	if (!p->front)
		return;
	for (; skip && at <= end; skip--)
		at = behind_joined(at, end);
	t->own_argv = true;
	t->argv = (struct text){ 0 };
	if (p->has_args && at <= end)
		t->argv = (struct text){ p->args.off + (uint32_t)(at - args), (uint32_t)(end - at) };
}

int plan_env_add(struct job *j, const char *name)
{
	size_t n = strlen(name) + 1;

	if (j->env.len + n > JOB_ARENA - j->used - ARENA_RESERVE || j->used > JOB_ARENA - 2 * ARENA_RESERVE)
		return -E2BIG; /* what rules cannot see is not run */
	struct text all = job_alloc(j, j->env.len + n);
	if (!all.off)
		return -ENOMEM;
	if (j->env.len)
		memcpy(job_text(j, all), job_text(j, j->env), j->env.len);
	memcpy(job_text(j, all) + j->env.len, name, n);
	j->env = all;
	return 0;
}

static int plan_env(struct job *j, struct exec_plan *p, uint64_t addr)
{
	struct args raw = { 0 };
	int err = args_copy((pid_t)j->notif.pid, addr, &raw);

	if (!err)
		err = env_names(j, &raw);
	p->env_known = true;
	p->env_len = (uint32_t)raw.len;
	p->env_count = raw.count;
	crypto_generichash(p->env_hash, PLAN_HASH, (const unsigned char *)(raw.bytes ? raw.bytes : ""), raw.len, NULL, 0);
	args_free(&raw);
	return err;
}

int plan_new(struct job *j, uint64_t addr, uint64_t env)
{
	struct args raw = { 0 };

	if (j->heap)
		return 0; /* resolved again: the copy stands */
	int err = args_copy_on((pid_t)j->notif.pid, addr, job_span(j, j->data[0]), &raw);
	if (!err && !raw.count)
		err = args_add(&raw, (struct span){ "", 0 }); /* as the kernel does */
	struct exec_plan *p = err ? NULL : calloc(1, sizeof(*p) + raw.len);
	if (!err && !p)
		err = -ENOMEM;
	if (!err) {
		if (raw.len)
			memcpy(p->bytes, raw.bytes, raw.len);
		p->raw_len = (uint32_t)raw.len;
		p->raw_count = raw.count;
		j->heap = p;
		err = plan_called(j, &raw);
	}
	if (!err)
		err = plan_join(j, &raw);
	if (!err && j->session->reads_env)
		err = plan_env(j, p, env);
	args_free(&raw);
	return err;
}

int plan_prefix_set(struct job *j, const struct args *prefix, unsigned skip)
{
	struct exec_plan *old = plan_of(j);
	struct exec_plan *p = realloc(old, sizeof(*p) + old->raw_len + prefix->len);

	if (!p)
		return -ENOMEM;
	j->heap = p;
	if (prefix->len)
		memcpy(p->bytes + p->raw_len, prefix->bytes, prefix->len);
	p->prefix_len = (uint32_t)prefix->len;
	if (skip > p->raw_count)
		skip = p->raw_count;
	p->skip = skip ? (uint32_t)strlen(p->bytes) + 1 : 0;
	p->argc = p->raw_count - skip + prefix->count;
	return 0;
}

/* As the kernel's bprm_stack_limits() and copy_strings(). */
bool plan_too_long(const struct exec_plan *p, pid_t tid)
{
	uint64_t strings = (uint64_t)p->raw_len + p->prefix_len - p->skip, limit = KERNEL_ARGS_MOST;
	struct rlimit stack;

	if (strings < KERNEL_ARGS_LEAST / 2 || prlimit(tid, RLIMIT_STACK, NULL, &stack) < 0)
		return false;
	if (stack.rlim_cur / 4 < limit)
		limit = stack.rlim_cur / 4;
	if (limit < KERNEL_ARGS_LEAST)
		limit = KERNEL_ARGS_LEAST;
	return strings + p->argc * sizeof(uint64_t) > limit;
}

static int add_words(struct args *to, const struct words *w)
{
	int err = 0;

	for (const char *s = w->bytes; !err && s && s < w->bytes + w->len; s += strlen(s) + 1)
		err = args_add(to, (struct span){ s, (uint32_t)strlen(s) });
	return err;
}

/* The strings of FROM without the first SKIP. */
static int add_given(struct args *to, struct span from, uint32_t skip)
{
	int err = 0;

	for (const char *s = from.bytes, *end = s + from.len; !err && s < end; s += strlen(s) + 1) {
		if (skip)
			skip--;
		else
			err = args_add(to, (struct span){ s, (uint32_t)strlen(s) });
	}
	return err;
}

static int edit_args(const struct exec_plan *old, const struct exec_edit *e, struct args *to)
{
	struct span raw = plan_raw(old);
	const char *name = e->argv0 ? e->argv0 : raw.bytes;
	int err = args_add(to, (struct span){ name, (uint32_t)strlen(name) });

	if (!err && e->args)
		err = add_words(to, &e->before);
	if (!err && (!e->args || e->given))
		err = add_given(to, raw, 1 + (e->args ? e->skip : 0));
	return err || !e->args ? err : add_words(to, &e->after);
}

int plan_edit(struct job *j, const struct exec_edit *e)
{
	struct exec_plan *old = plan_of(j);
	struct args to = { 0 };
	int whole, err = old->edited ? -EINVAL : edit_args(old, e, &to);
	struct exec_plan *p = err ? NULL : malloc(sizeof(*p) + to.len);

	if (!err && !p)
		err = -ENOMEM;
	if (!err) {
		*p = *old;
		memcpy(p->bytes, to.bytes, to.len);
		p->raw_len = (uint32_t)to.len;
		p->raw_count = to.count;
		p->prefix_len = 0;
		p->edited = true;
		j->heap = p;
		free(old);
		err = front_new(j);
	}
	if (!err) {
		j->argv_to = job_alloc(j, 2 * to.len);
		err = j->argv_to.off ? 0 : -E2BIG;
	}
	if (!err) {
		struct span rest = args_after_first(&to);

		job_trim(j, &j->argv_to, args_join(rest, job_text(j, j->argv_to), j->argv_to.len, &whole));
	}
	args_free(&to);
	return err;
}
