/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of threads seen, in shards with a lock each; a thread points to the record of its process.
 *
 * MUST: an entry is used only after its descriptor has proved that the number still means the same thread,
 * and only under its shard's lock;
 * what is forgotten under pressure is rebuilt from the kernel, never guessed.
 *
 * An image is read from /proc/PID/exe when a process is first seen, not inherited from its parent's record: the parent may have
 * replaced its own since the fork. One that shares its parent's memory (vfork, posix_spawn) shares the image with it.
 */
#include "supervisor/procs.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "rules/cleanup.h"
#include "supervisor/exec_handover.h"
#include "supervisor/image.h"
#include "supervisor/lives.h"
#include "supervisor/procs_internal.h"
#include "supervisor/session.h"

#define SHARDS 64
#define BUCKETS 32
#define THREADS_MAX 4096 /* descriptors kept, at most */
#define SWEEP 4          /* old entries looked at for each new one */
#define DEPTH_MAX 64     /* unknown ancestors made at once */

struct shard {
	pthread_mutex_t lock;
	struct thread *bucket[BUCKETS];
	struct thread *newest, *oldest;
	unsigned count;
};

struct procs {
	struct session *session;
	unsigned shard_max;
	struct handovers *handovers;
	_Atomic uint64_t serials;
	struct shard shard[SHARDS];
};

static struct shard *shard_of(struct procs *ps, pid_t tid)
{
	return &ps->shard[(unsigned)tid % SHARDS];
}

static struct thread **bucket_of(struct shard *sh, pid_t tid)
{
	return &sh->bucket[(unsigned)tid / SHARDS % BUCKETS];
}

/* The table. All of these want the shard's lock. */

static struct thread *shard_find(struct shard *sh, pid_t tid)
{
	struct thread *t = *bucket_of(sh, tid);

	while (t && t->tid != tid)
		t = t->next;
	return t;
}

static void age_unlink(struct shard *sh, struct thread *t)
{
	*(t->newer ? &t->newer->older : &sh->newest) = t->older;
	*(t->older ? &t->older->newer : &sh->oldest) = t->newer;
}

static void age_newest(struct shard *sh, struct thread *t)
{
	t->newer = NULL;
	t->older = sh->newest;
	*(sh->newest ? &sh->newest->newer : &sh->oldest) = t;
	sh->newest = t;
}

static void shard_drop(struct shard *sh, struct thread *t)
{
	struct thread **at = bucket_of(sh, t->tid);
	struct proc *p = t->proc;

	while (*at != t)
		at = &(*at)->next;
	*at = t->next;
	age_unlink(sh, t);
	sh->count--;
	close(t->ref.fd);
	free(t);
	proc_unref(p, false);
}

/*
 * Makes room: ended threads go first, then, beyond the limit or when FORCE, the least recently used. With DESCENT
 * processes stay as long as they live: whose child one was cannot be learned again.
 */
static void shard_sweep(struct shard *sh, unsigned max, bool force, bool descent)
{
	struct thread *t = sh->oldest;

	for (int i = 0; t && t != sh->newest && i < SWEEP; i++) {
		struct thread *newer = t->newer;

		if (!thread_alive(&t->ref))
			shard_drop(sh, t);
		t = newer;
	}
	for (t = sh->oldest; t && (force || sh->count > max);) {
		struct thread *newer = t->newer;

		if (!proc_used(t->proc) && !(descent && t->tid == t->proc->pid)) {
			shard_drop(sh, t);
			force = false;
		}
		t = newer;
	}
}

static void procs_shrink(struct procs *ps)
{
	for (unsigned i = 0; i < SHARDS; i++) {
		struct shard *sh = &ps->shard[i];

		pthread_mutex_lock(&sh->lock);
		shard_sweep(sh, ps->shard_max, true, ps->session->descent);
		pthread_mutex_unlock(&sh->lock);
	}
}

/* The live entry of TID as a held process, or NULL. */
static struct proc *procs_find(struct procs *ps, pid_t tid)
{
	struct shard *sh = shard_of(ps, tid);
	struct proc *p = NULL;

	pthread_mutex_lock(&sh->lock);
	struct thread *t = shard_find(sh, tid);
	if (t && thread_alive(&t->ref)) {
		p = proc_hold(t->proc);
		if (sh->newest != t) {
			age_unlink(sh, t);
			age_newest(sh, t);
		}
	} else if (t) {
		shard_drop(sh, t);
	}
	pthread_mutex_unlock(&sh->lock);
	return p;
}

/*
 * Enters TID as a thread of *P (held by the caller). When another worker was first, its record replaces *P. REF is
 * taken over in every case.
 */
