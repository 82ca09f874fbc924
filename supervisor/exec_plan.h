/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an exec that goes well must look like from the new image: made when the call is resolved, compared when it stops before its first
 * instruction. Kept in job->heap, one block.
 */
#ifndef USHER_SUPERVISOR_EXEC_PLAN_H
#define USHER_SUPERVISOR_EXEC_PLAN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>

#include "rules/rule.h"
#include "supervisor/exec_args.h"
#include "supervisor/job.h"

#define PLAN_HASH 32

struct exec_plan {
	uint32_t image;       /* index of the target that becomes /proc/PID/exe */
	bool unreadable;      /* some image: neither it nor its process could be verified */
	bool other;           /* neither script nor ELF, and binfmt_misc has no interpreter for it: ENOEXEC */
	bool loader;          /* the first instruction lies in the file loader_dev, loader_ino (else in the image) */
	bool loader_plain;    /* it is the system's own, and asks for no interpreter itself */
	bool opens_first;     /* it is glibc's, and the program's libraries are to be opened: a mediated call comes before the program's own code */
	dev_t loader_dev;
	ino_t loader_ino;
	bool bound;           /* somebody may be asked: each image as it was decided on */
	struct timespec changed[JOB_TARGETS]; /* its ctime */
	bool hashed;          /* a script's content */
	uint8_t hash[PLAN_HASH];
	uint32_t program;     /* index of the target that a loader was asked to run, 0: none */
	uint32_t argc;        /* of the new image */
	uint32_t raw_len;     /* argv as the caller gave it, NUL-ended strings */
	uint32_t raw_count;
	uint32_t prefix_len;  /* what scripts put in front */
	bool env_known;       /* some rule asks for the environment: what it was decided on */
	uint32_t env_len, env_count;
	uint8_t env_hash[PLAN_HASH];
	bool edited;          /* a rewrite has exchanged raw: the caller gets a vector of its own */
	bool mapped;          /* what a rewrite put into the caller lies in a mapping of its own */
	uint32_t front;       /* where in the arena the room for what scripts put in front of the joined arguments begins, 0: nobody asks for it */
	struct text args;     /* what the image gets behind its argv[0], joined */
	bool has_args;        /* there are such: one that is empty, perhaps */
	uint32_t skip;        /* bytes of raw that scripts drop (argv[0]) */
	uint32_t start;       /* index of the target that the caller executes: the program, or an interpreter of it that a rule leads elsewhere */
	uint32_t start_front; /* that one's arguments begin with so many bytes of the prefix's end */
	char bytes[];         /* raw, then prefix */
};

static inline struct exec_plan *plan_of(const struct job *j)
{
	return j->heap;
}

static inline bool exec_is_at(const struct job *j)
{
	return j->notif.data.nr == __NR_execveat;
}

#define USHER_AT_EXECVE_CHECK 0x10000 /* Linux 6.14 */

static inline bool exec_only_asks(const struct job *j)
{
	return exec_is_at(j) && (j->arg[4] & USHER_AT_EXECVE_CHECK);
}

static inline struct span plan_raw(const struct exec_plan *p)
{
	return (struct span){ p->bytes, p->raw_len };
}

static inline struct span plan_prefix(const struct exec_plan *p)
{
	return (struct span){ p->bytes + p->raw_len, p->prefix_len };
}

/* What the caller's own vector has in front of raw, where it executes an interpreter itself. */
static inline struct span plan_start_front(const struct exec_plan *p)
{
	return (struct span){ p->bytes + p->raw_len + p->prefix_len - p->start_front, p->start_front };
}

/* What the new image gets of raw. */
static inline struct span plan_given(const struct exec_plan *p)
{
	return (struct span){ p->bytes + p->skip, p->raw_len - p->skip };
}

/*
 * Follows the program (target 0, resolved, called FILENAME by the kernel) through scripts, interpreters and loaders:
 * adds a target for each image and completes the plan. Returns 0 or a negative errno.
 */
int chain_follow(struct job *j, struct span filename);

/*
 * The last interpreter of scripts, target INDEX, is another file now, as a rule leads. The kernel would look the name up that the script says, so the
 * caller executes this one itself, called NAME, with the arguments that scripts put in front. Returns 0 or a negative errno.
 */
int chain_lead(struct job *j, uint32_t index, struct span name);

/* Compares the images as they are now with what was decided on. 0, or -ESTALE. */
int chain_unchanged(struct job *j);

/* Notes the content and the trust of each image, where rules ask for them. 0 or -ENOMEM. */
int content_note(struct job *j);

/* Whether each image has the content that was noted or bound. */
bool content_same(struct job *j);

/* Starts the plan from the caller's argv at ADDR and, where rules ask for it, its environment at ENV. Returns 0 or a negative errno. */
int plan_new(struct job *j, uint64_t addr, uint64_t env);

/* Puts PREFIX in front of raw without its first SKIP strings (0 or 1). Returns 0 or -ENOMEM. */
int plan_prefix_set(struct job *j, const struct args *prefix, unsigned skip);

/* The image gets ARGS of its caller's alone. */
void plan_args_begin(struct job *j);

/* Scripts put MORE in front of what the image gets. 0, or -E2BIG: what rules cannot see is not run. */
int plan_args_before(struct job *j, const struct args *more);

/* T gets what the image gets, without the first SKIP. */
void plan_args_tell(struct job *j, struct target *t, uint32_t skip);

/* Adds NAME to the variables that rules see. 0, -ENOMEM, or -E2BIG: no room. */
int plan_env_add(struct job *j, const char *name);

/* Whether the arguments alone take more than the kernel lets TID hand on (E2BIG), whatever its environment. */
bool plan_too_long(const struct exec_plan *p, pid_t tid);

/* Raw becomes what E makes of it; once. Returns 0, -E2BIG or -ENOMEM. */
int plan_edit(struct job *j, const struct exec_edit *e);

/*
 * The caller of J, seized and stopped as TID, will exec the plan's start, with the plan's arguments where these are not the caller's, when it goes on. The names
 * lie below its stack, or in memory of their own where they are long. Returns 0 or a negative errno; with -EINTR *sig is to be delivered.
 */
int exec_point(struct job *j, pid_t *tid, int *sig);

/* What differs between the plan and the new image of PID, which stands before its first instruction, at IP with stack SP; NULL: nothing. */
const char *verify_image(struct job *j, pid_t pid, uint64_t ip, uint64_t sp);

#endif
