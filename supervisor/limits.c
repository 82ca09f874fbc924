/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/limits.h"

#include <errno.h>
#include <linux/capability.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "audit/journal.h"
#include "policy/policy.h"
#include "rules/clock.h"
#include "supervisor/cgroup.h"
#include "supervisor/limits_measure.h"
#include "supervisor/limits_plan.h"
#include "supervisor/soon.h"

#define PERIOD_NS (100 * 1000 * 1000)

struct limits {
	struct session *session;
	uint64_t limit[LIMIT_KINDS]; /* milliseconds, bytes, processes, descriptors; 0: none */
	uint64_t start_ms, cpu_ms;
	pthread_mutex_t look; /* one census at a time */
	struct census census;
	atomic_long forks;    /* may come before the next census */
	struct cgroup group;
	pthread_t thread;
	bool runs;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool stopping;
	const char *reached;
};

static uint64_t now_ms(void)
{
	return clock_ms(CLOCK_MONOTONIC);
}

static void measure(struct limits *l, uint64_t used[LIMIT_KINDS])
{
	struct usage u = { 0 };
	uint64_t cpu_ms = 0;
	bool counted = cgroup_cpu_ms(&l->group, &cpu_ms) == 0, held = l->group.memory;

	used[LIMIT_WALL] = now_ms() - l->start_ms;
	if (!l->limit[LIMIT_CPU] && (!l->limit[LIMIT_MEMORY] || held) && !l->limit[LIMIT_PROCESSES])
		return;
	bool look = !counted || (l->limit[LIMIT_MEMORY] && !held) || l->limit[LIMIT_PROCESSES];
	if (look && census_take(&l->census, l->session->guardian, &u) < 0)
		return;
	used[LIMIT_MEMORY] = held ? 0 : u.bytes;
	used[LIMIT_PROCESSES] = u.processes;
	atomic_store(&l->forks, (long)l->limit[LIMIT_PROCESSES] - (long)u.processes);
	if (counted && cpu_ms > u.cpu_ms)
		u.cpu_ms = cpu_ms;
	/* Never less than before: who ends is counted by its parent a moment later. */
	if (u.cpu_ms > l->cpu_ms)
		l->cpu_ms = u.cpu_ms;
	used[LIMIT_CPU] = l->cpu_ms;
}

bool limits_hold_memory(const struct limits *l)
{
	return l && l->group.memory;
}

uint64_t limits_of(const struct limits *l, enum limit_kind kind)
{
	return l ? l->limit[kind] : 0;
}

/* True for the first that meets one. */
static bool claim(struct limits *l, enum limit_kind kind)
{
	pthread_mutex_lock(&l->lock);
	bool first = !l->reached;
	if (first)
		l->reached = limit_name(kind);
	pthread_mutex_unlock(&l->lock);
	return first;
}

void limits_met(struct limits *l, enum limit_kind kind, uint64_t used)
{
	char buf[512];
	struct record r;
	uint64_t seq;

	if (!l || !l->limit[kind] || !claim(l, kind))
		return;
	record_begin(&r, buf, sizeof(buf), "note");
	record_text(&r, "event", "limit");
	record_text(&r, "limit", limit_name(kind));
	record_int(&r, "allowed", (int64_t)l->limit[kind]);
	if (used) /* unknown of a file that the kernel did not let grow */
		record_int(&r, "used", (int64_t)used);
	int rc = journal_append(l->session->journal, &r, &seq);
	if (rc < 0)
		session_journal_failed(l->session, rc);
	cgroup_kill(&l->group);
	session_kill(l->session);
}

/* What the kernel has refused in the control group. True when a limit was reached: the tree has been ended. */
static bool look_in_group(struct limits *l)
{
	struct cgroup_events happened;
	uint64_t peak = 0;

	cgroup_look(&l->group, &happened);
	if (happened.memory) {
		(void)cgroup_memory(&l->group, &peak);
		limits_met(l, LIMIT_MEMORY, peak);
	} else if (happened.tasks) {
		limits_met(l, LIMIT_PROCESSES, limits_tasks(l->limit) + 1);
	}
	return happened.memory || happened.tasks;
}

