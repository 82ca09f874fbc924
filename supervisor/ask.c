/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/ask.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit/journal.h"
#include "rules/cleanup.h"
#include "supervisor/evidence.h"
#include "supervisor/facts.h"
#include "supervisor/memory.h"
#include "supervisor/pool.h"
#include "supervisor/procs.h"
#include "supervisor/reply.h"
#include "supervisor/session.h"
#include "supervisor/unwind.h"
#include "supervisor/voice.h"
#include "supervisor/watch.h"

/* Callers that the watch looks at in one round: of a thousand that wait each is seen every one and a quarter seconds, for a hundredth of a core. */
#define LOOKS 8

#define STACK_TEXT 1024
#define PARKED_EACH 256 /* questions of one process that wait at once: one that floods leaves room for others */
/* ... and what they keep here: an exec's arguments are two megabytes at most, twice, in memory that no limit of the tree's counts */
#define PARKED_EACH_BYTES ((size_t)16 << 20)
#define PARKED_BYTES ((size_t)128 << 20)
#define TOLD_MS 100u
#define NOTE_FRAME 1024 /* what is around a note's text in its record */
#define NOTE_ESCAPE 6   /* characters that a byte of it may take */

static void parked_link(struct pool *p, struct parked *k)
{
	k->next = p->parked;
	k->prev = NULL;
	if (p->parked)
		p->parked->prev = k;
	p->parked = k;
	p->listed++;
}

static void parked_unlink(struct pool *p, struct parked *k)
{
	if (p->look == k)
		p->look = k->next;
	if (k->prev)
		k->prev->next = k->next;
	else
		p->parked = k->next;
	if (k->next)
		k->next->prev = k->prev;
	k->next = NULL;
	k->prev = NULL;
	if (k->stall != STALL_HELD)
		p->listed--;
}

static struct parked *parked_find(struct pool *p, uint64_t token)
{
	struct parked *k = p->parked;

	while (k && k->token != token)
		k = k->next;
	return k;
}

/* STACK gets the caller's frames in words. Returns the record's number. */
static uint64_t note_question(struct worker *w, const struct call *call, const struct verdict *verdict, const struct facts *facts,
			  char stack[STACK_TEXT])
{
	static const char *const names[] = { "host", "lookups" };
	uint64_t seq = 0;

	record_begin(&w->evidence, w->record, sizeof(w->record), "note");
	w->evidence.redactor = w->session->redactor;
	record_text(&w->evidence, "event", "question");
	record_call(&w->evidence, call, verdict);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct span v = facts_find(facts, names[i]);
		if (v.bytes)
			record_bytes(&w->evidence, names[i], v);
	}
	evidence_stack(&w->job, &w->evidence);
	unwound_text(w->job.stack, stack, STACK_TEXT);
	int rc = journal_append(w->session->journal, &w->evidence, &seq);
	if (rc < 0)
		session_journal_failed(w->session, rc);
	return seq;
}

/* Takes K back out after a question that could not be put. False when an answer was quicker. */
static bool take_back(struct pool *p, uint64_t token)
{
	pthread_mutex_lock(&p->lock);
	struct parked *k = parked_find(p, token);
	if (k)
		parked_unlink(p, k);
	pthread_mutex_unlock(&p->lock);
	return k != NULL;
}

static void question_known(struct pool *p, uint64_t token, uint64_t id)
{
	pthread_mutex_lock(&p->lock);
	struct parked *k = parked_find(p, token);
	if (k) {
		parked_job(k)->question = id;
		k->asked = true;
		stall_consider_locked(p, k);
		watch_wake_locked(p);
	}
	pthread_mutex_unlock(&p->lock);
}

/* Questions that wait, or are about to: all, and one process's. */
struct waiting {
	pid_t process;
	unsigned n;
	size_t own;
	size_t all;
};

static void count(struct waiting *w, pid_t process, size_t size)
{
	w->all += size;
	if (process != w->process)
		return;
	w->own += size;
	w->n++;
}

/*
 * False when the caller's process has as many questions waiting as one may have, or they or all of the session would keep too much. Else room is
 * taken, for others that ask at the same moment, until room_given().
 */
static bool room_taken(struct worker *w)
{
	struct pool *p = w->session->pool;
	struct waiting sum = { .process = proc_pid(w->job.proc) };
	size_t size = job_most_kept(&w->job);

	pthread_mutex_lock(&p->lock);
	for (const struct parked *k = p->parked; k; k = k->next)
		count(&sum, proc_pid(parked_job(k)->proc), job_kept_size(parked_job(k)));
	for (const struct worker *o = p->workers; o; o = o->next) {
		if (o->parking)
			count(&sum, o->parking_for, o->parking);
	}
	bool room = sum.n < PARKED_EACH && sum.own + size <= PARKED_EACH_BYTES && sum.all + size <= PARKED_BYTES;
	if (room) {
		w->parking = size;
		w->parking_for = sum.process;
	}
	pthread_mutex_unlock(&p->lock);
	return room;
}

