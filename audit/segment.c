/* SPDX-License-Identifier: Apache-2.0 */
/* Segments: see segment.h for what they promise. */
#include "audit/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "rules/cleanup.h"
#include "rules/pages.h"

#define FILL (16 * 1024)
#define FILL_PARTS 16
#define LEFT_STEP ((size_t)128 << 10) /* each time costs all threads a flush of their address translations */

void segment_name(char out[SEGMENT_NAME_MAX], uint32_t number)
{
	snprintf(out, SEGMENT_NAME_MAX, "journal-%06u.jsonl", number);
}

/* Only file systems known to be good. */
bool segment_may_map(int fd)
{
	struct statfs st;
	if (fstatfs(fd, &st) != 0)
		return false;
	switch ((unsigned long)st.f_type) {
	case EXT4_SUPER_MAGIC:
	case TMPFS_MAGIC:
	case XFS_SUPER_MAGIC:
	case OVERLAYFS_SUPER_MAGIC:
		return true;
	default:
		return false;
	}
}

static int create(int dir, const char *name, uint32_t number, struct segment **out)
{
	CLEANUP_FREE struct segment *s = calloc(1, sizeof *s);
	if (!s)
		return -ENOMEM;
	s->number = number;
	s->fd = openat(dir, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (s->fd < 0)
		return -errno;
	/* Whoever makes it in a burst has a caller's umask. */
	(void)fchmod(s->fd, 0600);
	if (segment_may_map(s->fd)) {
		void *map = mmap(NULL, SEGMENT_MAX, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, 0);
		s->map = map == MAP_FAILED ? NULL : map;
	}
	if (s->map) /* a child between fork and exec has no business here */
		madvise(s->map, SEGMENT_MAX, MADV_DONTFORK);
	*out = steal_pointer(&s);
	return 0;
}

int segment_create(int dir, uint32_t number, struct segment **out)
{
	char name[SEGMENT_NAME_MAX];
	segment_name(name, number);
	return create(dir, name, number, out);
}

static int fill(int fd, size_t offset, size_t n)
{
	char blank[FILL];
	struct iovec part[FILL_PARTS];
	memset(blank, '\n', sizeof blank);
	while (n) {
		size_t left = n;
		int parts = 0;
		for (; parts < FILL_PARTS && left; parts++) {
			part[parts] = (struct iovec){ blank, left < FILL ? left : FILL };
			left -= part[parts].iov_len;
		}
		ssize_t done = pwritev(fd, part, parts, (off_t)offset);
		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -errno;
		if (done == 0)
			return -ENOSPC;
		offset += (size_t)done;
		n -= (size_t)done;
	}
	return 0;
}

/* Beyond RLIMIT_FSIZE the kernel sends SIGXFSZ to the writing thread: it is blocked, and taken back when it came. */
int segment_fill(int fd, size_t offset, size_t n)
{
	sigset_t block, before;
	sigemptyset(&block);
	sigaddset(&block, SIGXFSZ);
	pthread_sigmask(SIG_BLOCK, &block, &before);
	int rc = fill(fd, offset, n);
	if (rc == -EFBIG && !sigismember(&before, SIGXFSZ))
		sigtimedwait(&block, NULL, &(struct timespec){ 0 });
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc;
}

/* What is written is never looked at again: it need not count as this process's memory. The file keeps it. */
static void let_go(struct segment *s)
{
	size_t upto = s->used & ~(size_t)4095;
	if (!s->map || upto < s->left + LEFT_STEP)
		return;
	madvise(s->map + s->left, upto - s->left, MADV_DONTNEED);
	s->left = upto;
}

int segment_extend(struct segment *s, size_t upto)
{
	size_t from = s->allocated;
	if (upto > SEGMENT_MAX)
		upto = SEGMENT_MAX;
	if (upto <= from)
		return 0;
	int rc = segment_fill(s->fd, from, upto - from);
	if (rc != 0)
		return rc;
	/* Faults the pages in here, so that appending does not; EINVAL on older kernels is no loss. */
	if (s->map) {
		size_t page = from & ~(size_t)4095;
		if (madvise(s->map + page, upto - page, MADV_POPULATE_WRITE) != 0 && errno == EFAULT)
			return -ENOSPC;
	}
	s->allocated = upto;
	let_go(s);
	return 0;
}

typedef uint8_t piece __attribute__((vector_size(16)));
typedef piece __attribute__((may_alias, aligned(1))) piece_at;

static void copy_piece(char *to, const char *from)
{
	piece p;
	memcpy(&p, from, sizeof p);
	*(volatile piece_at *)to = p;
}

int segment_first(int dir, size_t upto, struct segment **out)
{
	char name[SEGMENT_NAME_MAX];
	struct segment *s = NULL;
	segment_name(name, 1);
	int rc = create(dir, SEGMENT_UNNAMED, 1, &s);
	if (rc != 0)
		return rc;
	rc = segment_extend(s, upto);
	if (rc == 0 && renameat(dir, SEGMENT_UNNAMED, dir, name) < 0)
		rc = -errno;
	if (rc != 0) {
		unlinkat(dir, SEGMENT_UNNAMED, 0);
		segment_leave(s);
		return rc;
	}
	*out = s;
	return 0;
}

/* The last piece overlaps the one before it: the same bytes again. */
void segment_copy(char *to, const char *from, size_t n)
{
	size_t at = 0;
	for (; n - at >= sizeof(piece); at += sizeof(piece))
		copy_piece(to + at, from + at);
	if (at == n)
		return;
	if (at)
		copy_piece(to + n - sizeof(piece), from + n - sizeof(piece));
	else
		for (; at < n; at++)
			((volatile char *)to)[at] = from[at];
}

static int put_written(struct segment *s, const char *head, size_t head_len, const char *body, size_t body_len)
{
	struct iovec part[2] = { { (void *)(uintptr_t)head, head_len }, { (void *)(uintptr_t)body, body_len } };
	ssize_t done;
	do
		done = pwritev(s->fd, part, 2, (off_t)s->used);
	while (done < 0 && errno == EINTR);
	if (done < 0)
		return -errno;
	return (size_t)done == head_len + body_len ? 0 : -EIO;
}

int segment_put(struct segment *s, const char *head, size_t head_len, const char *body, size_t body_len)
{
	size_t used = s->used;
	if (s->map) {
		char *at = s->map + used;
		segment_copy(at + 1, head + 1, head_len - 1);
		segment_copy(at + head_len, body, body_len);
		atomic_signal_fence(memory_order_seq_cst);
		__atomic_store_n(at, head[0], __ATOMIC_RELEASE);
	} else {
		int rc = put_written(s, head, head_len, body, body_len);
		if (rc != 0)
			return rc;
	}
	s->used = used + head_len + body_len + 1; /* the newline is there already */
	return 0;
}

void segment_leave(struct segment *s)
{
	if (!s)
		return;
	if (s->map)
		munmap(s->map, SEGMENT_MAX);
	close(s->fd);
	free(s);
}

int segment_cut(const struct segment *s)
{
	return ftruncate(s->fd, (off_t)s->used) == 0 ? 0 : -errno;
}

int segment_close(struct segment *s)
{
	if (!s)
		return 0;
	int rc = segment_cut(s);
	segment_leave(s);
	return rc;
}