/* The first limit that is met, LIMIT_KINDS when none is; USED is what was measured. */
static int find_met(struct limits *l, uint64_t used[LIMIT_KINDS])
{
	int kind = 0;

	measure(l, used);
	/* At so many processes all is well; so much time or memory is the end. */
	while (kind < LIMIT_KINDS && (!l->limit[kind] || used[kind] < l->limit[kind] + (kind == LIMIT_PROCESSES)))
		kind++;
	return kind;
}

/* True when a limit was reached: the tree has been ended. */
static bool look_locked(struct limits *l)
{
	uint64_t used[LIMIT_KINDS] = { 0 };

	if (look_in_group(l))
		return true;
	int kind = find_met(l, used);
	if (kind == LIMIT_KINDS)
		return false;
	limits_met(l, (enum limit_kind)kind, used[kind]);
	return true;
}

bool limits_measured(const struct limits *l)
{
	return l && (l->limit[LIMIT_WALL] || l->limit[LIMIT_CPU] || l->limit[LIMIT_MEMORY] || l->limit[LIMIT_PROCESSES]);
}

pid_t limits_fork(struct limits *l)
{
	pthread_mutex_lock(&l->look);
	pid_t pid = fork();
	if (pid)
		pthread_mutex_unlock(&l->look);
	return pid;
}

bool limits_over(struct limits *l)
{
	uint64_t used[LIMIT_KINDS] = { 0 };
	struct cgroup_events happened;

	cgroup_look(&l->group, &happened);
	return happened.memory || happened.tasks || find_met(l, used) < LIMIT_KINDS;
}

static bool look_once(struct limits *l)
{
	pthread_mutex_lock(&l->look);
	bool met = look_locked(l);
	pthread_mutex_unlock(&l->look);
	return met;
}

bool limits_count_forks(const struct policy *policy)
{
	const struct ruleset *layer;

	for (size_t i = 0; policy && (layer = policy_layer(policy, i)); i++) {
		if (ruleset_limit(layer, LIMIT_PROCESSES))
			return true;
	}
	return false;
}

/* Those that were let go since the last census may have ended: it is asked again before the tree is. */
bool limits_may_fork(struct limits *l)
{
	if (!l || !l->limit[LIMIT_PROCESSES])
		return true;
	if (limits_reached(l))
		return false;
	if (atomic_fetch_sub(&l->forks, 1) > 0)
		return true;
	pthread_mutex_lock(&l->look);
	bool met = look_locked(l);
	if (!met && atomic_fetch_sub(&l->forks, 1) <= 0) {
		limits_met(l, LIMIT_PROCESSES, l->limit[LIMIT_PROCESSES] + 1);
		met = true;
	}
	pthread_mutex_unlock(&l->look);
	return !met;
}

static void *limits_main(void *arg)
{
	struct limits *l = arg;
	bool done = false;

	while (!done) {
		struct timespec at = soon_at(PERIOD_NS);
		pthread_mutex_lock(&l->lock);
		while (!l->stopping && pthread_cond_timedwait(&l->wake, &l->lock, &at) != ETIMEDOUT)
			;
		done = l->stopping || l->reached;
		pthread_mutex_unlock(&l->lock);
		done = done || look_once(l);
	}
	return NULL;
}

static void write_kinds(const struct limits *l, struct record *r, const char *by)
{
	bool open = false;

	for (int k = 0; k < LIMIT_KINDS; k++) {
		if (!l->limit[k] || strcmp(limits_means((enum limit_kind)k, &l->group), by) != 0)
			continue;
		if (!open)
			record_list(r, by);
		open = true;
		record_item(r, (struct span){ limit_name((enum limit_kind)k), (uint32_t)strlen(limit_name((enum limit_kind)k)) });
	}
	if (open)
		record_close(r);
}