static void room_given(struct worker *w)
{
	pthread_mutex_lock(&w->session->pool->lock);
	w->parking = 0;
	pthread_mutex_unlock(&w->session->pool->lock);
}

static int park(struct worker *w, const struct call *call)
{
	struct pool *p = w->session->pool;
	struct verdict verdict = w->job.verdict;
	struct facts *facts = NULL;
	char stack[STACK_TEXT];
	void *block;
	uint64_t id;

	if (!room_taken(w))
		return -EACCES;
	atomic_store_explicit(&p->gathered, true, memory_order_relaxed);
	facts_gather(&w->job, call, &facts);
	uint64_t noted = note_question(w, call, &verdict, facts, stack);
	facts_stack(facts, stack);
	int rc = job_pack(&w->job, &p->squeezer, sizeof(struct parked), &block);
	if (rc < 0) {
		room_given(w);
		facts_free(facts);
		return rc;
	}
	struct parked *k = block;
	*k = (struct parked){ .stall = STALL_NONE, .noted = noted };
	k->image = proc_generation(parked_job(k)->proc);
	pthread_mutex_lock(&p->lock);
	uint64_t token = k->token = ++p->next_token;
	parked_job(k)->trapped = pool_stop_certain(parked_job(k));
	parked_link(p, k);
	w->parking = 0;
	pthread_mutex_unlock(&p->lock);

	struct question q = { .call = call, .verdict = &verdict };
	q.n_facts = facts_list(facts, &q.facts);
	rc = questions_ask(w->session->questions, &q, token, &id);
	facts_free(facts);
	if (rc == 0) {
		question_known(p, token, id);
		return 0;
	}
	if (take_back(p, token)) {
		rc = job_unpack(parked_job(k), &w->job);
		parked_free(k);
		return rc < 0 ? rc : -EACCES;
	}
	return 0;
}

int ask_park(struct worker *w, const struct call *call)
{
	worker_aside(w);
	int rc = park(w, call);
	worker_aside_done(w);
	return rc;
}

/* A line for the person, on the command's terminal where there is one; TEXT is printable ASCII. Never waits for the terminal. */
static void say(const struct session *s, const char *what, const char *text)
{
	char line[ANSWER_TEXT + 256];

	if (s->tell < 0) {
		bool terminal = isatty(STDERR_FILENO); /* in raw mode, perhaps, and in the middle of a line */
		voice_say(s->voice, terminal ? "\r\nusher: %s%s\r\n" : "usher: %s%s\n", what, text);
		return;
	}
	int n = snprintf(line, sizeof(line), "\r\nusher: %s%s\r\n", what, text);
	if (write(s->tell, line, (size_t)n) < 0)
		return; /* hung up, or somebody has stopped its output */
}

/* What a person has to say about a denial. */
static void tell(const struct session *s, const struct answer *a)
{
	if (a->kind != VERDICT_DENY || !a->message[0] || (s->tell < 0 && !s->tell_aloud))
		return;
	if (strcmp(a->channel, "tty") != 0 && strcmp(a->channel, "desk") != 0 && strcmp(a->channel, "exec") != 0)
		return;
	say(s, "denied: ", a->message);
}

void ask_deliver_locked(struct pool *p, struct parked *k)
{
	if (p->answered_last)
		p->answered_last->next = k;
	else
		p->answered = k;
	p->answered_last = k;
	pool_work_locked(p);
}

void ask_answered(void *context, uint64_t token, const struct answer *answer)
{
	struct session *s = context;
	struct pool *p = s->pool;
	struct answer *copy = malloc(sizeof(*copy));

	tell(s, answer);

	pthread_mutex_lock(&p->lock);
	struct parked *k = parked_find(p, token);
	if (!k) {
		pthread_mutex_unlock(&p->lock);
		if (answer->kind == VERDICT_KILL)
			session_kill(s); /* that was said of all, not of a caller who is gone */
		free(copy);
		return;
	}
	parked_unlink(p, k);
	if (copy)
		*copy = *answer;
	k->answer = copy; /* without memory for it the call is denied */
	if (!stall_answered_locked(p, k))
		ask_deliver_locked(p, k);
	pthread_mutex_unlock(&p->lock);
}

/* A helper that is written wrong would look like one that denies everything. Said before the caller goes on: it may complain on the same stream. */
static void tell_failed(struct session *s, const char *text)
{
	if (atomic_exchange(&s->channel_failed, true))
		return;
	voice_say(s->voice, "usher: a question got no answer: %s; said once, the journal has the others as 'channel-failed'\n", text);
	(void)voice_finish(s->voice, TOLD_MS);
}

