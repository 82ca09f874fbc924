/* SPDX-License-Identifier: Apache-2.0 */
/* Acting with no more power than the caller has. */
#ifndef USHER_SUPERVISOR_CREDS_H
#define USHER_SUPERVISOR_CREDS_H

#include <linux/capability.h>
#include <stdbool.h>
#include <sys/types.h>

#include "supervisor/job.h"
#include "supervisor/thread_ids.h"

/* What this thread was before; kept on the caller's stack between enter and leave. */
struct creds {
	bool entered;
	uid_t uid; /* effective, and the file system's with it */
	gid_t gid;
	gid_t *groups;
	size_t n_groups;
	struct __user_cap_data_struct caps[2];
};

enum creds_kind {
	CREDS_FS,     /* effective and file system ids, groups and effective capabilities; as CREDS_REAL for a call that looks up names so (job->as_real) */
	CREDS_REAL,   /* the real ids as the file system's, as access(2) wants it */
	CREDS_ITSELF, /* as CREDS_FS, and may trace: for what is the caller's own, which it needs no power for */
};

/* The calling thread's capabilities. 0 or a negative errno. */
int caps_get(struct __user_cap_data_struct data[2]);
int caps_set(const struct __user_cap_data_struct data[2]);

/* Makes the ids that the calling thread has for files UID and GID. 0 or -EPERM. */
int creds_fs_ids(uid_t uid, gid_t gid);

/* Those of J's caller, who was alive afterwards; free out->groups in every case. 0, -EPERM when it has ended or they cannot be told, -ENOMEM. */
int creds_of(const struct job *j, struct thread_ids *out);

/*
 * From here to creds_leave() this thread has the caller's credentials. Costs nothing unless usher is privileged and
 * some process of the tree has changed its own. /proc of others is not looked at in between. Returns
 * 0, or a negative errno: nothing is changed then and the call must not be performed.
 */
int creds_enter(struct job *j, enum creds_kind kind, struct creds *saved);

/*
 * A new thread has the credentials of whoever made it, which may have been a caller's right then. creds_note_home() notes in S what the
 * calling thread is, at the start; creds_go_home() makes the calling thread that. Nothing is done unless usher is privileged, and some
 * process of the tree has changed its own. 0, or a negative errno: then the thread must not serve anybody.
 */
int creds_note_home(struct session *s);
int creds_go_home(const struct session *s);

/* Whether ID is all four of the users (groups) that usher, and the tree with it, began with. */
bool creds_home_user(const struct session *s, uid_t id);
bool creds_home_group(const struct session *s, gid_t id);

/*
 * Puts the caller's effective user into J, as far as rules ask for it. Its status is read only where it can differ from usher's own. 0, or
 * -ESRCH.
 */
int creds_uid(struct job *j);

/* Puts back what creds_enter() changed; ends the process when that is impossible. Keeps errno. */
void creds_leave(struct creds *saved);

#endif