static int write_note(struct limits *l)
{
	char buf[1024];
	struct record r;
	uint64_t seq;

	record_begin(&r, buf, sizeof(buf), "note");
	record_text(&r, "event", "limits");
	write_kinds(l, &r, "cgroup");
	write_kinds(l, &r, "rlimit");
	write_kinds(l, &r, "measurement");
	for (int k = 0; k < LIMIT_KINDS; k++) {
		if (l->limit[k])
			record_int(&r, limit_name((enum limit_kind)k), (int64_t)l->limit[k]);
	}
	if (l->group.tasks)
		record_int(&r, "tasks", (int64_t)limits_tasks(l->limit));
	return journal_append(l->session->journal, &r, &seq);
}

int limits_new(struct session *s, struct limits **out)
{
	struct limits *l = calloc(1, sizeof(*l));

	*out = NULL;
	if (!l)
		return -ENOMEM;
	l->session = s;
	l->group = (struct cgroup){ .dir = -1, .procs = -1 };
	if (!limits_collect(s->policy, l->limit)) {
		free(l);
		return 0;
	}
	pthread_mutex_init(&l->lock, NULL);
	pthread_mutex_init(&l->look, NULL);
	atomic_init(&l->forks, (long)l->limit[LIMIT_PROCESSES] - 1);
	soon_init(&l->wake);
	limits_group(l->limit, &l->group);
	*out = l;
	return 0;
}

/* No process gets more than AT_MOST, whatever it had; 0: what it had. */
static void lower(struct rlimit *l, uint64_t at_most)
{
	if (!at_most)
		return;
	l->rlim_max = l->rlim_max < at_most ? l->rlim_max : at_most;
	l->rlim_cur = l->rlim_cur < l->rlim_max ? l->rlim_cur : l->rlim_max;
}

void limits_lower_files(const struct limits *l, struct rlimit *files)
{
	lower(files, limits_of(l, LIMIT_FILES));
}

static int wall_filesize(uint64_t at_most)
{
	struct rlimit l;

	if (!at_most)
		return 0;
	if (getrlimit(RLIMIT_FSIZE, &l) < 0)
		return -errno;
	lower(&l, at_most);
	return setrlimit(RLIMIT_FSIZE, &l) < 0 ? -errno : 0;
}

int limits_enter(const struct limits *l)
{
	if (!l)
		return 0;
	int rc = cgroup_join(&l->group);
	if (rc == 0)
		rc = wall_filesize(l->limit[LIMIT_FILESIZE]);
	/* Root could lift them again. */
	if (rc == 0 && (l->limit[LIMIT_FILES] || l->limit[LIMIT_FILESIZE]) && prctl(PR_CAPBSET_READ, CAP_SYS_RESOURCE) == 1 &&
	    prctl(PR_CAPBSET_DROP, CAP_SYS_RESOURCE) < 0 && geteuid() == 0)
		rc = -errno;
	return rc;
}

int limits_start(struct limits *l)
{
	if (!l)
		return 0;
	l->start_ms = now_ms();
	int rc = write_note(l);
	if (rc == 0)
		rc = -pthread_create(&l->thread, NULL, limits_main, l);
	l->runs = rc == 0;
	return rc;
}

void limits_settle(struct limits *l)
{
	if (l && !limits_reached(l))
		(void)look_in_group(l);
}

const char *limits_reached(struct limits *l)
{
	if (!l)
		return NULL;
	pthread_mutex_lock(&l->lock);
	const char *name = l->reached;
	pthread_mutex_unlock(&l->lock);
	return name;
}

void limits_stop(struct limits *l)
{
	if (!l)
		return;
	pthread_mutex_lock(&l->lock);
	l->stopping = true;
	pthread_cond_signal(&l->wake);
	pthread_mutex_unlock(&l->lock);
	if (l->runs)
		pthread_join(l->thread, NULL);
	pthread_mutex_lock(&l->look); /* workers go on: a fork may be counted */
	census_free(&l->census);
	pthread_mutex_unlock(&l->look);
	cgroup_end(&l->group);
}
