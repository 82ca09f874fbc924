/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Only the caller can exec, and the kernel reads the arguments again when it does. So the caller is held by ptrace from
 * before the answer until the call is over.
 *
 * MUST: a new image runs only when it is what was decided on and its record is in the journal;
 * whatever cannot be held is refused; nobody stays traced.
 */
#include "supervisor/rows_exec.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "audit/redact.h"
#include "policy/policy.h"
#include "supervisor/creds.h"
#include "supervisor/exec_begin.h"
#include "supervisor/exec_handover.h"
#include "supervisor/exec_plan.h"
#include "supervisor/exec_script.h"
#include "supervisor/exec_trace.h"
#include "supervisor/exec_traced.h"
#include "supervisor/file.h"
#include "supervisor/hidden.h"
#include "supervisor/memory.h"
#include "supervisor/patience.h"
#include "supervisor/place.h"
#include "supervisor/procs.h"
#include "supervisor/procs_kernel.h"
#include "supervisor/reply.h"
#include "supervisor/resolve.h"
#include "supervisor/session.h"
#include "supervisor/table.h"
#include "supervisor/walk.h"

#define SCRIPT_ARGS 1024 /* of a script's arguments, kept for later records */
#define SCRIPT_ARGS_SEEN (4 * SCRIPT_ARGS) /* so that none ends within a secret */

#define SEIZES_MOST 5000 /* while usher itself traces the caller, or its tracer, a fifth of a millisecond apart */

#define HIDDEN_MS 100 /* between two looks at whether the session ends */

static int look_of(const struct job *j, struct look *out)
{
	*out = (struct look){ .dirfd = AT_FDCWD, .path = j->path[0] };
	if (!exec_is_at(j))
		return 0;
	uint64_t flags = j->arg[4];
	if (!j->path[0].len && !(flags & AT_EMPTY_PATH))
		return -ENOENT;
	if (flags & ~(uint64_t)(AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW | USHER_AT_EXECVE_CHECK))
		return -EINVAL;
	out->dirfd = (int)j->arg[0];
	out->flags = (flags & AT_EMPTY_PATH ? LOOK_EMPTY : 0) | (flags & AT_SYMLINK_NOFOLLOW ? LOOK_NOFOLLOW : 0);
	return 0;
}

/* What the kernel calls the program, as a script's interpreter gets to see it. */
static struct span filename_of(const struct job *j, char buf[PATH_MAX + 32])
{
	struct span path = job_span(j, j->path[0]);
	int n;

	if (!exec_is_at(j) || (int)j->arg[0] == AT_FDCWD || (path.len && path.bytes[0] == '/'))
		return path;
	if (path.len)
		n = snprintf(buf, PATH_MAX + 32, "/dev/fd/%d/%s", (int)j->arg[0], path.bytes);
	else
		n = snprintf(buf, PATH_MAX + 32, "/dev/fd/%d", (int)j->arg[0]);
	return (struct span){ buf, (uint32_t)n };
}

int exec_resolve(struct job *j)
{
	char filename[PATH_MAX + 32];
	struct target *t;
	struct look look;

	going_back(&j->session->tracers, j);
	if (handover_give(j))
		return -ESRCH; /* a call that another worker restarted and waits for: not ours */
	int err = look_of(j, &look);
	if (file_may_rewrite(j))
		look.flags |= LOOK_MISSING | LOOK_ABSENT | LOOK_SAID;
	if (!err)
		err = resolve(j, &look, OP_EXEC, &t);
	if (err)
		return err;
	err = plan_new(j, j->arg[exec_is_at(j) ? 2 : 1], j->arg[exec_is_at(j) ? 3 : 2]);
	if (!t->exists) /* the kernel says so before it reads the arguments, which tell where a rule leads */
		return !err && file_rewritten(j) ? 0 : -ENOENT;
	return err ? err : chain_follow(j, filename_of(j, filename));
}

/* The caller has its answer, or is gone. */
static int exec_gone(struct job *j)
{
	if (!j->recorded)
		(void)walk_record(j, -ESRCH);
	j->reply.kind = REPLY_GONE;
	return PERFORM_DONE;
}

/* As /proc has it, with a NUL behind. False, and empty, when it does not tell. */
static bool read_cwd(const struct session *s, pid_t pid, char cwd[PATH_MAX], struct span *out)
{
	char path[PROC_PATH];

	put_proc_path(path, pid, "cwd");
	ssize_t n = readlinkat(s->self_proc, path, cwd, PATH_MAX - 1);
	*out = (struct span){ cwd, n > 0 ? (uint32_t)n : 0 };
	cwd[out->len] = '\0';
	return n > 0;
}

