/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of a journal: made, appended to, closed.
 *
 * MUST: an intent is emptied only after its record is in the chain, and never once the journal has failed: what took
 * effect without a record stays visible in its slot.
 */
#include "audit/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit/journal_state.h"
#include "audit/put.h"
#include "audit/stamp.h"
#include "rules/cleanup.h"

/* A record's final form is its intent with what is known later: a result, an answer. */
#define RESERVE_EXTRA 2048

/* Two literals, a number, a stamp. */
#define INTENT_HEAD 96

static int write_anchor(struct journal *j)
{
	char line[160];
	char key[DIGEST_HEX + 1] = "";
	hex_write(key, epoch_key(j->epoch), crypto_sign_PUBLICKEYBYTES);
	int n = snprintf(line, sizeof line, JOURNAL_FORMAT " ed25519 %s\n", key);
	j->anchor = openat(j->dirfd, "anchor", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (j->anchor < 0)
		return -errno;
	if (write(j->anchor, line, (size_t)n) != n)
		return errno ? -errno : -EIO;
	/* Released by the kernel when this process dies: tells readers that the session lives. Not every file system can. */
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	(void)fcntl(j->anchor, F_SETLK, &lock);
	return 0;
}

static void note_anchor(struct journal *j, int rc)
{
	char buf[512];
	struct record r;
	if (rc == 0)
		return;
	record_begin(&r, buf, sizeof buf, "note");
	record_text(&r, "event", "anchor");
	record_text(&r, "text", rc > 0 ? "the command is slow: a checkpoint was left out" : "a checkpoint was not accepted outside");
	if (rc < 0)
		record_result(&r, rc);
	journal_append(j, &r, NULL);
}

void journal_anchor(struct journal *j, const struct checkpoint *c, bool wait)
{
	note_anchor(j, anchors_send(j->anchors, c, wait));
}

static int open_parts(struct journal *j, const struct journal_options *o, const char **why)
{
	const char *anchor = o->anchor;
	*why = "cannot make the journal's keys";
	int rc = epoch_new(&j->epoch);
	if (rc != 0)
		return rc;
	/* Before any file: what cannot be anchored leaves no session behind. */
	*why = "cannot anchor the journal's first key (file:PATH or exec:CMD)";
	rc = anchor ? anchors_new(anchor, j->dir, epoch_key(j->epoch), &j->anchors) : 0;
	if (rc != 0)
		return rc;
	*why = "cannot write the journal's anchor file";
	rc = write_anchor(j);
	if (rc != 0)
		return rc;
	*why = "cannot make the journal's first segment";
	rc = segment_first(j->dirfd, CHUNK_FIRST, &j->seg);
	if (rc == 0 && (j->flushing = fcntl(j->seg->fd, F_DUPFD_CLOEXEC, 0)) < 0)
		rc = -errno;
	if (rc != 0)
		return rc;
	j->room = j->seg->allocated;
	*why = "cannot make the journal's file of operations in flight";
	rc = inflight_create(j->dirfd, &j->inflight);
	if (rc != 0)
		return rc;
	if (o->helper_later && !anchor && j->sync == SYNC_NONE)
		return 0;
	*why = "cannot start the journal's helper thread";
	return keeper_start(j);
}

int journal_help(struct journal *j)
{
	int rc = j->keeper_runs ? 0 : keeper_start(j);
	if (rc == 0)
		return 0;
	return ++j->unhelped < UNHELPED_MOST ? 1 : journal_stop(j, rc);
}

/* Made ahead of use, and never used. */
static void drop_next(const struct journal *j)
{
	char name[SEGMENT_NAME_MAX];
	if (!j->next)
		return;
	segment_name(name, j->next->number);
	unlinkat(j->dirfd, name, 0);
}

static void release(struct journal *j)
{
	if (j->closed)
		segment_close(j->seg);
	else
		segment_leave(j->seg); /* its blank end says that nothing was cut off: the session just could not go on writing */
	segment_close(j->retired);
	drop_next(j);
	segment_close(j->next);
	inflight_close(j->inflight, j->dirfd);
	epoch_free(j->epoch);
	anchors_free(j->anchors);
	if (j->anchor >= 0)
		close(j->anchor);
	if (j->flushing >= 0)
		close(j->flushing);
	if (j->dirfd >= 0)
		close(j->dirfd);
	sem_destroy(&j->wake);
	pthread_mutex_destroy(&j->lock);
	pthread_mutex_destroy(&j->grow);
	pthread_mutex_destroy(&j->flush);
	pthread_mutex_destroy(&j->tended);
	free(j->dir);
	free(j);
}

static struct journal *allocate(void)
{
	struct journal *j = calloc(1, sizeof *j);
	pthread_mutexattr_t attr;
	if (!j)
		return NULL;
	j->dirfd = j->anchor = j->flushing = -1;
	j->reserved = END_RESERVE;
	/* Held for about a microsecond: a short spin is cheaper than sleeping. */
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ADAPTIVE_NP);
	pthread_mutex_init(&j->lock, &attr);
	pthread_mutexattr_destroy(&attr);
	pthread_mutex_init(&j->grow, NULL);
	pthread_mutex_init(&j->flush, NULL);
	pthread_mutex_init(&j->tended, NULL);
	sem_init(&j->wake, 0, 0);
	return j;
}

