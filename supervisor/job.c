/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/job.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rules/cleanup.h"
#include "rules/device.h"
#include "rules/squeeze.h"
#include "supervisor/procs.h"
#include "supervisor/table.h"
#include "supervisor/unwind.h"

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void target_release(struct target *t)
{
	if (t->lent)
		t->dir = -1;
	t->lent = false;
	t->looked = false;
	close_fd(&t->fd);
	close_fd(&t->dir);
}

struct stat target_known(const struct target *t)
{
	return (struct stat){ .st_dev = t->dev, .st_ino = t->ino, .st_nlink = t->nlink, .st_mode = t->mode, .st_rdev = t->rdev };
}

void target_knows(struct target *t, const struct stat *st)
{
	t->exists = true;
	t->dev = st->st_dev;
	t->ino = st->st_ino;
	t->nlink = st->st_nlink;
	t->mode = st->st_mode;
	t->rdev = st->st_rdev;
}

void job_drop_targets(struct job *j)
{
	for (uint32_t i = 0; i < j->n_targets; i++)
		target_release(&j->target[i]);
	j->n_targets = 0;
	j->guarded = false;
	j->unasked = false;
	j->redirected = false;
	j->rewritten = (struct text){ 0, 0 };
	j->led_by = NULL;
}

void job_let_go(struct job *j)
{
	for (uint32_t i = 0; i < j->n_targets; i++)
		target_release(&j->target[i]);
	for (int i = 0; i < JOB_SCRATCH; i++)
		close_fd(&j->scratch[i]);
}

/* Everything behind the head but the arena's content, which used = 1 makes unreachable. */
static void clear_rest(struct job *j)
{
	memset((char *)j + JOB_HEAD, 0, offsetof(struct job, arena) - JOB_HEAD);
	j->reply.fd = -1;
	for (int i = 0; i < JOB_SCRATCH; i++)
		j->scratch[i] = -1;
	j->used = 1; /* offset 0 means absent */
}

static void job_clear(struct job *j)
{
	struct worker *worker = j->worker;
	struct session *session = j->session;

	memset(j, 0, JOB_HEAD);
	j->worker = worker;
	j->session = session;
	j->sock = -1;
	clear_rest(j);
}

void job_init(struct job *j, struct session *s, struct worker *w)
{
	j->session = s;
	j->worker = w;
	job_clear(j);
}

void job_reset(struct job *j)
{
	job_let_go(j);
	close_fd(&j->sock);
	close_fd(&j->reply.fd);
	free(j->heap);
	free(j->stack);
	if (j->proc)
		proc_put(j->proc);
	job_clear(j);
}

struct text job_alloc(struct job *j, size_t n)
{
	if (n >= JOB_ARENA || j->used + n + 1 > JOB_ARENA)
		return (struct text){ 0, 0 };
	struct text t = { j->used, (uint32_t)n };
	j->arena[j->used + n] = '\0';
	j->used += (uint32_t)n + 1;
	return t;
}

struct text job_copy(struct job *j, const void *bytes, size_t n)
{
	struct text t = job_alloc(j, n);
	if (t.off)
		memcpy(j->arena + t.off, bytes, n);
	return t;
}

void job_trim(struct job *j, struct text *t, size_t n)
{
	if (!t->off || n > t->len || t->off + t->len + 1 != j->used)
		return;
	t->len = (uint32_t)n;
	j->arena[t->off + n] = '\0';
	j->used = t->off + (uint32_t)n + 1;
}

struct target *job_target(struct job *j, enum object_kind kind, op_set ops)
{
	if (j->n_targets == JOB_TARGETS)
		return NULL;
	struct target *t = &j->target[j->n_targets++];
	memset(t, 0, sizeof(*t));
	t->kind = kind;
	t->ops = ops;
	t->fd = -1;
	t->dir = -1;
	return t;
}

static void target_object(const struct job *j, const struct target *t, struct object *o)
{
	struct identity is = identity_of(t->mode, t->rdev, t->dev, t->ino);

	*o = (struct object){
		.kind = t->kind,
		.ops = t->ops,
		.name = job_span(j, t->name),
		.named = job_span(j, t->named),
		.inet = t->inet,
		.sha256 = job_span(j, t->sha256),
		.of_type = t->of_type,
		.own_argv = t->own_argv,
		.argv = job_span(j, t->argv),
		.trusted = t->trusted,
		.own = t->own,
		.vacant = t->vacant,
		.makes = t->makes,
		.identified = (t->exists && t->ino != 0) || t->named_device,
		.dev = is.dev,
		.ino = is.ino,
		.nlink = t->nlink,
		.deleted = t->deleted,
	};
}