/* What it starts with besides image and arguments. */
static void write_process(struct job *j, struct record *r, pid_t pid, const struct target *image)
{
	struct span where;
	char cwd[PATH_MAX];

	if (place_name(j, pid, cwd, sizeof(cwd), &where) || read_cwd(j->session, pid, cwd, &where))
		record_fitting(r, "cwd", where); /* the image is there already: a long name is no reason to end it */
	record_int(r, "session", getsid(pid));
	if (image->mode & (S_ISUID | S_ISGID))
		record_text(r, "setuid", "without effect"); /* no_new_privs */
}

static void cut_args(const struct job *j, struct span *args)
{
	static const struct span nobody[2];

	args->len = (uint32_t)redact_cut(j->session->redactor, nobody, args->bytes, args->len, SCRIPT_ARGS);
}

/* Scripts are asked about later, and what they are is known for certain only now. */
static void note_script(struct job *j, pid_t pid)
{
	const struct exec_plan *p = plan_of(j);
	const struct target *image = &j->target[p->image];
	enum script_language language = script_language(job_span(j, image->name));
	char cwd[PATH_MAX], name[SCRIPT_TEXT], args[SCRIPT_ARGS_SEEN];
	struct span rest = { NULL, 0 }, where;
	struct script *s = NULL;
	int whole;

	if (language != SCRIPT_NONE && p->image) {
		/* a script of its own right: by its canonical name */
		rest = job_span(j, p->edited ? j->argv_to : j->argv);
		cut_args(j, &rest);
		s = script_new(language, job_span(j, j->target[0].name), rest);
	} else if (language != SCRIPT_NONE) {
		(void)read_cwd(j->session, pid, cwd, &where);
		script_find(language, plan_raw(p), cwd, name, &rest);
		rest = (struct span){ args, (uint32_t)args_join(rest, args, sizeof(args), &whole) };
		cut_args(j, &rest);
		s = script_new(language, (struct span){ name, (uint32_t)strlen(name) }, rest);
	}
	proc_script_set(j->proc, s);
}

/* Stopped with its new image it moves no more, and nobody who shares its memory was forked yet. */
static void note_stand(struct job *j)
{
	struct moves *places = &j->session->places;
	struct stand stand = proc_stand(j->proc);

	if (!stand.who || !moves_none_since(places, stand.before))
		proc_stand_set(j->proc, (struct stand){ proc_serial(j->proc), moves_before(places) });
}

int exec_admit(struct job *j, pid_t pid, const char *differs)
{
	const struct target *t = &j->target[plan_of(j)->image];
	struct record *r = &j->worker->evidence;

	if (differs) {
		record_text(r, "raced", differs);
		(void)walk_record(j, -EPERM);
		return -EPERM;
	}
	write_process(j, r, pid, t);
	int err = walk_record(j, 0);
	if (!err)
		err = proc_image(j->session->procs, j->proc, job_span(j, t->name), t->dev, t->ino);
	if (err < 0)
		return err;
	if (pid != (pid_t)j->notif.pid)
		moves_number_changes(&j->session->umasks);
	note_stand(j);
	note_script(j, pid);
	if (plan_of(j)->program && !j->session->cover) {
		const struct target *program = &j->target[plan_of(j)->program];
		proc_expect(j->proc, program->dev, program->ino);
	}
	return 0;
}

/*
 * No program of the tree runs before keeper and guardian hide their memory again. A stopped guardian is waited for; one that was killed has taken
 * the stopped command PID along.
 */
static bool hides(struct job *j, pid_t pid)
{
	uint64_t ip, sp;

	while (!hidden_wait(j->session->hidden, HIDDEN_MS)) {
		if (worker_interrupted(j->worker) || trace_point(pid, &ip, &sp) < 0)
			return false;
	}
	return true;
}

/* The tracee was stopped with a new image. Lets it run, or ends it. */
static void exec_arrived(struct job *j, pid_t pid)
{
	const bool command = pid == j->session->command;
	uint64_t ip, sp;

	if (command)
		session_command_runs(j->session); /* which goes on beside what follows */
	tracers_renamed(&j->session->tracers, (pid_t)j->notif.pid, pid);
	const char *differs = trace_point(pid, &ip, &sp) ? "registers" : verify_image(j, pid, ip, sp);
	if (exec_admit(j, pid, differs) < 0 || (command && !hides(j, pid))) {
		worker_blocking(j->worker);
		trace_kill(pid);
		return;
	}
	if (command)
		together_command(&j->session->together, pid);
	begin_release(j, pid);
}

