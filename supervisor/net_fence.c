/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MUST: the thread that walks the program's bytes can create a socket below the
 * decided directory alone, where Landlock exists; what it made is looked for in that directory.
 */
#include "supervisor/net_fence.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rules/cleanup.h"
#include "supervisor/own_fs.h"

struct attempt {
	const struct fence *f;
	int result;
	bool astray; /* bound, but nothing is there now and the bytes do not lead there any more */
};

/* Splits the said path: *parent is what comes before the last component; false when there is only one. */
static bool parent_of(const struct sockaddr_un *addr, socklen_t len, char parent[sizeof(addr->sun_path) + 1])
{
	size_t n = strnlen(addr->sun_path, len - offsetof(struct sockaddr_un, sun_path));

	while (n > 1 && addr->sun_path[n - 1] == '/')
		n--;
	while (n && addr->sun_path[n - 1] != '/')
		n--;
	if (!n)
		return false;
	memcpy(parent, addr->sun_path, n);
	parent[n] = '\0';
	return true;
}

static bool leads_to(const char *parent, int dir)
{
	struct stat there, want;

	return stat(parent, &there) == 0 && fstat(dir, &want) == 0 && there.st_dev == want.st_dev &&
	       there.st_ino == want.st_ino;
}

static bool made_here(const struct fence *f)
{
	struct stat st;

	return fstatat(f->dir, f->leaf, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISSOCK(st.st_mode);
}

/* A kernel without Landlock is told apart from one that refuses: 0 in both good cases. */
static int raise_fence(int dir)
{
	struct landlock_ruleset_attr attr = { .handled_access_fs = LANDLOCK_ACCESS_FS_MAKE_SOCK };
	struct landlock_path_beneath_attr beneath = { .allowed_access = LANDLOCK_ACCESS_FS_MAKE_SOCK, .parent_fd = dir };

	int rules CLEANUP_FD = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);
	if (rules < 0)
		return errno == ENOSYS || errno == EOPNOTSUPP ? 0 : -errno;
	if (syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0) < 0)
		return -errno;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || syscall(SYS_landlock_restrict_self, rules, 0) < 0)
		return -errno;
	return 0;
}

static int bind_leaf(const struct fence *f)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	size_t n = strlen(f->leaf);

	if (n >= sizeof(un.sun_path))
		return -ENAMETOOLONG;
	memcpy(un.sun_path, f->leaf, n);
	socklen_t len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n + 1);
	return bind(f->sock, (const struct sockaddr *)&un, len) < 0 ? -errno : 0;
}

static int bind_as_said(const struct fence *f)
{
	return bind(f->sock, (const struct sockaddr *)&f->addr, f->len) < 0 ? -errno : 0;
}

/*
 * A socket that is not where it should be was removed meanwhile by another process, which is fine, or
 * made below another directory: then the bytes were led astray, and that is seen while they still are.
 */
static int attempt_bind(const struct fence *f, bool *astray)
{
	char parent[sizeof(f->addr.sun_path) + 1];

	if (own_fs_enter() < 0)
		return -errno;
	if (!parent_of(&f->addr, f->len, parent))
		return fchdir(f->dir) < 0 ? -errno : bind_as_said(f);
	if ((parent[0] != '/' && (f->base < 0 || fchdir(f->base) < 0)) || !leads_to(parent, f->dir))
		return fchdir(f->dir) < 0 ? -errno : bind_leaf(f);
	int rc = raise_fence(f->dir);
	if (rc < 0)
		return rc;
	rc = bind_as_said(f);
	if (rc == -EACCES) /* the fence, where the bytes lead elsewhere by now; or the directory itself, which says so again */
		return fchdir(f->dir) < 0 ? -errno : bind_leaf(f);
	*astray = rc == 0 && !made_here(f) && !leads_to(parent, f->dir);
	return rc;
}

static void *fenced(void *arg)
{
	struct attempt *a = arg;

	a->result = attempt_bind(a->f, &a->astray);
	return NULL;
}

int fence_bind(const struct fence *f)
{
	struct attempt a = { .f = f, .result = -ENOMEM };
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 * 1024);
	int rc = own_fs_create(&thread, &attr, fenced, &a);
	pthread_attr_destroy(&attr);
	if (rc)
		return rc;
	pthread_join(thread, NULL);
	return a.result == 0 && a.astray ? 1 : a.result;
}
