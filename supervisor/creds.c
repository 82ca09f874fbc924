/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MUST: after creds_leave() the thread is what it was. Credentials are a thread's own in
 * the kernel; the C library's wrappers would change all threads, so the calls are made raw.
 */
#include "supervisor/creds.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rules/cleanup.h"
#include "supervisor/memory.h"
#include "supervisor/session.h"

int caps_get(struct __user_cap_data_struct data[2])
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	return syscall(SYS_capget, &head, data) < 0 ? -errno : 0;
}

int caps_set(const struct __user_cap_data_struct data[2])
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	return syscall(SYS_capset, &head, data) < 0 ? -errno : 0;
}

static int save(struct creds *saved)
{
	int n = getgroups(0, NULL);

	saved->uid = geteuid();
	saved->gid = getegid();
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
int creds_fs_ids(uid_t uid, gid_t gid)
{
	syscall(SYS_setfsgid, gid);
	syscall(SYS_setfsuid, uid);
	if ((gid_t)syscall(SYS_setfsgid, -1) != gid || (uid_t)syscall(SYS_setfsuid, -1) != uid)
		return -EPERM;
	return 0;
}

/*
 * The effective ids too: below /proc/sys and on FUSE the kernel asks for them. Those of the file system follow them, and the powers in
 * force may, which saved->caps gives back: the real and the saved user stay as they are.
 */
static int set_effective(uid_t uid, gid_t gid, const struct creds *saved)
{
	if (gid != getegid() && syscall(SYS_setresgid, -1, gid, -1) < 0)
		return -EPERM;
	if (uid == geteuid())
		return 0;
	return syscall(SYS_setresuid, -1, uid, -1) < 0 ? -EPERM : caps_set(saved->caps);
}

static int change(const struct thread_ids *want, enum creds_kind kind, const struct creds *saved)
{
	uid_t uid = kind == CREDS_REAL ? want->uid[ID_REAL] : want->uid[ID_FS];
	gid_t gid = kind == CREDS_REAL ? want->gid[ID_REAL] : want->gid[ID_FS];
	uint64_t eff = want->cap_effective;
	struct __user_cap_data_struct caps[2] = { saved->caps[0], saved->caps[1] };

	/* access(2): the capabilities that a process with this as its effective user would have */
	if (kind == CREDS_REAL)
		eff = uid == 0 ? want->cap_permitted : 0;
	if (kind == CREDS_ITSELF)
		eff |= UINT64_C(1) << CAP_SYS_PTRACE;
	int rc = thread_groups_set(want->groups, want->n_groups);
	if (rc == 0)
		rc = set_effective(want->uid[ID_EFFECTIVE], want->gid[ID_EFFECTIVE], saved);
	if (rc == 0)
		rc = creds_fs_ids(uid, gid);
	if (rc < 0)
		return rc;
	caps[0].effective = (uint32_t)eff & caps[0].permitted;
	caps[1].effective = (uint32_t)(eff >> 32) & caps[1].permitted;
	return caps_set(caps);
}

int creds_of(const struct job *j, struct thread_ids *out)
{
	int rc = thread_ids_read((pid_t)j->notif.pid, out);

	/* one that has ended may have left its number to another by now */
	if (rc == 0 && !job_alive(j))
		rc = -ESRCH;
	return rc == 0 || rc == -ENOMEM ? rc : -EPERM;
}

int creds_enter(struct job *j, enum creds_kind kind, struct creds *saved)
{
	struct session *s = j->session;
	struct thread_ids want;

	memset(saved, 0, sizeof(*saved));
	if (!s->privileged || !atomic_load_explicit(&s->creds_moved, memory_order_acquire))
		return 0;
	int rc = creds_of(j, &want);
	if (rc == 0)
		rc = save(saved);
	if (rc == 0) {
		saved->entered = true;
		rc = change(&want, j->as_real ? CREDS_REAL : kind, saved);
		j->entered = true;
		j->user = want.uid[kind == CREDS_REAL || j->as_real ? ID_REAL : ID_FS];
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
	/* Who holds powers without being root keeps them on the way back from a caller that is root. */
	int rc = prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) < 0 && h->uid[0] ? -errno : save(&h->rest);
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
	    thread_groups_set(h->rest.groups, h->rest.n_groups) < 0 || creds_fs_ids(h->rest.uid, h->rest.gid) < 0 ||
	    caps_set(caps) < 0)
		return -EPERM;
	return 0;
}

bool creds_home_user(const struct session *s, uid_t id)
{
	const struct creds_home *h = s->home;

	return h && h->uid[0] == id && h->uid[1] == id && h->uid[2] == id && h->rest.uid == id;
}

bool creds_home_group(const struct session *s, gid_t id)
{
	const struct creds_home *h = s->home;

	return h && h->gid[0] == id && h->gid[1] == id && h->gid[2] == id && h->rest.gid == id;
}

int creds_uid(struct job *j)
{
	struct session *s = j->session;
	struct thread_ids ids;

	j->uid = s->uid;
	if (!s->asks_uid || !s->privileged || !atomic_load_explicit(&s->creds_moved, memory_order_acquire))
		return 0;
	int rc = creds_of(j, &ids);
	free(ids.groups);
	if (rc == 0)
		j->uid = ids.uid[ID_EFFECTIVE];
	return rc == 0 ? 0 : -ESRCH;
}

void creds_leave(struct creds *saved)
{
	int error = errno;

	/* All capabilities first, to be allowed the rest; once more at the end, as a change of ids takes some. */
	if (saved->entered &&
	    (caps_set(saved->caps) < 0 || set_effective(saved->uid, saved->gid, saved) < 0 || creds_fs_ids(saved->uid, saved->gid) < 0 ||
	     thread_groups_set(saved->groups, saved->n_groups) < 0 || caps_set(saved->caps) < 0))
		abort();
	free(saved->groups);
	memset(saved, 0, sizeof(*saved));
	errno = error;
}
