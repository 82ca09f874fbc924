/* SPDX-License-Identifier: Apache-2.0 */
/* Opens the index of a journal, makes it and brings it up to date: see index.h. What is asked of it is in index_find.c. */
#include "audit/index.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit/index_state.h"
#include "audit/reader.h"
#include "audit/segment.h"
#include "rules/cleanup.h"

#define THREADS_MAX 4
/* What is read line by line at the end of a journal that grows, before its part is made again. */
#define TAIL_MAX (8u << 20)

int part_open(const struct index *x, uint32_t segment)
{
	char name[SEGMENT_NAME_MAX];
	segment_name(name, segment);
	return openat(x->dirfd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
}

/* Whether the last record that is in stands where it stood. */
static bool last_stands(int fd, const struct part_head *h)
{
	struct digest now;
	CLEANUP_FREE char *line = h->last_len < TAIL_MAX ? malloc(h->last_len) : NULL;
	if (!line || pread(fd, line, h->last_len, (off_t)h->last) != (ssize_t)h->last_len)
		return false;
	digest_of(&now, line, h->last_len);
	return !memcmp(now.bytes, h->hash.bytes, sizeof now.bytes);
}

/* Whether more than TAIL_MAX stands behind UPTO: a segment that grows is filled with newlines ahead of use. */
static bool long_tail(int fd, uint64_t upto)
{
	char c;
	return pread(fd, &c, 1, (off_t)(upto + TAIL_MAX)) == 1 && c != '\n';
}

/*
 * Whether the part can be used (p->indexed), or must be made first (1). The last segment of a session that lives changes all the
 * time: there it must do that its last record stands, and the rest is read line by line. Negative: -EIO.
 */
static int judge(struct index *x, struct part *p, bool grows)
{
	struct stat st;
	int rc = index_store_head(x->store, p->segment, &p->head);
	CLEANUP_FD int fd = part_open(x, p->segment);
	if (rc < 0 || fd < 0 || fstat(fd, &st) != 0)
		return rc < 0 ? rc : 0;
	p->size = (uint64_t)st.st_size;
	p->indexed = rc == 1 && (part_fresh(&p->head, &st) ||
				 (grows && p->head.inode == st.st_ino && last_stands(fd, &p->head)));
	return grows ? long_tail(fd, p->indexed ? p->head.upto : 0) : !p->indexed;
}

static int list_parts(struct index *x)
{
	for (uint32_t n = 0; (n = segment_after(x->dirfd, n));) {
		struct part *grown = realloc(x->part, (x->n + 1) * sizeof *grown);
		if (!grown)
			return -ENOMEM;
		x->part = grown;
		x->part[x->n++] = (struct part){ .segment = n };
	}
	return x->n ? 0 : -ENOENT;
}

/* --- making --- */

struct maker {
	const char *dir;
	uint32_t segment;
	struct index_part *made;
	int rc;
	pthread_t thread;
	bool started;
};

static void *make_part(void *context)
{
	struct maker *m = context;
	m->rc = index_part_make(m->dir, m->segment, &m->made);
	return NULL;
}

/* Puts what was made into the file. A segment without records has no part. */
static int keep_part(struct index *x, struct part *p, struct maker *m)
{
	int rc = m->rc;
	if (rc == 0 && m->made) {
		rc = index_store_put(x->store, p->segment, m->made);
		p->head = *index_part_head(m->made);
		p->indexed = rc == 0;
	}
	index_part_free(m->made);
	return rc;
}

/* N parts at once, each by a thread of its own. */
static int make_some(struct index *x, struct part **part, size_t n)
{
	struct maker maker[THREADS_MAX];
	int rc = 0;
	for (size_t i = 0; i < n; i++) {
		maker[i] = (struct maker){ .dir = x->dir, .segment = part[i]->segment };
		maker[i].started = i + 1 < n && pthread_create(&maker[i].thread, NULL, make_part, &maker[i]) == 0;
		if (!maker[i].started)
			make_part(&maker[i]);
	}
	for (size_t i = 0; i < n; i++) {
		if (maker[i].started)
			pthread_join(maker[i].thread, NULL);
		int kept = keep_part(x, part[i], &maker[i]);
		rc = rc ? rc : kept;
	}
	return rc;
}

static int make_parts(struct index *x, struct part **part, size_t n, index_progress tell, void *context)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	size_t threads = cpus < 1 ? 1 : cpus > THREADS_MAX ? THREADS_MAX : (size_t)cpus;
	uint64_t done = 0, all = 0;
	for (size_t i = 0; i < n; i++)
		all += part[i]->size;
	int rc = n ? index_store_begin(x->store) : 0;
	for (size_t i = 0; rc == 0 && i < n;) {
		size_t some = n - i < threads ? n - i : threads;
		rc = make_some(x, part + i, some);
		for (; some; some--)
			done += part[i++]->size;
		if (tell)
			tell(context, done, all);
	}
	return rc == 0 && n ? index_store_end(x->store) : rc;
}

static int bring_up_to_date(struct index *x, index_progress tell, void *context)
{
	CLEANUP_FREE struct part **stale = NULL;
	bool lives = journal_writer(x->dir) != 0;
	size_t n = 0;
	int rc = list_parts(x);
	if (rc == 0 && !(stale = malloc(x->n * sizeof *stale)))
		rc = -ENOMEM;
	for (size_t i = 0; rc == 0 && i < x->n; i++) {
		int make = judge(x, &x->part[i], lives && i + 1 == x->n);
		rc = make < 0 ? make : 0;
		if (make > 0)
			stale[n++] = &x->part[i];
	}
	if (rc == 0)
		rc = make_parts(x, stale, n, tell, context);
	return rc;
}

static int open_index(const char *dir, bool make, struct index **out, index_progress tell, void *context)
{
	struct index *x = calloc(1, sizeof *x);
	if (!x)
		return -ENOMEM;
	x->dir = strdup(dir);
	x->dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc = x->dirfd < 0 ? -errno : x->dir ? 0 : -ENOMEM;
	if (rc == 0 && sodium_init() < 0)
		rc = -ENOSYS;
	if (rc == 0)
		rc = index_store_open(dir, make, &x->store);
	if (rc == 0)
		rc = bring_up_to_date(x, tell, context);
	if (rc != 0) {
		index_close(x);
		return rc;
	}
	*out = x;
	return 0;
}

int index_open(const char *dir, struct index **out)
{
	return open_index(dir, false, out, NULL, NULL);
}

int index_make(const char *dir, index_progress tell, void *context)
{
	struct index *x = NULL;
	int rc = open_index(dir, true, &x, tell, context);
	index_close(x);
	return rc;
}

void index_close(struct index *x)
{
	if (!x)
		return;
	for (size_t i = 0; i < x->n; i++) {
		free(x->part[i].want);
		free(x->part[i].moves);
	}
	free(x->part);
	index_store_close(x->store);
	if (x->dirfd >= 0)
		close(x->dirfd);
	free(x->dir);
	free(x);
}
