/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What rules with sha256= and trusted ask of an image: its content, and whether anybody but root could change it. And the content that
 * somebody is asked about.
 *
 * MUST: what cannot be read has no hash, and so is not what a rule names; what was hashed is hashed again before the new
 * image runs, unless the tree cannot have written it since.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "rules/cleanup.h"
#include "supervisor/exec_plan.h"
#include "supervisor/patience.h"
#include "supervisor/pool.h"
#include "supervisor/resolve.h"
#include "supervisor/rows_exec.h"
#include "supervisor/session.h"
#include "supervisor/stat_same.h"
#include "supervisor/trusted_name.h"

#define SETTLED_S 2 /* coarser than any file system's clock */
#define LARGE (1024 * 1024)

/*
 * Whether the tree cannot write the file, and so a later look at its times is enough. Where it can they do not tell: on a tmpfs what is
 * written through a shared mapping moves none of them.
 */
static bool settled(const struct job *j, const struct stat *st)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec - st->st_ctim.tv_sec >= SETTLED_S && roots_alone(st) && j->session->uid != 0;
}

/* The content of T. Others are not kept waiting while a big file is read. */
static int hash_of_target(struct job *j, const struct target *t, char hex[HASH_HEX])
{
	struct hash_cache *c = &j->session->pool->contents;
	struct stat before, after;

	CLEANUP_FD int fd = resolve_reopen(t->fd, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &before) < 0)
		return -EACCES;
	if (hash_known(c, &before, 0, hex))
		return 0;
	bool keep = settled(j, &before);
	if (before.st_size > LARGE)
		worker_aside(j->worker);
	patience_begin_reading(j->worker);
	int err = hash_read(fd, hex);
	patience_end(j->worker);
	if (before.st_size > LARGE)
		worker_aside_done(j->worker);
	if (!err && keep && fstat(fd, &after) == 0 && stat_same(&before, &after))
		hash_keep(c, &before, 0, hex);
	return err;
}

static bool trusted(const struct job *j, const struct target *t)
{
	struct stat st;

	return t->kind == OBJECT_FILE && !j->session->roots_moved && fstat(t->fd, &st) == 0 && trusted_name(job_span(j, t->name), &st);
}

static bool image(const struct target *t)
{
	return (t->ops & OP_EXEC) && t->exists && t->fd >= 0 && S_ISREG(t->mode);
}

int content_note(struct job *j)
{
	char hex[HASH_HEX];

	for (uint32_t i = 0; i < j->n_targets; i++) {
		struct target *t = &j->target[i];

		t->sha256 = (struct text){ 0 };
		t->trusted = j->session->asks_trust && image(t) && trusted(j, t);
		if (!j->session->pins_content || !image(t) || hash_of_target(j, t, hex))
			continue;
		t->sha256 = job_copy(j, hex, HASH_HEX - 1);
		if (!t->sha256.off)
			return -ENOMEM;
	}
	return 0;
}

int content_bind(struct job *j)
{
	char hex[HASH_HEX];

	for (uint32_t i = 0; i < j->n_targets; i++) {
		struct target *t = &j->target[i];

		if (t->sha256.off || !image(t) || hash_of_target(j, t, hex))
			continue;
		t->sha256 = job_copy(j, hex, HASH_HEX - 1);
		if (!t->sha256.off)
			return -ENOMEM;
	}
	return 0;
}

bool content_same(struct job *j)
{
	char hex[HASH_HEX];

	for (uint32_t i = 0; i < j->n_targets; i++) {
		const struct target *t = &j->target[i];

		if (t->sha256.off && (hash_of_target(j, t, hex) || memcmp(hex, job_text(j, t->sha256), HASH_HEX - 1)))
			return false;
	}
	return true;
}
