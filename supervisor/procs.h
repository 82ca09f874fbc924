/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usher's own record of the processes in the tree, keyed by thread id and proven alive by pidfd.
 *
 * MUST: a record is never taken for another process that got the same number; the image is
 * what a verified exec put there (or inherited by fork), never a /proc string the program can change.
 */
#ifndef USHER_SUPERVISOR_PROCS_H
#define USHER_SUPERVISOR_PROCS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "rules/call.h"
#include "supervisor/moves.h"

struct procs;
struct proc;
struct session;

int procs_new(struct session *s, struct procs **out);
void procs_free(struct procs *ps);

/*
 * The record of the process that thread TID belongs to, made when new (parents first). *out is held: proc_put() it.
 * The caller checks the notification afterwards (job_alive). Thread safe. Returns 0, -ESRCH, -EMFILE or -ENOMEM.
 */
int procs_get(struct procs *ps, pid_t tid, struct proc **out);
struct proc *proc_hold(struct proc *p);
void proc_put(struct proc *p);

pid_t proc_pid(const struct proc *p);
/* Fills SUBJECT's pid, image and ancestors; spans live while P is held. tid and uid are the caller's to fill. Takes no lock. */
void proc_subject(const struct proc *p, struct subject *out);

/* A verified exec has replaced the image (EXE is copied). */
int proc_image(struct procs *ps, struct proc *p, struct span exe, dev_t dev, ino_t ino);

/* Tells one image of P from the next: never the same again while P is held. */
const void *proc_generation(const struct proc *p);

/* As proc_generation(), and never the same for another process either, held or not, nor for another thread that got the number of one that ended. Never 0. */
uint64_t proc_serial(const struct proc *p);

/*
 * Who writes to P's memory by its number does it between these two, and sees first that the thread it writes for still waits. False: one of P's
 * threads execs, the number may come to mean another image; there is nothing to end.
 */
bool proc_write_begin(struct proc *p);
void proc_write_end(struct proc *p);

/*
 * One of P's threads is let exec between these two: nobody writes by number meanwhile. Waits for those who do; false when they do
 * not end (who writes may wait for a page): then it must not exec, and there is nothing to end.
 */
bool proc_exec_begin(struct proc *p);
void proc_exec_end(struct proc *p);

/* What the interpreter that P runs was told to run. set takes S over (NULL: nothing); get returns it held. */
struct script;
void proc_script_set(struct proc *p, struct script *s);
struct script *proc_script(struct proc *p);

/* CHILD, forked by PARENT, still runs what that one does, if it is the same image. */
void proc_script_inherit(struct proc *child, struct proc *parent);

/* Whether P's stack is known to need its registers, see stack_stop.h; until its next image. */
void proc_stop_for_stack(struct proc *p);
bool proc_stopped_for_stack(const struct proc *p);

/* The place of what lookups.h keeps for P; ends with the record. */
struct lookups;
_Atomic(struct lookups *) *proc_lookups(struct proc *p);

/*
 * Processes that stand in the same directory, whatever it is, as long as nobody in the tree has moved since: one that has exec'd, and those that share its
 * memory (vfork, posix_spawn), which were forked after that exec. Zero: nothing is known.
 */
struct stand {
	uint64_t who;    /* the serial of the one that exec'd */
	uint64_t before; /* moves_before() of session->places then */
};

struct stand proc_stand(struct proc *p);
void proc_stand_set(struct proc *p, struct stand stand);

/* A place for the umask that was read last for a thread of P. Atomic. */
_Atomic move_note *proc_umask(struct proc *p);

/*
 * A dynamic loader runs in P and was approved for one program, the file DEV, INO: the first file it reads must be that one.
 * proc_image() ends the expectation.
 */
void proc_expect(struct proc *p, dev_t dev, ino_t ino);
bool proc_expects(const struct proc *p);
/* Whether DEV, INO is what is expected; ends the expectation then. */
bool proc_met(struct proc *p, dev_t dev, ino_t ino);

/* Execs that were restarted with another path and whose second notification is awaited. */
struct handovers;
struct handovers *procs_handovers(struct procs *ps);

/*
 * PARENT has forked CHILD, which has not run yet: its record is made now, so that its ancestors are known whoever
 * of them lives on. Returns 0 or a negative errno.
 */
int procs_born(struct procs *ps, struct proc *parent, pid_t child);

/* Whether a child of P would have more ancestors than can be remembered. */
bool proc_deep(const struct proc *p);

/* Thread TID has ended, it is said: its entry goes now, if that is so, and no new thread's caller waits until the kernel has freed it. */
void procs_ended(struct procs *ps, pid_t tid);

/* The process that thread TID belongs to, as far as it is known; 0 else. Asks nobody: TID may have ended. */
pid_t procs_process(struct procs *ps, pid_t tid);

/* Whether PID (a process or thread number) belongs to the tree. */
bool procs_inside(struct procs *ps, pid_t pid);

/* Whether TID is one of P's threads. */
bool procs_shares(struct procs *ps, pid_t tid, const struct proc *p);

/*
 * Duplicates descriptor FD of the calling thread's own table (pidfd_getfd; a thread may have a table of its own).
 * Returns the descriptor (close-on-exec, yours) or a negative errno (-EBADF as natively).
 */
struct job;
int caller_fd(struct job *j, int fd);

#endif
