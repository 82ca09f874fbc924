/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MUST: after creds_leave() the thread is what it was. Credentials are a thread's own in
 * the kernel; the C library's wrappers would change all threads, so the calls are made raw.
 */
#include "supervisor/creds.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rules/cleanup.h"
#include "supervisor/session.h"

/* What /proc/TID/status says. */
struct status {
	unsigned uid[4]; /* real, effective, saved, file system */
	unsigned gid[4];
	uint64_t cap_effective;
	uint64_t cap_permitted;
	gid_t *groups;
	size_t n_groups;
};

static char *read_status(pid_t tid)
{
	char path[32];
	size_t cap = 16384, n = 0;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	int fd CLEANUP_FD = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	char *text = malloc(cap);
	while (text) {
		ssize_t got = read(fd, text + n, cap - n - 1);
		if (got <= 0)
			break;
		n += (size_t)got;
		if (n + 1 < cap)
			continue;
		cap *= 2;
		char *bigger = realloc(text, cap);
		if (!bigger)
			free(text);
		text = bigger;
	}
	if (text)
		text[n] = '\0';
	return text;
}

static const char *field(const char *text, const char *key)
{
	const char *at = strstr(text, key);
	return at ? at + strlen(key) : NULL;
}

static int parse_groups(const char *at, struct status *out)
{
	size_t room = 64;

	out->groups = malloc(room * sizeof(gid_t));
	if (!out->groups)
		return -ENOMEM;
	for (;;) {
		while (*at == ' ' || *at == '\t')
			at++;
		if (*at < '0' || *at > '9')
			return 0;
		if (out->n_groups == room) {
			room *= 2;
			gid_t *bigger = realloc(out->groups, room * sizeof(gid_t));
			if (!bigger)
				return -ENOMEM;
			out->groups = bigger;
		}
		char *end;
		out->groups[out->n_groups++] = (gid_t)strtoul(at, &end, 10);
		at = end;
	}
}

static int parse_status(const char *text, struct status *out)
{
	const char *uid = field(text, "\nUid:"), *gid = field(text, "\nGid:"), *groups = field(text, "\nGroups:");
	const char *eff = field(text, "\nCapEff:"), *prm = field(text, "\nCapPrm:");

	if (!uid || !gid || !groups || !eff || !prm ||
	    sscanf(uid, "%u %u %u %u", &out->uid[0], &out->uid[1], &out->uid[2], &out->uid[3]) != 4 ||
	    sscanf(gid, "%u %u %u %u", &out->gid[0], &out->gid[1], &out->gid[2], &out->gid[3]) != 4 ||
	    sscanf(eff, "%" SCNx64, &out->cap_effective) != 1 || sscanf(prm, "%" SCNx64, &out->cap_permitted) != 1)
		return -EIO;
	return parse_groups(groups, out);
}

static int caps_get(struct __user_cap_data_struct data[2])
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	return syscall(SYS_capget, &head, data) < 0 ? -errno : 0;
}

static int caps_set(const struct __user_cap_data_struct data[2])
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	return syscall(SYS_capset, &head, data) < 0 ? -errno : 0;
}

static int save(struct creds *saved)
{
	int n = getgroups(0, NULL);

	saved->fsuid = geteuid();
	saved->fsgid = getegid();
	if (n < 0 || caps_get(saved->caps) < 0)
		return -EPERM;
	saved->groups = malloc(((size_t)n + 1) * sizeof(gid_t));
	if (!saved->groups)
		return -ENOMEM;
	n = getgroups(n, saved->groups);
	if (n < 0)
		return -EPERM;
	saved->n_groups = (size_t)n;
	return 0;
}

/* The kernel's setfsuid and setfsgid return the old value, whatever happened: asking again tells. */
static int set_fsids(uid_t uid, gid_t gid)
{
	syscall(SYS_setfsgid, gid);
	syscall(SYS_setfsuid, uid);
	if ((gid_t)syscall(SYS_setfsgid, -1) != gid || (uid_t)syscall(SYS_setfsuid, -1) != uid)
		return -EPERM;
	return 0;
}

static int change(const struct status *want, enum creds_kind kind, const struct creds *saved)
{
	uid_t uid = kind == CREDS_REAL ? want->uid[0] : want->uid[3];
	gid_t gid = kind == CREDS_REAL ? want->gid[0] : want->gid[3];
	uint64_t eff = want->cap_effective;
	struct __user_cap_data_struct caps[2] = { saved->caps[0], saved->caps[1] };

	/* access(2): the capabilities that a process with this as its effective user would have */
	if (kind == CREDS_REAL)
		eff = uid == 0 ? want->cap_permitted : 0;
	if (syscall(SYS_setgroups, want->n_groups, want->groups) < 0)
		return -errno;
	int rc = set_fsids(uid, gid);
	if (rc < 0)
		return rc;
	caps[0].effective = (uint32_t)eff & caps[0].permitted;
	caps[1].effective = (uint32_t)(eff >> 32) & caps[1].permitted;
	return caps_set(caps);
}

