/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keeper: one helper thread that has room ready before it is needed, closes full
 * segments, seals epochs and flushes, so that nobody who appends has to. It also sees when the journal was removed.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "audit/journal_state.h"
#include "rules/cleanup.h"
#include "rules/clock.h"

#define KEEPER_STACK ((size_t)256 << 10)
#define LARGE_SEGMENTS 4 /* 256 MB */
#define SPARE_PART 20 /* of the file system */
#define SPARE_MOST ((uint64_t)1 << 30)

/* The clock that records are stamped with may be set back while a flush or a seal is due. */
uint64_t keeper_now(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/* Small while the session is small, then ahead of any burst. With grow held. */
static size_t next_size(const struct segment *s, size_t need)
{
	size_t step = s->used * 2 < CHUNK_FIRST ? CHUNK_FIRST : s->used * 2 < CHUNK ? s->used * 2 : CHUNK;
	size_t upto = s->allocated + (step > need ? step : need);
	return upto < SEGMENT_MAX ? upto : SEGMENT_MAX;
}

/*
 * Whoever may write nothing can still fill the journal, by what is refused. A large one leaves others some room: it is as full then as if the disk were.
 * The last of a small disk, or of a short session, is the journal's.
 */
static bool takes_too_much(const struct journal *j)
{
	struct statvfs st;

	if (j->seg->number <= LARGE_SEGMENTS || fstatvfs(j->dirfd, &st) != 0)
		return false;
	uint64_t spare = (uint64_t)st.f_blocks * st.f_frsize / SPARE_PART;
	return (uint64_t)st.f_bavail * st.f_frsize < (spare < SPARE_MOST ? spare : SPARE_MOST);
}

static int make_next(struct journal *j)
{
	if (j->next)
		return 0;
	if (takes_too_much(j))
		return -ENOSPC;
	struct segment *s = NULL;
	int rc = segment_create(j->dirfd, j->seg->number + 1, &s);
	if (rc != 0)
		return rc;
	rc = segment_extend(s, CHUNK);
	if (rc != 0) {
		char name[SEGMENT_NAME_MAX];
		segment_name(name, s->number);
		segment_close(s);
		unlinkat(j->dirfd, name, 0);
		return rc;
	}
	j->next = s;
	return 0;
}

static int extend(struct journal *j, size_t need)
{
	if (takes_too_much(j))
		return -ENOSPC;
	size_t before = j->seg->allocated, spoken = j->reserved, room = j->room;
	size_t want = need + spoken > room ? need + spoken - room : 0;
	int rc = segment_extend(j->seg, next_size(j->seg, want));
	if (rc != 0 && want) /* the last bytes of a disk in smaller steps */
		rc = segment_extend(j->seg, before + want);
	j->room += j->seg->allocated - before;
	return rc;
}

int keeper_make_room(struct journal *j, size_t need)
{
	int rc = 0;
	pthread_mutex_lock(&j->grow);
	if (need + j->reserved > j->room && j->seg->allocated < SEGMENT_MAX)
		rc = extend(j, need);
	if (rc == 0 && need + j->reserved > j->room)
		rc = make_next(j);
	pthread_mutex_unlock(&j->grow);
	return rc;
}

static void retire(struct journal *j, struct segment *old)
{
	segment_close(j->retired); /* a second one before the keeper came: close the first here */
	j->retired = old;
}

int keeper_rotate(struct journal *j)
{
	pthread_mutex_lock(&j->grow);
	int rc = make_next(j);
	if (rc == 0 && j->sync != SYNC_NONE && (fdatasync(j->seg->fd) != 0 || fsync(j->dirfd) != 0))
		rc = -errno;
	if (rc == 0) {
		retire(j, j->seg);
		j->seg = j->next;
		j->next = NULL;
		j->room = j->seg->allocated;
	}
	pthread_mutex_unlock(&j->grow);
	keeper_wake(j);
	return rc;
}

void keeper_wake(struct journal *j)
{
	if (!atomic_exchange(&j->woken, true))
		sem_post(&j->wake);
}

bool keeper_wants_room(const struct journal *j)
{
	size_t low = j->seg->used < LOW_WATER ? j->seg->used : LOW_WATER;
	return j->room < low && j->seg->used > CHUNK_FIRST / 2;
}

/*
 * A device can fail, or have no room, when the kernel writes what was put into its memory long ago. Where nobody flushes nobody is told: it is asked for, of
 * the first page, for which there is nothing to wait. What does not know the question cannot say.
 */
static int written(int fd)
{
	if (sync_file_range(fd, 0, 1, SYNC_FILE_RANGE_WAIT_BEFORE) == 0)
		return 0;
	return errno == ENOSYS || errno == EPERM || errno == EINVAL || errno == ESPIPE ? 0 : -errno;
}

/* Room ahead of use, and the full segment closed. A failure here is met again, and told, by who appends. */
static void tend(struct journal *j)
{
	pthread_mutex_lock(&j->grow);
	struct segment *old = j->retired;
	int rc;
	j->retired = NULL;
	if (keeper_wants_room(j) && j->seg->allocated < SEGMENT_MAX)
		extend(j, 0);
	if (j->seg->used > SEGMENT_MAX / 4 * 3)
		make_next(j);
	pthread_mutex_unlock(&j->grow);
	if (old && j->sync == SYNC_NONE && (rc = written(old->fd)) != 0)
		journal_stop(j, rc);
	segment_close(old);
}

static bool seal_is_due(const struct journal *j)
{
	uint64_t since = j->first_unsealed;
	return since && (j->unsealed >= SEAL_RECORDS || keeper_now() - since >= SEAL_NS);
}

static void seal(struct journal *j)
{
	if (j->failed || !seal_is_due(j))
		return;
	epoch_prepare(j->epoch); /* the next key is this thread's business until the seal names it */
	struct checkpoint c = { 0 };
	pthread_mutex_lock(&j->lock);
	if (!j->failed && append_seal(j, false) == 0)
		journal_checkpoint(j, &c);
	pthread_mutex_unlock(&j->lock);
	j->dirty = true; /* a seal is worth as much as the records it is about */
	if (j->anchors && c.seals)
		journal_anchor(j, &c, false);
}

/* Somebody removed the segment, or the slots of what is under way: what is written there now, nobody will ever read. */
static void miss(struct journal *j)
{
	struct stat st;
	pthread_mutex_lock(&j->grow);
	bool gone = fstat(j->seg->fd, &st) == 0 && st.st_nlink == 0;
	pthread_mutex_unlock(&j->grow);
	if (gone || inflight_gone(j->inflight))
		journal_stop(j, -ENOENT);
}

static void check_written(struct journal *j)
{
	if (j->sync != SYNC_NONE || j->failed)
		return;
	pthread_mutex_lock(&j->grow);
	bool held = dup3(j->seg->fd, j->flushing, O_CLOEXEC) >= 0; /* else the next time will do */
	pthread_mutex_unlock(&j->grow);
	int rc = held ? written(j->flushing) : 0;
	if (rc != 0)
		journal_stop(j, rc);
}

static void flush(struct journal *j)
{
	if (j->sync != SYNC_BATCH || !j->dirty || keeper_now() < j->next_flush)
		return;
	j->dirty = false;
	j->next_flush = keeper_now() + BATCH_NS;
	int rc = journal_flush(j);
	if (rc != 0)
		journal_stop(j, rc);
}

/* Only while the session goes on: a short one ends without it. Read as a whole by whoever owns the file. */
static bool hash_program(const struct journal *j, char hex[DIGEST_HEX])
{
	CLEANUP_FD int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	unsigned char part[16384];
	struct digest hash;
	struct sha256_ctx ctx;
	ssize_t n = -1;
	sha256_init(&ctx);
	while (fd >= 0 && !j->stop && (n = read(fd, part, sizeof part)) > 0)
		sha256_update(&ctx, (size_t)n, part);
	sha256_digest(&ctx, sizeof hash.bytes, hash.bytes);
	hex_write(hex, hash.bytes, sizeof hash.bytes);
	return n == 0;
}

static void name_program(struct journal *j)
{
	char buf[512], hex[DIGEST_HEX];
	struct record r;
	uint64_t due = j->program_due;
	if (!due || keeper_now() < due)
		return;
	j->program_due = 0;
	if (!hash_program(j, hex))
		return;
	record_begin(&r, buf, sizeof buf, "note");
	record_text(&r, "event", "program");
	record_bytes(&r, "hash", (struct span){ hex, sizeof hex });
	journal_append(j, &r, NULL);
}

void journal_name_program(struct journal *j)
{
	j->program_due = keeper_now() + PROGRAM_NS;
	keeper_wake(j);
}

/* The time until DUE where that is sooner than WAIT (0: for ever). */
static uint64_t sooner(uint64_t wait, uint64_t due, uint64_t now)
{
	uint64_t left = due > now ? due - now : 1;
	return !wait || left < wait ? left : wait;
}

/* How long to sleep: until the epoch is old enough, or a batch is to be flushed; 0: until woken. */
static uint64_t patience(const struct journal *j)
{
	uint64_t since = j->first_unsealed, program = j->program_due, now = keeper_now(), wait = 0;
	if (j->failed)
		return 0;
	if (j->sync == SYNC_BATCH && j->dirty)
		wait = sooner(wait, j->next_flush, now);
	if (since)
		wait = sooner(wait, since + SEAL_NS, now);
	return program ? sooner(wait, program, now) : wait;
}

static void wait_for_work(struct journal *j)
{
	struct timespec t;
	uint64_t ns = patience(j);
	if (!ns) {
		while (sem_wait(&j->wake) != 0 && errno == EINTR)
			;
		return;
	}
	clock_gettime(CLOCK_MONOTONIC, &t);
	ns += (uint64_t)t.tv_nsec;
	t.tv_sec += (time_t)(ns / 1000000000);
	t.tv_nsec = (long)(ns % 1000000000);
	while (sem_clockwait(&j->wake, CLOCK_MONOTONIC, &t) != 0 && errno == EINTR)
		;
}

/* What the first calls need not wait for. */
static void begin(struct journal *j)
{
	epoch_prepare(j->epoch);
	inflight_grow(j->inflight);
}

static void *keep(void *context)
{
	struct journal *j = context;
	pthread_mutex_lock(&j->tended);
	if (!j->stop)
		begin(j);
	while (!j->stop) {
		pthread_mutex_unlock(&j->tended);
		wait_for_work(j);
		pthread_mutex_lock(&j->tended);
		if (j->stop)
			break;
		j->woken = false;
		tend(j);
		miss(j);
		check_written(j);
		seal(j);
		flush(j);
		name_program(j);
	}
	pthread_mutex_unlock(&j->tended);
	return NULL;
}

int keeper_start(struct journal *j)
{
	sigset_t all, before;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are for the other threads */
	pthread_attr_t attr;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, KEEPER_STACK); /* where there is hardly any memory */
	int rc = pthread_create(&j->keeper, &attr, keep, j);
	pthread_attr_destroy(&attr);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	j->keeper_runs = rc == 0;
	return -rc;
}

void keeper_stop(struct journal *j)
{
	if (!j->keeper_runs)
		return;
	j->stop = true;
	sem_post(&j->wake);
	pthread_join(j->keeper, NULL);
	j->keeper_runs = false;
}

void keeper_still(struct journal *j)
{
	j->stop = true;
	pthread_mutex_lock(&j->tended);
	pthread_mutex_unlock(&j->tended);
}
