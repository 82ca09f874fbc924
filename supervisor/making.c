/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/making.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "supervisor/resolve.h"
#include "supervisor/session.h"
#include "supervisor/worker.h"

#define SECONDS 10

void making_looks(struct job *j)
{
	struct session *s = j->session;

	if (s->files_free)
		return;
	j->moved = atomic_load(&s->moved);
	j->made = atomic_load(&s->made);
}

bool making_moved(const struct job *j)
{
	return !j->session->files_free && atomic_load(&j->session->moved) != j->moved;
}

/* Debian 12's ThreadSanitizer does not know the calls that take a clock. */
static struct timespec soon(void)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += SECONDS;
	return until;
}

enum held { THE_MOVE, ALL_MAKERS, ONE_MAKER };

static int hold_now(struct session *s, enum held what)
{
	switch (what) {
	case THE_MOVE:
		return pthread_mutex_trylock(&s->mover);
	case ALL_MAKERS:
		return pthread_rwlock_trywrlock(&s->makers);
	case ONE_MAKER:
		break;
	}
	return pthread_rwlock_tryrdlock(&s->makers);
}

static int hold_soon(struct session *s, enum held what, const struct timespec *until)
{
	switch (what) {
	case THE_MOVE:
		return pthread_mutex_timedlock(&s->mover, until);
	case ALL_MAKERS:
		return pthread_rwlock_timedwrlock(&s->makers, until);
	case ONE_MAKER:
		break;
	}
	return pthread_rwlock_timedrdlock(&s->makers, until);
}

/* 0 or -EBUSY. */
static int hold(struct job *j, enum held what)
{
	if (hold_now(j->session, what) == 0)
		return 0;
	worker_blocking(j->worker);
	struct timespec until = soon();
	return hold_soon(j->session, what, &until) == 0 ? 0 : -EBUSY;
}

bool making_stands(struct job *j, const struct target *t)
{
	struct target dir = { .kind = OBJECT_FILE, .fd = t->dir, .dir = -1 };

	if (resolve_describe(j, &dir) < 0)
		return false;
	struct span name = job_span(j, t->name), now = job_span(j, dir.name);
	while (name.len && name.bytes[name.len - 1] != '/')
		name.len--;
	name.len -= name.len > 1;
	return now.len == name.len && memcmp(now.bytes, name.bytes, now.len) == 0;
}

/* A whole name is walked now, when nothing moves: it is made by that name or not at all. */
static bool right_still(struct job *j, const struct target *t)
{
	return t->dir < 0 || atomic_load(&j->session->moved) == j->moved || making_stands(j, t);
}

static int begin(struct job *j, const struct target *t)
{
	int rc = hold(j, ONE_MAKER);
	if (rc < 0 || right_still(j, t))
		return rc;
	pthread_rwlock_unlock(&j->session->makers);
	return PERFORM_AGAIN;
}

int making_begin(struct job *j, const struct target *t)
{
	return j->session->makes_free ? 0 : begin(j, t);
}

void making_end(struct job *j)
{
	if (j->session->makes_free)
		return;
	atomic_fetch_add(&j->session->made, 1);
	pthread_rwlock_unlock(&j->session->makers);
}

int removing_begin(struct job *j, const struct target *t)
{
	return j->session->removes_free ? 0 : begin(j, t);
}

void removing_end(struct job *j)
{
	if (!j->session->removes_free)
		pthread_rwlock_unlock(&j->session->makers);
}

int making_stop(struct job *j)
{
	int rc = hold(j, THE_MOVE);

	if (rc < 0)
		return rc;
	rc = hold(j, ALL_MAKERS);
	if (rc < 0)
		pthread_mutex_unlock(&j->session->mover);
	return rc;
}

void making_go(struct job *j, bool moved)
{
	if (moved)
		atomic_fetch_add(&j->session->moved, 1); /* behind the effect: who looked before or meanwhile looks again */
	pthread_rwlock_unlock(&j->session->makers);
	pthread_mutex_unlock(&j->session->mover);
}

bool making_quiet(const struct job *j)
{
	return atomic_load(&j->session->moved) == j->moved && atomic_load(&j->session->made) == j->made;
}
