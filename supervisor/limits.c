/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/limits.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "audit/journal.h"
#include "policy/policy.h"
#include "rules/cleanup.h"
#include "rules/ruleset.h"

#define PERIOD_NS (100 * 1000 * 1000)

struct process {
	pid_t pid, parent;
	uint64_t ticks;     /* of its own and of those it has waited for */
	uint64_t reaped;    /* of those alone */
	uint64_t pages;
	bool below;
};

struct limits {
	struct session *session;
	uint64_t limit[LIMIT_KINDS]; /* milliseconds, bytes, processes; 0: none */
	uint64_t start_ms, cpu_ms;
	struct process *all;
	size_t n, room;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool stopping;
	const char *reached;
};

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static bool look(int proc, const char *name, struct process *out)
{
	char path[280], text[1024];
	uint64_t user, system, waited_user, waited_system;
	int64_t pages;
	int parent;

	snprintf(path, sizeof(path), "%s/stat", name);
	int fd CLEANUP_FD = openat(proc, path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (got <= 0)
		return false;
	text[got] = '\0';
	const char *end = strrchr(text, ')');
	if (!end || sscanf(end + 1,
			   " %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
			   " %*d %*d %*d %*d %*u %*u %" SCNd64,
			   &parent, &user, &system, &waited_user, &waited_system, &pages) != 6)
		return false;
	*out = (struct process){ .pid = atoi(name), .parent = parent, .ticks = user + system + waited_user + waited_system,
				 .reaped = waited_user + waited_system, .pages = pages > 0 ? (uint64_t)pages : 0 };
	return true;
}

static int scan(struct limits *l)
{
	DIR *d = opendir("/proc");
	struct dirent *e;

	l->n = 0;
	if (!d)
		return -errno;
	while ((e = readdir(d))) {
		if (e->d_name[0] < '1' || e->d_name[0] > '9')
			continue;
		if (l->n == l->room) {
			size_t room = l->room ? 2 * l->room : 512;
			struct process *more = realloc(l->all, room * sizeof(*more));
			if (!more)
				break;
			l->all = more;
			l->room = room;
		}
		if (look(dirfd(d), e->d_name, &l->all[l->n]))
			l->n++;
	}
	closedir(d);
	return 0;
}

static const struct process *find(const struct limits *l, pid_t pid)
{
	size_t from = 0, to = l->n; /* /proc lists by number */

	while (from < to) {
		size_t middle = (from + to) / 2;
		if (l->all[middle].pid < pid)
			from = middle + 1;
		else
			to = middle;
	}
	return from < l->n && l->all[from].pid == pid ? &l->all[from] : NULL;
}

static void mark(struct limits *l)
{
	for (bool more = true; more;) {
		more = false;
		for (size_t i = 0; i < l->n; i++) {
			struct process *p = &l->all[i];
			const struct process *parent = p->below ? NULL : find(l, p->parent);
			if (p->below || !(p->parent == l->session->guardian || (parent && parent->below)))
				continue;
			p->below = true;
			more = true;
		}
	}
}

static void measure(struct limits *l, uint64_t used[LIMIT_KINDS])
{
	uint64_t ticks = 0, page = (uint64_t)sysconf(_SC_PAGESIZE), hertz = (uint64_t)sysconf(_SC_CLK_TCK);

	used[LIMIT_WALL] = now_ms() - l->start_ms;
	if (!l->limit[LIMIT_CPU] && !l->limit[LIMIT_MEMORY] && !l->limit[LIMIT_PROCESSES])
		return;
	if (scan(l) < 0)
		return;
	mark(l);
	for (size_t i = 0; i < l->n; i++) {
		const struct process *p = &l->all[i];
		if (p->pid == l->session->guardian)
			ticks += p->reaped; /* orphans it has buried */
		if (!p->below)
			continue;
		ticks += p->ticks;
		used[LIMIT_MEMORY] += p->pages * page;
		used[LIMIT_PROCESSES]++;
	}
	/* Never less than before: who ends is counted by its parent a moment later. */
	if (ticks * 1000 / hertz > l->cpu_ms)
		l->cpu_ms = ticks * 1000 / hertz;
	used[LIMIT_CPU] = l->cpu_ms;
}

static void end_tree(struct limits *l, enum limit_kind kind, uint64_t used)
{
	struct session *s = l->session;
	char buf[512];
	struct record r;
	uint64_t seq;

	record_begin(&r, buf, sizeof(buf), "note");
	record_text(&r, "event", "limit");
	record_text(&r, "limit", limit_name(kind));
	record_int(&r, "allowed", (int64_t)l->limit[kind]);
	record_int(&r, "used", (int64_t)used);
	int rc = journal_append(s->journal, &r, &seq);
	if (rc < 0)
		session_journal_failed(s, rc);
	fprintf(stderr, "usher: the limit on %s was reached; the tree was ended\n", limit_name(kind));
	pthread_mutex_lock(&l->lock);
	l->reached = limit_name(kind);
	pthread_mutex_unlock(&l->lock);
	session_kill(s);
}

/* True when a limit was reached: the tree has been ended. */
static bool look_once(struct limits *l)
{
	uint64_t used[LIMIT_KINDS] = { 0 };

	measure(l, used);
	for (int i = 0; i < LIMIT_KINDS; i++) {
		/* At so many processes all is well; so much time or memory is the end. */
		if (!l->limit[i] || used[i] < l->limit[i] + (i == LIMIT_PROCESSES))
			continue;
		end_tree(l, (enum limit_kind)i, used[i]);
		return true;
	}
	return false;
}

static void *limits_main(void *arg)
{
	struct limits *l = arg;
	bool done = false;

	while (!done) {
		struct timespec at;
		clock_gettime(CLOCK_MONOTONIC, &at);
		at.tv_nsec += PERIOD_NS;
		at.tv_sec += at.tv_nsec / 1000000000;
		at.tv_nsec %= 1000000000;
		pthread_mutex_lock(&l->lock);
		while (!l->stopping && pthread_cond_timedwait(&l->wake, &l->lock, &at) != ETIMEDOUT)
			;
		done = l->stopping;
		pthread_mutex_unlock(&l->lock);
		done = done || look_once(l);
	}
	return NULL;
}

/* The smallest of all layers. Returns whether there is any. */
static bool collect(struct limits *l)
{
	const struct ruleset *layer;
	bool any = false;

	for (size_t i = 0; (layer = policy_layer(l->session->policy, i)); i++) {
		for (int k = 0; k < LIMIT_KINDS; k++) {
			uint64_t v = ruleset_limit(layer, (enum limit_kind)k);
			if (v && (!l->limit[k] || v < l->limit[k]))
				l->limit[k] = v;
			any |= v != 0;
		}
	}
	return any;
}

static int write_note(struct limits *l)
{
	char buf[512];
	struct record r;
	uint64_t seq;

	record_begin(&r, buf, sizeof(buf), "note");
	record_text(&r, "event", "limits");
	record_text(&r, "by", "measurement");
	for (int k = 0; k < LIMIT_KINDS; k++) {
		if (l->limit[k])
			record_int(&r, limit_name((enum limit_kind)k), (int64_t)l->limit[k]);
	}
	return journal_append(l->session->journal, &r, &seq);
}

int limits_start(struct session *s, struct limits **out)
{
	struct limits *l = calloc(1, sizeof(*l));
	pthread_condattr_t monotonic;

	*out = NULL;
	if (!l)
		return -ENOMEM;
	l->session = s;
	l->start_ms = now_ms();
	if (!collect(l)) {
		free(l);
		return 0;
	}
	int rc = write_note(l);
	pthread_mutex_init(&l->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&l->wake, &monotonic);
	if (rc == 0)
		rc = -pthread_create(&l->thread, NULL, limits_main, l);
	if (rc < 0) {
		free(l);
		return rc;
	}
	*out = l;
	return 0;
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
	pthread_join(l->thread, NULL);
	free(l->all);
	free(l);
}
