/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel itself says of a thread: identity, parentage, executable. */
#ifndef USHER_SUPERVISOR_PROCS_KERNEL_H
#define USHER_SUPERVISOR_PROCS_KERNEL_H

#include <stdbool.h>
#include <sys/types.h>

#include "audit/put.h"
#include "rules/call.h"

/* A thread held by identity, not by number. */
struct thread_ref {
	int fd;
	bool pidfd;   /* FD is a pidfd of this very thread; else an O_PATH descriptor of /proc/TID (before Linux 6.9) */
	bool process; /* ... and the thread is a leader: it stands for the whole process, and tells when that ends */
};

/* The way to WHAT (a short name) of process PID, from a descriptor of /proc. */
#define PROC_PATH 40
static inline void put_proc_path(char out[PROC_PATH], pid_t pid, const char *what)
{
	char *p = put_number(out, (uint64_t)pid);

	*p++ = '/';
	memcpy(p, what, strlen(what) + 1);
}

/* Returns 0, -ESRCH, -EMFILE or another negative errno. */
int thread_open(pid_t tid, struct thread_ref *out);

/* Whether the thread (or the leader's zombie) still has its number. */
bool thread_alive(const struct thread_ref *t);

/* Thread group and parent of thread TID, which T holds. Returns 0 or -ESRCH. */
int thread_family(const struct thread_ref *t, pid_t tid, pid_t *tgid, pid_t *ppid);

/*
 * The executable TID runs, by PROC (a descriptor of /proc), into *out; the name goes to BUF (CAP bytes, the kernel's own name for it). When the file is LIKE's, LIKE's name
 * is taken (LIKE may be NULL). Returns 0 or a negative errno (-ENOENT: it has no executable any more).
 */
int thread_image(int proc, pid_t tid, const struct image *like, char *buf, size_t cap, struct image *out);

/* Duplicates descriptor FD of the thread T holds by pidfd. Returns it (close-on-exec), or a negative errno; -ESRCH when the thread has ended. */
int thread_getfd(const struct thread_ref *t, int fd);

/*
 * How the process that the pidfd FD stands for ended, as wait(2) tells it: known once its parent has collected it (Linux 6.15).
 * Returns 0 or a negative errno.
 */
int pidfd_exit_status(int fd, int *status);

/* Whether two threads share one descriptor table, or one memory. False also where the kernel does not tell. */
bool thread_same_files(pid_t a, pid_t b);
bool thread_same_memory(pid_t a, pid_t b);

#endif
