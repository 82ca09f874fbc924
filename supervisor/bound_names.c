/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/bound_names.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>

#include "rules/cleanup.h"
#include "supervisor/compat.h"
#include "supervisor/sock_diag.h"

#define ANSWER 1024
#define MOST 4096 /* beyond these the oldest is forgotten */

/* What the kernel tells a file by from all others that have its number before or later. No bytes: the file system, or a filter around usher, gives none. */
struct handle {
	struct file_handle head;
	unsigned char bytes[MAX_HANDLE_SZ];
};

/* A file. Without a handle another one that has its number is told by when it was made, to a tick of the kernel's clock. */
struct bound {
	uint64_t dev, ino;
	struct timespec when;
	struct handle handle;
};

struct bound_names {
	pthread_mutex_t lock;
	struct sock_diag *diag;
	size_t n; /* ever added */
	struct bound item[MOST];
};

int bound_names_new(struct sock_diag *diag, struct bound_names **out)
{
	struct bound_names *b = calloc(1, sizeof(*b));

	if (!b)
		return -ENOMEM;
	pthread_mutex_init(&b->lock, NULL);
	b->diag = diag;
	*out = b;
	return 0;
}

struct question {
	struct nlmsghdr head;
	struct unix_diag_req body;
};

static bool about(int sock, struct question *q)
{
	uint64_t cookie;
	socklen_t len = sizeof(cookie);
	struct stat st;

	if (fstat(sock, &st) < 0 || getsockopt(sock, SOL_SOCKET, SO_COOKIE, &cookie, &len) < 0)
		return false;
	*q = (struct question){
		.head = { .nlmsg_len = sizeof(*q), .nlmsg_type = SOCK_DIAG_BY_FAMILY, .nlmsg_flags = NLM_F_REQUEST },
		.body = { .sdiag_family = AF_UNIX, .udiag_states = UINT32_MAX, .udiag_ino = (uint32_t)st.st_ino, .udiag_show = UDIAG_SHOW_VFS,
			  .udiag_cookie = { (uint32_t)cookie, (uint32_t)(cookie >> 32) } },
	};
	return true;
}

/* What the kernel says of SOCK: the bytes that are there, or a negative errno. */
static ssize_t ask(struct sock_diag *diag, int sock, struct nlmsghdr *answer, size_t cap)
{
	struct question q;

	if (!about(sock, &q))
		return -errno;
	ssize_t n = sock_diag_ask(diag, &q.head, answer, cap);
	if (n < 0)
		return n;
	return answer->nlmsg_type == SOCK_DIAG_BY_FAMILY && (size_t)n >= NLMSG_LENGTH(sizeof(struct unix_diag_msg)) ? n : -EPROTO;
}

int bound_names_told(struct sock_diag *diag)
{
	_Alignas(struct nlmsghdr) char answer[ANSWER];
	int sock CLEANUP_FD = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	ssize_t n = sock < 0 ? -errno : ask(diag, sock, (struct nlmsghdr *)answer, sizeof(answer));

	return n < 0 ? (int)n : 0;
}

static bool found_in(const struct nlmsghdr *h, uint32_t *ino)
{
	struct unix_diag_vfs vfs;
	size_t left = h->nlmsg_len - NLMSG_LENGTH(sizeof(struct unix_diag_msg));
	const struct rtattr *a = (const struct rtattr *)((const char *)NLMSG_DATA(h) + NLMSG_ALIGN(sizeof(struct unix_diag_msg)));
	for (; RTA_OK(a, left); a = RTA_NEXT(a, left)) {
		if (a->rta_type != UNIX_DIAG_VFS || RTA_PAYLOAD(a) < sizeof(vfs))
			continue;
		memcpy(&vfs, RTA_DATA(a), sizeof(vfs));
		*ino = vfs.udiag_vfs_ino;
		return true;
	}
	return false;
}

/* Whether INO is the number of the file that the kernel finds SOCK by: its own word, whatever has the name by now. */
static bool is_file_of(struct bound_names *b, int sock, uint64_t ino)
{
	_Alignas(struct nlmsghdr) char answer[ANSWER];
	uint32_t found;

	return ask(b->diag, sock, (struct nlmsghdr *)answer, sizeof(answer)) > 0 && found_in((const struct nlmsghdr *)answer, &found) &&
	       found == (uint32_t)ino;
}

static void handle_of(int dir, const char *leaf, int flags, struct handle *h)
{
	int mount;

	memset(h, 0, sizeof(*h));
	h->head.handle_bytes = sizeof(h->bytes);
	if (name_to_handle_at(dir, leaf, &h->head, &mount, flags) == 0)
		return;
	h->head.handle_bytes = sizeof(h->bytes);
	if (name_to_handle_at(dir, leaf, &h->head, &mount, flags | AT_HANDLE_FID) < 0)
		memset(h, 0, sizeof(*h));
}

static bool same_handle(const struct handle *a, const struct handle *b)
{
	return memcmp(a, b, sizeof(a->head) + b->head.handle_bytes) == 0;
}

void bound_names_add(struct bound_names *b, int sock, int dir, const char *leaf)
{
	struct bound one;
	struct stat st;

	if (!b || fstatat(dir, leaf, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISSOCK(st.st_mode))
		return;
	one = (struct bound){ .dev = st.st_dev, .ino = st.st_ino };
	/* If another file has the name by now, what is kept is none's. */
	handle_of(dir, leaf, 0, &one.handle);
	pthread_mutex_lock(&b->lock);
	/* Numbers of one file system: nothing moves into a directory from another. */
	if (is_file_of(b, sock, one.ino)) {
		clock_gettime(CLOCK_REALTIME, &one.when);
		b->item[b->n++ % MOST] = one;
	}
	pthread_mutex_unlock(&b->lock);
}

static bool earlier(const struct statx_timestamp *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : (long)a->tv_nsec <= b->tv_nsec;
}

/* Whether one is kept that is described by ST, and by H (NULL: whatever its handle is). */
static bool is_kept(struct bound_names *b, const struct statx *st, const struct handle *h)
{
	/* Where nothing tells when it was made: not after it was changed. */
	const struct statx_timestamp *made = st->stx_mask & STATX_BTIME ? &st->stx_btime : &st->stx_ctime;
	const uint64_t dev = makedev(st->stx_dev_major, st->stx_dev_minor);
	bool found = false;

	pthread_mutex_lock(&b->lock);
	const size_t kept = b->n < MOST ? b->n : MOST;
	for (size_t i = 0; i < kept && !found; i++) {
		const struct bound *one = &b->item[i];
		found = one->ino == st->stx_ino && one->dev == dev && earlier(made, &one->when) && (!h || same_handle(h, &one->handle));
	}
	pthread_mutex_unlock(&b->lock);
	return found;
}

bool bound_names_has(struct bound_names *b, int file)
{
	struct statx st;
	struct handle handle;

	if (!b || file < 0 || statx(file, "", AT_EMPTY_PATH, STATX_INO | STATX_BTIME | STATX_CTIME, &st) < 0 || !is_kept(b, &st, NULL))
		return false;
	handle_of(file, "", AT_EMPTY_PATH, &handle);
	return is_kept(b, &st, &handle);
}

bool bound_names_at(struct bound_names *b, int dir, const char *name)
{
	int file CLEANUP_FD = b ? openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC) : -1;

	return bound_names_has(b, file);
}
