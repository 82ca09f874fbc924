/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MUST: a process keeps a bounded number of names, made with the first of them; nothing of it is believed by any decision.
 */
#include "supervisor/lookups.h"

#include <ctype.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "supervisor/procs.h"

#define KEPT 8
#define SHOWN 4
#define AGE_MOST 60 /* seconds */
#define HEADER 12

struct lookup {
	time_t at;
	uint8_t len; /* 0: none */
	uint8_t name[LOOKUP_NAME];
};

struct lookups {
	pthread_mutex_t lock;
	unsigned next;
	struct lookup kept[KEPT];
};

static unsigned number(const uint8_t *at)
{
	return (unsigned)at[0] << 8 | at[1];
}

bool lookup_query(const void *packet, size_t size, const uint8_t **name, size_t *len)
{
	const uint8_t *p = packet;
	size_t at = HEADER;

	/* a question of the usual kind: neither answer nor truncated, one name asked for, nothing answered */
	if (size < HEADER + 6 || (p[2] & 0xfa) || number(p + 4) != 1 || number(p + 6))
		return false;
	while (at < size && p[at]) {
		if (p[at] > 63) /* a pointer: queries have none */
			return false;
		at += 1u + p[at];
	}
	if (at + 5 > size || at == HEADER || at + 1 - HEADER > LOOKUP_NAME)
		return false;
	*name = p + HEADER;
	*len = at + 1 - HEADER;
	return true;
}

size_t lookup_show(const uint8_t *name, size_t len, char *out, size_t cap)
{
	size_t used = 0;

	out[0] = '\0';
	for (size_t at = 0; at < len && name[at]; at += 1u + name[at]) {
		for (size_t i = 0; i <= name[at]; i++) {
			unsigned c = i ? name[at + i] : '.';
			bool plain = i == 0 || isalnum((int)c) || c == '-' || c == '_';
			if ((i == 0 && at == 0) || at + i >= len)
				continue;
			int n = snprintf(out + used, cap - used, plain ? "%c" : "\\%03u", c);
			if (n < 0 || (size_t)n >= cap - used) {
				out[used] = '\0';
				return used;
			}
			used += (size_t)n;
		}
	}
	return used;
}

static time_t now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return t.tv_sec;
}

static struct lookups *lookups_of(struct proc *p)
{
	_Atomic(struct lookups *) *place = proc_lookups(p);
	struct lookups *have = atomic_load(place), *fresh;

	if (have)
		return have;
	fresh = calloc(1, sizeof(*fresh));
	if (!fresh)
		return NULL;
	pthread_mutex_init(&fresh->lock, NULL);
	if (atomic_compare_exchange_strong(place, &have, fresh))
		return fresh;
	lookups_free(fresh);
	return have;
}

static bool same(const struct lookup *l, const uint8_t *name, size_t len)
{
	if (l->len != len)
		return false;
	for (size_t i = 0; i < len; i++) {
		if (tolower(l->name[i]) != tolower(name[i]))
			return false;
	}
	return true;
}

void lookups_note(struct proc *p, const void *packet, size_t size)
{
	const uint8_t *name;
	size_t len;

	if (!lookup_query(packet, size, &name, &len))
		return;
	struct lookups *l = lookups_of(p);
	if (!l)
		return;
	pthread_mutex_lock(&l->lock);
	struct lookup *at = &l->kept[l->next % KEPT], *last = &l->kept[(l->next + KEPT - 1) % KEPT];
	if (same(last, name, len))
		at = last; /* once for each kind of address */
	else
		l->next++;
	at->at = now_s();
	at->len = (uint8_t)len;
	memcpy(at->name, name, len);
	pthread_mutex_unlock(&l->lock);
}

/* Those that are young enough, newest first. Returns how many. */
static unsigned recent(struct lookups *l, struct lookup out[SHOWN], time_t now)
{
	unsigned n = 0;

	pthread_mutex_lock(&l->lock);
	for (unsigned i = 1; i <= KEPT && n < SHOWN; i++) {
		const struct lookup *at = &l->kept[(l->next + KEPT - i) % KEPT];
		if (at->len && now - at->at <= AGE_MOST)
			out[n++] = *at;
	}
	pthread_mutex_unlock(&l->lock);
	return n;
}

size_t lookups_text(struct proc *p, char out[LOOKUP_TEXT])
{
	static const char whose[] = " (as the program asked name servers; what they answered is not known)";
	struct lookups *l = atomic_load(proc_lookups(p));
	struct lookup each[SHOWN];
	time_t now = now_s();
	unsigned n = l ? recent(l, each, now) : 0;
	size_t used = 0, room = LOOKUP_TEXT - sizeof(whose);

	for (unsigned i = 0; i < n; i++) {
		char name[256];
		lookup_show(each[i].name, each[i].len, name, sizeof(name));
		int w = snprintf(out + used, room - used, "%s%s %ld s ago", used ? ", " : "", name, (long)(now - each[i].at));
		if (w < 0 || (size_t)w >= room - used)
			break;
		used += (size_t)w;
	}
	if (!used)
		return 0;
	memcpy(out + used, whose, sizeof(whose));
	return used + sizeof(whose) - 1;
}

void lookups_free(struct lookups *l)
{
	if (!l)
		return;
	pthread_mutex_destroy(&l->lock);
	free(l);
}
