/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/spaces.h"

#include <errno.h>
#include <limits.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rules/cleanup.h"
#include "supervisor/user_map.h"

static bool take_word(struct spaces *s, const char *word, size_t n)
{
	const struct {
		const char *word;
		bool *first, *second;
	} words[] = {
		{ "net", &s->net, NULL }, { "pid", &s->pid, NULL }, { "ipc", &s->ipc, NULL }, { "uts", &s->uts, NULL },
		{ "cgroup", &s->cgroup, NULL }, { "tmp", &s->tmp, NULL }, { "shm", &s->shm, NULL }, { "mount", &s->tmp, &s->shm },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strlen(words[i].word) != n || memcmp(words[i].word, word, n) != 0)
			continue;
		*words[i].first = true;
		if (words[i].second)
			*words[i].second = true;
		return true;
	}
	return false;
}

int spaces_parse(const char *list, struct spaces *out)
{
	*out = (struct spaces){ 0 };
	if (!list || strcmp(list, "auto") == 0 || strcmp(list, "none") == 0)
		return 0;
	for (const char *at = list;; at++) {
		size_t n = strcspn(at, ",");
		if (!take_word(out, at, n))
			return -EINVAL;
		at += n;
		if (!*at)
			return 0;
	}
}

bool spaces_any(const struct spaces *s)
{
	return s->pid || s->ipc || s->uts || s->cgroup || s->tmp || s->shm;
}

static int enter_user(void)
{
	struct user_map map;

	user_map_make(&map);
	return unshare(CLONE_NEWUSER) < 0 ? -errno : user_map_set(&map);
}

#define QUEUES "/dev/mqueue"
#define QUEUES_MAGIC 0x19800202 /* MQUEUE_MAGIC, linux/magic.h since 5.17 */

/* A mount shows the queues of the namespace it was made in, whoever looks: mq_overview(7). */
static bool shows_queues(const struct spaces *s)
{
	struct statfs st;

	return s->ipc && statfs(QUEUES, &st) == 0 && st.f_type == QUEUES_MAGIC;
}

static bool wants_mounts(const struct spaces *s)
{
	return s->pid || s->tmp || s->shm || shows_queues(s);
}

static int unshare_rest(const struct spaces *s)
{
	int flags = (s->ipc ? CLONE_NEWIPC : 0) | (s->uts ? CLONE_NEWUTS : 0) | (s->cgroup ? CLONE_NEWCGROUP : 0) |
		    (wants_mounts(s) ? CLONE_NEWNS : 0);

	return flags && unshare(flags) < 0 ? -errno : 0;
}

static bool below(const char *name, const char *dir)
{
	size_t n = strlen(dir);

	return strncmp(name, dir, n) == 0 && (name[n] == '/' || !name[n]);
}

const char *spaces_emptied(const struct spaces *s, const char *name)
{
	if (s->tmp && below(name, "/tmp"))
		return "/tmp";
	return s->shm && below(name, "/dev/shm") ? "/dev/shm" : NULL;
}

static int cover_with_memory(const char *dir)
{
	char cwd[PATH_MAX];

	/* The working directory would be a place that no name leads to any more. */
	if (getcwd(cwd, sizeof(cwd)) && below(cwd, dir))
		return -EBUSY;
	return mount("tmpfs", dir, "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777") < 0 ? -errno : 0;
}

static int make_mounts(const struct spaces *s, const char **step)
{
	if (!wants_mounts(s))
		return 0;
	*step = "keep mounts to itself";
	if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0)
		return -errno;
	*step = "mount /proc (a container that hides parts of it does not allow that)";
	if (s->pid && mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0)
		return -errno;
	*step = "mount a private " QUEUES;
	if (shows_queues(s) && mount("mqueue", QUEUES, "mqueue", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0)
		return -errno;
	*step = "mount a private /tmp (not while the working directory is in it)";
	int rc = s->tmp ? cover_with_memory("/tmp") : 0;
	if (rc < 0)
		return rc;
	*step = "mount a private /dev/shm (not while the working directory is in it)";
	return s->shm ? cover_with_memory("/dev/shm") : 0;
}

/* What the user namespace lent: an ordinary user's usher holds no powers, not even over the namespaces it made. */
static int lay_down(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { 0 };

	return syscall(SYS_capset, &head, none) < 0 ? -errno : 0;
}

static int furnish(const struct spaces *s, bool user, const char **step)
{
	*step = "make the namespaces";
	int rc = unshare_rest(s);
	if (rc == 0)
		rc = make_mounts(s, step);
	if (rc < 0 || !user)
		return rc;
	*step = "lay down the powers of the user namespace";
	return lay_down();
}

/* The one inside ends with the one outside, whose number it cannot see. */
static int tie(int link)
{
	char sign;

	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		return -errno;
	return recv(link, &sign, 1, 0) == 1 ? 0 : -ESRCH;
}

int spaces_enter(const struct spaces *s, int *link, int *peers, int *other, const char **step)
{
	bool user = geteuid() != 0;
	int pair[2], asked[2];

	*link = -1;
	*peers = -1;
	*other = 0;
	*step = "make a user namespace (forbidden here?)";
	int rc = user ? enter_user() : 0;
	if (rc < 0)
		return rc;
	if (!s->pid)
		return furnish(s, user, step);
	*step = "make a pid namespace";
	if (unshare(CLONE_NEWPID) < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, asked) < 0)
		return -errno;
	pid_t self = getpid(), child = fork();
	if (child < 0)
		return -errno;
	if (child > 0) {
		close(pair[1]);
		close(asked[1]);
		*other = child;
		*link = pair[0];
		*peers = asked[0];
		return send(pair[0], "", 1, MSG_NOSIGNAL) == 1 ? 1 : -errno;
	}
	close(pair[0]);
	close(asked[0]);
	*link = pair[1];
	*peers = asked[1];
	*other = self;
	*step = "tie usher to the process outside";
	rc = tie(pair[1]);
	return rc == 0 ? furnish(s, user, step) : rc;
}

static int ended(pid_t pid)
{
	int status;

	return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : EAGAIN;
}

/* As spaces_enter() makes them, all but its ties, and net too. 0 or an errno. */
static int rehearse(const struct spaces *s)
{
	const char *step;
	int rc = chdir("/") < 0 ? -errno : geteuid() != 0 ? enter_user() : 0;

	if (rc < 0)
		return -rc;
	if ((s->net && unshare(CLONE_NEWNET) < 0) || (s->pid && unshare(CLONE_NEWPID) < 0))
		return errno;
	pid_t pid = s->pid ? fork() : 0; /* /proc shows the namespace of who mounts it */
	if (pid == 0)
		_exit(-furnish(s, false, &step) & 0x7f);
	return ended(pid);
}

static int rehearse_apart(const char *name)
{
	struct spaces s;
	int rc = spaces_parse(name, &s);

	if (rc < 0)
		return -rc;
	pid_t pid = fork();
	if (pid == 0)
		_exit(rehearse(&s) & 0x7f);
	return ended(pid);
}

size_t spaces_try(struct space_trial out[SPACES_KINDS])
{
	static const char *const names[SPACES_KINDS] = { "pid", "ipc", "uts", "cgroup", "net", "mount" };

	for (size_t i = 0; i < SPACES_KINDS; i++)
		out[i] = (struct space_trial){ .name = names[i], .user = geteuid() != 0, .error = rehearse_apart(names[i]) };
	return SPACES_KINDS;
}
