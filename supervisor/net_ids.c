/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MUST: after net_ids_leave() the thread is what it was. Ids are a thread's own in
 * the kernel; the C library's wrappers would change all threads, so the calls are made raw.
 */
#include "supervisor/net_ids.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rules/cleanup.h"
#include "supervisor/procs.h"
#include "supervisor/session.h"

#define STATUS_MOST ((size_t)1024 * 1024) /* 65,536 groups fit */

/* The caller's, from /proc/TID/status: real, effective, saved. */
struct caller {
	uid_t uid[3];
	gid_t gid[3];
	gid_t *groups;
	size_t n_groups;
};

static bool moved(const struct job *j)
{
	return j->session->privileged && atomic_load_explicit(&j->session->creds_moved, memory_order_acquire);
}

static char *read_status(pid_t tid)
{
	char path[32];
	size_t n = 0;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	int fd CLEANUP_FD = open(path, O_RDONLY | O_CLOEXEC);
	char *text = fd < 0 ? NULL : malloc(STATUS_MOST);
	while (text) {
		ssize_t got = read(fd, text + n, STATUS_MOST - 1 - n);
		if (got <= 0)
			break;
		n += (size_t)got;
	}
	if (text)
		text[n] = '\0';
	return text;
}

static int parse_groups(const char *at, struct caller *out)
{
	size_t room = strlen(at) / 2 + 1;
	char *end;

	out->groups = malloc(room * sizeof(gid_t));
	if (!out->groups)
		return -ENOMEM;
	for (;;) {
		at += strspn(at, " \t");
		if (*at < '0' || *at > '9')
			return 0;
		out->groups[out->n_groups++] = (gid_t)strtoul(at, &end, 10);
		at = end;
	}
}

/* 0, or a negative errno; free out->groups in every case. */
static int caller_read(struct job *j, struct caller *out)
{
	memset(out, 0, sizeof(*out));
	char *text CLEANUP_FREE = read_status((pid_t)j->notif.pid);
	const char *uid = text ? strstr(text, "\nUid:") : NULL;
	const char *gid = text ? strstr(text, "\nGid:") : NULL;
	const char *groups = text ? strstr(text, "\nGroups:") : NULL;
	if (!uid || !gid || !groups)
		return -EPERM;
	if (sscanf(uid, "\nUid: %u %u %u", &out->uid[0], &out->uid[1], &out->uid[2]) != 3 ||
	    sscanf(gid, "\nGid: %u %u %u", &out->gid[0], &out->gid[1], &out->gid[2]) != 3)
		return -EPERM;
	return parse_groups(groups + strlen("\nGroups:"), out);
}

static int save(struct net_ids *ids)
{
	if (getresuid(&ids->uid[0], &ids->uid[1], &ids->uid[2]) < 0 ||
	    getresgid(&ids->gid[0], &ids->gid[1], &ids->gid[2]) < 0)
		return -errno;
	int n = getgroups(0, NULL);
	ids->groups = n < 0 ? NULL : malloc(((size_t)n + 1) * sizeof(gid_t));
	if (!ids->groups)
		return -ENOMEM;
	ids->n_groups = getgroups(n, ids->groups);
	return ids->n_groups < 0 ? -errno : 0;
}

/* The saved user id stays 0: the way back. With an effective id other than 0 the kernel takes the powers away. */
static int take_on(const struct caller *c)
{
	if (syscall(SYS_setgroups, c->n_groups, c->groups) < 0 ||
	    syscall(SYS_setresgid, c->gid[0], c->gid[1], -1) < 0 ||
	    syscall(SYS_setresuid, c->uid[0], c->uid[1], 0) < 0)
		return -errno;
	return 0;
}

int net_ids_enter(struct job *j, struct net_ids *ids)
{
	struct caller c;

	memset(ids, 0, sizeof(*ids));
	if (!moved(j))
		return 0;
	int rc = caller_read(j, &c);
	if (rc == 0 && c.uid[0] == 0 && c.uid[1] == 0) {
		free(c.groups);
		return creds_enter(j, CREDS_FS, &ids->creds);
	}
	if (rc == 0)
		rc = save(ids);
	if (rc == 0) {
		ids->entered = true;
		rc = take_on(&c);
	}
	free(c.groups);
	if (rc < 0)
		net_ids_leave(ids);
	return rc;
}

void net_ids_leave(struct net_ids *ids)
{
	int error = errno;

	creds_leave(&ids->creds);
	if (ids->entered && (syscall(SYS_setresuid, ids->uid[0], ids->uid[1], ids->uid[2]) < 0 ||
			     syscall(SYS_setresgid, ids->gid[0], ids->gid[1], ids->gid[2]) < 0 ||
			     syscall(SYS_setgroups, ids->n_groups, ids->groups) < 0))
		abort();
	free(ids->groups);
	memset(ids, 0, sizeof(*ids));
	errno = error;
}

bool net_ids_may_claim(void)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct data[2];

	return syscall(SYS_capget, &head, data) == 0 && (data[0].effective & (1u << CAP_SYS_ADMIN));
}

static bool one_of(unsigned id, const unsigned set[3])
{
	return id == set[0] || id == set[1] || id == set[2];
}

/* What the kernel would check of a caller that is not root. */
static bool honest(const struct ucred *said, const struct caller *c, pid_t pid)
{
	return c->uid[1] == 0 || (said->pid == pid && one_of(said->uid, c->uid) && one_of(said->gid, c->gid));
}

int net_ids_control(struct job *j, struct control *c, bool entered)
{
	pid_t pid = proc_pid(j->proc);
	struct caller who = { .uid = { getuid() }, .gid = { getgid() } };
	struct ucred said;

	if (moved(j)) {
		int rc = caller_read(j, &who);
		free(who.groups);
		who.groups = NULL;
		if (rc < 0)
			return rc;
	}
	bool claim = net_ids_may_claim() && !(entered && moved(j));
	if (!c->ucred) {
		struct ucred own = { .pid = pid, .uid = who.uid[0], .gid = who.gid[0] };
		return claim ? control_credentials(c, &own) : 0;
	}
	memcpy(&said, c->bytes + c->ucred, sizeof(said));
	if (moved(j) && !honest(&said, &who, pid))
		return -EPERM;
	if (said.pid == pid && !claim)
		said.pid = getpid();
	memcpy(c->bytes + c->ucred, &said, sizeof(said));
	return 0;
}
