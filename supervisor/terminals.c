/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/terminals.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "rules/cleanup.h"

#define PTS_FIRST 136U
#define PTS_LAST 143U
#define MOST 4096 /* as many as the kernel makes by default */

/* A terminal by its file system and number; by its number alone where it is no pseudo-terminal. */
struct terminal {
	dev_t dev;
	dev_t rdev;
	int fd; /* path descriptor, -1: it cannot end */
};

struct terminals {
	pthread_mutex_t lock;
	size_t n, room;
	struct terminal *item;
};

static bool pseudo(dev_t rdev)
{
	return major(rdev) >= PTS_FIRST && major(rdev) <= PTS_LAST;
}

static bool ended(const struct terminal *t)
{
	struct stat st;

	return t->fd >= 0 && (fstat(t->fd, &st) < 0 || st.st_nlink == 0);
}

/* The place of one that has ended, or a new one; NULL when there is no room. */
static struct terminal *place_locked(struct terminals *t)
{
	for (size_t i = 0; i < t->n; i++) {
		if (!ended(&t->item[i]))
			continue;
		cleanup_fd(&t->item[i].fd);
		return &t->item[i];
	}
	if (t->n == t->room) {
		size_t room = t->room ? 2 * t->room : 8;
		struct terminal *more = room > MOST ? NULL : realloc(t->item, room * sizeof(*more));
		if (!more)
			return NULL;
		t->item = more;
		t->room = room;
	}
	return &t->item[t->n++];
}

/* Takes FD. */
static void keep(struct terminals *t, int fd)
{
	int own CLEANUP_FD = fd;
	struct stat st;

	if (own < 0 || fstat(own, &st) < 0 || !S_ISCHR(st.st_mode))
		return;
	pthread_mutex_lock(&t->lock);
	struct terminal *at = place_locked(t);
	if (at)
		*at = (struct terminal){ st.st_dev, st.st_rdev, pseudo(st.st_rdev) ? steal_fd(&own) : -1 };
	pthread_mutex_unlock(&t->lock);
}

static void keep_behind(struct terminals *t, int fd)
{
	char path[40];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (fd >= 0 && isatty(fd))
		keep(t, open(path, O_PATH | O_CLOEXEC));
}

/* What /dev/tty stands for has a number, and pseudo-terminals a name by it. */
static void keep_controlling(struct terminals *t)
{
	int tty CLEANUP_FD = open("/dev/tty", O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	unsigned packed;
	char name[40];

	if (tty < 0 || ioctl(tty, TIOCGDEV, &packed) < 0)
		return;
	unsigned high = (packed >> 8) & 0xfff, low = (packed & 0xff) | ((packed >> 12) & 0xfff00);
	if (high < PTS_FIRST || high > PTS_LAST)
		return;
	snprintf(name, sizeof(name), "/dev/pts/%u", (high - PTS_FIRST) * 256 + low);
	keep(t, open(name, O_PATH | O_NOFOLLOW | O_CLOEXEC));
}

int terminals_new(int relay, struct terminals **out)
{
	struct terminals *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	pthread_mutex_init(&t->lock, NULL);
	for (int fd = 0; fd < 3; fd++)
		keep_behind(t, fd);
	keep_behind(t, relay);
	keep_controlling(t);
	*out = t;
	return 0;
}

bool terminals_maker(const struct stat *st)
{
	return S_ISCHR(st->st_mode) && st->st_rdev == makedev(5, 2);
}

/*
 * The other end as the kernel knows it. By a name it might be another file system's: the maker may lie below a directory that came from
 * another mount namespace. As a path: opening it otherwise would be noticed.
 */
void terminals_made(struct terminals *t, int master)
{
	if (t)
		keep(t, ioctl(master, TIOCGPTPEER, O_PATH | O_CLOEXEC));
}

bool terminals_own(struct terminals *t, const struct stat *st)
{
	bool own = false;

	if (!t || !S_ISCHR(st->st_mode))
		return false;
	pthread_mutex_lock(&t->lock);
	for (size_t i = 0; i < t->n && !own; i++) {
		const struct terminal *at = &t->item[i];
		own = at->rdev == st->st_rdev && (at->fd < 0 || (at->dev == st->st_dev && !ended(at)));
	}
	pthread_mutex_unlock(&t->lock);
	return own;
}
