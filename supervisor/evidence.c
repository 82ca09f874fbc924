/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/evidence.h"

#include <stdio.h>
#include <string.h>

#include "audit/journal.h"
#include "supervisor/exec_script.h"
#include "supervisor/procs.h"
#include "supervisor/session.h"
#include "supervisor/unwind.h"

static const char *scope_name(enum answer_scope scope)
{
	static const char *const names[] = {
		[SCOPE_ONCE] = "once", [SCOPE_TIME] = "time", [SCOPE_TREE] = "tree",
		[SCOPE_SESSION] = "session", [SCOPE_ALWAYS] = "always",
	};
	return names[scope];
}

/* A record is about what was asked for; where a rewrite led is said beside it. */
static void put_back(const struct job *j, struct call *call, struct object *to)
{
	struct object *o = &call->object[j->redirected_index];

	*to = *o;
	o->kind = j->asked_kind;
	o->name = job_span(j, j->asked_name);
	o->named = job_span(j, j->asked_named);
	o->inet = j->asked_inet;
	o->sha256 = (struct span){ NULL, 0 }; /* of what was asked for it is not known */
	o->deleted = false;
	if (to->kind == OBJECT_FILE || to->kind == OBJECT_UNIX)
		o->to = to->name;
}

/* The same of those that were led elsewhere with it. */
static void put_back_others(const struct job *j, struct call *call)
{
	for (uint32_t i = 0; i < call->n_objects; i++) {
		struct object *o = &call->object[i];
		if (i == j->redirected_index || !j->target[i].asked.off)
			continue;
		o->to = o->name;
		o->name = job_span(j, j->target[i].asked);
	}
}

void evidence_stack(struct job *j, struct record *r)
{
	struct script *script = proc_script(j->proc);

	unwound_record(j->stack, r);
	script_record(script, r);
	script_put(script);
}

static void evidence_of(struct worker *w, const struct call *call, const struct object *to)
{
	struct job *j = &w->job;
	struct record *r = &w->evidence;

	record_begin(r, w->record, sizeof(w->record), "call");
	r->redactor = w->session->redactor;
	r->memo = &w->memo;
	record_call(r, call, &j->verdict);
	if (to->kind != OBJECT_NONE) {
		record_name(r, "to", to);
		record_bytes(r, "to_sha256", to->sha256);
	}
	if (j->argv_to.off)
		record_argv(r, "to_argv", job_span(j, j->argv_to));
	if (j->charged.used)
		record_int(r, "count", j->charged.used);
	if (j->verdict.review)
		record_int(r, "review", (int64_t)j->review);
	if (j->answered)
		record_bytes(r, "answer", job_span(j, j->answer));
	if (j->stack && (j->verdict.kind == VERDICT_DENY || (j->verdict.evidence & EVIDENCE_STACK)))
		evidence_stack(j, r);
	if (j->verdict.log == LOG_ALERT && j->verdict.kind != VERDICT_NONE) /* what was not there to begin with is no alarm */
		alerts_note(&w->session->alerts, call, &j->verdict);
}

void evidence_open(struct worker *w)
{
	struct call call;
	struct object to = { .kind = OBJECT_NONE };

	job_call(&w->job, &call);
	if (w->job.redirected && w->job.redirected_index < call.n_objects) {
		put_back(&w->job, &call, &to);
		put_back_others(&w->job, &call);
	}
	evidence_of(w, &call, &to);
}

void evidence_decided(struct worker *w, const struct call *call)
{
	if (w->job.redirected)
		evidence_open(w);
	else
		evidence_of(w, call, &(struct object){ .kind = OBJECT_NONE });
}

int evidence_intent(struct worker *w, uint32_t *slot)
{
	return journal_intent(w->session->journal, &w->evidence, slot);
}

/* The end record has the counts. */
static int written(struct worker *w, int rc)
{
	if (rc < 0)
		session_journal_failed(w->session, rc);
	else
		atomic_fetch_add_explicit(&w->session->verdicts[w->job.verdict.kind], 1, memory_order_relaxed);
	return rc;
}

/* As whom it was done, where that is another than whose session it is. */
static void finish(struct worker *w, int64_t result)
{
	const struct job *j = &w->job;

	if (j->entered && j->user != w->session->uid)
		record_int(&w->evidence, "uid", j->user);
	record_result(&w->evidence, result);
}

int evidence_append(struct worker *w, int64_t result)
{
	uint64_t seq;

	finish(w, result);
	int rc = journal_append(w->session->journal, &w->evidence, &seq);
	return written(w, rc);
}

int evidence_final(struct worker *w, uint32_t slot, int64_t result)
{
	finish(w, result);
	int rc = journal_append_final(w->session->journal, &w->evidence, slot, NULL);
	return written(w, rc);
}

/* What a person wrote: as little as the rest is it kept in clear. */
static void record_words(struct record *r, const char *key, const char *text)
{
	record_bytes(r, key, (struct span){ text, (uint32_t)strlen(text) });
}

void evidence_answer(struct worker *w, const struct answer *a)
{
	struct job *j = &w->job;
	struct record *r = &w->evidence;
	char line[256];
	uint64_t seq;

	int n = snprintf(line, sizeof(line), "%s by %s%s%s, %s, after %llu ms", verdict_name(a->kind), a->channel,
			 a->who[0] ? " " : "", a->who, scope_name(a->scope),
			 (unsigned long long)(a->waited_us / 1000));
	j->answer = job_copy(j, line, n < (int)sizeof(line) ? (size_t)n : sizeof(line) - 1);
	j->answered = true;

	struct call call;
	job_call(j, &call);
	record_begin(r, w->record, sizeof(w->record), "answer");
	r->redactor = w->session->redactor;
	record_int(r, "question", (int64_t)j->question);
	record_call(r, &call, &j->verdict);
	record_object(r, "answer");
	record_text(r, "verdict", verdict_name(a->kind));
	record_text(r, "scope", scope_name(a->scope));
	if (a->scope == SCOPE_TIME)
		record_int(r, "seconds", a->scope_s);
	record_text(r, "channel", a->channel);
	record_words(r, "who", a->who);
	if (a->message[0])
		record_words(r, "message", a->message);
	if (a->target[0])
		record_words(r, "to", a->target);
	record_int(r, "waited_us", (int64_t)a->waited_us);
	char hex[2 * sizeof(a->shown) + 1];
	for (size_t i = 0; i < sizeof(a->shown); i++)
		snprintf(hex + 2 * i, 3, "%02x", a->shown[i]);
	record_text(r, "shown", hex);
	record_close(r);
	int rc = journal_append(w->session->journal, r, &seq);
	if (rc < 0)
		session_journal_failed(w->session, rc);
}

void evidence_unknown(struct worker *w)
{
	struct job *j = &w->job;
	struct record *r = &w->evidence;
	uint64_t seq;

	record_begin(r, w->record, sizeof(w->record), "call");
	record_int(r, "tid", (int64_t)j->notif.pid);
	record_int(r, "number", j->notif.data.nr);
	record_text(r, "verdict", verdict_name(VERDICT_DENY));
	record_text(r, "rule", "unknown call");
	record_text(r, "result", "ENOSYS");
	int rc = journal_append(w->session->journal, r, &seq);
	if (rc < 0)
		session_journal_failed(w->session, rc);
}
