/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MUST:
 *  - job_alive() is asked after the last read through the caller's tid and before anything is done:
 *    when the notification is still valid then, the tid was the caller's all along (whose answer is the only effect: when that is given);
 *  - the intent is in the journal before perform, the record before the reply;
 *  - what is held of files is let go of before the reply: behind it a removed file is gone, and its file system can be unmounted;
 *  - every way out replies, parks, or finds the caller gone.
 */
#include "supervisor/walk.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "audit/journal.h"
#include "policy/guard.h"
#include "policy/policy.h"
#include "supervisor/ask.h"
#include "supervisor/creds.h"
#include "supervisor/decode.h"
#include "supervisor/evidence.h"
#include "supervisor/exec_begin.h"
#include "supervisor/foregone.h"
#include "supervisor/making.h"
#include "supervisor/memory.h"
#include "supervisor/pool.h"
#include "supervisor/procs.h"
#include "supervisor/redirect.h"
#include "supervisor/reply.h"
#include "supervisor/review.h"
#include "supervisor/rows_exec.h"
#include "supervisor/session.h"
#include "supervisor/stack_stop.h"
#include "supervisor/table.h"

/* A name that is still a link after this many full resolutions is being changed under our hands. */
#define MAX_ROUNDS 8

static void reply_error(struct job *j, int error)
{
	job_let_go(j);
	(void)reply_send(j, 0, error, false);
}

/* What a caller gets whose call finds no record, for the reason RC: names too long for one, or a journal that fails. */
static int unrecorded(int rc)
{
	return rc == -EMSGSIZE ? -ENAMETOOLONG : -EIO;
}

/* A call that failed before anything was decided: as natively, with a record. */
static void native_failure(struct worker *w, int error)
{
	struct job *j = &w->job;

	if (error == -ESRCH && !job_alive(j))
		return;
	if (error == -ESRCH)
		error = -EPERM;
	if (!j->n_targets && j->path[0].off) {
		struct target *t = job_target(j, OBJECT_FILE, j->row->ops);
		t->named = j->path[0];
	}
	/* A process outside is usher's own refusal; so is what it cannot read or do. The rest is what the kernel would have said. */
	const char *why = j->guarded ? GUARD_NAME : exec_refusal(j);
	bool ours = why || error == -EFAULT || error == -EPERM;
	j->verdict.kind = ours ? VERDICT_DENY : VERDICT_NONE;
	j->verdict.where = why ? why : "native";
	if (j->guarded)
		atomic_fetch_add_explicit(&w->session->refused, 1, memory_order_relaxed);
	evidence_open(w);
	int rc = evidence_append(w, error);
	if (rc < 0)
		error = unrecorded(rc);
	reply_error(j, error);
}

/* Where the content of what runs, or would have run, is part of the evidence. */
static bool wants_hash(const struct job *j)
{
	return (j->verdict.evidence & EVIDENCE_HASH) && j->row->class == CLASS_EXEC && j->verdict.log != LOG_NONE;
}

/* Of what does not run: refused is refused, without its hash where there is no room for it. */
static void open_refusal(struct worker *w)
{
	if (wants_hash(&w->job))
		(void)content_bind(&w->job);
	evidence_open(w);
}

static void refuse(struct worker *w, int error)
{
	struct job *j = &w->job;

	if (j->row->class == CLASS_EXEC && j->n_targets && j->target[0].kind == OBJECT_MEMFD && !j->answered)
		atomic_fetch_add_explicit(&w->session->nameless, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&w->session->refused, 1, memory_order_relaxed);
	if (!j->recorded && j->verdict.log != LOG_NONE) {
		open_refusal(w);
		int rc = evidence_append(w, error);
		if (rc < 0)
			error = unrecorded(rc);
	}
	reply_error(j, j->row->refused ? j->row->refused(j, error) : error);
}

