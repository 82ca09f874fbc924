/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MUST: no descriptor of a socket is kept (it would keep the connection alive); memory is bounded by
 * the sockets that are open, and by SHOWN_MOST.
 */
#include "supervisor/net_shown.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "policy/policy.h"
#include "rules/cleanup.h"
#include "supervisor/sock_cookie.h"

#ifndef SO_COOKIE
#define SO_COOKIE 57
#endif

#define ROOM_FIRST 128 /* a power of two */
#define PATIENCE 1024  /* refusals between two looks whether anything was closed */

struct entry {
	uint64_t cookie; /* 0: free */
	bool open;
	struct shown_address address;
};

/* Open addressing; at most half full. Entries go only by making the table anew. */
struct shown {
	pthread_mutex_t lock;
	int epoll;
	struct entry *entry;
	unsigned room, n;
	unsigned refused; /* since the last look at a full table */
	atomic_uint noted; /* n, to be read without the lock */
};

bool shown_wanted(const struct policy *policy)
{
	const struct ruleset *layer;
	const struct rule *rule;

	for (size_t i = 0; (layer = policy_layer(policy, i)); i++) {
		for (size_t r = 0; (rule = ruleset_rule(layer, r)); r++) {
			if (rule->show_asked)
				return true;
		}
	}
	return false;
}

int shown_new(struct shown **out)
{
	struct shown *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	int rc = s->epoll < 0 ? -errno : 0;
	if (rc < 0) {
		free(s);
		return rc;
	}
	pthread_mutex_init(&s->lock, NULL);
	*out = s;
	return 0;
}

void shown_free(struct shown *s)
{
	if (!s)
		return;
	close(s->epoll);
	free(s->entry);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

/* The entry of COOKIE, or the free one it would take. There is always one free. */
static struct entry *slot(struct entry *table, unsigned room, uint64_t cookie)
{
	unsigned i = (unsigned)((cookie * 0x9e3779b97f4a7c15u) >> 32);

	while (table[i & (room - 1)].cookie && table[i & (room - 1)].cookie != cookie)
		i++;
	return &table[i & (room - 1)];
}

static struct entry *find(struct shown *s, uint64_t cookie)
{
	struct entry *e = s->room && cookie ? slot(s->entry, s->room, cookie) : NULL;

	return e && e->cookie ? e : NULL;
}

/* Marks the sockets that the set still holds. Where that cannot be read all count as open. */
static void mark_open(struct shown *s)
{
	char path[48], line[256];

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", s->epoll);
	FILE *f = fopen(path, "re");
	for (unsigned i = 0; i < s->room; i++)
		s->entry[i].open = !f;
	while (f && fgets(line, sizeof(line), f)) {
		const char *data = strstr(line, " data:");
		struct entry *e = data ? find(s, strtoull(data + 6, NULL, 16)) : NULL;
		if (e)
			e->open = true;
	}
	if (f)
		fclose(f);
}

/* Makes the table anew, without what was closed, with room for as many again. */
static int sweep(struct shown *s)
{
	unsigned room = ROOM_FIRST, open = 0;

	mark_open(s);
	for (unsigned i = 0; i < s->room; i++)
		open += s->entry[i].cookie && s->entry[i].open;
	while (room < 4 * open)
		room *= 2;
	struct entry *fresh = calloc(room, sizeof(*fresh));
	if (!fresh)
		return -ENOMEM;
	for (unsigned i = 0; i < s->room; i++) {
		if (s->entry[i].cookie && s->entry[i].open)
			*slot(fresh, room, s->entry[i].cookie) = s->entry[i];
	}
	free(s->entry);
	s->entry = fresh;
	s->room = room;
	s->n = open;
	return 0;
}

static int make_room(struct shown *s)
{
	bool full = s->n >= SHOWN_MOST;

	if (full && s->refused++ % PATIENCE)
		return -ENOBUFS;
	if (!full && s->n < s->room / 2)
		return 0;
	int rc = sweep(s);
	if (rc == 0 && s->n >= SHOWN_MOST)
		return -ENOBUFS;
	s->refused = 0;
	return rc;
}

static int add(struct shown *s, int sock, uint64_t cookie)
{
	struct epoll_event event = { .events = 0, .data.u64 = cookie };
	int rc = find(s, cookie) ? 1 : make_room(s);

	if (rc)
		return rc > 0 ? 0 : rc;
	/* A number that another socket had when it was added: the kernel knows a registration by file and number. */
	if (epoll_ctl(s->epoll, EPOLL_CTL_ADD, sock, &event) < 0 && errno != EEXIST)
		return -ENOBUFS;
	*slot(s->entry, s->room, cookie) = (struct entry){ .cookie = cookie };
	s->n++;
	return 0;
}

int shown_hold(struct shown *s, int sock)
{
	uint64_t cookie = sock_cookie(sock, SO_COOKIE);

	if (!cookie)
		return -ENOBUFS;
	pthread_mutex_lock(&s->lock);
	int rc = add(s, sock, cookie);
	atomic_store(&s->noted, s->n);
	pthread_mutex_unlock(&s->lock);
	return rc;
}

void shown_note(struct shown *s, int sock, const struct shown_address *address)
{
	if (!atomic_load(&s->noted))
		return;
	uint64_t cookie = sock_cookie(sock, SO_COOKIE);
	pthread_mutex_lock(&s->lock);
	struct entry *e = find(s, cookie);
	if (e)
		e->address = *address;
	pthread_mutex_unlock(&s->lock);
}

bool shown_look(struct shown *s, int sock, struct shown_address *out)
{
	if (!atomic_load(&s->noted))
		return false;
	uint64_t cookie = sock_cookie(sock, SO_COOKIE);
	pthread_mutex_lock(&s->lock);
	const struct entry *e = find(s, cookie);
	bool shown = e && e->address.len;
	if (shown)
		*out = e->address;
	pthread_mutex_unlock(&s->lock);
	return shown;
}

unsigned shown_count(struct shown *s)
{
	return atomic_load(&s->noted);
}
