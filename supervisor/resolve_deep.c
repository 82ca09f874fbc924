/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of directories deeper than PATH_MAX, which the kernel does not give as a whole.
 *
 * MUST: a name that was read upwards is believed only when it leads, without links, from the top that the kernel named down to
 * the very directory. Otherwise there is no name, and what needs one is refused.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rules/cleanup.h"
#include "supervisor/resolve_internal.h"
#include "supervisor/session.h"

#define DEEP_ROOM (3 * PATH_MAX)
#define CHUNK (PATH_MAX - NAME_MAX - 2)
#define ENTRIES 100000 /* more in one directory are not searched */
#define KNOWN 8

struct identity {
	dev_t dev;
	ino_t ino;
	uint64_t mount;
};

/*
 * Names that directories had a moment ago. Without them each call on something that deep would read all directories above, up to where the kernel
 * has a name, and a program that goes down or up there would take minutes. They are hints alone: what is made of one is held to the same proof.
 */
struct known {
	struct identity self, up;
	size_t head, len; /* of the part that the kernel named, of the whole */
	char name[DEEP_ROOM];
};

struct deep_names {
	pthread_mutex_t lock;
	unsigned next;
	struct known of[KNOWN];
};

/* A name that is made from its end: TEXT, of LEN, whose first HEAD bytes are the kernel's name of the directory TOP. */
struct ascent {
	struct deep_names *names; /* the session's; NULL: memory ran out */
	char *start, *text;
	size_t head, len;
	int top; /* -1 where the name begins with one from before, which FROM is the place of */
	bool recalled;
	unsigned from;
	struct identity self, up;
};