static void kill_tree(struct worker *w)
{
	open_refusal(w);
	(void)evidence_append(w, -EPERM);
	/* Not answered: the caller must not go on while the guardian kills what is left. */
	session_kill(w->session);
}

/* What perform left in job->reply, recorded and sent. */
static void conclude(struct worker *w, bool intent)
{
	struct job *j = &w->job;
	int64_t value = j->reply.value;
	int rc = 0;

	lap(w->laps, LAP_PERFORM);
	if (j->reply.kind == REPLY_INJECT) {
		value = reply_addfd(j);
		lap(w->laps, LAP_REPLY);
		j->reply.kind = value < 0 ? REPLY_ERROR : REPLY_VALUE;
		j->reply.value = value;
	}
	if (intent && !j->recorded && j->reply.kind != REPLY_GONE)
		rc = walk_record(j, value);
	else if (intent && !j->recorded)
		journal_intent_done(w->session->journal, j->intent);
	lap(w->laps, LAP_RECORD);
	if (j->verdict.review && j->reply.kind != REPLY_ERROR)
		review_done(w);
	job_let_go(j);
	if (rc < 0)
		reply_error(j, -EIO);
	else if (j->reply.kind == REPLY_CONTINUE)
		(void)reply_send(j, 0, 0, true);
	else if (j->reply.kind == REPLY_VALUE)
		(void)reply_send(j, value, 0, false);
	else if (j->reply.kind == REPLY_ERROR && value == -ERESTARTSYS)
		reply_interrupted(j);
	else if (j->reply.kind == REPLY_ERROR)
		reply_error(j, (int)value);
	lap(w->laps, LAP_REPLY);
}

/* CALL was decided. Returns PERFORM_AGAIN when the name must be resolved again, else 0. */
static int perform(struct worker *w, const struct call *call)
{
	struct job *j = &w->job;
	bool record = j->verdict.log != LOG_NONE || j->row->class == CLASS_EXEC;
	struct call bound;

	if (j->verdict.review)
		review_begin(w);
	if ((record || !j->row->looks) && !job_alive(j))
		return 0;
	if (wants_hash(j)) {
		int rc = content_bind(j);
		if (rc < 0) {
			native_failure(w, rc);
			return 0;
		}
		job_call(j, &bound);
		call = &bound;
	}
	if (record) {
		evidence_decided(w, call);
		int rc = evidence_intent(w, &j->intent);
		if (rc < 0) {
			session_journal_failed(w->session, rc);
			reply_error(j, unrecorded(rc));
			return 0;
		}
	}
	lap(w->laps, LAP_RECORD);
	if (j->row->may_block)
		worker_blocking(w);
	int rc = j->row->perform(j);
	if (rc == PERFORM_AGAIN && record && !j->recorded)
		journal_intent_done(w->session->journal, j->intent);
	if (rc == PERFORM_AGAIN)
		return rc;
	if (rc < 0)
		(void)job_error(j, rc);
	conclude(w, record);
	return 0;
}

static bool tentative(const struct job *j)
{
	for (uint32_t i = 0; i < j->n_targets; i++) {
		if (j->target[i].tentative)
			return true;
	}
	return false;
}

/*
 * The row found no object that rules speak of (a message to the peer of a
 * connected socket, a signal to oneself): what it may not do it has refused already.
 */
static void nothing_to_decide(struct job *j)
{
	j->verdict = (struct verdict){ .kind = VERDICT_ALLOW, .log = LOG_NONE, .where = "no object" };
}

/*
 * Resolves and decides. A tentative name is believed only when it is allowed:
 * before anything else is said of it, it is resolved in full.
 */
