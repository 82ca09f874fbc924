/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the program to everything that will run because of it: the interpreters of scripts, the loader of an ELF
 * program, the program of a loader.
 *
 * MUST: a file is executed only if it was decided on, with one exception: the system's own loader (root's,
 * writable by nobody else, below the library directories, named as loaders are) comes with the program that names it. Whichever it is, the new image is
 * compared with what was found here.
 */
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/policy.h"
#include "rules/cleanup.h"
#include "supervisor/binfmt.h"
#include "supervisor/exec_facts.h"
#include "supervisor/exec_format.h"
#include "supervisor/exec_loader.h"
#include "supervisor/exec_plan.h"
#include "supervisor/file.h"
#include "supervisor/patience.h"
#include "supervisor/resolve.h"
#include "supervisor/session.h"
#include "supervisor/worker.h"

/* What was read of an image. */
struct image_file {
	int elf; /* of an ELF file: an error, or facts */
	struct elf_facts facts;
};

#define SCRIPT_MAX (256 * 1024) /* hashed where somebody may be asked */

/* A file without a name that leads back to it is nameless, whatever string the kernel shows. */
static int classify(struct job *j, struct target *t)
{
	char *name = job_text(j, t->name);
	struct stat st;

	if (t->kind == OBJECT_MEMFD || !t->exists)
		return 0;
	if (t->kind != OBJECT_FILE || !name)
		return -EACCES;
	if (t->nlink > 0 && !t->magic)
		return 0;
	if (t->nlink > 0 && lstat(name, &st) == 0 && st.st_dev == t->dev && st.st_ino == t->ino)
		return 0;
	struct text text = job_alloc(j, t->name.len + sizeof("memfd:"));
	if (!text.off)
		return -ENOMEM;
	memcpy(job_text(j, text), "memfd:", 6);
	memcpy(job_text(j, text) + 6, job_text(j, t->name), t->name.len);
	job_trim(j, &text, t->name.len + 6);
	t->name = text;
	t->kind = OBJECT_MEMFD;
	return 0;
}

/* A person's answer is about the files as they were: a write since then has moved their ctime, but for one through a mapping (content_bind()). */
static int bind_image(struct exec_plan *p, uint32_t index, int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	p->changed[index] = st.st_ctim;
	return 0;
}

/* A further image of the chain, named by the bytes NAME relative to the caller's working directory. */
static int add_image(struct job *j, struct span name, struct target **out)
{
	struct look look = { .dirfd = AT_FDCWD, .path = job_copy(j, name.bytes, name.len) };

	if (!look.path.off)
		return -ENOMEM;
	if (j->n_targets == JOB_TARGETS)
		return -ELOOP;
	if (file_may_rewrite(j) && !exec_only_asks(j))
		look.flags = LOOK_MISSING | LOOK_ABSENT | LOOK_SAID;
	int err = resolve(j, &look, OP_EXEC, out);
	if (!err && plan_of(j)->bound && (*out)->exists && bind_image(plan_of(j), (uint32_t)(*out - j->target), (*out)->fd))
		return -EPERM;
	return err ? err : classify(j, *out);
}

/*
 * A file that one of the chain names. Returns 1 where there is none such and the caller only asks whether the first may be run: the kernel looks at no
 * other then, so that of others it learns no more than what rules say.
 */
static int add_named(struct job *j, struct span name, struct target **out)
{
	uint32_t before = j->n_targets;
	int err = add_image(j, name, out);

	if (!exec_only_asks(j) || (err != -ENOENT && err != -ENOTDIR && err != -ELOOP && err != -EACCES && err != -ENAMETOOLONG))
		return err;
	while (j->n_targets > before)
		target_release(&j->target[--j->n_targets]);
	return 1;
}

/* T gets what the image gets, without the first SKIP. 0, or -ENOENT: it is not there, and no rule leads it elsewhere. */
static int tell(struct job *j, struct target *t, uint32_t skip)
{
	plan_args_tell(j, t, skip);
	return t->exists || file_led(j, (uint32_t)(t - j->target)) ? 0 : -ENOENT;
}

static bool under_library(const char *path)
{
	static const char *const roots[] = { "/lib/", "/lib64/", "/lib32/", "/usr/lib/", "/usr/lib64/", "/nix/store/", "/gnu/store/" };

	if (strstr(path, "/../"))
		return false;
	for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++) {
		if (!strncmp(path, roots[i], strlen(roots[i])))
			return true;
	}
	return false;
}

