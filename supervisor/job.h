/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One notification on its way: received, decoded, resolved, decided, recorded,
 * performed, replied to. A worker owns exactly one job and uses it again; a call
 * that waits for an answer is packed (job_pack) so that the worker is free.
 *
 * MUST: everything that came from the caller's memory was copied into the job once
 * and is never read again; strings live in the job's arena and are named by
 * offset, so that a packed job can be laid anywhere.
 */
#ifndef USHER_SUPERVISOR_JOB_H
#define USHER_SUPERVISOR_JOB_H

#include <linux/seccomp.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "policy/policy.h"
#include "rules/call.h"
#include "rules/verdict.h"

struct session;
struct squeezer;
struct worker;
struct sysrow;
struct proc;
struct unwound;

/* Bytes in the job's arena, always followed by a NUL that len does not count. off 0: absent. */
struct text {
	uint32_t off;
	uint32_t len;
};

/* Room for the longest argv that a default stack limit allows, escaped; pages that no call needs are never made real. */
#define JOB_ARENA (2560 * 1024)
#define JOB_TARGETS CALL_OBJECTS
#define JOB_SCRATCH 4

/* An object as resolved: a name and, unless it does not exist or is tentative, a held descriptor. */
struct target {
	enum object_kind kind;
	op_set ops;
	struct text name;  /* canonical */
	struct text named; /* what the program said, absent where equal */
	struct text asked; /* the name it had before it was led elsewhere beside another one of the call's (file_redirect_others), else absent */
	struct inet_endpoint inet;
	int fd;            /* O_PATH descriptor of the object itself, -1 */
	int dir;           /* O_PATH descriptor of its parent directory, -1 */
	bool lent;         /* dir is the worker's own (place.h): not closed, duplicated when the job is packed */
	struct text leaf;  /* last component below dir */
	struct text below; /* tentative: the name of the working directory that name was made of, else absent */
	struct text up;    /* the name to look it up by, where the program's goes up out of a directory that is only where a rule leads: the kernel finds nothing by that */
	bool exists;
	bool tentative;    /* name is lexical: true only if opening it meets no symbolic link */
	bool nofollow;     /* a link is meant itself, not what it leads to */
	bool deleted;      /* it has lost the name that it goes by */
	bool magic;        /* reached through a /proc magic link of the caller's own */
	const struct rule *astray; /* the rule that led here, where a link led on to another name than the rule's */
	bool want_dir;     /* the name ended in a slash: must be, or become, a directory */
	struct text sha256; /* exec: see struct object */
	bool of_type;      /* socket: see struct object */
	bool own_argv;     /* exec: see struct object */
	struct text argv;
	bool trusted;
	bool own;          /* a terminal of the tree's, where rules ask */
	bool vacant;       /* see struct object */
	enum makes makes;  /* create */
	dev_t dev;
	ino_t ino;
	nlink_t nlink;
	mode_t mode;
	dev_t rdev;        /* of a device node */
	bool looked;       /* struct job's looked is what fstat said of fd */
	bool named_device; /* a device that no node was looked at for: mode and rdev say which */
};

enum reply_kind {
	REPLY_ERROR = 0, /* value is a negative errno; the zero reply is an error and never a success */
	REPLY_VALUE,
	REPLY_INJECT,    /* fd goes into the caller's table; closed by reply() in every case */
	REPLY_CONTINUE,  /* the kernel goes on with the call: only for rows of CLASS_REGISTERS and CLASS_EXEC (and O_PATH opens) */
	REPLY_GONE,      /* the caller is gone, or was answered already: say nothing */
	REPLY_PARKED,    /* the job was packed and somebody else will answer */
};

struct reply {
	enum reply_kind kind;
	int64_t value;
	int fd;
	uint32_t fd_flags; /* O_CLOEXEC or 0 */
};

/* Why a performer returns: 0 done (job->reply is set), or one of these. */
enum perform_outcome {
	PERFORM_DONE = 0,
	PERFORM_AGAIN = 1, /* a tentative name met a link: resolve fully and decide again */
};

struct job {
	/* The head, JOB_HEAD bytes: what is asked of a call while it waits. A packed job has nothing else that may be looked at. */
	const struct sysrow *row;
	struct session *session;
	struct worker *worker;
	struct proc *proc;       /* the caller's process record, held */
	atomic_bool replied;     /* the notification was answered: nothing more to say to the caller */
	bool trapped;            /* while parked: its caller is to stop for a debugger. Under the pool's lock */
	int sock;                /* the caller's own socket or descriptor, duplicated; -1 */
	uint64_t question;       /* id while parked */
	uint32_t used;           /* arena bytes in use */
	struct seccomp_notif notif; /* the registers are not in the head */