/* The call failed in the kernel: the caller gets the kernel's own error. */
static void exec_returned(struct job *j, pid_t tid, int sig)
{
	exec_regs regs;
	int64_t result = trace_regs(tid, &regs) ? -EPERM : REGS_RESULT(&regs);

	if (result <= -512 && result >= -516)
		result = -EINTR; /* restarted: it comes again */
	if (j->rewritten.off) {
		regs_exec_restore(&regs, (const uint64_t *)j->notif.data.args, exec_is_at(j));
		trace_set_regs(tid, &regs);
	}
	(void)walk_record(j, result);
	trace_release(tid, sig);
}

/* Some execs wait: for a file system that somebody serves, for threads that must end first. */
static enum trace_event await_exec(struct worker *w, pid_t *tid, int *sig)
{
	patience_begin(w);
	enum trace_event event = trace_wait(tid, sig);
	patience_end(w);
	return event;
}

static void exec_watch(struct job *j, pid_t tid)
{
	int sig;

	switch (await_exec(j->worker, &tid, &sig)) {
	case TRACE_EXEC:
		exec_arrived(j, tid);
		break;
	case TRACE_BACK:
		exec_returned(j, tid, sig);
		break;
	case TRACE_ENDED:
		(void)walk_record(j, -ESRCH);
		break;
	}
}

/* A loader opens its program by name once more: what it gets must be what was approved. */
int exec_expected(struct job *j)
{
	const struct target *t = &j->target[0];

	if (j->row->class != CLASS_INJECT || !j->n_targets || !(t->ops & OP_READ))
		return 0;
	if (t->tentative && !j->full)
		return PERFORM_AGAIN;
	return !t->exists || proc_met(j->proc, t->dev, t->ino) ? 0 : -EPERM;
}

const char *exec_refusal(const struct job *j)
{
	const struct exec_plan *p = j->row->class == CLASS_EXEC ? j->heap : NULL;

	return p && p->unreadable ? "unreadable program" : NULL;
}

/* 0, -EACCES, or why it cannot be told. */
static int may_execute(struct job *j, int fd)
{
	struct creds saved;
	int rc = creds_enter(j, CREDS_FS, &saved);

	if (rc < 0)
		return rc;
	if (faccessat(fd, "", X_OK, AT_EACCESS | AT_EMPTY_PATH) < 0 && errno == EACCES)
		rc = -EACCES;
	creds_leave(&saved);
	return rc;
}

/*
 * What the caller may execute of the images, and the room for arguments. Formats are told by the chain. That a
 * file is open for writing (ETXTBSY) may be over when the answer is there.
 */
int exec_hopeless(struct job *j)
{
	const struct exec_plan *p = j->heap;

	if (!p || j->row->class != CLASS_EXEC)
		return 0;
	uint32_t last = exec_only_asks(j) ? 0 : p->image;
	for (uint32_t i = 0; i <= last && i < j->n_targets; i++) {
		const struct target *t = &j->target[i];

		if (!t->exists)
			continue; /* a rule leads it elsewhere */
		if (S_ISLNK(t->mode))
			return -ELOOP; /* AT_SYMLINK_NOFOLLOW */
		if (!S_ISREG(t->mode) || !(t->mode & 0111))
			return -EACCES;
		int rc = t->fd >= 0 ? may_execute(j, t->fd) : 0;
		if (rc < 0)
			return rc;
	}
	if (plan_too_long(p, (pid_t)j->notif.pid))
		return -E2BIG;
	return p->other && !exec_only_asks(j) ? -ENOEXEC : 0; /* who only asks is told nothing of formats */
}

/* Who is traced already is not usher's to hold. */
static int hold_caller(struct job *j, pid_t tid)
{
	int err;

	for (int tries = 0; (err = seize_patiently(j->worker, tid)) == -EPERM && tries < SEIZES_MOST; tries++) {
		if (exec_traced(j) != -EAGAIN)
			return -EALREADY;
	}
	if (err == -EPERM)
		record_text(&j->worker->evidence, "unverified", "the caller cannot be traced");
	return err;
}

