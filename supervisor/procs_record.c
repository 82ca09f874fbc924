/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The record of one process: its lineage, its users, and what they may still be looking at.
 *
 * MUST: whatever a user may hold a pointer or a descriptor of lives until no user is left.
 */
#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "rules/cleanup.h"
#include "supervisor/exec_script.h"
#include "supervisor/lookups.h"
#include "supervisor/procs_internal.h"

#define WRITER_LOOK_NS (20 * 1000)
#define WRITER_LOOKS 5000

struct proc *proc_new(struct procs *ps, pid_t pid, struct lineage *lineage)
{
	struct proc *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	pthread_mutex_init(&p->lock, NULL);
	p->procs = ps;
	p->pid = pid;
	atomic_init(&p->lineage, lineage);
	atomic_init(&p->serial, procs_next_serial(ps));
	return p;
}

static void retired_free(struct retired *r)
{
	while (r) {
		struct retired *next = r->next;

		lineage_put(r->lineage);
		free(r);
		r = next;
	}
}

static void proc_free(struct proc *p)
{
	retired_free(atomic_load(&p->retired));
	script_put(p->script);
	lookups_free(atomic_load(&p->lookups));
	lineage_put(atomic_load(&p->lineage));
	pthread_mutex_destroy(&p->lock);
	free(p);
}

#define HOLD UINT64_C(1)
#define USER (UINT64_C(1) << 32)

void proc_ref(struct proc *p, bool user)
{
	atomic_fetch_add(&p->holds, user ? HOLD + USER : HOLD);
}

/*
 * A user less, whose hold stays for now. Who comes as a user when there was none sees the present image only: what was retired before is
 * nobody's to look at.
 */
static void user_leaves(struct proc *p)
{
	struct retired *retired = NULL;

	pthread_mutex_lock(&p->lock);
	if (atomic_fetch_sub(&p->holds, USER) < 2 * USER)
		retired = atomic_exchange(&p->retired, NULL);
	pthread_mutex_unlock(&p->lock);
	retired_free(retired);
}

/* What another user retires between the look and the end of the hold is freed when the next one leaves, or with P. */
void proc_unref(struct proc *p, bool user)
{
	uint64_t hold = user ? HOLD + USER : HOLD;

	if (user && atomic_load(&p->retired)) {
		user_leaves(p);
		hold = HOLD;
	}
	if ((uint32_t)atomic_fetch_sub(&p->holds, hold) == 1)
		proc_free(p);
}

struct proc *proc_hold(struct proc *p)
{
	proc_ref(p, true);
	return p;
}

void proc_put(struct proc *p)
{
	if (p)
		proc_unref(p, true);
}

bool proc_used(struct proc *p)
{
	return atomic_load(&p->holds) >= USER;
}

pid_t proc_pid(const struct proc *p)
{
	return p->pid;
}

void proc_subject(const struct proc *p, struct subject *out)
{
	const struct lineage *l = atomic_load(&p->lineage);

	out->pid = p->pid;
	out->image = *lineage_image(l);
	out->ancestors = lineage_ancestors(l, &out->n_ancestors);
}

bool proc_deep(const struct proc *p)
{
	return lineage_full(atomic_load(&p->lineage));
}

int proc_image(struct procs *ps, struct proc *p, struct span exe, dev_t dev, ino_t ino)
{
	struct image image = { .exe = exe, .dev = dev, .ino = ino, .pid = p->pid };
	struct retired *r = malloc(sizeof(*r));
	struct lineage *fresh;

	if (!r)
		return -ENOMEM;
	pthread_mutex_lock(&p->lock);
	struct lineage *old = atomic_load(&p->lineage);
	int err = lineage_exec(&image, old, &fresh);
	if (!err) {
		*r = (struct retired){ old, atomic_load(&p->retired) };
		atomic_store(&p->retired, steal_pointer(&r));
		atomic_store(&p->lineage, fresh);
		atomic_store(&p->serial, procs_next_serial(ps));
		atomic_store(&p->expects, false);
		atomic_store(&p->stack_stops, false);
	}
	pthread_mutex_unlock(&p->lock);
	free(r);
	return err;
}

struct stand proc_stand(struct proc *p)
{
	pthread_mutex_lock(&p->lock);
	struct stand stand = p->stand;
	pthread_mutex_unlock(&p->lock);
	return stand;
}

void proc_stand_set(struct proc *p, struct stand stand)
{
	pthread_mutex_lock(&p->lock);
	p->stand = stand;
	pthread_mutex_unlock(&p->lock);
}

const void *proc_generation(const struct proc *p)
{
	return atomic_load(&p->lineage);
}

void proc_other_thread(struct proc *p)
{
	atomic_store(&p->umask, 0);
	atomic_store(&p->serial, procs_next_serial(p->procs));
}

uint64_t proc_serial(const struct proc *p)
{
	return atomic_load(&p->serial);
}

bool proc_write_begin(struct proc *p)
{
	atomic_fetch_add(&p->writers, 1);
	if (atomic_load(&p->execs) == 0)
		return true;
	atomic_fetch_sub(&p->writers, 1);
	return false;
}

void proc_write_end(struct proc *p)
{
	atomic_fetch_sub(&p->writers, 1);
}

bool proc_exec_begin(struct proc *p)
{
	const struct timespec look = { .tv_nsec = WRITER_LOOK_NS };

	atomic_fetch_add(&p->execs, 1);
	for (int looks = 0; atomic_load(&p->writers); looks++) {
		if (looks == WRITER_LOOKS) {
			proc_exec_end(p);
			return false;
		}
		nanosleep(&look, NULL);
	}
	return true;
}

void proc_exec_end(struct proc *p)
{
	atomic_fetch_sub(&p->execs, 1);
}

void proc_stop_for_stack(struct proc *p)
{
	atomic_store_explicit(&p->stack_stops, true, memory_order_relaxed);
}

bool proc_stopped_for_stack(const struct proc *p)
{
	return atomic_load_explicit(&p->stack_stops, memory_order_relaxed);
}

void proc_script_set(struct proc *p, struct script *s)
{
	pthread_mutex_lock(&p->lock);
	struct script *old = p->script;
	p->script = s;
	pthread_mutex_unlock(&p->lock);
	script_put(old);
}

struct script *proc_script(struct proc *p)
{
	pthread_mutex_lock(&p->lock);
	struct script *s = script_hold(p->script);
	pthread_mutex_unlock(&p->lock);
	return s;
}

void proc_script_inherit(struct proc *child, struct proc *parent)
{
	const struct image *now = lineage_image(atomic_load(&parent->lineage));

	if (lineage_runs(atomic_load(&child->lineage), now->dev, now->ino))
		child->script = proc_script(parent);
}

void proc_expect(struct proc *p, dev_t dev, ino_t ino)
{
	pthread_mutex_lock(&p->lock);
	p->expect_dev = dev;
	p->expect_ino = ino;
	atomic_store(&p->expects, true);
	pthread_mutex_unlock(&p->lock);
}

bool proc_expects(const struct proc *p)
{
	return atomic_load_explicit(&p->expects, memory_order_acquire);
}

bool proc_met(struct proc *p, dev_t dev, ino_t ino)
{
	pthread_mutex_lock(&p->lock);
	bool met = p->expect_dev == dev && p->expect_ino == ino;
	if (met)
		atomic_store(&p->expects, false);
	pthread_mutex_unlock(&p->lock);
	return met;
}

_Atomic(struct lookups *) *proc_lookups(struct proc *p)
{
	return &p->lookups;
}

_Atomic move_note *proc_umask(struct proc *p)
{
	return &p->umask;
}