int creds_enter(struct job *j, enum creds_kind kind, struct creds *saved)
{
	struct session *s = j->session;
	struct status want = { 0 };

	memset(saved, 0, sizeof(*saved));
	if (!s->privileged || !atomic_load_explicit(&s->creds_moved, memory_order_acquire))
		return 0;
	char *text CLEANUP_FREE = read_status((pid_t)j->notif.pid);
	if (!text)
		return -EPERM;
	int rc = parse_status(text, &want);
	if (rc == 0)
		rc = save(saved);
	if (rc == 0) {
		saved->entered = true;
		rc = change(&want, kind, saved);
	}
	free(want.groups);
	if (rc < 0) {
		creds_leave(saved);
		return rc == -ENOMEM ? rc : -EPERM;
	}
	return 0;
}

struct creds_home {
	uid_t uid[3];
	gid_t gid[3];
	struct creds rest;
};

int creds_note_home(struct session *s)
{
	CLEANUP_FREE struct creds_home *h = s->privileged ? calloc(1, sizeof(*h)) : NULL;

	if (!h)
		return s->privileged ? -ENOMEM : 0;
	if (getresuid(&h->uid[0], &h->uid[1], &h->uid[2]) < 0 || getresgid(&h->gid[0], &h->gid[1], &h->gid[2]) < 0)
		return -errno;
	int rc = save(&h->rest);
	if (rc < 0)
		free(h->rest.groups);
	else
		s->home = steal_pointer(&h);
	return rc;
}

/* Those at the start, but for what a worker that made this one has laid down for good (cover.h). */
static int caps_of_home(const struct creds_home *h, struct __user_cap_data_struct out[2])
{
	struct __user_cap_data_struct now[2];

	if (caps_get(now) < 0)
		return -EPERM;
	for (int i = 0; i < 2; i++) {
		out[i] = h->rest.caps[i];
		out[i].permitted &= now[i].permitted;
		out[i].effective &= out[i].permitted;
		out[i].inheritable &= now[i].inheritable | out[i].permitted;
	}
	return 0;
}

/* Capabilities first and last, as in creds_leave(). The file system's ids follow the effective ones. */
int creds_go_home(const struct session *s)
{
	const struct creds_home *h = s->home;
	struct __user_cap_data_struct caps[2];

	if (!h || !atomic_load_explicit(&s->creds_moved, memory_order_acquire))
		return 0;
	if (caps_of_home(h, caps) < 0 || caps_set(caps) < 0 || syscall(SYS_setresuid, h->uid[0], h->uid[1], h->uid[2]) < 0 ||
	    syscall(SYS_setresgid, h->gid[0], h->gid[1], h->gid[2]) < 0 ||
	    syscall(SYS_setgroups, h->rest.n_groups, h->rest.groups) < 0 || set_fsids(h->rest.fsuid, h->rest.fsgid) < 0 ||
	    caps_set(caps) < 0)
		return -EPERM;
	return 0;
}

bool creds_home_user(const struct session *s, uid_t id)
{
	const struct creds_home *h = s->home;

	return h && h->uid[0] == id && h->uid[1] == id && h->uid[2] == id && h->rest.fsuid == id;
}

bool creds_home_group(const struct session *s, gid_t id)
{
	const struct creds_home *h = s->home;

	return h && h->gid[0] == id && h->gid[1] == id && h->gid[2] == id && h->rest.fsgid == id;
}

int creds_uid(struct job *j)
{
	struct session *s = j->session;
	struct status status = { 0 };

	j->uid = s->uid;
	if (!s->asks_uid || !s->privileged || !atomic_load_explicit(&s->creds_moved, memory_order_acquire))
		return 0;
	char *text CLEANUP_FREE = read_status((pid_t)j->notif.pid);
	int rc = text ? parse_status(text, &status) : -ESRCH;
	free(status.groups);
	if (rc == 0)
		j->uid = status.uid[1];
	return rc == 0 ? 0 : -ESRCH;
}

void creds_leave(struct creds *saved)
{
	int error = errno;

	/* All capabilities first, to be allowed the rest; once more at the end, as a change of ids takes some. */
	if (saved->entered &&
	    (caps_set(saved->caps) < 0 || set_fsids(saved->fsuid, saved->fsgid) < 0 ||
	     syscall(SYS_setgroups, saved->n_groups, saved->groups) < 0 || caps_set(saved->caps) < 0))
		abort();
	free(saved->groups);
	memset(saved, 0, sizeof(*saved));
	errno = error;
}
