/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The syscall table: one row for each call that is mediated, indexed by number.
 *
 * MUST: a row that copies anything from memory cannot be answered with
 * CONTINUE on its own (CLASS_REGISTERS); this is checked when the table is compiled.
 */
#ifndef USHER_SUPERVISOR_TABLE_H
#define USHER_SUPERVISOR_TABLE_H

#include "supervisor/job.h"

enum reply_class {
	CLASS_INJECT = 1, /* the performer opens, the caller gets the descriptor */
	CLASS_PERFORMED,  /* the performer does it, the caller gets the result */
	CLASS_EXEC,       /* continues under verification */
	CLASS_REGISTERS,  /* decided on register values alone, may continue */
};

enum arg_kind {
	ARG_NONE = 0,
	ARG_LONG,     /* 64 bits as they are */
	ARG_INT,      /* low 32 bits, sign extended */
	ARG_UINT,     /* low 32 bits (flags, modes, ids) */
	ARG_FD,       /* as ARG_INT: a descriptor of the caller */
	ARG_DIRFD,    /* as ARG_INT: base of the path that follows */
	ARG_POINTER,  /* copied by the row's own resolve function */
	ARG_PATH,     /* copied into job->path[], in order; unreadable: EFAULT, too long: ENAMETOOLONG */
	ARG_PATH_NULL, /* as ARG_PATH, may be NULL (absent then) */
};

#define ARG_IS_POINTER(k) ((k) >= ARG_POINTER)

struct sysrow {
	const char *name;
	uint8_t arg[6];
	uint8_t class;
	uint8_t says;     /* enum call_says */
	bool changes;     /* has an effect others can see: an intent goes to the journal first */
	bool looks;       /* has no effect but an answer, and is given to nobody but a caller that still waits */
	bool may_block;   /* performing may wait for somebody: the worker gives up reception first */
	op_set ops;       /* every operation this call may need, for the published table */
	/*
	 * Answers without looking at arguments, caller or what rules say of it, and leaves no record: nothing else of the row is used
	 * then. PERFORM_AGAIN: this time like any other. NULL: always.
	 */
	int (*at_once)(struct job *j);
	/* What the kernel checks before it reads a path: 0 or the negative errno. NULL: nothing. Registers are narrowed by then. */
	int (*check)(struct job *j);
	/*
	 * Turns arguments into targets (held descriptor, canonical name, operations). Returns 0,
	 * or a negative errno that the caller gets as natively (with a record).
	 */
	int (*resolve)(struct job *j);
	/* Does it, on the targets alone, with the caller's credentials and umask; sets j->reply. See enum perform_outcome. */
	int (*perform)(struct job *j);
	/* rewrite: points target INDEX at the new object before perform. NULL: rewriting this call is refused (EPERM). */
	int (*redirect)(struct job *j, uint32_t index, const struct object *to);
	/* Refused by ERROR, which is recorded: what the caller is told, where it is told otherwise by the kernel. NULL: ERROR. */
	int (*refused)(struct job *j, int error);
};

/* The row of a syscall number of this architecture, or NULL. */
const struct sysrow *table_row(int nr);

/* One past the highest number that may have a row. */
int table_end(void);

#define ROW_OK(a0, a1, a2, a3, a4, a5, cls)                                                                  \
	(sizeof(struct {                                                                                     \
		_Static_assert((cls) != CLASS_REGISTERS ||                                                   \
				       !(ARG_IS_POINTER(a0) || ARG_IS_POINTER(a1) || ARG_IS_POINTER(a2) ||   \
					 ARG_IS_POINTER(a3) || ARG_IS_POINTER(a4) || ARG_IS_POINTER(a5)),    \
			       "a row that decides on a pointer cannot continue");                           \
		int ok;                                                                                      \
	}) ? (cls) : 0)

#define ARGS(a0, a1, a2, a3, a4, a5) a0, a1, a2, a3, a4, a5
#define ROW_(nr, a0, a1, a2, a3, a4, a5, cls, ...)                                                           \
	[__NR_##nr] = { .name = #nr, .arg = { a0, a1, a2, a3, a4, a5 },                                      \
			.class = ROW_OK(a0, a1, a2, a3, a4, a5, cls), __VA_ARGS__ },
/* ROW(openat, ARGS(ARG_DIRFD, ARG_PATH, ARG_UINT, ARG_UINT, 0, 0), CLASS_INJECT, .ops = ..., .resolve = ..., .perform = ...) */
#define ROW(nr, args, cls, ...) ROW_(nr, args, cls, __VA_ARGS__)

#endif