/* The answer counts all the same, but in the next session the person is asked again and would not know why. The desk tells who answers there, too. */
static void tell_unkept(struct session *s, const char *why)
{
	if (atomic_exchange(&s->unkept, true))
		return;
	say(s, "answered for this session only: the file of grants (~/.config/usher/grants.rules), which has to be yours alone to write, was not written: ", why);
	(void)voice_finish(s->voice, TOLD_MS);
}

/* TEXT is as long as the rules of an answer for ever may be, with an escape for each quote in them. */
static int append_note(struct session *s, const char *event, const char *text)
{
	size_t len = strlen(text), cap = NOTE_FRAME + NOTE_ESCAPE * len;
	struct record r;
	CLEANUP_FREE char *buf = malloc(cap);
	uint64_t seq;

	if (!buf)
		return -ENOMEM;
	record_begin(&r, buf, cap, "note");
	r.redactor = s->redactor;
	record_text(&r, "event", event);
	record_bytes(&r, "text", (struct span){ text, (uint32_t)len });
	return journal_append(s->journal, &r, &seq);
}

int ask_note(void *context, const char *event, const char *text)
{
	struct session *s = context;
	int rc = append_note(s, event, text);

	if (rc < 0)
		session_journal_failed(s, rc);
	if (strcmp(event, "channel-failed") == 0)
		tell_failed(s, text);
	if (strcmp(event, "grant-always-failed") == 0)
		tell_unkept(s, text);
	return rc;
}

void ask_withdrawn(struct session *s, const struct parked *k, const char *why)
{
	const struct job *j = parked_job(k);
	char buf[NOTE_FRAME];
	struct record r;
	uint64_t seq;

	record_begin(&r, buf, sizeof(buf), "note");
	record_text(&r, "event", "withdrawn");
	record_int(&r, "pid", proc_pid(j->proc));
	record_int(&r, "tid", (int64_t)j->notif.pid);
	record_int(&r, "asked", (int64_t)k->noted);
	record_text(&r, "answer", "none");
	record_text(&r, "text", why);
	int rc = journal_append(s->journal, &r, &seq);
	if (rc < 0)
		session_journal_failed(s, rc);
}

static bool wants_out(struct parked *k)
{
	if (!k->asked || k->stall == STALL_MOVING)
		return false;
	if (k->stall == STALL_HELD)
		return k->gone || pool_signal_waits((pid_t)parked_job(k)->notif.pid);
	return !job_alive(parked_job(k)) || parked_job(k)->trapped || pool_signal_waits((pid_t)parked_job(k)->notif.pid);
}

/* The next parked call whose caller cannot wait any longer: its token and question, not yet taken out, and whether it may make the call again. At most *LOOKS are looked at. */
static bool find_interrupted(struct pool *p, unsigned *looks, uint64_t *token, uint64_t *question, bool *comes_back)
{
	bool found = false;

	pthread_mutex_lock(&p->lock);
	while (!found && *looks > 0 && p->look) {
		struct parked *k = p->look;
		p->look = k->next;
		--*looks;
		found = wants_out(k);
		*token = k->token;
		*question = parked_job(k)->question;
		*comes_back = found && (k->stall == STALL_HELD ? !k->gone : job_alive(parked_job(k)));
	}
	pthread_mutex_unlock(&p->lock);
	return found;
}

static void withdraw(struct pool *p, uint64_t token)
{
	pthread_mutex_lock(&p->lock);
	struct parked *k = parked_find(p, token);
	if (k)
		parked_unlink(p, k);
	bool held = k && k->stall == STALL_HELD;
	if (held)
		stall_let_go_locked(p, k);
	pthread_mutex_unlock(&p->lock);
	if (!k)
		return;
	/* As a native call that was interrupted: the kernel runs the handler, then restarts it or gives EINTR. */
	if (!held)
		reply_interrupted(parked_job(k));
	ask_withdrawn(p->session, k, "the caller was interrupted or ended before an answer came");
	job_discard(parked_job(k));
	parked_free(k);
}

void ask_watch(struct pool *p)
{
	unsigned looks = LOOKS;
	uint64_t token, question;
	bool comes_back;

	pthread_mutex_lock(&p->lock);
	if (!p->look)
		p->look = p->parked;
	pthread_mutex_unlock(&p->lock);
	/* An answer that is already on its way wins: then the worker finds the caller alive or not. */
	while (find_interrupted(p, &looks, &token, &question, &comes_back)) {
		if (questions_withdraw(p->session->questions, question, comes_back) == 0)
			withdraw(p, token);
	}
}