/* A symbolic link's text, an attribute's name, a file's times and flags, as they were copied, or what an exec is called by. */
static struct text text_said(const struct job *j, enum call_says says)
{
	if (says == SAYS_LINK)
		return j->path[0];
	return says == SAYS_ATTRIBUTE || says == SAYS_TIMES || says == SAYS_MARKS ? j->data[0] : j->argv0;
}

static struct span value_said(const struct job *j, enum call_says says)
{
	return says == SAYS_ATTRIBUTE && j->heap ? (struct span){ j->heap, j->value_len } : (struct span){ NULL, 0 };
}

void job_call(const struct job *j, struct call *out)
{
	memset(out, 0, offsetof(struct call, object[1])); /* those behind are nobody's to read: n_objects says how many there are */
	out->syscall = j->row ? j->row->name : "unknown";
	if (j->proc)
		proc_subject(j->proc, &out->by);
	out->by.tid = (pid_t)j->notif.pid;
	out->by.uid = j->uid;
	out->n_objects = j->n_targets;
	out->says = j->row ? (enum call_says)j->row->says : SAYS_FLAGS;
	for (uint32_t i = 0; i < j->n_targets; i++)
		target_object(j, &j->target[i], &out->object[i]);
	out->text = job_span(j, text_said(j, out->says));
	out->argv = job_span(j, j->argv);
	out->env = job_span(j, j->env);
	out->value = value_said(j, out->says);
	out->said = j->said;
}

void job_call_alone(const struct job *j, uint32_t index, struct call *out)
{
	job_call(j, out);
	out->object[0] = out->object[index];
	out->n_objects = 1;
}

void job_call_about(const struct job *j, const struct target *t, struct call *out)
{
	job_call(j, out);
	target_object(j, t, &out->object[0]);
	out->n_objects = 1;
}

int job_error(struct job *j, int negative_errno)
{
	j->reply.kind = REPLY_ERROR;
	j->reply.value = negative_errno < 0 ? negative_errno : -EPERM;
	return 0;
}

int job_value(struct job *j, int64_t value)
{
	j->reply.kind = REPLY_VALUE;
	j->reply.value = value;
	return 0;
}

int job_inject(struct job *j, int fd, uint32_t fd_flags)
{
	j->reply.kind = REPLY_INJECT;
	j->reply.fd = fd;
	j->reply.fd_flags = fd_flags;
	return 0;
}

int job_gone(struct job *j)
{
	j->reply.kind = REPLY_GONE;
	return PERFORM_DONE;
}

int job_continue(struct job *j)
{
	j->reply.kind = REPLY_CONTINUE;
	j->reply.value = 0;
	return 0;
}

int job_result(struct job *j, long rc)
{
	return rc < 0 ? job_error(j, -errno) : job_value(j, rc);
}

/* What is the worker's stays with it. */
static int own_lent(struct job *j)
{
	for (uint32_t i = 0; i < j->n_targets; i++) {
		struct target *t = &j->target[i];
		int own = t->lent ? fcntl(t->dir, F_DUPFD_CLOEXEC, 3) : t->dir;
		if (t->lent && own < 0)
			return -errno;
		t->dir = own;
		t->lent = false;
	}
	return 0;
}

/* Behind the head of a packed job: what it holds that must be let go of; and behind that the rest, squeezed. */
struct job_kept {
	void *heap;
	uint32_t n_fds;
	int fd[];
};

static struct job_kept *kept_of(const struct job *packed)
{
	return (struct job_kept *)((char *)packed + JOB_HEAD);
}

/* How far behind the beginning of a packed job with N descriptors the rest is. */
static size_t rest_at(uint32_t n)
{
	return (JOB_HEAD + offsetof(struct job_kept, fd) + n * sizeof(int) + 7) & ~(size_t)7;
}

static struct squeezed *kept_rest(const struct job *packed)
{
	return squeezed_behind((char *)packed, rest_at(kept_of(packed)->n_fds));
}

/* What a packed job has beside its head, as long as its arena is used; and its caller's stack, which comes last. */
static size_t rest_size(const struct job *j)
{
	return offsetof(struct job, arena) - JOB_HEAD + j->used;
}

