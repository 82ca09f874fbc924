/* SPDX-License-Identifier: Apache-2.0 */
/* Users, groups and capabilities of a thread. */
#ifndef USHER_SUPERVISOR_THREAD_IDS_H
#define USHER_SUPERVISOR_THREAD_IDS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { ID_REAL, ID_EFFECTIVE, ID_SAVED, ID_FS, ID_KINDS };

struct thread_ids {
	uid_t uid[ID_KINDS];
	gid_t gid[ID_KINDS];
	uint64_t cap_effective;
	uint64_t cap_permitted;
	gid_t *groups;
	size_t n_groups;
};

/*
 * Those of TID, by proc(5)'s status file; free out->groups in every case. 0, -ESRCH when there is no such thread, -EIO when a line is
 * missing, -ENOMEM. TID may have ended and be another's by now: whoever holds its notification asks job_alive() afterwards.
 */
int thread_ids_read(pid_t tid, struct thread_ids *out);

/* As thread_ids_read(), from the text of the file: 0, -EIO, -ENOMEM. */
int thread_ids_parse(const char *status, struct thread_ids *out);

/*
 * Makes GROUPS those of the calling thread alone (the C library would change all threads). Nothing is asked for that is so already: usher
 * may hold some capability, and not CAP_SETGID. 0, -EPERM, -ENOMEM.
 */
int thread_groups_set(const gid_t *groups, size_t n);

#endif
