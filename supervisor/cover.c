/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A directory is covered by an empty file system that cannot be written, a file by a device node on a mount without
 * devices: opening it is EACCES for root, too. No process of the tree can take a cover away: the filter refuses mount and its like.
 */
#include "supervisor/cover.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "policy/constant.h"
#include "policy/policy.h"
#include "rules/cleanup.h"
#include "supervisor/likeness.h"
#include "supervisor/privileges.h"
#include "supervisor/resolve_name.h"

#define SEALED (MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC)

struct cover {
	int ns;
	int cwd; /* of usher at the start, inside the namespace */
};

/* What the thread that makes the namespace is told and tells. */
struct making {
	const struct policy *policy; /* NULL: only try whether there can be one */
	struct cover *cover;
	const char *why;
};

static const char *place_at(const struct policy *policy, size_t i, char out[PATH_MAX])
{
	size_t len;
	const char *name = policy_closed(policy, i, &len);

	if (!name)
		return NULL;
	snprintf(out, PATH_MAX, "%.*s", len < PATH_MAX ? (int)len : 0, name);
	return out;
}

/* Whether a place before the Ith holds the Ith. */
static bool below_another(const struct policy *policy, size_t i, const char *place)
{
	size_t len;
	const char *other;

	for (size_t k = 0; (other = policy_closed(policy, k, &len)); k++) {
		size_t own = strlen(place);
		if (k != i && name_below(place, own, other, len) && (len < own || k < i))
			return true;
	}
	return false;
}

static int make_directories(const char *place)
{
	char path[PATH_MAX];
	size_t len = strlen(place);

	memcpy(path, place, len + 1);
	for (size_t at = 1; at <= len; at++) {
		if (path[at] != '/' && path[at] != '\0')
			continue;
		path[at] = '\0';
		if (mkdir(path, 0700) < 0 && errno != EEXIST)
			return -errno;
		path[at] = at < len ? '/' : '\0';
	}
	return 0;
}

static int cover_place(const char *place)
{
	struct stat st;

	if (lstat(place, &st) < 0 && (errno != ENOENT || make_directories(place) < 0 || lstat(place, &st) < 0))
		return -errno;
	if (S_ISLNK(st.st_mode))
		return -ELOOP;
	if (S_ISDIR(st.st_mode))
		return mount("usher", place, "tmpfs", SEALED, "mode=0,size=4k,nr_inodes=2") < 0 ? -errno : 0;
	if (mount("/dev/null", place, NULL, MS_BIND, NULL) < 0)
		return -errno;
	return mount(NULL, place, NULL, MS_REMOUNT | MS_BIND | SEALED, NULL) < 0 ? -errno : 0;
}

static int cover_all(const struct policy *policy)
{
	char place[PATH_MAX];

	for (size_t i = 0; place_at(policy, i, place); i++) {
		int rc = place[0] != '/' ? -ENAMETOOLONG : below_another(policy, i, place) ? 0 : cover_place(place);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* A directory that is entered already leads below its cover. */
static bool works_inside(const struct policy *policy)
{
	char cwd[PATH_MAX], place[PATH_MAX];

	if (!getcwd(cwd, sizeof(cwd)) || cwd[0] != '/')
		return true; /* nobody knows where */
	for (size_t i = 0; place_at(policy, i, place); i++) {
		if (name_below(cwd, strlen(cwd), place, strlen(place)))
			return true;
	}
	return false;
}

/* Entering a namespace leads to its own root: another than before where usher lives in a chroot. */
static bool same_root(const struct cover *c)
{
	struct stat before, after;

	return stat("/", &before) == 0 && setns(c->ns, CLONE_NEWNS) == 0 && stat("/", &after) == 0 &&
	       before.st_dev == after.st_dev && before.st_ino == after.st_ino;
}

static const char *make_here(const struct making *m)
{
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0)
		return "usher's own files would have to be covered in a mount namespace, and none can be made here (CAP_SYS_ADMIN)";
	if (!m->policy)
		return NULL;
	if (works_inside(m->policy))
		return "the working directory lies among usher's own files";
	m->cover->cwd = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	m->cover->ns = open("/proc/thread-self/ns/mnt", O_RDONLY | O_CLOEXEC);
	if (m->cover->cwd < 0 || m->cover->ns < 0 || cover_all(m->policy) < 0)
		return "usher's own files cannot be covered in a mount namespace here";
	return same_root(m->cover) ? NULL : "usher runs in a changed root directory";
}

static void *maker(void *context)
{
	struct making *m = context;

	m->why = make_here(m);
	return NULL;
}

/* In a thread that ends: usher itself stays where it is. */
static const char *make_apart(struct making *m)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, maker, m))
		return "no thread can be made";
	pthread_join(thread, NULL);
	return m->why;
}