static int resolve_and_decide(struct worker *w, struct call *call)
{
	struct job *j = &w->job;

	for (;;) {
		job_drop_targets(j);
		making_looks(j);
		int rc = j->row->resolve(j);
		if (rc == 0 && proc_expects(j->proc))
			rc = exec_expected(j);
		if (rc == PERFORM_AGAIN) {
			j->full = true;
			continue;
		}
		lap(w->laps, LAP_RESOLVE);
		if (rc < 0)
			return rc;
		job_call(j, call);
		if (!j->n_targets) {
			nothing_to_decide(j);
			return 0;
		}
		policy_decide(w->session->policy, call, &j->verdict);
		if (j->unasked && verdict_compare(j->verdict.kind, VERDICT_DENY) < 0)
			j->verdict.kind = VERDICT_DENY;
		/* What a person will look at afterwards has to be seen before the call: it is held, too. */
		if ((j->verdict.kind == VERDICT_ALLOW && !j->verdict.review) || j->full || !tentative(j))
			return 0;
		j->full = true;
	}
}

/* Takes limits into account: of what is decided anew, too. A verdict that tightens needs the object itself. Returns 0 or a native error. */
static int charge(struct worker *w, struct call *call)
{
	struct job *j = &w->job;

	if (policy_charge(w->session->policy, call, &j->verdict, &j->charged) == 0 || !tentative(j))
		return 0;
	struct verdict limited = j->verdict;
	j->full = true;
	int rc = resolve_and_decide(w, call);
	if (verdict_compare(limited.kind, j->verdict.kind) > 0)
		j->verdict = limited;
	return rc;
}

/* Programs of other content are other questions: an answer to one is none to what has come into its place. */
static int put_question(struct worker *w, const struct call *call)
{
	struct job *j = &w->job;
	struct call bound;

	if (j->row->class != CLASS_EXEC)
		return ask_park(w, call);
	int rc = content_bind(j);
	if (rc < 0)
		return rc;
	job_call(j, &bound);
	return ask_park(w, &bound);
}

/* Returns PERFORM_AGAIN when a tentative name turned out to be a link. */
static int carry_out(struct worker *w, const struct call *call)
{
	struct job *j = &w->job;
	int rc;

	switch (j->verdict.kind) {
	case VERDICT_ALLOW:
		return perform(w, call);
	case VERDICT_REWRITE:
		rc = redirect(w, call, NULL);
		if (rc < 0)
			refuse(w, rc);
		else
			return perform(w, call);
		return 0;
	case VERDICT_ASK:
		rc = put_question(w, call);
		if (rc < 0)
			refuse(w, rc);
		return 0;
	case VERDICT_KILL:
		kill_tree(w);
		return 0;
	case VERDICT_DENY:
	case VERDICT_NONE:
		break;
	}
	refuse(w, j->verdict.error > 0 ? -j->verdict.error : -EACCES);
	return 0;
}

/* Where the caller's stack is part of the evidence. */
static bool wants_stack(const struct job *j)
{
	const struct verdict *v = &j->verdict;

	if (!v->where || !strcmp(v->where, "native"))
		return false;
	return v->kind == VERDICT_ASK || (v->log != LOG_NONE && (v->kind == VERDICT_DENY || (v->evidence & EVIDENCE_STACK)));
}

/* The kernel's own refusal of what nobody need be asked about, or 0. */
static int needless(struct job *j, const struct call *call)
{
	int rc = foregone(j, call);

	return rc ? rc : exec_hopeless(j);
}

static void walk(struct worker *w)
{
	struct job *j = &w->job;
	struct call call;

	for (int round = 0; round < MAX_ROUNDS; round++) {
		int rc = resolve_and_decide(w, &call);
		if (rc == 0)
			rc = charge(w, &call);
		if (rc == 0 && j->verdict.kind == VERDICT_ASK)
			rc = needless(j, &call);
		lap(w->laps, LAP_DECIDE);
		if (rc < 0) {
			native_failure(w, rc);
			return;
		}
		/* A call that counts is not made twice. */
		if (wants_stack(j) && !stack_take(j, !j->charged.used && j->verdict.kind != VERDICT_KILL))
			return;
		if (carry_out(w, &call) != PERFORM_AGAIN)
			return;
		j->full = true;
	}
	native_failure(w, -ELOOP);
}

