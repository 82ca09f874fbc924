/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MUST: a number that names no process of the tree is refused with EPERM, or with ESRCH when it names none at
 * all (a negative one, by which the kernel finds nobody, is left to it: each call has its own errno for that); usher never lets the kernel look it up again in that case, and where it does the number is held until the call is over. A process group passes only
 * when its leader belongs to the tree, as others cannot have joined it from outside then; and where its leader has ended when all do that are left.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "supervisor/creds.h"
#include "supervisor/held.h"
#include "supervisor/leaderless.h"
#include "supervisor/procs.h"
#include "supervisor/rows_guard.h"
#include "supervisor/session.h"
#include "supervisor/thread_state.h"

#define IOPRIO_PROCESS 1
#define IOPRIO_GROUP 2
#define IOPRIO_USER 3

/* In struct job's word: an errno for perform, and whose number the call is about. */
enum { RESULT, NUMBER, MEMBER /* who stands for the leader of a group that has ended */ };

/* 0, -ESRCH or -EPERM. 0 is the caller, and by a negative number the kernel finds nobody. */
static int process_inside(struct job *j, int64_t pid)
{
	if (pid <= 0 || procs_inside(j->session->procs, (pid_t)pid))
		return 0;
	return kill((pid_t)pid, 0) < 0 && errno == ESRCH ? -ESRCH : -EPERM;
}

/* As process_inside(); 0 is the caller's own group, which the caller itself holds. */
static int group_inside(struct job *j, int64_t said)
{
	int64_t group = said ? said : getpgid((pid_t)j->notif.pid);
	pid_t member;

	j->word[MEMBER] = 0;
	if (group <= 0)
		return -EPERM;
	int rc = process_inside(j, group);
	if (rc != -ESRCH)
		return rc;
	rc = leaderless_inside(j, (pid_t)group, &member);
	j->word[MEMBER] = (uint64_t)member;
	return rc == 0 && said && !member ? -ESRCH : rc;
}

/* No rule is asked. What is not there gets its errno from perform: a failing resolve would be taken for a caller that is gone. */
static int settle(struct job *j, int rc)
{
	if (rc < 0 && rc != -ESRCH)
		return rc;
	j->word[RESULT] = (uint64_t)(int64_t)rc;
	return 0;
}

/* As settle(); the kernel will look NUMBER up, a process's, or, negative, a group's. 0 is the caller's own. */
static int settle_on(struct job *j, int64_t number, int rc)
{
	j->word[NUMBER] = (uint64_t)number;
	return settle(j, rc);
}

int guard_perform(struct job *j)
{
	int64_t result = (int64_t)j->word[RESULT];
	pid_t number = (pid_t)(int64_t)j->word[NUMBER], member = (pid_t)j->word[MEMBER];

	if (result < 0)
		return job_error(j, (int)result);
	if (number >= 0)
		return number ? held_continue(j, number, 0) : job_continue(j);
	return held_continue(j, member ? member : -number, -number);
}

/* As settle_on() with a process's number, or one of nobody's. */
static int settle_process(struct job *j, int64_t pid, int rc)
{
	return settle_on(j, pid < 0 ? 0 : pid, rc);
}

int guard_first(struct job *j)
{
	return settle_process(j, (int64_t)j->arg[0], process_inside(j, (int64_t)j->arg[0]));
}

/* A thread and its process: who holds the thread's number holds both. */
int guard_both(struct job *j)
{
	int rc = process_inside(j, (int64_t)j->arg[0]);

	return settle_process(j, (int64_t)j->arg[1], rc < 0 ? rc : process_inside(j, (int64_t)j->arg[1]));
}

/* kill(-1) would reach everything the user runs. */
static int signalled_inside(struct job *j, int64_t pid)
{
	if (pid > 0)
		return process_inside(j, pid);
	return pid == -1 ? -EPERM : group_inside(j, -pid);
}

int guard_kill(struct job *j)
{
	return settle_on(j, (int64_t)j->arg[0], signalled_inside(j, (int64_t)j->arg[0]));
}