static bool is_directory(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool inherits_directory(const struct cover_options *o)
{
	for (int fd = 0; fd < 3; fd++) {
		if (is_directory(fd))
			return true;
	}
	for (size_t i = 0; i < o->n_keep; i++) {
		if (is_directory(o->keep[i]))
			return true;
	}
	return false;
}

/* A cover stands on a name: a file that has another one is told by its inode alone, which usher has to look at. */
static bool has_other_names(const struct policy *policy)
{
	char place[PATH_MAX];
	struct stat st;

	for (size_t i = 0; place_at(policy, i, place); i++) {
		if (lstat(place, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink > 1)
			return true;
	}
	return false;
}

static const char *rules_against(const struct policy *policy, bool domain)
{
	if (!policy_allows(policy, OP_READ, true, NULL))
		return "the rules do not allow every read without a record";
	const struct ruleset *layer;
	for (size_t i = 0; (layer = policy_layer(policy, i)); i++) {
		if (ruleset_limit(layer, LIMIT_FILES))
			return "a limit on files is watched where files are opened";
	}
	if (!likeness_holds(policy))
		return "a rule gives programs different rights, and /proc would show one the memory of another";
	if (has_other_names(policy))
		return "a hard link leads to a file of usher's own";
	return domain ? NULL : "without Landlock nothing keeps the memory of other processes closed";
}

bool cover_possible(const struct policy *policy, bool domain, const char **why)
{
	struct making m = { 0 };

	*why = rules_against(policy, domain);
	if (!*why)
		*why = make_apart(&m);
	return !*why;
}

static void discard(struct cover *c)
{
	if (!c)
		return;
	cleanup_fd(&c->ns);
	cleanup_fd(&c->cwd);
	free(c);
}

int cover_make(const struct cover_options *o, struct cover **out, const char **why)
{
	*why = rules_against(o->policy, o->domain);
	if (!*why && inherits_directory(o))
		*why = "the command inherits the descriptor of a directory";
	if (*why)
		return 1;
	struct cover *c = malloc(sizeof(*c));
	struct making m = { .policy = o->policy, .cover = c };
	if (c)
		*c = (struct cover){ -1, -1 };
	*why = c ? make_apart(&m) : "no memory";
	if (*why) {
		discard(c);
		return 1;
	}
	*out = c;
	return 0;
}

/*
 * Since Linux 6.15 CAP_PERFMON opens /proc/PID/environ and maps of any process, Landlock or not, and CAP_SYS_ADMIN counts as it. What
 * else needs that is refused by the filter whoever asks.
 */
static int lay_down(void)
{
	static const unsigned laid[] = { CAP_SYS_ADMIN, CAP_PERFMON };

	return privileges_lay_down(laid, sizeof(laid) / sizeof(laid[0]));
}

/* A worker that another worker has started is there already, and may not go anywhere any more. */
static bool entered(const struct cover *c)
{
	struct stat theirs, ours;

	return fstat(c->ns, &theirs) == 0 && stat("/proc/thread-self/ns/mnt", &ours) == 0 && theirs.st_dev == ours.st_dev &&
	       theirs.st_ino == ours.st_ino;
}

int cover_home(const struct cover *c)
{
	return fcntl(c->cwd, F_DUPFD_CLOEXEC, 3);
}

int cover_enter(const struct cover *c)
{
	if (!c || entered(c))
		return 0;
	if (setns(c->ns, CLONE_NEWNS) < 0 || fchdir(c->cwd) < 0)
		return -errno;
	return lay_down();
}