static void rest_of(struct job *j, struct iovec parts[2], size_t stack)
{
	parts[0] = (struct iovec){ (char *)j + JOB_HEAD, rest_size(j) };
	parts[1] = (struct iovec){ j->stack, stack };
}

size_t job_most_kept(const struct job *j)
{
	return offsetof(struct job, arena) + j->used + unwound_size(j->stack) + (j->heap ? malloc_usable_size(j->heap) : 0);
}

size_t job_kept_size(const struct job *packed)
{
	const struct job_kept *k = kept_of(packed);

	return rest_at(k->n_fds) + squeezed_kept(kept_rest(packed)) + (k->heap ? malloc_usable_size(k->heap) : 0);
}

#define JOB_FDS (1 + 2 * JOB_TARGETS + JOB_SCRATCH)

static uint32_t add_fd(int fds[JOB_FDS], uint32_t n, int fd)
{
	if (fd < 0)
		return n;
	fds[n] = fd;
	return n + 1;
}

/* All descriptors of J but the socket, which is in its head. How many. */
static uint32_t job_fds(const struct job *j, int fds[JOB_FDS])
{
	uint32_t n = add_fd(fds, 0, j->reply.fd);

	for (uint32_t i = 0; i < j->n_targets; i++) {
		n = add_fd(fds, n, j->target[i].fd);
		n = add_fd(fds, n, j->target[i].dir);
	}
	for (int i = 0; i < JOB_SCRATCH; i++)
		n = add_fd(fds, n, j->scratch[i]);
	return n;
}

int job_pack(struct job *j, struct squeezer *z, size_t before, void **out)
{
	int rc = own_lent(j);
	if (rc < 0)
		return rc;
	int fds[JOB_FDS];
	uint32_t n = job_fds(j, fds);
	struct iovec parts[2];
	rest_of(j, parts, unwound_size(j->stack));
	rc = squeeze(z, parts, 2, before + rest_at(n), out);
	if (rc < 0)
		return rc;
	struct job *packed = (struct job *)((char *)*out + before);
	struct job_kept *k = kept_of(packed);
	memcpy(packed, j, JOB_HEAD);
	k->heap = j->heap;
	k->n_fds = n;
	memcpy(k->fd, fds, n * sizeof(fds[0]));
	free(j->stack);
	job_clear(j); /* what it held belongs to the packed job now */
	return 0;
}

/* Nothing of what PACKED kept beside its head is held by anybody else. */
static void let_go(const struct job_kept *k)
{
	for (uint32_t i = 0; i < k->n_fds; i++)
		close(k->fd[i]);
	free(k->heap);
}

/* The stack's memory is there before anything is laid into J: what J has of it until then is another's pointer. */
static int lay_rest(const struct squeezed *rest, struct job *j)
{
	size_t size = squeezed_size(rest) - rest_size(j);
	struct unwound *stack = size ? malloc(size) : NULL;
	struct iovec parts[2];

	if (size && !stack)
		return -ENOMEM;
	rest_of(j, parts, size);
	parts[1].iov_base = stack;
	int rc = unsqueeze(rest, parts, 2);
	if (rc < 0) {
		free(stack);
		return rc;
	}
	j->stack = stack;
	return 0;
}

bool job_same_call(const struct job *packed, const struct job *j)
{
	const struct seccomp_data *a = &packed->notif.data, *b = &j->notif.data;
	uint64_t args[6];

	if (a->nr != b->nr || a->arch != b->arch || a->instruction_pointer != b->instruction_pointer)
		return false;
	if (unsqueeze(kept_rest(packed), &(struct iovec){ args, sizeof(args) }, 1) < 0) /* the first of the rest */
		return false;
	return memcmp(args, b->args, sizeof(args)) == 0;
}

int job_unpack(struct job *packed, struct job *j)
{
	struct worker *worker = j->worker;

	memcpy(j, packed, JOB_HEAD);
	j->worker = worker;
	int rc = lay_rest(kept_rest(packed), j);
	if (rc < 0) {
		clear_rest(j);
		let_go(kept_of(packed));
	}
	squeezed_drop(kept_rest(packed));
	return rc;
}

void job_discard(struct job *packed)
{
	let_go(kept_of(packed));
	squeezed_drop(kept_rest(packed));
	close_fd(&packed->sock);
	if (packed->proc)
		proc_put(packed->proc);
}