/* The names of the files, and that of the directory. */
static int flush_names(const struct journal *j)
{
	CLEANUP_FD int parent = openat(j->dirfd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (parent < 0 && errno == EACCES)
		return fsync(j->dirfd) == 0 ? 0 : -errno;
	return parent >= 0 && fsync(j->dirfd) == 0 && fsync(parent) == 0 ? 0 : -errno;
}

/* No session began: without its files none seems to have been killed, and a full disk is not filled by trying again. */
static void undo(const struct journal *j)
{
	char first[SEGMENT_NAME_MAX];
	segment_name(first, 1);
	if (j->seg)
		unlinkat(j->dirfd, first, 0);
	if (j->inflight)
		unlinkat(j->dirfd, INFLIGHT_NAME, 0);
	if (j->anchor >= 0)
		unlinkat(j->dirfd, "anchor", 0);
	if (j->made && j->dir)
		(void)rmdir(j->dir);
}

void journal_drop(struct journal *j)
{
	keeper_stop(j);
	undo(j);
	release(j);
}

int journal_create(const struct journal_options *options, struct journal **out, const char **why)
{
	*why = "cannot start libsodium";
	if (sodium_init() < 0)
		return -ENOSYS;
	*why = "out of memory";
	struct journal *j = allocate();
	if (!j)
		return -ENOMEM;
	j->sync = options->sync;
	int rc = journal_open_dir(options->dir, &j->dir, &j->dirfd, &j->made, why);
	if (rc == 0)
		rc = open_parts(j, options, why);
	if (rc == 0 && j->sync != SYNC_NONE) {
		*why = "cannot flush the journal's directory";
		rc = flush_names(j);
	}
	if (rc != 0) {
		journal_drop(j);
		return rc;
	}
	*why = NULL;
	*out = j;
	return 0;
}

const char *journal_dir(const struct journal *j)
{
	return j->dir;
}

int journal_failed(const struct journal *j)
{
	return j->failed;
}

int journal_flush(struct journal *j)
{
	pthread_mutex_lock(&j->grow);
	int rc = dup3(j->seg->fd, j->flushing, O_CLOEXEC) < 0 ? -errno : 0;
	pthread_mutex_unlock(&j->grow);
	return rc == 0 && fdatasync(j->flushing) != 0 ? -errno : rc;
}

/* SYNC_EACH: returns when record SEQ is on the disk. Who waits for the lock is often served by its holder. */
static int flush_to(struct journal *j, uint64_t seq)
{
	int rc = 0;
	pthread_mutex_lock(&j->flush);
	if (j->flushed < seq) {
		uint64_t upto = j->seq; /* read first: what comes later may not be in this flush */
		rc = journal_flush(j);
		if (rc == 0)
			j->flushed = upto;
		else
			journal_stop(j, rc);
	}
	pthread_mutex_unlock(&j->flush);
	return rc;
}

static int made_durable(struct journal *j, uint64_t seq)
{
	if (j->sync == SYNC_EACH)
		return flush_to(j, seq);
	if (j->sync == SYNC_BATCH && !atomic_exchange(&j->dirty, true))
		keeper_wake(j);
	return 0;
}

/* Room for finals is set aside: only they go on after the disk has become full. */
static int refusal(const struct journal *j, unsigned flags)
{
	int failed = j->failed;
	bool full = failed == -ENOSPC || failed == -EDQUOT || failed == -EFBIG;
	return full && flags & APPEND_RESERVED ? 0 : failed;
}

/* NOTE: what was kept for this record (NULL: nothing); the bytes that were set aside for it are its own until it is in. */
static int append(struct journal *j, const struct record *r, unsigned flags, const struct inflight_note *note, uint64_t *seq)
{
	size_t len = record_finish(r), reserved = note ? note->reserved : 0;
	if (!len || len > RECORD_MAX) {
		j->reserved -= reserved;
		return -EMSGSIZE;
	}
	pthread_mutex_lock(&j->lock);
	int rc = refusal(j, flags);
	if (rc == 0)
		rc = append_line(j, r->buf + 1, len, flags, note ? note->after : 0);
	j->reserved -= reserved;
	uint64_t number = j->seq;
	pthread_mutex_unlock(&j->lock);
	if (rc == 0)
		rc = made_durable(j, number);
	if (rc == 0 && seq)
		*seq = number;
	return rc;
}

int journal_append(struct journal *j, struct record *r, uint64_t *seq)
{
	return append(j, r, 0, NULL, seq);
}

/* What was kept for the final record of the intent in SLOT. Of one that stands in the chain everybody sees what is behind it. */
static struct inflight_note take_note(const struct journal *j, uint32_t slot)
{
	if (slot & JOURNAL_IN_CHAIN)
		return (struct inflight_note){ .reserved = slot & ~JOURNAL_IN_CHAIN };
	return inflight_release(j->inflight, slot);
}

int journal_append_final(struct journal *j, struct record *r, uint32_t slot, uint64_t *seq)
{
	struct inflight_note note = take_note(j, slot);
	int rc = append(j, r, APPEND_RESERVED, &note, seq);
	if (rc == 0 && !(slot & JOURNAL_IN_CHAIN))
		inflight_clear(j->inflight, slot);
	return rc;
}

/* What comes before an intent's fields in its slot. */
static size_t intent_head(uint64_t after, struct record_memo *memo, char head[INTENT_HEAD])
{
	char *o = put_literal(head, "{\"intent\":true,\"after\":");
	o = put_number(o, after);
	o = put_literal(o, ",\"time\":\"");
	if (memo)
		stamp_write_memo(&memo->stamp, o, stamp_now());
	else
		stamp_write(o, stamp_now());
	o = put_literal(o + STAMP_LEN, "\",");
	return (size_t)(o - head);
}

static int reserve(struct journal *j, size_t need)
{
	j->reserved += need;
	if (j->reserved <= j->room)
		return 0;
	int rc = keeper_make_room(j, 0);
	if (rc != 0)
		j->reserved -= need;
	return rc;
}

static int intent_in_chain(struct journal *j, const struct record *r, size_t need, uint32_t *slot)
{
	int rc = reserve(j, need);
	if (rc != 0)
		return journal_stop(j, rc);
	rc = append(j, r, APPEND_INTENT, NULL, NULL);
	if (rc != 0)
		j->reserved -= need;
	*slot = JOURNAL_IN_CHAIN | (uint32_t)need;
	return rc;
}

int journal_intent(struct journal *j, const struct record *r, uint32_t *slot)
{
	char head[INTENT_HEAD];
	size_t len = record_finish(r);
	if (!len || len + RESERVE_EXTRA > RECORD_MAX) /* its final record says more */
		return -EMSGSIZE;
	if (j->failed)
		return j->failed;
	size_t need = len + HEAD_MAX + RESERVE_EXTRA;
	uint64_t after = j->seq; /* read before anything is done */
	int rc = inflight_put(j->inflight, head, intent_head(after, r->memo, head), r->buf + 1, len, slot);
	if (rc == -EMSGSIZE || rc == -EBUSY) /* rare: the chain itself is a slot for everybody */
		return intent_in_chain(j, r, need, slot);
	if (rc != 0)
		return journal_stop(j, rc);
	rc = reserve(j, need);
	if (rc == 0 && j->sync == SYNC_EACH)
		rc = inflight_sync(j->inflight);
	if (rc != 0) {
		inflight_clear(j->inflight, *slot);
		return journal_stop(j, rc);
	}
	inflight_reserve(j->inflight, *slot, (struct inflight_note){ need, after });
	return 0;
}

void journal_intent_done(struct journal *j, uint32_t slot)
{
	j->reserved -= take_note(j, slot).reserved;
	if (!j->failed && !(slot & JOURNAL_IN_CHAIN))
		inflight_clear(j->inflight, slot);
}

/* The last record, the last seal, what outsiders are told. */
static int conclude(struct journal *j, struct record *r)
{
	if (j->anchors)
		note_anchor(j, anchors_settle(j->anchors));
	pthread_mutex_lock(&j->lock);
	size_t len = r ? record_finish(r) : 0;
	int rc = refusal(j, APPEND_RESERVED);
	if (len && rc == 0)
		append_line(j, r->buf + 1, len, APPEND_RESERVED, 0);
	struct checkpoint c = { 0 };
	if (rc == 0)
		rc = refusal(j, APPEND_RESERVED);
	if (rc == 0)
		rc = append_seal(j, true);
	if (rc == 0) {
		j->closed = true;
		journal_checkpoint(j, &c);
	}
	pthread_mutex_unlock(&j->lock);
	if (j->anchors && c.seals)
		anchors_send(j->anchors, &c, true); /* the journal is closed: a failure shows in the anchor's absence */
	if (j->sync != SYNC_NONE && fdatasync(j->seg->fd) < 0 && rc == 0)
		rc = -errno;
	return rc;
}

int journal_close(struct journal *j, struct record *r)
{
	if (!j)
		return 0;
	keeper_stop(j);
	int rc = conclude(j, r);
	release(j);
	return rc;
}

int journal_end(struct journal *j, struct record *r)
{
	keeper_still(j);
	int rc = conclude(j, r);
	if (j->closed)
		segment_cut(j->seg);
	if (j->retired)
		segment_cut(j->retired);
	drop_next(j);
	inflight_drop(j->inflight, j->dirfd);
	return rc;
}