static int procs_enter(struct procs *ps, pid_t tid, struct thread_ref ref, struct proc **p)
{
	struct thread *t = malloc(sizeof(*t));
	struct shard *sh = shard_of(ps, tid);

	if (!t) {
		close(ref.fd);
		return -ENOMEM;
	}
	pthread_mutex_lock(&sh->lock);
	struct thread *old = shard_find(sh, tid);
	if (old && thread_alive(&old->ref)) {
		struct proc *mine = *p;

		*p = proc_hold(old->proc);
		pthread_mutex_unlock(&sh->lock);
		proc_put(mine);
		close(ref.fd);
		free(t);
		return 0;
	}
	if (old)
		shard_drop(sh, old);
	proc_other_thread(*p);
	*t = (struct thread){ .tid = tid, .ref = ref, .proc = *p };
	proc_ref(*p, false);
	struct thread **at = bucket_of(sh, tid);
	t->next = *at;
	*at = t;
	age_newest(sh, t);
	sh->count++;
	shard_sweep(sh, ps->shard_max, false, ps->session->descent);
	pthread_mutex_unlock(&sh->lock);
	return 0;
}

/* Making records. */

static int procs_make(struct procs *ps, pid_t tid, unsigned depth, struct proc **out);

static int procs_get_depth(struct procs *ps, pid_t tid, unsigned depth, struct proc **out)
{
	*out = procs_find(ps, tid);
	return *out ? 0 : procs_make(ps, tid, depth, out);
}

/* The record of the parent PPID of TGID, held; NULL when it is not of the tree or ended before it was ever seen. */
static struct proc *parent_of(struct procs *ps, pid_t tgid, pid_t ppid, unsigned depth)
{
	const struct session *s = ps->session;
	struct proc *parent = NULL;

	if (tgid == s->command || depth >= DEPTH_MAX)
		return NULL;
	if (ppid > 1 && ppid != s->guardian && ppid != s->usher) {
		procs_get_depth(ps, ppid, depth + 1, &parent);
		return parent;
	}
	/* Whoever forked it is gone. The command is an ancestor of everything. */
	return s->command ? procs_find(ps, s->command) : NULL;
}

/* A process that is seen for the first time. */
struct seen {
	pid_t tgid, tid; /* by which of its threads */
	pid_t ppid;
	struct proc *parent; /* whose number is PPID or, if that is gone, an ancestor; NULL: none is known */
	bool waits;          /* in a notification that is asked about afterwards: it has its memory */
	struct stand stand;  /* found out: of the parent, taken before it was seen to share its memory */
};

/*
 * The image out of what the parent runs, where both share one memory. FROM was taken before they are compared: had the parent replaced its image
 * in between, it had another memory. The number was the parent's then, as it has not ended since.
 */
static bool image_shared(struct procs *ps, struct seen *s, const struct lineage *from, struct image *out)
{
	if (!s->waits || !from || s->ppid != s->parent->pid)
		return false;
	struct stand stand = proc_stand(s->parent);
	if (!thread_same_memory(s->ppid, s->tid))
		return false;
	struct proc *still = procs_find(ps, s->ppid);
	bool same = still == s->parent;

	proc_put(still);
	*out = *lineage_image(from);
	if (same)
		s->stand = stand;
	return same;
}

/* Not inlined: its callers recurse. */
static __attribute__((noinline)) int lineage_seen(struct procs *ps, struct seen *s, struct lineage **out)
{
	struct lineage *from = s->parent ? atomic_load(&s->parent->lineage) : NULL;
	struct lineage *then = NULL;
	char name[PATH_MAX];
	struct image image;
	int err = 0;

	if (!image_shared(ps, s, from, &image))
		err = thread_image(ps->session->self_proc, s->tid, from ? lineage_image(from) : NULL, name, sizeof(name), &image);
	if (err)
		return err;
	image.pid = s->tgid;
	if (from && s->ppid == s->parent->pid && !lineage_runs(from, image.dev, image.ino)) {
		/* The parent has replaced its image since it forked: what it ran then is what the child still runs. */
		struct image before = image;

		before.pid = s->ppid;
		err = lineage_exec(&before, from, &then);
	}
	if (!err)
		err = lineage_fork(&image, then ? then : from, out);
	lineage_put(then);
	return err;
}

/* The record of S, whose leader REF (taken over) holds. *out is held. */
static int enter_leader(struct procs *ps, struct seen *s, struct thread_ref ref, struct proc **out)
{
	struct lineage *lineage;
	int err = lineage_seen(ps, s, &lineage);

	if (err) {
		close(ref.fd);
		return err == -ENOENT ? -ESRCH : err;
	}
	*out = proc_new(ps, s->tgid, lineage);
	if (!*out) {
		lineage_put(lineage);
		close(ref.fd);
		return -ENOMEM;
	}
	proc_ref(*out, true);
	if (s->parent && s->parent->pid == s->ppid)
		proc_script_inherit(*out, s->parent);
	proc_stand_set(*out, s->stand);
	const struct proc *made = *out;
	int life = lives_open(ps->session->lives, &ref);
	err = procs_enter(ps, s->tgid, ref, out);
	if (!err && *out == made)
		lives_enter(ps->session->lives, life, s->tgid, s->ppid, lineage_image(atomic_load(&made->lineage))->exe);
	else if (life >= 0)
		close(life);
	if (err)
		proc_put(steal_pointer(out));
	return err;
}

