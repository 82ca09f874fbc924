/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/exec_facts.h"

#include <string.h>
#include <time.h>

#include "supervisor/stat_same.h"

#define SETTLED_S 2 /* coarser than any file system's clock: a write from now on gets another time */

bool facts_known(const struct facts_kept *k, const struct stat *st, struct elf_facts *out)
{
	for (unsigned i = 0; i < FACTS_PLACES; i++) {
		if (k->at[i].ino != st->st_ino || k->at[i].dev != st->st_dev)
			continue;
		if (k->at[i].size != st->st_size || !time_same(k->at[i].written, st->st_mtim) || !time_same(k->at[i].changed, st->st_ctim))
			return false;
		out->library = k->at[i].library;
		out->needs = k->at[i].needs;
		memcpy(out->interpreter, k->at[i].interpreter, FACTS_NAME);
		return true;
	}
	return false;
}

static bool settled(const struct stat *st)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME_COARSE, &now);
	return now.tv_sec - st->st_ctim.tv_sec >= SETTLED_S;
}

/* The place of that file, or the next one that is given up. */
static unsigned place_for(struct facts_kept *k, const struct stat *st)
{
	for (unsigned i = 0; i < FACTS_PLACES; i++) {
		if (k->at[i].ino == st->st_ino && k->at[i].dev == st->st_dev)
			return i;
	}
	return k->next++ % FACTS_PLACES;
}

void facts_keep(struct facts_kept *k, const struct stat *st, const struct elf_facts *facts)
{
	size_t n = strlen(facts->interpreter);

	if (n >= FACTS_NAME || !st->st_ino || st->st_uid != 0 || (st->st_mode & (S_IWGRP | S_IWOTH)) || !settled(st))
		return;
	unsigned i = place_for(k, st);
	k->at[i].dev = st->st_dev;
	k->at[i].ino = st->st_ino;
	k->at[i].size = st->st_size;
	k->at[i].written = st->st_mtim;
	k->at[i].changed = st->st_ctim;
	k->at[i].library = facts->library;
	k->at[i].needs = facts->needs;
	memset(k->at[i].interpreter, 0, FACTS_NAME);
	memcpy(k->at[i].interpreter, facts->interpreter, n);
}
