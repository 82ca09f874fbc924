/* SPDX-License-Identifier: Apache-2.0 */
/* The slots of operations in flight: see inflight.h. */
#include "audit/inflight.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/segment.h"
#include "rules/cleanup.h"

#define WORD_BITS 64
#define WORDS (INFLIGHT_SLOTS / WORD_BITS)
#define SIZE ((size_t)INFLIGHT_SLOTS * INFLIGHT_SLOT)

/* The slots beyond the first count as used until they are there. */
#define NOT_THERE (~UINT64_C(0) << INFLIGHT_FIRST)
_Static_assert(WORDS == 1 && INFLIGHT_FIRST < WORD_BITS, "one word of slots");

struct inflight {
	int fd;
	char *map; /* NULL: written with pwrite() */
	_Atomic uint64_t used[WORDS];
	struct inflight_note note[INFLIGHT_SLOTS]; /* each belongs to the slot's owner */
	uint16_t len[INFLIGHT_SLOTS];
	atomic_bool grown;               /* all slots are there, not only the first */
};

static int prepare(struct inflight *f)
{
	int rc = segment_fill(f->fd, 0, (size_t)INFLIGHT_FIRST * INFLIGHT_SLOT);
	if (rc != 0 || !segment_may_map(f->fd))
		return rc;
	void *map = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, f->fd, 0);
	if (map == MAP_FAILED)
		return 0;
	f->map = map;
	madvise(map, SIZE, MADV_DONTFORK);
	return 0;
}

int inflight_create(int dir, struct inflight **out)
{
	CLEANUP_FREE struct inflight *f = calloc(1, sizeof *f);
	if (!f)
		return -ENOMEM;
	f->fd = openat(dir, INFLIGHT_NAME, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (f->fd < 0)
		return -errno;
	f->used[0] = NOT_THERE;
	int rc = prepare(f);
	if (rc != 0) {
		unlinkat(dir, INFLIGHT_NAME, 0);
		close(f->fd);
		return rc;
	}
	*out = steal_pointer(&f);
	return 0;
}

void inflight_grow(struct inflight *f)
{
	size_t first = (size_t)INFLIGHT_FIRST * INFLIGHT_SLOT;
	if (f->grown || segment_fill(f->fd, first, SIZE - first) != 0)
		return;
	atomic_fetch_and(&f->used[0], ~NOT_THERE);
	f->grown = true;
}

bool inflight_grown(const struct inflight *f)
{
	return f->grown;
}

bool inflight_gone(const struct inflight *f)
{
	struct stat st;

	return fstat(f->fd, &st) == 0 && st.st_nlink == 0;
}

static bool claim(struct inflight *f, uint32_t *slot)
{
	for (uint32_t w = 0; w < WORDS; w++) {
		uint64_t used = atomic_load_explicit(&f->used[w], memory_order_relaxed);
		while (~used) {
			unsigned bit = (unsigned)__builtin_ctzll(~used);
			if (atomic_compare_exchange_weak(&f->used[w], &used, used | UINT64_C(1) << bit)) {
				*slot = w * WORD_BITS + bit;
				return true;
			}
		}
	}
	return false;
}

static void unclaim(struct inflight *f, uint32_t slot)
{
	atomic_fetch_and(&f->used[slot / WORD_BITS], ~(UINT64_C(1) << slot % WORD_BITS));
}

static int write_at(int fd, const char *bytes, size_t n, off_t at)
{
	ssize_t done;
	do
		done = pwrite(fd, bytes, n, at);
	while (done < 0 && errno == EINTR);
	if (done < 0)
		return -errno;
	return (size_t)done == n ? 0 : -EIO;
}

static int put_written(struct inflight *f, uint32_t slot, const char *head, size_t head_len, const char *body, size_t body_len)
{
	off_t at = (off_t)slot * INFLIGHT_SLOT;
	int rc = write_at(f->fd, head + 1, head_len - 1, at + 1);
	if (rc == 0)
		rc = write_at(f->fd, body, body_len, at + (off_t)head_len);
	return rc == 0 ? write_at(f->fd, head, 1, at) : rc;
}

int inflight_put(struct inflight *f, const char *head, size_t head_len, const char *body, size_t body_len, uint32_t *slot)
{
	uint32_t s;
	if (head_len + body_len >= INFLIGHT_SLOT)
		return -EMSGSIZE;
	if (!claim(f, &s))
		return -EBUSY;
	f->len[s] = (uint16_t)(head_len + body_len);
	f->note[s] = (struct inflight_note){ 0 };
	if (f->map) {
		char *at = f->map + (size_t)s * INFLIGHT_SLOT;
		memcpy(at + 1, head + 1, head_len - 1);
		memcpy(at + head_len, body, body_len);
		atomic_signal_fence(memory_order_seq_cst);
		__atomic_store_n(at, head[0], __ATOMIC_RELEASE);
	} else {
		int rc = put_written(f, s, head, head_len, body, body_len);
		if (rc != 0) {
			inflight_clear(f, s);
			return rc;
		}
	}
	*slot = s;
	return 0;
}

void inflight_reserve(struct inflight *f, uint32_t slot, struct inflight_note note)
{
	f->note[slot] = note;
}

struct inflight_note inflight_release(struct inflight *f, uint32_t slot)
{
	struct inflight_note note = f->note[slot];
	f->note[slot] = (struct inflight_note){ 0 };
	return note;
}

/* The whole line goes, not only its '{': what is left in the file are blank lines. */
void inflight_clear(struct inflight *f, uint32_t slot)
{
	size_t len = f->len[slot];
	if (f->map) {
		char *at = f->map + (size_t)slot * INFLIGHT_SLOT;
		__atomic_store_n(at, '\n', __ATOMIC_RELEASE);
		atomic_signal_fence(memory_order_seq_cst);
		memset(at + 1, '\n', len - 1);
	} else {
		/* What cannot be cleared stays as evidence of an operation that was also recorded: no harm. */
		segment_fill(f->fd, (size_t)slot * INFLIGHT_SLOT, len);
	}
	unclaim(f, slot);
}

int inflight_sync(struct inflight *f)
{
	return fdatasync(f->fd) == 0 ? 0 : -errno;
}

void inflight_drop(const struct inflight *f, int dir)
{
	uint64_t used = 0;
	for (unsigned w = 0; w < WORDS; w++)
		used |= f->used[w];
	if (!f->grown)
		used &= ~NOT_THERE;
	if (!used)
		unlinkat(dir, INFLIGHT_NAME, 0);
}

void inflight_close(struct inflight *f, int dir)
{
	if (!f)
		return;
	inflight_drop(f, dir);
	if (f->map)
		munmap(f->map, SIZE);
	close(f->fd);
	free(f);
}