static struct span leaf_of(struct span name)
{
	const char *slash = name.len ? memrchr(name.bytes, '/', name.len) : NULL;

	if (!slash)
		return name;
	return (struct span){ slash + 1, (uint32_t)(name.bytes + name.len - slash - 1) };
}

/* Whether the file at PATH, which is as ST says, is an ELF file that asks for no interpreter. */
static bool asks_for_none(struct job *j, const char *path, const struct stat *st)
{
	struct elf_facts facts;
	char head[FORMAT_HEAD];
	struct stat now;

	if (facts_known(&j->worker->facts, st, &facts))
		return !facts.interpreter[0];
	CLEANUP_FD int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &now) < 0 || now.st_dev != st->st_dev || now.st_ino != st->st_ino)
		return false;
	if (format_kind(fd, head) != FORMAT_ELF || format_elf(fd, head, &facts))
		return false;
	facts_keep(&j->worker->facts, st, &facts);
	return !facts.interpreter[0];
}

/* Whether PATH is the system's own loader, and no other program that lies where loaders do; its identity then. */
static bool system_loader(struct job *j, const char *path, struct stat *st)
{
	if (j->session->roots_moved || !under_library(path) || !format_loader_name(leaf_of((struct span){ path, (uint32_t)strlen(path) })))
		return false;
	if (stat(path, st) < 0 || !S_ISREG(st->st_mode) || !root_loaders_has(&j->session->root_loaders, st) || st->st_mode & (S_IWGRP | S_IWOTH))
		return false;
	return asks_for_none(j, path, st);
}

static bool is_glibc(const char *path)
{
	struct span leaf = leaf_of((struct span){ path, (uint32_t)strlen(path) });

	return strncmp(leaf.bytes, "ld-linux", 8) == 0;
}

static int expect_loader(struct job *j, const struct elf_facts *facts)
{
	struct exec_plan *p = plan_of(j);
	const char *path = facts->interpreter;
	struct target *t;
	struct stat st;

	p->loader = true;
	p->loader_plain = false;
	if (system_loader(j, path, &st)) {
		p->loader_plain = true;
		p->opens_first = facts->needs && is_glibc(path) && !j->session->cover;
		p->loader_dev = st.st_dev;
		p->loader_ino = st.st_ino;
		return 0;
	}
	int err = add_named(j, (struct span){ path, (uint32_t)strlen(path) }, &t);
	if (err)
		return err < 0 ? err : 0;
	p->loader_dev = t->dev;
	p->loader_ino = t->ino;
	return tell(j, t, 0); /* in one process with what names it */
}

/* "ld.so PROGRAM" is an exec of PROGRAM. */
static int follow_loader(struct job *j)
{
	uint32_t nth;
	struct span program = loader_program(plan_of(j), &nth);
	struct target *t;

	if (!program.bytes)
		return 0;
	if (!memchr(program.bytes, '/', program.len))
		return -EPERM; /* the loader would search for it */
	if (j->session->cover && !j->session->loaders_free)
		return -EPERM; /* nobody sees what it opens */
	int err = j->session->reads_env ? loader_variables(j) : 0;
	if (!err)
		err = add_named(j, program, &t);
	if (err)
		return err < 0 ? err : 0;
	plan_of(j)->program = (uint32_t)(t - j->target);
	return tell(j, t, nth);
}

static int follow_facts(struct job *j, const struct target *t, const struct elf_facts *facts)
{
	if (facts->interpreter[0])
		return expect_loader(j, facts);
	if (facts->library || format_loader_name(leaf_of(job_span(j, t->name))) ||
	    format_loader_name(leaf_of(job_span(j, t->named))))
		return follow_loader(j);
	return 0;
}

/* The file was as ST says before it was opened. */
static int follow_elf(struct job *j, const struct target *t, const struct stat *st, const struct image_file *f)
{
	if (f->elf == -ENOEXEC)
		return 0; /* the kernel will say so */
	if (f->elf)
		return f->elf;
	facts_keep(&j->worker->facts, st, &f->facts);
	return follow_facts(j, t, &f->facts);
}

/*
 * A script puts its interpreter, that one's argument and its own name (as the kernel was given it) in the place of the first argument.
 */
