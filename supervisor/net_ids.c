/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MUST: after net_ids_leave() the thread is what it was. Ids are a thread's own in
 * the kernel; the C library's wrappers would change all threads, so the calls are made raw.
 */
#include "supervisor/net_ids.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "supervisor/procs.h"
#include "supervisor/session.h"

static bool moved(const struct job *j)
{
	return j->session->privileged && atomic_load_explicit(&j->session->creds_moved, memory_order_acquire);
}

static int save(struct net_ids *ids)
{
	int rc = caps_get(ids->caps);
	if (rc < 0)
		return rc;
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

/* The saved user id stays 0, and the powers permitted: the way back. Which of them are effective does not follow from the ids: the caller may have laid them down, or kept some. */
static int take_on(const struct thread_ids *c)
{
	struct __user_cap_data_struct caps[2];
	int rc = thread_groups_set(c->groups, c->n_groups);

	if (rc < 0)
		return rc;
	if (syscall(SYS_setresgid, c->gid[ID_REAL], c->gid[ID_EFFECTIVE], -1) < 0 ||
	    syscall(SYS_setresuid, c->uid[ID_REAL], c->uid[ID_EFFECTIVE], 0) < 0)
		return -errno;
	rc = caps_get(caps);
	if (rc < 0)
		return rc;
	for (int i = 0; i < 2; i++)
		caps[i].effective = caps[i].permitted;
	/* Those of the file system have followed the effective ids; to be allowed others takes the power to. */
	rc = caps_set(caps);
	if (rc == 0)
		rc = creds_fs_ids(c->uid[ID_FS], c->gid[ID_FS]);
	if (rc < 0)
		return rc;
	for (int i = 0; i < 2; i++)
		caps[i].effective = caps[i].permitted & (uint32_t)(c->cap_effective >> 32 * i);
	return caps_set(caps);
}

/* The user that a peer sees is what this thread has anyway. */
static bool user_ours(const struct thread_ids *c)
{
	return c->uid[ID_REAL] == getuid() && c->uid[ID_EFFECTIVE] == geteuid();
}

/* Then the powers are laid down one by one, and the group is taken on where it is another. */
static int enter_as_user(struct job *j, const struct thread_ids *c, struct net_ids *ids)
{
	if (c->gid[ID_REAL] != getgid() || c->gid[ID_EFFECTIVE] != getegid()) {
		int rc = save(ids);
		if (rc < 0)
			return rc;
		ids->entered = true;
		if (syscall(SYS_setresgid, c->gid[ID_REAL], c->gid[ID_EFFECTIVE], -1) < 0)
			return -errno;
	}
	return creds_enter(j, CREDS_FS, &ids->creds);
}

int net_ids_enter(struct job *j, struct net_ids *ids)
{
	struct thread_ids c;

	memset(ids, 0, sizeof(*ids));
	if (!moved(j))
		return 0;
	int rc = creds_of(j, &c);
	if (rc == 0 && user_ours(&c)) {
		rc = enter_as_user(j, &c, ids);
	} else if (rc == 0 && (rc = save(ids)) == 0) {
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
	/* The powers first, to be allowed the rest; once more at the end, as a change of ids gives and takes some. */
	if (ids->entered && (caps_set(ids->caps) < 0 || syscall(SYS_setresuid, ids->uid[0], ids->uid[1], ids->uid[2]) < 0 ||
			     syscall(SYS_setresgid, ids->gid[0], ids->gid[1], ids->gid[2]) < 0 ||
			     thread_groups_set(ids->groups, (size_t)ids->n_groups) < 0 || caps_set(ids->caps) < 0))
		abort();
	free(ids->groups);
	memset(ids, 0, sizeof(*ids));
	errno = error;
}

int net_ids_vouch(const struct net_ids *ids)
{
	static const unsigned claims = 1u << CAP_SYS_ADMIN | 1u << CAP_SETUID | 1u << CAP_SETGID;
	struct __user_cap_data_struct caps[2];

	if (!ids->entered && !ids->creds.entered)
		return 0;
	int rc = caps_get(caps);
	if (rc < 0)
		return rc;
	caps[0].effective |= caps[0].permitted & claims;
	return caps_set(caps);
}

bool net_ids_may_claim(void)
{
	struct __user_cap_data_struct data[2];

	return caps_get(data) == 0 && (data[0].effective & (1u << CAP_SYS_ADMIN));
}

static bool one_of(unsigned id, const unsigned set[ID_KINDS])
{
	return id == set[ID_REAL] || id == set[ID_EFFECTIVE] || id == set[ID_SAVED];
}

static bool may(const struct thread_ids *c, int cap)
{
	return c->cap_effective & (UINT64_C(1) << cap);
}

/* What the kernel would check of the caller (scm_check_creds()): root that has laid down its powers is as anybody. */
static bool honest(const struct ucred *said, const struct thread_ids *c, pid_t pid)
{
	return (said->pid == pid || may(c, CAP_SYS_ADMIN)) && (one_of(said->uid, c->uid) || may(c, CAP_SETUID)) &&
	       (one_of(said->gid, c->gid) || may(c, CAP_SETGID));
}

int net_ids_control(struct job *j, struct control *c)
{
	pid_t pid = proc_pid(j->proc);
	struct thread_ids who = { .uid = { getuid() }, .gid = { getgid() } };
	struct ucred said;

	if (moved(j)) {
		int rc = creds_of(j, &who);
		free(who.groups);
		who.groups = NULL;
		if (rc < 0)
			return rc;
	}
	bool claim = net_ids_may_claim();
	if (!c->ucred) {
		struct ucred own = { .pid = pid, .uid = who.uid[ID_REAL], .gid = who.gid[ID_REAL] };
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

void net_ids_number(struct job *j, struct control *c)
{
	struct ucred said;

	if (!c->ucred || (!moved(j) && net_ids_may_claim()))
		return;
	memcpy(&said, c->bytes + c->ucred, sizeof(said));
	if (said.pid == proc_pid(j->proc))
		said.pid = getpid();
	memcpy(c->bytes + c->ucred, &said, sizeof(said));
}
