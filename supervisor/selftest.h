/* SPDX-License-Identifier: Apache-2.0 */
/* What this kernel lets usher do to a child: tried on a child that waits in a notification, not concluded from a version. */
#ifndef USHER_SUPERVISOR_SELFTEST_H
#define USHER_SUPERVISOR_SELFTEST_H

/* Each is 0 when it worked, else a positive errno. ECANCELED: not tried, because an earlier step failed. */
struct selftest {
	int filter;      /* the child can install a filter with a listener */
	int getfd;       /* pidfd_getfd on the child */
	int receive;     /* its call arrives */
	int read_memory; /* process_vm_readv of its memory */
	int read_proc;   /* /proc/PID/status of the child */
	int sync_wake;   /* SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP */
	int addfd;       /* a descriptor put into its table */
	int seize;       /* PTRACE_SEIZE on it */
	int answer;      /* the call came back with our value */
};

/* Forks; leaves nothing behind. Returns 0, or a negative errno when not even a child could be made. */
int selftest_run(struct selftest *out);

#endif