/* Holds the caller, answers, and sees what comes of it. */
static int exec_held(struct job *j)
{
	pid_t tid = (pid_t)j->notif.pid;
	int err = hold_caller(j, tid);

	if (err == -EALREADY)
		return PERFORM_DONE;
	if (err)
		return job_error(j, err == -ESRCH ? -EPERM : err);
	if (j->rewritten.off && handover_restart(j, &tid) < 0)
		return exec_gone(j); /* it ended, or was let go with an error */
	worker_stay(j->worker);
	if (reply_send(j, 0, 0, true) < 0) {
		worker_blocking(j->worker);
		handover_answered(j);
		trace_abandon(tid);
		return exec_gone(j);
	}
	handover_answered(j);
	exec_watch(j, tid);
	return exec_gone(j);
}

int exec_perform(struct job *j)
{
	for (uint32_t i = 0; i < j->n_targets; i++) {
		if (!j->target[i].exists)
			return job_error(j, -ENOENT); /* it would have been led elsewhere when it was looked for, and is not any more */
	}
	if (exec_only_asks(j))
		record_text(&j->worker->evidence, "check", "AT_EXECVE_CHECK");
	if (j->answered && chain_unchanged(j)) {
		record_text(&j->worker->evidence, "raced", "content");
		return job_error(j, -EACCES);
	}
	/* Not left to the kernel, which may know more formats than are decided on; what it looks at before the format comes first. */
	if (plan_of(j)->other && !exec_only_asks(j))
		return job_error(j, exec_hopeless(j));
	int hopeless = plan_of(j)->start ? exec_hopeless(j) : 0; /* the kernel looks at no script then */
	if (hopeless)
		return job_error(j, hopeless);
	if (j->rewritten.off)
		worker_blocking(j->worker);
	if (!proc_exec_begin(j->proc))
		return job_error(j, -EAGAIN);
	int rc = exec_held(j);
	proc_exec_end(j->proc);
	return rc;
}

/*
 * TO in the place of target INDEX: the program, or the last interpreter of scripts. argv is what the rule says, else stays, except that scripts put theirs in
 * front. A loader is looked up by the kernel in the program itself: it cannot be exchanged.
 */
static int exchange(struct job *j, uint32_t index, const struct object *to, const struct exec_edit *edit)
{
	struct target *t = &j->target[index];

	if (to->kind != OBJECT_FILE || (index && (index != plan_of(j)->image || edit)))
		return -EPERM;
	while (j->n_targets > index + 1)
		target_release(&j->target[--j->n_targets]);
	if (!t->named.off)
		t->named = t->name; /* what was asked for */
	int err = resolve_redirect(j, t, to->name, 0);
	if (!err && edit)
		err = plan_edit(j, edit);
	if (err)
		return err;
	struct span name = job_span(j, t->name); /* which the caller executes: links on the way to where the rule leads are gone */
	return index ? chain_lead(j, index, name) : chain_follow(j, name);
}

/* What the program brings along behind target LED (interpreters, a loader of its own) is decided on like any other image. Returns 1 where one was led elsewhere, *LED then. */
static int decide_next(struct job *j, uint32_t *led)
{
	char name[PATH_MAX];
	struct call call;
	struct verdict v;
	struct object to;
	size_t len;

	job_call(j, &call);
	if (call.n_objects < *led + 2)
		return 0;
	call.n_objects -= *led + 1;
	memmove(call.object, call.object + *led + 1, call.n_objects * sizeof(call.object[0]));
	policy_decide(j->session->policy, &call, &v);
	if (v.kind != VERDICT_REWRITE)
		return v.kind == VERDICT_ALLOW ? 0 : -EACCES;
	int err = rule_rewrite(v.rule, &call.object[v.object], name, &len, &to);
	if (err < 0)
		return err;
	to.name = (struct span){ name, (uint32_t)len };
	j->led_by = v.rule;
	*led += 1 + v.object;
	err = exchange(j, *led, &to, v.rule->edit);
	return err ? err : 1;
}

/* Another program, or interpreter, in its place. */
int exec_redirect(struct job *j, uint32_t index, const struct object *to)
{
	const struct exec_edit *edit = j->verdict.kind == VERDICT_REWRITE && j->verdict.rule ? j->verdict.rule->edit : NULL;
	int more = exchange(j, index, to, edit);

	if (more)
		return more;
	while ((more = decide_next(j, &index)) > 0)
		;
	return more;
}