/* REF (taken over) holds TGID. */
static int make_leader(struct procs *ps, pid_t tgid, pid_t tid, pid_t ppid, unsigned depth, struct thread_ref ref, struct proc **out)
{
	struct seen seen = { tgid, tid, ppid, parent_of(ps, tgid, ppid, depth), depth == 0, { 0 } };
	int err = enter_leader(ps, &seen, ref, out);

	proc_put(seen.parent);
	return err;
}

int procs_born(struct procs *ps, struct proc *parent, pid_t child)
{
	struct proc *p;
	struct thread_ref ref;
	int err = thread_open(child, &ref);

	if (err == -EMFILE || err == -ENFILE) {
		procs_shrink(ps);
		err = thread_open(child, &ref);
	}
	if (!err)
		err = enter_leader(ps, &(struct seen){ child, child, parent->pid, parent, false, { 0 } }, ref, &p);
	if (!err)
		proc_put(p);
	return err;
}

static int procs_make(struct procs *ps, pid_t tid, unsigned depth, struct proc **out)
{
	struct thread_ref ref;
	pid_t tgid, ppid;
	int err = thread_open(tid, &ref);

	if (err == -EMFILE || err == -ENFILE) {
		procs_shrink(ps);
		err = thread_open(tid, &ref);
	}
	if (err)
		return err;
	err = thread_family(&ref, tid, &tgid, &ppid);
	if (!err && tgid == tid)
		return make_leader(ps, tgid, tid, ppid, depth, ref, out);
	struct thread_ref leader;
	*out = err ? NULL : procs_find(ps, tgid);
	if (!err && !*out)
		err = thread_open(tgid, &leader);
	if (!err && !*out)
		err = make_leader(ps, tgid, tid, ppid, depth, leader, out);
	if (err) {
		close(ref.fd);
		return err;
	}
	err = procs_enter(ps, tid, ref, out);
	if (err)
		proc_put(steal_pointer(out));
	return err;
}

int procs_get(struct procs *ps, pid_t tid, struct proc **out)
{
	return procs_get_depth(ps, tid, 0, out);
}

int procs_new(struct session *s, struct procs **out)
{
	struct procs *ps = calloc(1, sizeof(*ps));
	struct rlimit files;
	rlim_t max = THREADS_MAX;

	if (!ps)
		return -ENOMEM;
	if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur / 2 < max)
		max = files.rlim_cur / 2;
	if (handovers_new(&ps->handovers) < 0) {
		free(ps);
		return -ENOMEM;
	}
	ps->session = s;
	ps->shard_max = max < SHARDS ? 1 : (unsigned)(max / SHARDS);
	for (unsigned i = 0; i < SHARDS; i++)
		pthread_mutex_init(&ps->shard[i].lock, NULL);
	*out = ps;
	return 0;
}

void procs_free(struct procs *ps)
{
	if (!ps)
		return;
	for (unsigned i = 0; i < SHARDS; i++) {
		while (ps->shard[i].newest)
			shard_drop(&ps->shard[i], ps->shard[i].newest);
		pthread_mutex_destroy(&ps->shard[i].lock);
	}
	handovers_free(ps->handovers);
	free(ps);
}

uint64_t procs_next_serial(struct procs *ps)
{
	return atomic_fetch_add(&ps->serials, 1) + 1;
}

struct handovers *procs_handovers(struct procs *ps)
{
	return ps->handovers;
}

int table_getfd(struct procs *ps, pid_t tid, int fd)
{
	struct shard *sh = shard_of(ps, tid);
	int got = -ENOENT;

	/* Under the lock, so that nobody closes the pidfd meanwhile. */
	pthread_mutex_lock(&sh->lock);
	const struct thread *t = shard_find(sh, tid);
	if (t && t->ref.pidfd)
		got = thread_getfd(&t->ref, fd);
	pthread_mutex_unlock(&sh->lock);
	return got;
}

pid_t procs_process(struct procs *ps, pid_t tid)
{
	struct shard *sh = shard_of(ps, tid);

	pthread_mutex_lock(&sh->lock);
	const struct thread *t = shard_find(sh, tid);
	pid_t process = t ? t->proc->pid : 0;
	pthread_mutex_unlock(&sh->lock);
	return process;
}

void procs_ended(struct procs *ps, pid_t tid)
{
	struct shard *sh = shard_of(ps, tid);

	pthread_mutex_lock(&sh->lock);
	struct thread *t = shard_find(sh, tid);
	if (t && !thread_alive(&t->ref))
		shard_drop(sh, t);
	pthread_mutex_unlock(&sh->lock);
}

bool table_has(struct procs *ps, pid_t tid)
{
	struct proc *p = procs_find(ps, tid);

	proc_put(p);
	return p != NULL;
}

const struct session *procs_session(const struct procs *ps)
{
	return ps->session;
}