/* fcntl F_SETOWN, the only command that is sent here; 0 takes the owner away, and INT_MIN is EINVAL by the kernel. */
int guard_owner(struct job *j)
{
	int owner = (int)j->arg[2];

	if (owner == 0 || owner == INT_MIN)
		return settle(j, 0);
	return settle_on(j, owner, signalled_inside(j, owner));
}

/* What the kernel calls WHICH of a call on priorities. */
struct whose {
	int process, group, user;
};

/* The second argument is a process's number, a group's or, of whom others run, too, a user's. Of anything else the kernel says EINVAL. */
static int whose_priority(struct job *j, struct whose is)
{
	int which = (int)j->arg[0];
	int64_t number = (int64_t)j->arg[1];

	if (which == is.process)
		return settle_process(j, number, process_inside(j, number));
	if (which == is.group)
		return number < 0 ? settle_on(j, 0, 0) : settle_on(j, -number, group_inside(j, number));
	return which == is.user ? -EPERM : settle_on(j, 0, 0);
}

int guard_priority(struct job *j)
{
	return whose_priority(j, (struct whose){ PRIO_PROCESS, PRIO_PGRP, PRIO_USER });
}

int guard_ioprio(struct job *j)
{
	return whose_priority(j, (struct whose){ IOPRIO_PROCESS, IOPRIO_GROUP, IOPRIO_USER });
}

/* What the kernel says of a group that cannot be joined: who is to join it is looked at first. */
static int not_joined(const struct job *j, pid_t moved)
{
	struct thread_state st;

	if (moved == proc_pid(j->proc))
		return -EPERM;
	if (moved < 0 || thread_state(j->session->self_proc, moved, &st) < 0)
		return -ESRCH;
	if (st.tgid != moved)
		return -EINVAL;
	if (st.parent != proc_pid(j->proc))
		return -ESRCH;
	return has_execed(moved) ? -EACCES : -EPERM;
}

/*
 * A terminal that is used from the background stops (SIGTTIN, SIGTTOU) the whole group of who uses it, and asks nobody's leave. So the tree's processes
 * join its own groups alone, or usher's, in which the command began; the kernel says EPERM of a group that is not there.
 */
int guard_setpgid(struct job *j)
{
	pid_t moved = (pid_t)j->arg[0] ? (pid_t)j->arg[0] : proc_pid(j->proc), group = (pid_t)j->arg[1];

	if (group <= 0 || group == moved || group == getpgrp())
		return settle_on(j, 0, 0);
	int rc = group_inside(j, group);
	return settle_on(j, -(int64_t)group, rc < 0 ? not_joined(j, moved) : rc);
}

static int user_ids(long nr)
{
	return nr == __NR_setresuid ? 3 : nr == __NR_setreuid ? 2 : nr == __NR_setuid || nr == __NR_setfsuid ? 1 : 0;
}

static int group_ids(long nr)
{
	return nr == __NR_setresgid ? 3 : nr == __NR_setregid ? 2 : nr == __NR_setgid || nr == __NR_setfsgid ? 1 : 0;
}

/* A call for ids that everybody has as long as nobody has changed any, as make(1) begins with. The ids are in registers. */
static bool changes_nothing(const struct job *j)
{
	int users = user_ids(j->notif.data.nr), ids = users ? users : group_ids(j->notif.data.nr);

	for (int i = 0; i < ids; i++) {
		uint32_t id = (uint32_t)j->arg[i];
		if (id != (uint32_t)-1 && !(users ? creds_home_user(j->session, id) : creds_home_group(j->session, id)))
			return false;
	}
	return ids > 0;
}

/* Told before the kernel does it: from here on no call of the tree is performed without a look at its caller's credentials. */
int guard_creds(struct job *j)
{
	if (!atomic_load(&j->session->creds_moved) && !changes_nothing(j))
		atomic_store(&j->session->creds_moved, true);
	return settle(j, 0);
}