	uint64_t arg[6];         /* registers; ints already narrowed as the row says */
	struct text path[2];     /* copied path arguments, in order */
	struct text data[2];     /* other copied arguments: sockaddr, open_how, times, xattr value, iovec base ... as the row says */
	struct target target[JOB_TARGETS];
	uint32_t n_targets;
	struct text argv0;       /* exec: argv[0] */
	struct text argv;        /* exec: joined for matching */
	struct text env;         /* exec: names of variables, where rules ask */
	struct text argv_to;     /* exec: joined, where a rewrite has edited them */
	struct verdict verdict;
	struct reply reply;
	uint64_t moved;          /* what the session had moved, and made, before the objects were looked up: see making.h */
	uint64_t made;
	bool full;               /* resolve without shortcuts: no tentative names */
	struct stat looked;      /* of the target that says so: need not be asked for again while nobody has been waited for */
	bool as_real;            /* names are looked up by the real ids, as access(2) does */
	bool answered;           /* a person has answered: verdict is final */
	bool recorded;           /* the final record is in the journal */
	bool guarded;            /* resolve refused what no rule can allow: a process outside, for the record */
	bool unasked;            /* resolve refused what the call would open up for later, for the record: nobody is asked about that, nor is it led elsewhere */
	struct charged charged;  /* limits that were taken into account */
	uint32_t intent;         /* while it is performed: the slot of its intent in the journal */
	struct text answer;      /* who answered, for the record */
	struct text rewritten;   /* rewrite: the other object's name */
	bool redirected;         /* target redirected_index is not what was asked for any more: asked_* is */
	uint32_t redirected_index;
	const struct rule *led_by; /* whose goal is resolved now, NULL: a person's */
	enum object_kind asked_kind;
	struct text asked_name;
	struct text asked_named;
	struct inet_endpoint asked_inet;
	uid_t uid;               /* the caller's effective uid, where rules ask for it */
	bool entered;            /* usher took the caller's credentials for the call, and acted as USER, for the record */
	uid_t user;
	uint64_t said;           /* what the call says beside its objects (enum call_says), for people and records; set by resolve */
	int late;                /* why the second path or what stands for an attribute could not be copied, a negative errno: said when the first was looked up; 0 */
	int scratch[JOB_SCRATCH];          /* descriptors a row needs to keep across parking, -1 each */
	uint64_t word[4];        /* row-private values kept across parking */
	void *heap;              /* row-private malloc memory (a long iovec, an attribute's value ...), freed by job_reset() */
	uint32_t value_len;      /* of the attribute's value in HEAP */
	struct unwound *stack;   /* the caller's, where it is evidence; malloc */
	uint64_t review;         /* verdict.review: its number, 0 when there was no room */
	char arena[JOB_ARENA];   /* last: job_pack() keeps only what is used */
};

#define JOB_HEAD offsetof(struct job, notif.data.args)

void job_init(struct job *j, struct session *s, struct worker *w);

/* Closes the files and directories that J holds: before its answer, or the caller, and whoever hears from it, would find them in use. */
void job_let_go(struct job *j);

/* Makes J ready for the next notification: closes what is held, empties the arena. */
void job_reset(struct job *j);

/* What is known of T, as fstat(2) would say it: device, inode, links, mode, and a device node's numbers. Any thread. */
struct stat target_known(const struct target *t);
/* T exists, and is what fstat(2) says in ST. Any thread. */
void target_knows(struct target *t, const struct stat *st);

/* Closes and forgets the targets, and what was said of them: before resolving again. */
void job_drop_targets(struct job *j);

/*
 * Moves J, with all it holds, into little memory, squeezed by Z: it waits for a person, perhaps for hours, beside thousands. *out is one allocation:
 * BEFORE bytes for what the caller has of it, a multiple of 8, and behind them the packed job. 0 or a negative errno.
 */
int job_pack(struct job *j, struct squeezer *z, size_t before, void **out);
/* The most bytes that J keeps when it is packed, with what its row has in memory of its own; and those that a packed one does keep. */
size_t job_most_kept(const struct job *j);
size_t job_kept_size(const struct job *packed);
/* Whether PACKED is the very call of J, by its number, its registers and where it was made. False also without memory to look. */
bool job_same_call(const struct job *packed, const struct job *j);
/* Moves PACKED into J, which must be freshly reset. 0, or -ENOMEM: J has its head then, and what else PACKED held is let go of. */
int job_unpack(struct job *packed, struct job *j);
/* Releases what PACKED holds. Its memory, here and above, is the caller's. */
void job_discard(struct job *packed);

/* N bytes of arena with a NUL behind; absent when the arena is full (deny the call with ENOMEM). */
struct text job_alloc(struct job *j, size_t n);
struct text job_copy(struct job *j, const void *bytes, size_t n);
/* Gives back the unused tail of T, the last allocation. */
void job_trim(struct job *j, struct text *t, size_t n);

static inline char *job_text(struct job *j, struct text t)
{
	return t.off ? j->arena + t.off : NULL;
}

static inline struct span job_span(const struct job *j, struct text t)
{
	return t.off ? (struct span){ j->arena + t.off, t.len } : (struct span){ NULL, 0 };
}

/* Adds a target, all descriptors -1; NULL when there are too many. */
struct target *job_target(struct job *j, enum object_kind kind, op_set ops);

/* Closes what T holds: fd and dir are -1 then. */
void target_release(struct target *t);

/* The call as rules and records see it; spans point into J and into the process record. */
void job_call(const struct job *j, struct call *out);
/* The same as if target INDEX were the only one. */
void job_call_alone(const struct job *j, uint32_t index, struct call *out);

/* The same of T alone, which need be none of J's targets. */
void job_call_about(const struct job *j, const struct target *t, struct call *out);

/* Replies; each sets j->reply and returns PERFORM_DONE. */
int job_error(struct job *j, int negative_errno);
int job_value(struct job *j, int64_t value);
int job_inject(struct job *j, int fd, uint32_t fd_flags);
int job_continue(struct job *j);
/* Its caller is no more: nothing is replied. */
int job_gone(struct job *j);

/* A call's result as syscall wrappers give it (-1 and errno) into a reply. */
int job_result(struct job *j, long rc);

#endif
