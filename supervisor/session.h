/* SPDX-License-Identifier: Apache-2.0 */
/* One run: what all parts of the supervisor share, set once before the command starts. */
#ifndef USHER_SUPERVISOR_SESSION_H
#define USHER_SUPERVISOR_SESSION_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#include "rules/verdict.h"
#include "supervisor/alerts.h"
#include "supervisor/guardian.h"
#include "supervisor/interrupted.h"
#include "supervisor/link_hint.h"
#include "supervisor/moves.h"
#include "supervisor/root_loaders.h"
#include "supervisor/together.h"
#include "supervisor/tracer.h"

struct policy;
struct questions;
struct journal;
struct redactor;
struct procs;
struct pool;
struct bound_names;
struct listeners;
struct loopback;
struct deep_names;
struct sock_diag;
struct terminals;
struct cover;
struct limits;
struct voice;

struct session {
	int listener;            /* seccomp notification descriptor */
	int self_proc;           /* O_PATH of /proc */
	int self_fds;            /* O_PATH of /proc/self/fd */
	dev_t proc_dev;          /* st_dev of /proc */
	blksize_t proc_block;    /* and its st_blksize, which all of procfs has */
	pid_t usher;             /* own pid */
	pid_t keeper;            /* usher's child, parent of the guardian */
	pid_t guardian;          /* parent of the command; every process of the tree descends from it */
	pid_t command;           /* first process of the tree */
	bool privileged;         /* usher holds privileges that a target may have dropped: check credentials */
	bool descent;            /* some rule asks for ancestors: every fork is told to usher */
	bool unalike;            /* some rule gives programs of the tree other rights than others: none may enter another */
	bool apart;              /* unalike, or no floor keeps what processes outside have closed: see resolve_by_path() */
	bool pins_content;       /* some rule asks for a program's content */
	bool asks_trust;         /* some rule asks whether others could change a program */
	bool asks_people;        /* somebody may be asked: what a process looks up is remembered */
	bool asks_vacant;        /* some rule asks whether nobody listens */
	bool asks_uid;           /* some rule asks for the caller's user */
	uid_t uid;               /* usher's effective user, and that of every process that has not changed its own */
	struct root_loaders root_loaders; /* of an ordinary user in a user namespace of usher's */
	bool other_sockets;      /* some rule gives sockets whose addresses no rule speaks of */
	bool anywhere;           /* UDP may be sent, and TCP connected, to every address */
	bool counts_sends;       /* some rule has a limit on what is sent */
	bool tells_argv;         /* somebody asks for the arguments of an exec's images: a rule, or who may be asked */
	bool reads_env;          /* some rule asks for the environment of an exec */
	bool mediates_stat;      /* calls that look at names are decided on */
	bool identity;           /* some rule pins device and inode: identity is known before any effect */
	bool parting;            /* and may change when the file is opened for writing */
	const struct cover *cover; /* opens for reading are left to the kernel, in this namespace; NULL: they are not */
	bool loaders_free;       /* with cover: whoever runs a loader by name may run any file */
	bool makes_free;         /* the rules allow every name to be made */
	bool removes_free;       /* they allow every one to be removed */
	bool uses_free;          /* and every file to be read, modified, removed and changed, and every socket to be reached */
	bool files_free;         /* and to be seen, too: a rename gives nothing */
	atomic_bool creds_moved; /* some process of the tree has changed its credentials */
	struct creds_home *home; /* what usher's threads are when they serve nobody (creds.h) */
	atomic_bool roots_moved; /* some process has changed its root directory */
	atomic_bool files_shared; /* two processes of the tree have had one descriptor table */
	pthread_mutex_t held;    /* see held.c */
	_Atomic pid_t begins;    /* the process that is being released on one core, 0: none. See exec_begin.h */
	struct moves umasks;     /* when a umask has to be read again */
	struct moves places;     /* and a working directory */
	struct interruptions interruptions; /* calls that usher itself let a signal end */
	struct link_hints links; /* names that led through links */
	atomic_bool fifos;       /* a FIFO was made or met: an open for reading looks before it opens */
	struct terminals *terminals; /* which are the tree's; NULL: no rule asks */
	struct listeners *listeners; /* likewise */
	struct loopback *loopback;   /* NULL: no rule has what listens be heard there alone */
	struct deep_names *_Atomic deep_names; /* of directories beyond PATH_MAX (resolve_deep.c); NULL: none was wanted yet */
	struct sock_diag *diag;      /* NULL: no rule asks whose or nobody's a socket is */
	struct bound_names *bound_names; /* likewise */
	struct policy *policy;
	struct questions *questions;
	struct journal *journal;
	struct procs *procs;
	struct pool *pool;
	struct limits *limits;   /* NULL: no layer has any */
	struct shown *shown;     /* what getpeername shows; NULL: no rule says show=asked */
	struct together together; /* where a start takes place */
	struct lives *lives;     /* how processes end; may be NULL */
	int control;             /* to the guardian: see guardian.h */
	atomic_bool killed;      /* the tree was, and did not just end with its command */
	atomic_bool command_runs; /* its program is there, and the guardian was told */
	struct hidden *hidden;   /* whether keeper and guardian hide their memory */
	int peers;               /* to the same, about the desk's peers, -1: see outside_peer.h */
	int outside;             /* to the process that stays outside usher's pid namespace, -1: see outside.h */
	int status;              /* from the guardian and, until its exec, the command */
	struct report early[EARLY_REPORTS]; /* that came before usher was ready for them, in order */
	unsigned n_early;
	atomic_int journal_error; /* the errno that stopped the journal, 0 while it works */
	atomic_uint verdicts[VERDICT_NONE + 1]; /* records of calls, by verdict */
	struct alerts alerts;    /* what the person is told of at the end */
	atomic_bool channel_failed; /* that a channel gave no answer was said */
	atomic_bool unkept;      /* that an answer for ever could not be written was said */
	const char *channel;     /* who is asked, for the start record; NULL: nobody was named */
	struct redactor *redactor; /* what does not go into the journal as it is; NULL: nothing */
	atomic_uint refused;     /* denied calls, for the closing line */
	struct tracers tracers;  /* of the tree, that usher holds for the execs of whom they trace */
	_Atomic(const char *) unverified; /* why an exec of a traced caller was refused last; NULL: none was */
	atomic_uint nameless;    /* of them: execs of programs without a name that nobody was asked about */
	int tell;                /* the terminal that the command writes to, by a description of usher's own that does not block; -1 */
	bool tell_aloud;         /* that could not be opened (another user's): the voice says it */
	struct voice *voice;     /* what is said on stderr once there is a command; may be NULL */
	bool profile;            /* workers keep laps */
	pthread_mutex_t mover;   /* unless files_free: one rename follows the other, and nothing is made meanwhile: see making.h. Written to often: not beside what all read */
	pthread_rwlock_t makers;
	_Atomic uint64_t moved;  /* renames so far */
	_Atomic uint64_t made;   /* names that were made so far */
	const struct former *_Atomic former; /* names that directories had (former.h), the latest first */
	size_t former_bytes;     /* what these take: who renames has it */
	atomic_bool former_lost; /* there was no room for one */
};

/* Ends the whole tree: the guardian kills it. Any thread; idempotent. */
void session_kill(struct session *s);

/* The same to what is left behind by a command that has ended by itself. */
void session_end(struct session *s);

/* The command's program is there, stopped, in a memory of its own: tells the guardian, once. Any thread. */
void session_command_runs(struct session *s);

/* The journal cannot be written any more: says so once. From here on every mediated call is refused. */
void session_journal_failed(struct session *s, int error);

#endif