static bool same_object(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static int open_directory(int at, const char *path)
{
	struct open_how how = { .flags = O_PATH | O_DIRECTORY | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS };
	long fd = syscall(SYS_openat2, at, path, &how, sizeof(how));

	return fd < 0 ? -ENAMETOOLONG : (int)fd;
}

/* The name of directory ST in directory DIR. */
static int entry_name(int dir, const struct stat *st, char out[NAME_MAX + 1])
{
	struct dirent *e;
	struct stat found;
	int rc = -ENAMETOOLONG;
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (!d) {
		if (fd >= 0)
			close(fd);
		return rc;
	}
	for (unsigned n = 0; rc < 0 && n < ENTRIES && (e = readdir(d)); n++) {
		if (e->d_ino != st->st_ino || strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (fstatat(dirfd(d), e->d_name, &found, AT_SYMLINK_NOFOLLOW) == 0 && same_object(&found, st))
			rc = snprintf(out, NAME_MAX + 1, "%s", e->d_name);
	}
	closedir(d);
	return rc;
}

/* The kernel's name of FD into OUT (PATH_MAX bytes); its length, or -ENAMETOOLONG. */
static int short_name(int fd, char *out)
{
	char path[40];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	ssize_t n = readlink(path, out, PATH_MAX);
	return n <= 0 || n == PATH_MAX || out[0] != '/' ? -ENAMETOOLONG : (int)n;
}

/* Whether REST, below TOP, leads to ST. REST is taken apart. */
static int leads_down(int top, char *rest, const struct stat *st)
{
	int at CLEANUP_FD = fcntl(top, F_DUPFD_CLOEXEC, 3);
	struct stat found;

	while (at >= 0 && *rest) {
		size_t len = strlen(rest), cut = len;
		if (len > CHUNK) {
			for (cut = CHUNK; cut && rest[cut] != '/'; cut--)
				;
		}
		char was = rest[cut];
		rest[cut] = '\0';
		int next = open_directory(at, rest);
		rest[cut] = was;
		close(at);
		at = next;
		rest += was ? cut + 1 : cut;
	}
	return at >= 0 && fstat(at, &found) == 0 && same_object(&found, st) ? 0 : -ENAMETOOLONG;
}

static bool identify(int fd, struct identity *id)
{
	struct stat st;

	*id = (struct identity){ .mount = mount_of(fd) };
	if (!id->mount || fstat(fd, &st) < 0)
		return false;
	id->dev = st.st_dev;
	id->ino = st.st_ino;
	return true;
}

static bool same_identity(const struct identity *a, const struct identity *b)
{
	return a->mount && a->mount == b->mount && a->dev == b->dev && a->ino == b->ino;
}

static bool put_before(struct ascent *a, const char *bytes, size_t n, size_t spare)
{
	if ((size_t)(a->text - a->start) < n + spare)
		return false;
	a->text -= n;
	a->len += n;
	memcpy(a->text, bytes, n);
	return true;
}

/* How much of K's name is that of ID, or 0: all of it, or that of the directory above. */
static size_t known_part(const struct known *k, const struct identity *id)
{
	size_t n = k->len;

	if (n && same_identity(&k->self, id))
		return n;
	if (!n || !same_identity(&k->up, id))
		return 0;
	while (k->name[--n] != '/')
		;
	return n > k->head ? n : 0;
}

/* The session's, made when the first is wanted: most sessions never go there. */
static struct deep_names *names_of(struct session *s)
{
	struct deep_names *n = atomic_load_explicit(&s->deep_names, memory_order_acquire), *none = NULL;

	if (n)
		return n;
	n = calloc(1, sizeof(*n));
	if (!n)
		return NULL;
	pthread_mutex_init(&n->lock, NULL);
	if (atomic_compare_exchange_strong(&s->deep_names, &none, n))
		return n;
	free(n);
	return none;
}

/* Puts the name that directory ID had before A's; whether it had one. */
static bool recall(struct ascent *a, const struct identity *id)
{
	struct deep_names *names = a->names;
	bool found = false;

	if (!names)
		return false;
	pthread_mutex_lock(&names->lock);
	for (unsigned i = 0; i < KNOWN && !found; i++) {
		const struct known *k = &names->of[i];
		size_t n = known_part(k, id);

		/* As much is below the head, at most, as climb() makes room for. */
		if (n && a->len + n - k->head <= DEEP_ROOM - PATH_MAX && put_before(a, k->name, n, 0)) {
			a->head = k->head;
			a->from = i;
			found = true;
		}
	}
	pthread_mutex_unlock(&names->lock);
	return found;
}

/* Where SELF's name is kept, or is to be; the lock is held. */
static struct known *place_for(struct deep_names *names, const struct identity *self)
{
	for (unsigned i = 0; i < KNOWN; i++)
		if (same_identity(&names->of[i].self, self))
			return &names->of[i];
	return &names->of[names->next++ % KNOWN];
}

static void remember(const struct ascent *a)
{
	if (!a->names)
		return;
	pthread_mutex_lock(&a->names->lock);
	struct known *k = place_for(a->names, &a->self);
	k->self = a->self;
	k->up = a->up;
	k->head = a->head;
	k->len = a->len;
	memcpy(k->name, a->text, a->len);
	pthread_mutex_unlock(&a->names->lock);
}

/* The name that A began with is nobody's any more. */
static void forget(const struct ascent *a)
{
	pthread_mutex_lock(&a->names->lock);
	a->names->of[a->from].len = 0;
	pthread_mutex_unlock(&a->names->lock);
}

/* Goes up from FD until the kernel, or with HINTS a name from before, tells where; what is below that is A's name then. */
static int climb(struct ascent *a, int fd, bool hints)
{
	char head[PATH_MAX], name[NAME_MAX + 1];
	struct identity id;
	struct stat st;
	int cur CLEANUP_FD = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	int n = -ENAMETOOLONG;

	for (unsigned level = 0; n < 0; level++) {
		if (cur < 0 || fstat(cur, &st) < 0)
			return -ENAMETOOLONG;
		int up = open_directory(cur, "..");
		if (level == 0 && up >= 0)
			identify(up, &a->up);
		if (hints && identify(cur, &id) && recall(a, &id)) {
			if (up >= 0)
				close(up);
			return 0;
		}
		int len = up < 0 ? up : entry_name(up, &st, name);
		if (up >= 0) {
			close(cur);
			cur = up;
		}
		if (len < 0 || !put_before(a, name, (size_t)len, 1 + PATH_MAX) || !put_before(a, "/", 1, PATH_MAX))
			return -ENAMETOOLONG;
		n = short_name(cur, head);
	}
	a->head = n == 1 ? 0 : (size_t)n;
	put_before(a, head, a->head, 0);
	a->top = steal_fd(&cur);
	return 0;
}

/* The directory that the first part of A's name, which is remembered, leads to; the kernel must still name it so. */
static int open_head(struct ascent *a)
{
	char now[PATH_MAX];
	char was = a->text[a->head];

	a->text[a->head] = '\0';
	int fd CLEANUP_FD = open_directory(AT_FDCWD, a->head ? a->text : "/");
	a->text[a->head] = was;
	int n = fd < 0 ? fd : short_name(fd, now);
	return n == (a->head ? (int)a->head : 1) && (!a->head || memcmp(now, a->text, a->head) == 0) ? steal_fd(&fd) : -ENAMETOOLONG;
}

static int ascend(struct ascent *a, int fd, const struct stat *st, bool hints)
{
	int rc = climb(a, fd, hints);

	if (rc < 0)
		return rc;
	a->recalled = a->top < 0;
	int top CLEANUP_FD = a->recalled ? open_head(a) : a->top;
	return top < 0 ? top : leads_down(top, a->text + a->head + 1, st);
}

int resolve_deep_name(struct job *j, int fd, struct text *out)
{
	struct stat st;
	struct text t = job_alloc(j, DEEP_ROOM);
	char *start = job_text(j, t);

	if (!start)
		return -ENOMEM;
	if (fstat(fd, &st) < 0 || !S_ISDIR(st.st_mode))
		return -ENAMETOOLONG;
	start[DEEP_ROOM] = '\0';
	struct ascent fresh = { .names = names_of(j->session), .start = start, .text = start + DEEP_ROOM, .top = -1 };
	identify(fd, &fresh.self);
	struct ascent a = fresh;
	int rc = ascend(&a, fd, &st, true);
	if (rc < 0 && a.recalled) {
		forget(&a);
		a = fresh;
		rc = ascend(&a, fd, &st, false);
	}
	if (rc < 0)
		return rc;
	remember(&a);
	memmove(start, a.text, a.len);
	job_trim(j, &t, a.len);
	*out = t;
	return 0;
}
