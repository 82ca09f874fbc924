/* SPDX-License-Identifier: Apache-2.0 */
/* Between the table of threads (procs.c) and the records of processes (procs_record.c). */
#ifndef USHER_SUPERVISOR_PROCS_INTERNAL_H
#define USHER_SUPERVISOR_PROCS_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "supervisor/image.h"
#include "supervisor/procs.h"
#include "supervisor/procs_kernel.h"

struct thread {
	pid_t tid;
	struct thread_ref ref;
	struct proc *proc;
	struct thread *next;
	struct thread *older, *newer;
};

/* An image that jobs may still be looking at. */
struct retired {
	struct lineage *lineage;
	struct retired *next;
};

struct proc {
	struct procs *procs;
	pid_t pid;
	pthread_mutex_t lock;
	_Atomic uint64_t holds; /* entries in the table and users in the low half; users, those outside the table, in the high half */
	_Atomic(struct lineage *) lineage;
	_Atomic uint64_t serial;
	_Atomic(struct retired *) retired; /* changes under lock */
	atomic_bool expects; /* expect_dev and expect_ino are valid; they change under lock */
	atomic_bool stack_stops;
	dev_t expect_dev;
	ino_t expect_ino;
	atomic_uint writers; /* threads of usher that write to its memory by its number */
	atomic_uint execs;   /* of its threads, that may succeed */
	struct script *script; /* what its interpreter runs; under lock */
	_Atomic move_note umask;
	struct stand stand; /* under lock */
	_Atomic(struct lookups *) lookups;
};


/* A record without a holder (proc_ref() it). LINEAGE is taken over. NULL: no memory, and LINEAGE is still the caller's. */
struct proc *proc_new(struct procs *ps, pid_t pid, struct lineage *lineage);

/* Holds for a user or for the table. */
void proc_ref(struct proc *p, bool user);

void proc_unref(struct proc *p, bool user);

/* A thread of P is entered: what was remembered of one by its number may have been of another, that ended. */
void proc_other_thread(struct proc *p);

/* The next number that tells images apart, from 1. */
uint64_t procs_next_serial(struct procs *ps);

/* Whether somebody outside the table holds P. */
bool proc_used(struct proc *p);

/* pidfd_getfd() from the live entry of TID: a descriptor, -ENOENT when the table has none, or another negative errno. */
int table_getfd(struct procs *ps, pid_t tid, int fd);

/* Whether TID has a live entry. */
bool table_has(struct procs *ps, pid_t tid);

const struct session *procs_session(const struct procs *ps);

#endif
