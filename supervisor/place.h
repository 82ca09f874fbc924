/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a worker stands: in the working directory of the caller it served last, as long as that caller's is known not to
 * have changed. Its name then costs a getcwd(2), a sixth of what asking /proc does.
 *
 * A directory that a call removes is left at once, by all who stand there: as long as somebody does it is not gone, and who watches it is not told.
 *
 * MUST: the name is the kernel's own for the directory that is held, at this moment; that it is the caller's is known from
 * the notifications of chdir and fchdir (moves.h) and of exec; a worker stands nowhere but on the mount that usher was started on, which usher itself
 * keeps busy anyway.
 */
#ifndef USHER_SUPERVISOR_PLACE_H
#define USHER_SUPERVISOR_PLACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "supervisor/moves.h"
#include "supervisor/procs.h"

struct job;
struct session;
struct span;
struct text;

struct place {
	int fd;          /* O_PATH of the directory the worker stands in, -1: the caller's is none to stand in */
	uint64_t who;    /* proc_serial() of the caller; 0: nothing is known */
	move_note note;
	uint64_t job;    /* the notification that was given fd last: it gets no other */
	uint64_t mount;  /* the one to stand on; 0: not looked up yet */
	struct stand stand; /* those who all stand here, see procs.h */
	int home;        /* O_PATH of the directory it stands in where fd is -1, where usher was started; -1: not needed yet */
	_Atomic uint64_t stands_in; /* the inode number of fd, for others to look at; 0: none */
	bool away;       /* the way back was barred */
	bool disk;       /* dev is a file system to visit */
	uint64_t dev;    /* 0: none was looked at yet */
};

/*
 * The working directory of J's caller, its name in the arena. Returns a descriptor that stays the worker's (never to be closed,
 * good until the next notification), or -1: ask /proc (fs_base()).
 */
int place_stand(struct job *j, struct text *name);

/*
 * The working directory of J's caller, which is stopped with a new image as PID, by the name the kernel has for it now, in BUF. False: ask
 * /proc. For a program that is spawned where its parent stood when it was itself exec'd, and nobody has moved since, one system call.
 */
bool place_name(struct job *j, pid_t pid, char *buf, size_t cap, struct span *out);

/*
 * The name of the directory FD, which ST tells of, in the arena: the worker goes there and comes back, which costs a third of what asking
 * /proc does. False: ask /proc.
 */
bool place_visit(struct job *j, int fd, const struct stat *st, struct text *name);

void place_init(struct place *p);

/* To where usher was started, of the worker itself. What a job was lent is closed. */
void place_go_home(struct place *p, const struct session *s);

/* Whether a worker stands in directory INO, or in another file system's of that number. Any thread; a guess. */
bool place_is_in(const struct place *p, uint64_t ino);

#endif
