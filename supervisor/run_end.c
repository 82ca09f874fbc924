/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a session, or of one that did not start. */
#include "supervisor/run_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "audit/journal.h"
#include "policy/question.h"
#include "rules/cleanup.h"
#include "supervisor/alerts.h"
#include "supervisor/launch.h"
#include "supervisor/limits.h"
#include "supervisor/lives.h"
#include "supervisor/outlets.h"
#include "supervisor/pool.h"
#include "supervisor/records.h"
#include "supervisor/relay.h"
#include "supervisor/session.h"
#include "supervisor/unattended.h"
#include "supervisor/voice.h"

/* What loaders that unpack a program into memory fail with says nothing of why. */
static void tell_nameless(const struct session *s)
{
	unsigned n = atomic_load(&s->nameless);

	if (n)
		voice_say(s->voice, "usher: refused to run a program without a name (memfd, O_TMPFILE, deleted file)%s; the rule that lets it run is: allow exec memfd:NAME\n",
			n > 1 ? ", more than once" : "");
}

/* All that debuggers say is that it is not permitted. */
static void tell_traced(struct session *s)
{
	const char *why = atomic_load(&s->unverified);

	if (why)
		voice_say(s->voice, "usher: refused to start a program under a debugger, as nobody could verify its exec: %s; start it first, then attach (gdb -p, strace -p)\n",
			why);
}

/* Behind what gives the terminal back: on a full-screen program's screen it would go with that. */
static void tell_limit(const struct run *run)
{
	if (run->limited)
		voice_say(run->s.voice, "usher: the limit on %s was reached; the tree was ended\n", run->limited);
}

static void tell_profile(struct session *s)
{
	char *text = NULL;
	size_t len = 0;
	FILE *to = s->profile ? open_memstream(&text, &len) : NULL;

	if (!to)
		return;
	pool_profile(s->pool, to);
	if (fclose(to) == 0)
		voice_say(s->voice, "%s", text);
	free(text);
}

/* The journal's end and seal wait for nobody. */
static void close_journal(struct run *run)
{
	struct session *s = &run->s;

	run->unclosed = true;
	if (pool_settle(s->pool))
		run->unclosed = records_end(s, &run->result) < 0;
	else
		voice_say(s->voice, "usher: an operation for a process that has ended does not return; the journal is left as it is, not closed; usher verify %s tells what was in flight\n", run->journal);
	s->journal = NULL;
}

#define BY_SIGNAL 128 /* and its number: what a shell ends with that waited for a program */

/* Whether programs may not have come to give the terminal back as they found it. */
static bool cut_short(const struct run *run)
{
	const struct supervise_result *r = &run->result;

	return atomic_load(&run->s.killed) || r->lost || !r->exited || WIFSIGNALED(r->wait_status) || WEXITSTATUS(r->wait_status) > BY_SIGNAL;
}

void run_close(struct run *run)
{
	struct session *s = &run->s;

	char *unanswered CLEANUP_FREE = unattended_rules(s->questions);
	char *unseen CLEANUP_FREE = unattended_reviews(s->questions, run->journal);
	questions_end(s->questions); /* not freed: a worker may still be about to ask */
	pool_stop(s->pool);
	cleanup_fd(&s->tell); /* a terminal of the command's own ends with its last descriptor */
	s->tell = -1;
	run->interrupted = relay_interrupted(run->relay);
	relay_close(run->relay, cut_short(run));
	outlets_settle(run->outlets);
	lives_round(s->lives);
	limits_settle(s->limits);
	run->limited = limits_reached(s->limits);
	limits_stop(s->limits);
	tell_limit(run);
	close_journal(run);
	tell_profile(s);
	alerts_tell(&s->alerts, run->journal, s->voice);
	unattended_end(unanswered, s->voice);
	tell_nameless(s);
	tell_traced(s);
	if (unseen)
		voice_say(s->voice, "%s", unseen);
}

/* NAME cannot be run, for the reason ERROR. */
static void tell_not_run(const struct run *run, const char *name, int error)
{
	CLEANUP_FREE char *shown = run_shown(name);

	if (atomic_load(&run->s.refused))
		voice_say(run->s.voice, "usher: run %s: %s: refused; 'usher log %s denied' tells by which rule\n", shown ? shown : "", strerror(error), run->journal);
	else
		voice_say(run->s.voice, "usher: run %s: %s\n", shown ? shown : "", strerror(error));
}

int run_exit_status(const struct run *run, const struct run_options *o, int *by_signal)
{
	const struct supervise_result *r = &run->result;

	*by_signal = 0;
	if (r->exec_error) {
		tell_not_run(run, o->argv[0], r->exec_error);
		return r->exec_error == ENOENT ? 127 : 126;
	}
	if (run->limited)
		return LIMIT_STATUS;
	if (r->lost) {
		voice_say(run->s.voice, "usher: the guardian or the keeper of %s was killed; the tree was ended\n", o->argv[0]);
		return RUN_FAILED;
	}
	if (WIFSIGNALED(r->wait_status)) {
		*by_signal = WTERMSIG(r->wait_status);
		return 128 + *by_signal;
	}
	/* Success says that the journal tells all of it. */
	return run->unclosed && !WEXITSTATUS(r->wait_status) ? RUN_FAILED : WEXITSTATUS(r->wait_status);
}

void run_abandon(struct run *run)
{
	if (run->working) {
		session_kill(&run->s);
		relay_close(run->relay, true);
		outlets_settle(run->outlets);
		return;
	}
	if (run->launch.ahead)
		launch_drop(&run->s, run->ahead, &run->ends);
	limits_stop(run->s.limits);
	questions_stop(run->s.questions);
	relay_close(run->relay, false);
	if (run->s.journal && run->begun)
		journal_close(run->s.journal, NULL);
	else if (run->s.journal)
		journal_drop(run->s.journal);
}