static int script_prefix(const struct script_line *line, struct span self, struct args *prefix, struct args *out)
{
	*out = (struct args){ 0 };
	int err = args_add(out, line->interpreter);
	if (!err && line->arg.bytes)
		err = args_add(out, line->arg);
	if (!err)
		err = args_add(out, self);
	struct span rest = line->keeps_name ? (struct span){ prefix->bytes, (uint32_t)prefix->len } : args_after_first(prefix);
	for (const char *s = rest.bytes; !err && s && s < rest.bytes + rest.len; s += strlen(s) + 1)
		err = args_add(out, (struct span){ s, (uint32_t)strlen(s) });
	args_free(prefix);
	return err;
}

/* Rules see what an interpreter gets as its arguments, not what the script gets. */
static int tell_before(struct job *j, const struct script_line *line, struct span self, const struct args *prefix)
{
	struct args more = { 0 };
	const char *called = prefix->len ? prefix->bytes : plan_of(j)->bytes;

	if (!plan_of(j)->front)
		return 0;
	int err = line->arg.bytes ? args_add(&more, line->arg) : 0;
	if (!err)
		err = args_add(&more, self);
	if (!err && line->keeps_name)
		err = args_add(&more, (struct span){ called, (uint32_t)strlen(called) });
	if (!err)
		err = plan_args_before(j, &more);
	args_free(&more);
	return err;
}

static int script_hash(int fd, uint8_t out[PLAN_HASH])
{
	struct stat st;

	if (fstat(fd, &st) < 0 || st.st_size > SCRIPT_MAX)
		return -EFBIG;
	char block[16 * 1024];
	crypto_generichash_state state;
	off_t at = 0;
	ssize_t n;

	crypto_generichash_init(&state, NULL, 0, PLAN_HASH);
	while (at <= SCRIPT_MAX && (n = pread(fd, block, sizeof(block), at)) > 0) {
		crypto_generichash_update(&state, (const unsigned char *)block, (unsigned long long)n);
		at += n;
	}
	crypto_generichash_final(&state, out, PLAN_HASH);
	return 0;
}

static bool image_changed(const struct exec_plan *p, uint32_t index, int fd)
{
	const struct timespec *then = &p->changed[index];
	struct stat st;

	return fstat(fd, &st) < 0 || st.st_ctim.tv_sec != then->tv_sec || st.st_ctim.tv_nsec != then->tv_nsec;
}