/* The call of K, which waited elsewhere for its answer, has come again: as it was copied then. */
static void go_on_with(struct worker *w, struct parked *k)
{
	struct job *packed = parked_job(k);

	packed->notif.id = w->job.notif.id;
	packed->replied = false;
	job_reset(&w->job);
	walk_parked(w, k);
}

void walk_new(struct worker *w)
{
	struct job *j = &w->job;

	begin_await(w->session, (pid_t)j->notif.pid);
	j->row = table_row(j->notif.data.nr);
	if (!j->row) {
		evidence_unknown(w);
		reply_error(j, -ENOSYS);
		return;
	}
	if (j->row->at_once && j->row->at_once(j) == PERFORM_DONE) {
		conclude(w, false);
		return;
	}
	int rc = procs_get(w->session->procs, (pid_t)j->notif.pid, &j->proc);
	moves_settled(&w->session->umasks, (pid_t)j->notif.pid);
	moves_settled(&w->session->places, (pid_t)j->notif.pid);
	lap(w->laps, LAP_CALLER);
	struct parked *back = rc == 0 ? stall_returned(w) : NULL;
	if (back) {
		go_on_with(w, back);
		return;
	}
	if (rc == 0)
		rc = creds_uid(j);
	if (rc == 0)
		rc = decode(j);
	lap(w->laps, LAP_READ);
	if (rc < 0)
		native_failure(w, rc);
	else
		walk(w);
}

static void answered(struct worker *w, const struct answer *answer)
{
	struct job *j = &w->job;
	struct call call;
	int rc = 0;

	evidence_answer(w, answer);
	if (!job_alive(j)) {
		if (answer->kind == VERDICT_KILL)
			session_kill(w->session); /* that was said of all, not of the caller alone */
		return;
	}
	job_call(j, &call);
	j->verdict.kind = answer->kind;
	j->verdict.review = false;
	(void)policy_charge_answered(w->session->policy, &call, &j->verdict, &j->charged);
	if (j->verdict.kind == VERDICT_DENY && answer->kind != VERDICT_DENY) { /* another rule's limit, which is no matter of the question */
		refuse(w, -j->verdict.error);
		return;
	}
	if (answer->kind == VERDICT_REWRITE)
		rc = redirect(w, &call, answer->target);
	else if (answer->kind == VERDICT_ALLOW)
		rc = redirect_rest(w, &call);
	if (rc < 0) {
		refuse(w, rc);
		return;
	}
	/* What a person was shown is held; a name that must be walked again is a new question. */
	if ((answer->kind == VERDICT_REWRITE ? perform(w, &call) : carry_out(w, &call)) == PERFORM_AGAIN)
		walk(w);
}

/* There was no memory for the call that was answered: the record says what the answer was, and that it is refused for that. */
static void lost(struct worker *w, const struct answer *answer, int error)
{
	struct job *j = &w->job;

	j->verdict = (struct verdict){ .kind = VERDICT_ASK, .where = "memory" };
	evidence_answer(w, answer);
	if (answer->kind == VERDICT_KILL) {
		session_kill(w->session);
	} else if (job_alive(j)) {
		j->verdict.kind = VERDICT_DENY;
		refuse(w, error);
	}
}

void walk_parked(struct worker *w, struct parked *k)
{
	static const struct answer deny = { .kind = VERDICT_DENY, .channel = "memory" };
	const struct answer *answer = k->answer ? k->answer : &deny;
	int rc = job_unpack(parked_job(k), &w->job);

	if (rc == 0)
		answered(w, answer);
	else
		lost(w, answer, rc);
	parked_free(k);
}

int walk_record(struct job *j, int64_t result)
{
	int rc = evidence_final(j->worker, j->intent, result);

	j->recorded = true;
	return rc;
}