int chain_unchanged(struct job *j)
{
	const struct exec_plan *p = plan_of(j);
	uint8_t now[PLAN_HASH];

	for (uint32_t i = 0; p->bound && i < j->n_targets; i++) {
		if (image_changed(p, i, j->target[i].fd))
			return -ESTALE;
	}
	if (!p->hashed)
		return 0;
	/* A page that was writable in somebody's memory all along can change without a new ctime. */
	patience_begin_reading(j->worker);
	CLEANUP_FD int fd = resolve_reopen(j->target[0].fd, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	bool same = fd >= 0 && !script_hash(fd, now) && !memcmp(now, p->hash, sizeof(now));
	patience_end(j->worker);
	return same ? 0 : -ESTALE;
}

/* The kernel's own formats do not know it: an interpreter that binfmt_misc names takes it as a script's does. Its name goes into HEAD. */
static bool by_binfmt(char head[FORMAT_HEAD], struct span self, struct script_line *line)
{
	struct binfmt b;

	if (!binfmt_find(head, self, &b))
		return false;
	memcpy(head, b.interpreter, sizeof(b.interpreter));
	*line = (struct script_line){ .interpreter = { head, (uint32_t)strlen(head) }, .keeps_name = b.keeps_name };
	return true;
}

/* Opened and read at once, since that may wait for whoever serves the file. Returns the kind, or an error. */
static int read_image(struct job *j, const struct target *t, char head[FORMAT_HEAD], struct image_file *f)
{
	struct exec_plan *p = plan_of(j);

	CLEANUP_FD int fd = resolve_reopen(t->fd, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	p->unreadable = fd < 0;
	if (fd < 0)
		return -EACCES; /* what cannot be read cannot be verified */
	int kind = format_kind(fd, head);
	if (kind == FORMAT_ELF)
		f->elf = format_elf(fd, head, &f->facts);
	else if (kind >= 0 && p->bound && t == &j->target[0])
		p->hashed = script_hash(fd, p->hash) == 0;
	return kind;
}

/* The caller executes T itself, by the name SELF; where that is a script of LINE, the kernel puts its own in the place of the first argument. */
static int note_start(struct exec_plan *p, const struct script_line *line, struct span self, const struct args *prefix)
{
	if (!p->start || p->start != p->image)
		return 0;
	if (line->keeps_name)
		return -EPERM;
	p->start_front = args_after_first(prefix).len + self.len + 1;
	return 0;
}

/* One level. Returns 1 with *line filled when T is a script, 0 at the end of the chain. */
static int follow(struct job *j, struct target *t, struct span self, struct args *prefix, char head[FORMAT_HEAD], struct script_line *line)
{
	struct exec_plan *p = plan_of(j);
	struct image_file f;
	struct stat st;

	if (!t->exists)
		return 0; /* a rule leads it elsewhere */
	if (p->bound && bind_image(p, p->image, t->fd))
		return -EPERM;
	if (!S_ISREG(t->mode) || !(t->mode & 0111))
		return 0; /* EACCES from the kernel */
	if (fstat(t->fd, &st) < 0)
		return -errno;
	if (facts_known(&j->worker->facts, &st, &f.facts))
		return follow_facts(j, t, &f.facts);
	patience_begin_reading(j->worker);
	int kind = read_image(j, t, head, &f);
	patience_end(j->worker);
	if (kind < 0)
		return kind;
	if (kind == FORMAT_ELF)
		return follow_elf(j, t, &st, &f);
	p->other = kind == FORMAT_OTHER && !by_binfmt(head, self, line);
	if (p->other)
		return 0;
	if (kind == FORMAT_SCRIPT)
		format_script(head, line);
	if (!line->interpreter.len)
		return 0; /* "#!" and a NUL: the kernel fails */
	struct args longer;
	int err = note_start(p, line, self, prefix);
	if (!err)
		err = tell_before(j, line, self, prefix);
	if (err)
		return err;
	err = script_prefix(line, self, prefix, &longer);
	*prefix = longer;
	return err ? err : 1;
}

/* Nothing is known of the image that comes. */
static void begin_image(struct exec_plan *p)
{
	p->other = p->loader = p->unreadable = p->opens_first = false;
	p->program = 0;
}

/* From T, called FILENAME, with the arguments PREFIX in front, which is consumed. */
static int chain_from(struct job *j, struct target *t, struct span filename, struct args prefix)
{
	char head[FORMAT_HEAD], self[FORMAT_HEAD];
	struct script_line line;
	unsigned skip = plan_of(j)->skip > 0;
	int more = 0;

	while (more >= 0) {
		plan_of(j)->image = (uint32_t)(t - j->target);
		more = follow(j, t, filename, &prefix, head, &line);
		if (more <= 0)
			break;
		if (t == &j->target[0])
			skip = line.keeps_name ? 0 : 1;
		/* The next level's script is called by the name this one gave it. */
		memcpy(self, line.interpreter.bytes, line.interpreter.len);
		filename = (struct span){ self, line.interpreter.len };
		more = plan_prefix_set(j, &prefix, skip);
		if (!more)
			more = add_named(j, filename, &t);
		if (more)
			break;
		more = tell(j, t, 0);
	}
	args_free(&prefix);
	return more < 0 ? more : content_note(j);
}

int chain_follow(struct job *j, struct span filename)
{
	struct args none = { 0 };
	struct target *t = &j->target[0];
	int err = classify(j, t);

	begin_image(plan_of(j));
	plan_of(j)->hashed = false;
	plan_of(j)->start = plan_of(j)->start_front = 0;
	plan_of(j)->bound = policy_may_ask(j->session->policy);
	plan_args_begin(j);
	if (!err)
		err = plan_prefix_set(j, &none, 0);
	return err ? err : chain_from(j, t, filename, none);
}

int chain_lead(struct job *j, uint32_t index, struct span name)
{
	struct exec_plan *p = plan_of(j);
	struct span all = plan_prefix(p);
	struct args prefix = { 0 };
	int err = classify(j, &j->target[index]);

	for (const char *s = all.bytes; !err && s < all.bytes + all.len; s += strlen(s) + 1)
		err = args_add(&prefix, (struct span){ s, (uint32_t)strlen(s) });
	if (err) {
		args_free(&prefix);
		return err;
	}
	begin_image(p);
	p->start = exec_only_asks(j) ? 0 : index; /* the kernel looks at the program alone then */
	p->start_front = p->prefix_len;
	return chain_from(j, &j->target[index], name, prefix);
}
