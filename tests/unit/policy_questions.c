/* SPDX-License-Identifier: Apache-2.0 */
/* Questions: each answered exactly once, whatever races with it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/asked.h"
#include "policy/channel.h"
#include "policy/filed.h"
#include "policy/policy.h"
#include "policy/policy_state.h"
#include "policy/question.h"
#include "policy/queue.h"
#include "policy/standing.h"
#include "policy/tty_text.h"
#include "rules/rule.h"

#define TOKENS 4096

struct fixture {
	char dir[64];
	char file[128];
	char grants[128];
	struct policy *p;
	struct questions *qs;
	pthread_mutex_t lock;
	pthread_cond_t more;
	unsigned answers[TOKENS];
	struct answer last[TOKENS];
	unsigned total;
	char notes[65536];
	const char *unnoted; /* the event that the journal refuses */
};

static void answered(void *context, uint64_t token, const struct answer *a)
{
	struct fixture *f = context;
	pthread_mutex_lock(&f->lock);
	assert_true(token < TOKENS);
	f->answers[token]++;
	f->last[token] = *a;
	f->total++;
	pthread_cond_broadcast(&f->more);
	pthread_mutex_unlock(&f->lock);
}

static int noted(void *context, const char *event, const char *text)
{
	struct fixture *f = context;
	pthread_mutex_lock(&f->lock);
	size_t n = strlen(f->notes);
	snprintf(f->notes + n, sizeof(f->notes) - n, "%s: %s\n", event, text);
	pthread_mutex_unlock(&f->lock);
	return f->unnoted && strcmp(event, f->unnoted) == 0 ? -EMSGSIZE : 0;
}

/* Waits until N answers came. */
static void await(struct fixture *f, unsigned n)
{
	pthread_mutex_lock(&f->lock);
	while (f->total < n)
		pthread_cond_wait(&f->more, &f->lock);
	pthread_mutex_unlock(&f->lock);
}

static void begin(struct fixture *f, const char *rules, const char *channel, uint32_t most)
{
	FILE *to = fopen(f->file, "w");
	assert_non_null(to);
	fputs(rules, to);
	fclose(to);
	chmod(f->file, 0600);
	const char *files[] = { f->file };
	struct policy_options po = { .files = files, .n_files = 1, .grants_file = f->grants };
	struct diagnostics found = { 0 };
	const char *why = NULL;
	assert_int_equal(policy_new(&po, &found, &f->p), 0);
	diagnostics_free(&found);
	struct questions_options qo = { .channel = channel, .policy = f->p, .answered = answered, .note = noted, .context = f,
					.session = "test", .max_waiting = most };
	assert_int_equal(questions_start(&qo, &f->qs, &why), 0);
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	char dir[64] = "/tmp/usher-questions-XXXXXX";
	if (!f || !mkdtemp(dir))
		return -1;
	memcpy(f->dir, dir, sizeof(dir));
	snprintf(f->file, sizeof(f->file), "%s/rules", dir);
	snprintf(f->grants, sizeof(f->grants), "%s/sub/grants", dir);
	pthread_mutex_init(&f->lock, NULL);
	pthread_cond_init(&f->more, NULL);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	char sub[128];
	questions_stop(f->qs);
	policy_free(f->p);
	unlink(f->file);
	unlink(f->grants);
	snprintf(sub, sizeof(sub), "%s/sub", f->dir);
	rmdir(sub);
	rmdir(f->dir);
	free(f);
	return 0;
}

/* V: what was decided before; NULL: decided now. */
static int ask_decided(struct fixture *f, const char *name, pid_t pid, uint64_t token, const struct verdict *v, uint64_t *id)
{
	struct call c = { .syscall = "openat", .n_objects = 1,
			  .by = { .pid = pid, .tid = pid, .image = { .exe = SPAN_LITERAL("/usr/bin/cat") } } };
	struct fact facts[] = { { "cwd", SPAN_LITERAL("/w\033[31m") } };
	struct verdict now;
	c.object[0] = (struct object){ .kind = OBJECT_FILE, .ops = OP_READ, .name = { name, (uint32_t)strlen(name) } };
	if (!v) {
		policy_decide(f->p, &c, &now);
		assert_int_equal(now.kind, VERDICT_ASK);
	}
	struct question q = { &c, v ? v : &now, facts, 1 };
	return questions_ask(f->qs, &q, token, id);
}

static int ask_as(struct fixture *f, const char *name, pid_t pid, uint64_t token, uint64_t *id)
{
	return ask_decided(f, name, pid, token, NULL, id);
}

static int ask(struct fixture *f, const char *name, uint64_t token, uint64_t *id)
{
	return ask_as(f, name, getpid(), token, id);
}

static enum verdict_kind decide(struct fixture *f, const char *name)
{
	struct call c = { .syscall = "openat", .n_objects = 1,
			  .by = { .pid = getpid(), .image = { .exe = SPAN_LITERAL("/usr/bin/cat") } } };
	struct verdict v;
	c.object[0] = (struct object){ .kind = OBJECT_FILE, .ops = OP_READ, .name = { name, (uint32_t)strlen(name) } };
	policy_decide(f->p, &c, &v);
	return v.kind;
}

static void deny_answers_at_once(void **state)
{
	struct fixture *f = *state;
	uint64_t id;
	begin(f, "ask read /a/** else=allow\n", "deny", 0);
	assert_int_equal(ask(f, "/a/x", 1, &id), 0);
	await(f, 1);
	assert_int_equal(f->last[1].kind, VERDICT_DENY);
	assert_string_equal(f->last[1].channel, "deny");
	assert_int_equal(questions_withdraw(f->qs, id, false), 1);
}

static void words_are_checked(void **state)
{
	struct fixture *f = *state;
	static const char *const bad[] = { "", "none", "exec", "exec:", "deny:x", "chain:", "chain:deny,", "chain:deny,deny", "tty:",
					   "chain:nobody,deny" };
	begin(f, "ask read /a/**\n", "deny", 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct questions_options o = { .channel = bad[i], .policy = f->p, .answered = answered };
		struct questions *qs = NULL;
		const char *why = NULL;
		assert_int_equal(questions_start(&o, &qs, &why), -EINVAL);
		assert_non_null(why);
		assert_null(qs);
	}
}

static void helper_answers(void **state)
{
	struct fixture *f = *state;
	uint64_t id;
	begin(f, "ask read /a/**\n",
	      "exec:grep -q '\"object\":\"/a/yes\"' && echo '{\"answer\":\"allow\",\"scope\":\"session\",\"message\":\"fine\"}' || printf '%s\\n' "
	      "'{\"answer\":\"deny\",\"message\":\"no\\u202e\\n\"}'",
	      0);
	assert_int_equal(ask(f, "/a/yes", 1, &id), 0);
	assert_int_equal(ask(f, "/a/no", 2, &id), 0);
	await(f, 2);
	assert_int_equal(f->last[1].kind, VERDICT_ALLOW);
	assert_int_equal(f->last[1].scope, SCOPE_SESSION);
	assert_string_equal(f->last[1].channel, "exec");
	assert_string_equal(f->last[1].message, "fine");
	assert_int_equal(f->last[2].kind, VERDICT_DENY);
	assert_string_equal(f->last[2].message, "no????");
	assert_int_equal(decide(f, "/a/yes"), VERDICT_ALLOW);
	assert_int_equal(decide(f, "/a/no"), VERDICT_ASK);
	assert_non_null(strstr(f->notes, "grant: allow read /a/yes by=/usr/bin/cat scope=session channel=exec"));
}

static void broken_helpers_never_allow(void **state)
{
	struct fixture *f = *state;
	static const char *const helpers[] = {
		"exec:true", "exec:exit 3", "exec:echo allow", "exec:echo '{}'", "exec:echo '{\"answer\":\"ask\"}'",
		"exec:echo '{\"answer\":\"allow\"} {\"answer\":\"allow\"}'", "exec:echo '{\"answer\":\"allow\",\"id\":77}'",
		"exec:echo '{\"answer\":\"allow\",\"scope\":\"forever\"}'", "exec:echo '{\"answer\":\"allow\",\"scope\":\"time\"}'",
		"exec:echo '[\"allow\"]'", "exec:kill -9 $$", "exec:/nonexistent/helper", "exec:head -c 100000 /dev/zero",
		"exec:echo '{\"answer\":\"rewrite\"}'", "exec:echo '{\"answer\":\"allow\",\"target\":\"/x\"}'",
		"exec:echo '{\"answer\":\"allow\",\"directory\":\"/b\",\"scope\":\"session\"}'",
	};
	begin(f, "ask read /a/**\n", "deny", 0);
	for (size_t i = 0; i < sizeof(helpers) / sizeof(helpers[0]); i++) {
		uint64_t id;
		questions_stop(f->qs);
		policy_free(f->p);
		f->total = 0;
		begin(f, "ask read /a/**\n", helpers[i], 0);
		assert_int_equal(ask(f, "/a/x", i, &id), 0);
		await(f, 1);
		assert_int_equal(f->last[i].kind, VERDICT_DENY);
		assert_string_equal(f->last[i].channel, "exec");
		assert_non_null(strstr(f->notes, "channel-failed"));
		f->notes[0] = '\0';
	}
}

static void silence_times_out(void **state)
{
	struct fixture *f = *state;
	uint64_t id;
	begin(f, "ask read /a timeout=1s\nask read /b timeout=1s else=allow\nask read /c timeout=1s else=kill\n", "exec:sleep 60", 0);
	assert_int_equal(ask(f, "/a", 1, &id), 0);
	assert_int_equal(ask(f, "/b", 2, &id), 0);
	assert_int_equal(ask(f, "/c", 3, &id), 0);
	await(f, 3);
	assert_int_equal(f->last[1].kind, VERDICT_DENY);
	assert_int_equal(f->last[2].kind, VERDICT_ALLOW);
	assert_int_equal(f->last[3].kind, VERDICT_KILL);
	assert_string_equal(f->last[1].channel, "timeout");
	assert_true(f->last[1].waited_us >= 1000000);
	assert_int_equal(f->answers[1], 1);
}

/* A slow helper holds up its own question only. */
static void slow_helpers_run_side_by_side(void **state)
{
	struct fixture *f = *state;
	uint64_t id;
	begin(f, "ask read /a/**\n", "exec:grep -q slow && sleep 60; echo '{\"answer\":\"allow\"}'", 0);
	assert_int_equal(ask(f, "/a/slow", 1, &id), 0);
	assert_int_equal(ask(f, "/a/quick", 2, &id), 0);
	await(f, 1);
	assert_int_equal(f->last[2].kind, VERDICT_ALLOW);
	assert_int_equal(f->answers[1], 0);
	assert_int_equal(questions_withdraw(f->qs, id, false), 1);
}

static void identical_ones_are_joined(void **state)
{
	struct fixture *f = *state;
	uint64_t id[5];
	char mark[160], command[400];
	snprintf(mark, sizeof(mark), "%s/count", f->dir);
	snprintf(command, sizeof(command), "exec:sleep 0.3; echo x >> %s; echo '{\"answer\":\"allow\"}'", mark);
	begin(f, "ask read /a/**\n", command, 0);
	for (uint64_t i = 0; i < 5; i++)
		assert_int_equal(ask(f, "/a/same", i, &id[i]), 0);
	assert_int_equal(questions_withdraw(f->qs, id[2], false), 0);
	assert_int_equal(questions_withdraw(f->qs, id[2], false), 1);
	await(f, 4);
	usleep(100 * 1000);
	for (uint64_t i = 0; i < 5; i++)
		assert_int_equal(f->answers[i], i != 2);
	struct stat st;
	assert_int_equal(stat(mark, &st), 0);
	assert_int_equal(st.st_size, 2); /* one helper was asked, once */
	unlink(mark);
}

/* A signal's handler runs, and the call is made again: the question that a person looks at is the same one, and ends when it would have. */
static void interrupted_ones_are_not_asked_anew(void **state)
{
	struct fixture *f = *state;
	uint64_t id;
	char mark[160], command[400];
	snprintf(mark, sizeof(mark), "%s/count", f->dir);
	snprintf(command, sizeof(command), "exec:echo x >> %s; grep -q slow && sleep 60; sleep 0.3; echo '{\"answer\":\"allow\"}'", mark);
	begin(f, "ask read /a/** timeout=2s\n", command, 0);
	for (uint64_t i = 0; i < 5; i++) {
		assert_int_equal(ask(f, "/a/again", i, &id), 0);
		if (i < 4)
			assert_int_equal(questions_withdraw(f->qs, id, true), 0);
	}
	await(f, 1);
	assert_int_equal(f->last[4].kind, VERDICT_ALLOW);
	struct stat st;
	assert_int_equal(stat(mark, &st), 0);
	assert_int_equal(st.st_size, 2);
	unlink(mark);
	for (uint64_t i = 5; f->total < 2; i++) {
		assert_true(i < TOKENS);
		assert_int_equal(ask(f, "/a/slow", i, &id), 0);
		usleep(50 * 1000);
		questions_withdraw(f->qs, id, true);
	}
	assert_int_equal(stat(mark, &st), 0);
	assert_int_equal(st.st_size, 2);
	unlink(mark);
}

static bool kept_late(struct questions *qs)
{
	bool kept = false, left = true;

	while (left && !kept) {
		usleep(1000);
		pthread_mutex_lock(&qs->lock);
		kept = qs->late;
		left = qs->left;
		pthread_mutex_unlock(&qs->lock);
	}
	return kept;
}

/* The answer came while the caller was in its handler: it is the caller's when that comes back, and nobody else's. */
static void answers_wait_for_who_comes_back(void **state)
{
	struct fixture *f = *state;
	uint64_t id;
	char mark[160], command[400];
	struct stat st;
	snprintf(mark, sizeof(mark), "%s/count", f->dir);
	snprintf(command, sizeof(command), "exec:echo x >> %s; grep -q all-ends && a=kill; echo \"{\\\"answer\\\":\\\"${a:-allow}\\\"}\"", mark);
	begin(f, "ask read /a/**\n", command, 0);
	unsigned total = 0;
	for (uint64_t i = 10;; i++) { /* a helper may be quicker than this, or take more than the second */
		assert_true(i < TOKENS);
		assert_int_equal(ask(f, "/a/again", i, &id), 0);
		if (questions_withdraw(f->qs, id, true) == 1)
			await(f, ++total);
		else if (kept_late(f->qs))
			break;
	}
	assert_int_equal(stat(mark, &st), 0);
	assert_int_equal(ask(f, "/a/other", 1, &id), 0);
	await(f, total + 1);
	assert_int_equal(ask(f, "/a/again", 2, &id), 0);
	await(f, total + 2);
	assert_int_equal(f->last[2].kind, VERDICT_ALLOW);
	off_t before = st.st_size;
	assert_int_equal(stat(mark, &st), 0);
	assert_int_equal(st.st_size, before + 2);
	assert_int_equal(ask(f, "/a/again", 3, &id), 0);
	await(f, total + 3);
	assert_int_equal(stat(mark, &st), 0);
	assert_int_equal(st.st_size, before + 4);
	/* The end of all waits for nobody. */
	bool ended = false;
	for (uint64_t i = 10; !ended; i++) {
		assert_true(i < TOKENS);
		assert_int_equal(ask(f, "/a/all-ends", i, &id), 0);
		if (questions_withdraw(f->qs, id, true) == 0)
			assert_false(kept_late(f->qs));
		usleep(100 * 1000);
		pthread_mutex_lock(&f->lock);
		ended = f->answers[0];
		pthread_mutex_unlock(&f->lock);
	}
	assert_int_equal(f->last[0].kind, VERDICT_KILL);
	unlink(mark);
}

/* Nobody came back: it is gone after a while, and others are asked meanwhile, however many there were. */
static void left_ones_go(void **state)
{
	struct fixture *f = *state;
	uint64_t id;
	char name[32];
	begin(f, "ask read /a/**\n", "exec:grep -q last || sleep 60; echo '{\"answer\":\"allow\"}'", 0);
	for (unsigned i = 0; i < 3 * LEFT_MOST; i++) {
		snprintf(name, sizeof(name), "/a/left%u", i);
		assert_int_equal(ask(f, name, i, &id), 0);
		assert_int_equal(questions_withdraw(f->qs, id, true), 0);
	}
	assert_int_equal(ask(f, "/a/last", 1000, &id), 0);
	await(f, 1);
	assert_int_equal(f->last[1000].kind, VERDICT_ALLOW);
	bool gone = false;
	for (unsigned i = 0; i < 200 && !gone; i++) {
		usleep(50 * 1000);
		pthread_mutex_lock(&f->qs->lock);
		gone = !f->qs->oldest && !f->qs->left;
		pthread_mutex_unlock(&f->qs->lock);
	}
	assert_true(gone);
}

static void chains_ask_the_next(void **state)
{
	struct fixture *f = *state;
	uint64_t id;
	begin(f, "ask read /a/** timeout=1h\n", "chain:deny,exec:true", 0);
	assert_int_equal(ask(f, "/a/x", 1, &id), 0);
	await(f, 1);
	assert_string_equal(f->last[1].channel, "deny");
}

static void too_many_are_refused(void **state)
{
	struct fixture *f = *state;
	uint64_t id;
	char name[32];
	begin(f, "ask read /a/**\n", "exec:sleep 60", 8);
	for (uint64_t i = 0; i < 4; i++) {
		snprintf(name, sizeof(name), "/a/%d", (int)i);
		assert_int_equal(ask_as(f, name, 100, i, &id), 0);
	}
	assert_int_equal(ask_as(f, "/a/more", 100, 9, &id), -EAGAIN); /* one process has at most half */
	for (uint64_t i = 4; i < 8; i++) {
		snprintf(name, sizeof(name), "/a/%d", (int)i);
		assert_int_equal(ask_as(f, name, 101 + (pid_t)i, i, &id), 0);
	}
	assert_int_equal(ask_as(f, "/a/more", 300, 9, &id), -EAGAIN);
	questions_stop(f->qs);
	f->qs = NULL;
	assert_int_equal(f->total, 8);
	for (int i = 0; i < 8; i++)
		assert_int_equal(f->last[i].kind, VERDICT_DENY);
}

struct asker {
	struct fixture *f;
	uint64_t from;
	atomic_uint *withdrawn;
	pthread_barrier_t *together;
};

#define ASKERS 4
#define EACH 50

static void *ask_many(void *arg)
{
	struct asker *a = arg;
	char name[48];
	for (uint64_t i = 0; i < EACH; i++) {
		uint64_t id, token = a->from + i;
		snprintf(name, sizeof(name), "/a/%llu", (unsigned long long)token);
		assert_int_equal(ask_as(a->f, name, (pid_t)(1000 + token), token, &id), 0);
		if (token % 3)
			continue;
		usleep((useconds_t)(token % 7) * 300);
		atomic_fetch_add(a->withdrawn, questions_withdraw(a->f->qs, id, false) == 0);
	}
	return NULL;
}

/* ASKERS threads run BODY as OF says, each from its own number on; once all have started, BY_THE_WAY. */
static void all_ask(const struct asker *of, void *(*body)(void *), void (*by_the_way)(struct fixture *f))
{
	struct asker a[ASKERS];
	pthread_t thread[ASKERS];
	for (uint64_t i = 0; i < ASKERS; i++) {
		a[i] = *of;
		a[i].from = i * EACH;
		pthread_create(&thread[i], NULL, body, &a[i]);
	}
	if (by_the_way)
		by_the_way(of->f);
	for (int i = 0; i < ASKERS; i++)
		pthread_join(thread[i], NULL);
}

/* 200 at once, a third of them withdrawn in a race with their answers. */
static void each_is_answered_once(void **state)
{
	struct fixture *f = *state;
	atomic_uint withdrawn = 0;
	begin(f, "ask read /a/**\n", "exec:echo '{\"answer\":\"allow\"}'", 0);
	all_ask(&(struct asker){ .f = f, .withdrawn = &withdrawn }, ask_many, NULL);
	await(f, ASKERS * EACH - atomic_load(&withdrawn));
	questions_stop(f->qs);
	f->qs = NULL;
	unsigned sum = atomic_load(&withdrawn);
	for (int i = 0; i < ASKERS * EACH; i++) {
		assert_true(f->answers[i] <= 1);
		sum += f->answers[i];
	}
	assert_int_equal(sum, ASKERS * EACH);
}

static void grants_answer_those_who_wait(void **state)
{
	struct fixture *f = *state;
	uint64_t id;
	begin(f, "ask read /a/**\n",
	      "exec:grep -q /a/d/first && { sleep 0.3; echo '{\"answer\":\"allow\",\"scope\":\"session\",\"directory\":\"/a/d\"}'; } || sleep 60",
	      0);
	assert_int_equal(ask(f, "/a/d/second", 2, &id), 0);
	assert_int_equal(ask(f, "/a/e/third", 3, &id), 0);
	assert_int_equal(ask(f, "/a/d/first", 1, &id), 0);
	await(f, 2);
	assert_int_equal(f->last[1].kind, VERDICT_ALLOW);
	assert_int_equal(f->last[2].kind, VERDICT_ALLOW);
	assert_string_equal(f->last[2].channel, "grant");
	assert_string_equal(f->last[2].who, "grant:1");
	assert_int_equal(f->answers[3], 0);
}

/* What a grant covers by the time it is asked was decided before the grant. */
static void *ask_the_same(void *arg)
{
	static const struct verdict before = { .kind = VERDICT_ASK };
	struct asker *a = arg;
	char name[48];
	for (uint64_t i = 0; i < EACH; i++) {
		uint64_t id, token = a->from + i;
		snprintf(name, sizeof(name), "/a/%llu", (unsigned long long)i);
		pthread_barrier_wait(a->together);
		assert_int_equal(ask_decided(a->f, name, (pid_t)(1000 + token), token, &before, &id), 0);
	}
	return NULL;
}

/* The threads ask the same EACH questions. */
static void all_ask_the_same(struct fixture *f, void (*by_the_way)(struct fixture *f))
{
	pthread_barrier_t together;
	pthread_barrier_init(&together, NULL, ASKERS);
	all_ask(&(struct asker){ .f = f, .together = &together }, ask_the_same, by_the_way);
	pthread_barrier_destroy(&together);
}

/* A question is filed with the lock released: of threads that file the same at once one adds it, and the others join. */
static void the_same_from_several_threads(void **state)
{
	struct fixture *f = *state;
	unsigned groups = 0, joined = 0;
	begin(f, "ask read /a/**\n", "exec:sleep 60", 0);
	all_ask_the_same(f, NULL);
	pthread_mutex_lock(&f->qs->lock);
	for (const struct group *g = f->qs->oldest; g; g = g->next, groups++)
		joined += atomic_load(&g->asked->count) == ASKERS;
	pthread_mutex_unlock(&f->qs->lock);
	assert_int_equal(groups, EACH);
	assert_int_equal(joined, EACH);
}

static void grant_all(struct fixture *f)
{
	struct settlement s = { .answer = { .kind = VERDICT_ALLOW, .scope = SCOPE_SESSION, .channel = "desk" },
				.directory = SPAN_LITERAL("/a"), .scope_given = true };
	usleep(3000);
	assert_int_equal(question_answer(f->qs, 1, &s), 0);
}

/* More than are looked at in one go, and some that come in while they are: none is left to wait. */
static void grants_answer_those_who_come(void **state)
{
	struct fixture *f = *state;
	uint64_t id;
	char name[32];
	begin(f, "ask read /a/**\nask read /b\n", "exec:sleep 60", 0);
	for (uint64_t i = 0; i < 150; i++) {
		snprintf(name, sizeof(name), "/a/%d/x", (int)i);
		assert_int_equal(ask_as(f, name, 200 + (pid_t)i, 1000 + i, &id), 0);
	}
	assert_int_equal(ask(f, "/b", 2000, &id), 0);
	all_ask_the_same(f, grant_all);
	await(f, 150 + ASKERS * EACH);
	for (int i = 0; i < ASKERS * EACH; i++)
		assert_true(f->answers[i] == 1 && f->last[i].kind == VERDICT_ALLOW);
	for (int i = 1000; i < 1150; i++)
		assert_true(f->answers[i] == 1 && f->last[i].kind == VERDICT_ALLOW);
	assert_int_equal(f->answers[2000], 0);
}

static void always_writes_a_rule(void **state)
{
	struct fixture *f = *state;
	uint64_t id;
	char text[1024] = "";
	begin(f, "ask read /a/**\ndeny read /no\n", "exec:echo '{\"answer\":\"allow\",\"scope\":\"always\"}'", 0);
	assert_int_equal(ask(f, "/a/with *[x] \"$HOME\" and \\ and \n", 1, &id), 0);
	await(f, 1);
	assert_int_equal(f->last[1].kind, VERDICT_ALLOW);
	FILE *in = fopen(f->grants, "r");
	assert_non_null(in);
	assert_non_null(fgets(text, sizeof(text), in));
	fclose(in);
	assert_non_null(strstr(f->notes, text));
	questions_stop(f->qs);
	policy_free(f->p);
	begin(f, "ask read /a/**\n", "deny", 0);
	assert_int_equal(decide(f, "/a/with *[x] \"$HOME\" and \\ and \n"), VERDICT_ALLOW);
	assert_int_equal(decide(f, "/a/with "), VERDICT_ASK);
}

static size_t file_text(const char *name, char *out, size_t cap)
{
	FILE *in = fopen(name, "r");
	size_t n = in ? fread(out, 1, cap - 1, in) : 0;
	if (in)
		fclose(in);
	out[n] = '\0';
	return n;
}

static void put_text(const char *name, const char *text)
{
	FILE *to = fopen(name, "w");
	assert_non_null(to);
	fputs(text, to);
	fclose(to);
	chmod(name, 0600);
}

/* A file that somebody edited, whose last line has no end, loads afterwards; so does one with an end, without an empty line. */
static void always_begins_a_line(void **state)
{
	struct fixture *f = *state;
	char text[256];
	assert_int_equal(standing_append(f->grants, "allow read \"/a\"\n"), 0);
	assert_int_equal(standing_append(f->grants, "allow read \"/b\"\n"), 0);
	file_text(f->grants, text, sizeof(text));
	assert_string_equal(text, "allow read \"/a\"\nallow read \"/b\"\n");
	put_text(f->grants, "allow read \"/a\"");
	assert_int_equal(standing_append(f->grants, "allow read \"/b\"\n"), 0);
	file_text(f->grants, text, sizeof(text));
	assert_string_equal(text, "allow read \"/a\"\nallow read \"/b\"\n");
}

/* A file of the user's own is followed to by a link, in writing as in reading; one that others may write is not. */
static void a_link_is_followed(void **state)
{
	struct fixture *f = *state;
	char text[256];
	assert_int_equal(standing_append(f->grants, ""), 0);
	assert_int_equal(unlink(f->grants), 0);
	put_text(f->file, "allow read \"/a\"\n");
	assert_int_equal(symlink(f->file, f->grants), 0);
	assert_int_equal(standing_append(f->grants, "allow read \"/b\"\n"), 0);
	file_text(f->file, text, sizeof(text));
	assert_string_equal(text, "allow read \"/a\"\nallow read \"/b\"\n");
	assert_int_equal(chmod(f->file, 0622), 0);
	assert_int_equal(standing_append(f->grants, "allow read \"/c\"\n"), -EPERM);
}

/* Where there is room for half a rule only, none of it stays: it might be wider than what was shown. */
static void half_a_rule_is_taken_back(void **state)
{
	struct fixture *f = *state;
	char text[256];
	struct rlimit before, small;
	assert_int_equal(standing_append(f->grants, "allow read \"/a\"\n"), 0);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	small = (struct rlimit){ 16 + 18, before.rlim_max };
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	int rc = standing_append(f->grants, "allow read \"/b/c\" by=\"/usr/bin/cat\"\n");
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	signal(SIGXFSZ, SIG_DFL);
	assert_true(rc < 0);
	file_text(f->grants, text, sizeof(text));
	assert_string_equal(text, "allow read \"/a\"\n");
}

/* A name of the longest kind takes nothing of what the note of a grant says behind it. */
static void a_long_name_leaves_the_note_whole(void **state)
{
	struct fixture *f = *state;
	char name[4096];
	uint64_t id;
	memset(name, '\xc3', sizeof(name));
	memcpy(name, "/a/", 3);
	name[sizeof(name) - 1] = '\0';
	begin(f, "ask read /a/**\n", "exec:echo '{\"answer\":\"allow\",\"scope\":\"session\"}'", 0);
	assert_int_equal(ask(f, name, 1, &id), 0);
	await(f, 1);
	assert_int_equal(decide(f, name), VERDICT_ALLOW);
	assert_non_null(strstr(f->notes, "grant: allow read /a/"));
	assert_non_null(strstr(f->notes, "4095 bytes, hash "));
	assert_non_null(strstr(f->notes, " by=/usr/bin/cat scope=session channel=exec who="));
}

/* What the journal does not have answers nothing, in this session or a later one. */
static void what_is_not_noted_is_not_kept(void **state)
{
	static const char *const events[] = { "grant-always", "grant" };
	struct fixture *f = *state;
	for (size_t i = 0; i < 2; i++) {
		uint64_t id;
		f->unnoted = events[i];
		f->total = 0;
		begin(f, "ask read /a/**\n", i ? "exec:echo '{\"answer\":\"allow\",\"scope\":\"session\"}'" :
						  "exec:echo '{\"answer\":\"allow\",\"scope\":\"always\"}'", 0);
		assert_int_equal(ask(f, "/a/x", 1, &id), 0);
		await(f, 1);
		assert_int_equal(f->last[1].kind, VERDICT_ALLOW);
		assert_int_equal(access(f->grants, F_OK), -1);
		assert_int_equal(decide(f, "/a/x"), i ? VERDICT_ASK : VERDICT_ALLOW);
		assert_non_null(strstr(f->notes, i ? "grant-failed: Message too long" : "grant-always-failed: Message too long"));
		if (i == 0) {
			questions_stop(f->qs);
			policy_free(f->p);
		}
	}
}

static void after_counts_favours(void **state)
{
	struct fixture *f = *state;
	uint64_t id;
	begin(f, "ask read /a/** after=2\n", "exec:echo '{\"answer\":\"allow\"}'", 0);
	assert_int_equal(ask(f, "/a/1", 1, &id), 0);
	await(f, 1);
	assert_int_equal(decide(f, "/a/2"), VERDICT_ASK);
	assert_int_equal(ask(f, "/a/2", 2, &id), 0);
	await(f, 2);
	assert_int_equal(decide(f, "/a/3"), VERDICT_ALLOW);
}

static int decide_as(struct fixture *f, struct span exe, op_set op, struct span name)
{
	struct verdict v;
	struct call c = { .syscall = "openat", .n_objects = 1, .by = { .pid = 7, .image = { .exe = exe } } };
	c.object[0] = (struct object){ .kind = OBJECT_FILE, .ops = op, .name = name };
	policy_decide(f->p, &c, &v);
	return v.kind;
}

/* One answer for a read of /X/1 and /X/2 by /bin/cat. */
static void favour(struct fixture *f, struct span one, struct span two)
{
	struct call c = { .syscall = "renameat", .n_objects = 2, .by = { .pid = 7, .image = { .exe = SPAN_LITERAL("/bin/cat") } } };
	c.object[0] = (struct object){ .kind = OBJECT_FILE, .ops = OP_READ, .name = one };
	c.object[1] = (struct object){ .kind = OBJECT_FILE, .ops = OP_READ, .name = two };
	policy_favour(f->p, &c);
}

static void after_counts_where_it_says(void **state)
{
	const struct span cat = SPAN_LITERAL("/bin/cat"), evil = SPAN_LITERAL("/bin/evil");
	struct fixture *f = *state;
	begin(f, "ask read,modify /p/** after=2\nask read,modify /o/** after=2/object\nask read,modify /r/** after=2/rule\n", "deny", 0);
	for (int i = 0; i < 2; i++) {
		/* a call counts once for each scope, whatever it concerns */
		assert_int_equal(decide_as(f, cat, OP_READ, SPAN_LITERAL("/p/3")), VERDICT_ASK);
		assert_int_equal(decide_as(f, cat, OP_READ, SPAN_LITERAL("/o/1")), VERDICT_ASK);
		assert_int_equal(decide_as(f, cat, OP_READ, SPAN_LITERAL("/r/3")), VERDICT_ASK);
		favour(f, SPAN_LITERAL("/p/1"), SPAN_LITERAL("/p/2"));
		favour(f, SPAN_LITERAL("/o/1"), SPAN_LITERAL("/o/2"));
		favour(f, SPAN_LITERAL("/r/1"), SPAN_LITERAL("/r/2"));
	}
	assert_int_equal(decide_as(f, cat, OP_READ, SPAN_LITERAL("/p/3")), VERDICT_ALLOW);
	assert_int_equal(decide_as(f, cat, OP_MODIFY, SPAN_LITERAL("/p/3")), VERDICT_ALLOW);
	assert_int_equal(decide_as(f, evil, OP_READ, SPAN_LITERAL("/p/1")), VERDICT_ASK);
	assert_int_equal(decide_as(f, cat, OP_READ, SPAN_LITERAL("/o/1")), VERDICT_ALLOW);
	assert_int_equal(decide_as(f, cat, OP_READ, SPAN_LITERAL("/o/2")), VERDICT_ALLOW);
	assert_int_equal(decide_as(f, cat, OP_READ, SPAN_LITERAL("/o/3")), VERDICT_ASK);
	assert_int_equal(decide_as(f, cat, OP_MODIFY, SPAN_LITERAL("/o/1")), VERDICT_ASK);
	assert_int_equal(decide_as(f, evil, OP_READ, SPAN_LITERAL("/o/1")), VERDICT_ASK);
	assert_int_equal(decide_as(f, evil, OP_MODIFY, SPAN_LITERAL("/r/9")), VERDICT_ALLOW);
	assert_int_equal(decide_as(f, cat, OP_READ, SPAN_LITERAL("/elsewhere")), VERDICT_DENY);
}

/* What finds no place asks on; what had one keeps it. */
static void after_is_bounded(void **state)
{
	const struct span cat = SPAN_LITERAL("/bin/cat");
	struct fixture *f = *state;
	char name[32];
	unsigned asks = 0;
	begin(f, "ask read /o/** after=1/object\n", "deny", 0);
	favour(f, SPAN_LITERAL("/o/first"), SPAN_LITERAL("/o/first"));
	for (int i = 0; i < 9000; i++) {
		struct span s = { name, (uint32_t)snprintf(name, sizeof(name), "/o/%d", i) };
		favour(f, s, s);
		asks += decide_as(f, cat, OP_READ, s) == VERDICT_ASK;
	}
	assert_in_range(asks, 9000 - 4096, 8999);
	assert_int_equal(decide_as(f, cat, OP_READ, SPAN_LITERAL("/o/first")), VERDICT_ALLOW);
	assert_int_equal(decide_as(f, cat, OP_READ, SPAN_LITERAL("/o/never")), VERDICT_ASK);
}

/* What allows by itself yields to another layer's question and to a person's denial, and says that it is to be looked at. */
static void review_is_no_question(void **state)
{
	struct fixture *f = *state;
	struct verdict v;
	begin(f, "ask read /a/** review\nask read /b/** after=1 review\nask read /c/** limit=1/h review\n", "exec:echo '{\"answer\":\"allow\"}'", 0);
	struct call c = { .syscall = "openat", .n_objects = 1, .by = { .pid = 7, .image = { .exe = SPAN_LITERAL("/bin/cat") } } };
	c.object[0] = (struct object){ .kind = OBJECT_FILE, .ops = OP_READ, .name = SPAN_LITERAL("/a/1") };
	policy_decide(f->p, &c, &v);
	assert_int_equal(v.kind, VERDICT_ALLOW);
	assert_true(v.review);
	struct question q = { .call = &c, .verdict = &v };
	assert_int_equal(questions_review_known(f->qs, &q), 0);
	uint64_t id = questions_review_add(f->qs, &q);
	assert_int_equal(id, 1);
	uint32_t beyond;
	assert_int_equal(questions_reviews_open(f->qs, &beyond), 0);
	questions_review_done(f->qs, id);
	assert_int_equal(questions_review_known(f->qs, &q), id);
	assert_int_equal(questions_reviews_open(f->qs, &beyond), 1);
	assert_int_equal(question_review(f->qs, id, REVIEW_WRONG, "me", ""), 0);
	assert_int_equal(question_review(f->qs, id, REVIEW_RIGHT, "me", ""), -ENOENT);
	assert_int_equal(questions_review_known(f->qs, &q), 0);

	c.object[0].name = (struct span)SPAN_LITERAL("/b/1");
	policy_decide(f->p, &c, &v);
	assert_int_equal(v.kind, VERDICT_ASK);
	assert_false(v.review);
	c.object[0].name = (struct span)SPAN_LITERAL("/c/1");
	policy_decide(f->p, &c, &v);
	assert_int_equal(v.kind, VERDICT_ALLOW);
	assert_true(v.review);
	c.object[1] = (struct object){ .kind = OBJECT_FILE, .ops = OP_READ, .name = SPAN_LITERAL("/b/1") };
	c.n_objects = 2;
	policy_decide(f->p, &c, &v);
	assert_int_equal(v.kind, VERDICT_ASK);
	assert_false(v.review);
}

/* However many there are, what is kept is bounded, and what a person has done with makes room. */
static void reviews_are_bounded(void **state)
{
	struct fixture *f = *state;
	char name[32];
	uint32_t beyond;
	begin(f, "ask read /a/** review\n", "deny", 0);
	struct call c = { .syscall = "openat", .n_objects = 1, .by = { .pid = 7, .image = { .exe = SPAN_LITERAL("/bin/cat") } } };
	struct verdict v = { .kind = VERDICT_ALLOW, .review = true, .where = "x:1" };
	struct question q = { .call = &c, .verdict = &v };
	for (unsigned i = 1; i <= REVIEWS_MAX + 3; i++) {
		c.object[0] = (struct object){ .kind = OBJECT_FILE, .ops = OP_READ, .name = { name, (uint32_t)snprintf(name, sizeof(name), "/a/%u", i) } };
		uint64_t id = questions_review_add(f->qs, &q);
		assert_int_equal(id, i <= REVIEWS_MAX ? i : 0);
		questions_review_done(f->qs, id);
	}
	assert_int_equal(questions_reviews_open(f->qs, &beyond), REVIEWS_MAX);
	assert_int_equal(beyond, 3);
	assert_int_equal(question_review(f->qs, 7, REVIEW_RIGHT, "me", ""), 0);
	assert_int_equal(questions_review_add(f->qs, &q), REVIEWS_MAX + 1);
}

static void remember_is_the_default_scope(void **state)
{
	struct fixture *f = *state;
	uint64_t id;
	begin(f, "ask read /a/** remember=session\nask read /b/**\n", "exec:echo '{\"answer\":\"allow\"}'", 0);
	assert_int_equal(ask(f, "/a/1", 1, &id), 0);
	assert_int_equal(ask(f, "/b/1", 2, &id), 0);
	await(f, 2);
	assert_int_equal(decide(f, "/a/1"), VERDICT_ALLOW);
	assert_int_equal(decide(f, "/b/1"), VERDICT_ASK);
}

/* What people see: nothing but printable ASCII, however hostile the names. */
static void text_is_harmless(void **state)
{
	char name[600], text[8192];
	struct call c = { .syscall = "openat", .n_objects = 1, .by = { .pid = 7, .image = { .exe = SPAN_LITERAL("/\033]0;x\a") } } };
	struct verdict v = { .kind = VERDICT_ASK, .where = "x:1" };
	struct fact facts[] = { { "cwd", SPAN_LITERAL("/w\n  rule      all is well\r\x9b") } };
	struct question q = { &c, &v, facts, 1 };
	struct asked *a;
	size_t size;
	struct text_buffer t;
	memset(name, '\xe2', sizeof(name));
	memcpy(name, "/a\033[2J\xe2\x80\xae\r\n", 11);
	c.object[0] = (struct object){ .kind = OBJECT_FILE, .ops = OP_READ, .name = { name, sizeof(name) } };
	assert_int_equal(asked_new(&q, &a, &size), 0);
	text_start(&t, text, sizeof(text));
	asked_text(a, 80, &t);
	for (size_t i = 0; i < t.len; i++)
		assert_true(text[i] == '\n' || (text[i] >= 0x20 && text[i] < 0x7f));
	assert_non_null(strstr(text, "600 bytes, hash "));
	assert_null(strstr(text, "\n  rule      all is well"));
	asked_free(a);
	assert_true(sizeof(struct filed) < 100); /* of which thousands may wait */
}

/* The longest of the lines that TEXT draws, each behind what places and clears it. */
static size_t widest(const char *text)
{
	size_t most = 0;
	for (const char *at = text; (at = strstr(at, "\033[2K"));) {
		size_t len = strcspn(at += 4, "\033");
		most = len > most ? len : most;
	}
	return most;
}

/* A small terminal shows what is asked about, the keys, and that there is more than it shows; where it has no room for the first nobody can allow it. */
static void small_terminals(void **state)
{
	char name[600], text[16384];
	struct call c = { .syscall = "openat", .n_objects = 1, .by = { .pid = 7, .image = { .exe = SPAN_LITERAL("/bin/x") } } };
	struct verdict v = { .kind = VERDICT_ASK, .where = "x:1" };
	struct question q = { &c, &v, NULL, 0 };
	struct asked *a;
	size_t size;
	memset(name, 'n', sizeof(name));
	name[0] = '/';
	memcpy(name + sizeof(name) - 3, "end", 3);
	c.object[0] = (struct object){ .kind = OBJECT_FILE, .ops = OP_READ, .name = { name, sizeof(name) } };
	assert_int_equal(asked_new(&q, &a, &size), 0);
	for (unsigned rows = 4; rows <= 40; rows++) {
		struct tty_frame f = { .rows = rows, .cols = 80, .mark = "marked" };
		struct text_buffer t;
		char beyond[16];
		text_start(&t, text, sizeof(text));
		bool seen = tty_draw(&f, a, 1, true, &t);
		snprintf(beyond, sizeof(beyond), "\033[%u;1H", rows + 1);
		assert_null(strstr(text, beyond));
		assert_non_null(strstr(text, "[marked]"));
		assert_non_null(strstr(text, "[d] or Enter: deny"));
		assert_int_equal(seen, rows >= 16);
		assert_int_equal(seen, strstr(text, "[o] allow once") != NULL);
		assert_int_equal(seen, strstr(text, "/nnn") && strstr(text, "nend"));
		if (rows == 16)
			assert_non_null(strstr(text, " more lines: no room"));
		if (rows == 40)
			assert_null(strstr(text, " more lines: no room"));
	}
	asked_free(a);
	/* Narrow ones fold the keys, and have them all. */
	c.object[0].name.len = 100;
	assert_int_equal(asked_new(&q, &a, &size), 0);
	for (unsigned cols = 1; cols <= 80; cols++) {
		struct tty_frame f = { .rows = 24, .cols = cols, .mark = "marked" };
		struct text_buffer t;
		text_start(&t, text, sizeof(text));
		assert_int_equal(tty_draw(&f, a, 1000, true, &t), cols >= 30);
		assert_null(strstr(text, "\033[25;1H"));
		assert_int_equal(strstr(text, "[x]") != NULL, cols >= 30);
		assert_int_equal(strstr(text, "[k]") != NULL, cols >= 30);
		assert_true(widest(text) <= cols);
	}
	asked_free(a);
}

/* However narrow the window is, half of it shows the end of what is typed, and nothing goes beyond it. */
static void prompts_leave_room(void **state)
{
	char text[4096];
	for (unsigned cols = 30; cols <= 80; cols++) {
		struct tty_frame f = { .rows = 24, .cols = cols, .mark = "marked" };
		struct text_buffer t;
		text_start(&t, text, sizeof(text));
		tty_prompt(&f, "  the file of grants cannot be written by this user: Enter goes back ", "/a/long/name/of/a/directory/and/**", &t);
		assert_non_null(strstr(text, "directory/and/**"));
		assert_true(widest(text) <= cols);
	}
}

/* Two names that are folded look like two, one like one, wherever the lines end. */
static void folds_tell_names_apart(void **state)
{
	char args[2][200], text[2][16384];
	struct verdict v = { .kind = VERDICT_ASK, .where = "x:1" };
	for (unsigned at = 1; at < 180; at++) {
		for (int blank = 0; blank < 2; blank++) {
			struct call c = { .syscall = "execve", .n_objects = 1, .by = { .pid = 7, .image = { .exe = SPAN_LITERAL("/bin/x") } } };
			struct question q = { &c, &v, NULL, 0 };
			struct tty_frame f = { .rows = 24, .cols = 80, .mark = "marked" };
			struct text_buffer t;
			struct asked *a;
			size_t size;
			memset(args[blank], 'n', sizeof(args[blank]));
			if (blank)
				args[blank][at] = ' ';
			c.object[0] = (struct object){ .kind = OBJECT_FILE, .ops = OP_EXEC, .name = SPAN_LITERAL("/bin/rm") };
			c.argv = (struct span){ args[blank], (uint32_t)(sizeof(args[blank]) - 1 + (unsigned)blank) };
			assert_int_equal(asked_new(&q, &a, &size), 0);
			text_start(&t, text[blank], sizeof(text[blank]));
			assert_true(tty_draw(&f, a, 1, true, &t));
			asked_free(a);
		}
		assert_string_not_equal(text[0], text[1]);
	}
}

/* Whatever the program did by sequences that nobody followed: nothing of it stands beside a question or over it. */
static void questions_begin_on_a_plain_screen(void **state)
{
	static const char *const plain[] = { "\033[4i", "\033\003\033\\", "\033<", "\033[?6l", "\033[?69l", "\033[r", "\033[?2026l", "\033[0\"q", "\033(B" };

	for (int full = 0; full < 2; full++) {
		struct tty_frame f = { .rows = 24, .cols = 80, .mark = "marked" };
		struct text_buffer t;
		char text[128];
		text_start(&t, text, sizeof(text));
		tty_enter(&f, full, !full, &t);
		assert_int_equal(!full, strstr(text, "\033[0m\033[38;2;") != NULL);
		char *erased = strstr(text, "\033[2J");
		assert_non_null(erased);
		assert_memory_equal(text, "\030\033\\", 3); /* a string that the program began takes none of it */
		for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
			assert_true(strstr(text, plain[i]) && strstr(text, plain[i]) < erased);
	}
}

static bool same(const struct asked *a, const struct question *q)
{
	struct question of = { .call = &a->call, .verdict = &a->verdict };
	struct question_sum sum, other;

	question_sum(&of, &sum);
	question_sum(q, &other);
	return memcmp(sum.mark, other.mark, sizeof(sum.mark)) == 0;
}

/* The bytes that a question was made of are another call's as soon as it is asked: a rule that looks at it later sees its own. */
static void copy_is_whole(void **state)
{
	static const struct image above[] = { { .exe = SPAN_LITERAL("/bin/parent") } };
	char bytes[1024];
	struct call c = { .syscall = "execve", .n_objects = CALL_OBJECTS, .by = { .ancestors = above, .n_ancestors = 1 } };
	struct verdict v = { .kind = VERDICT_ASK, .where = "x:1" };
	struct fact facts[] = { { "cwd", { bytes, 9 } } };
	struct question q = { &c, &v, facts, 1 };
	struct span *spans[] = { &c.by.image.exe, &c.argv, &c.env };
	uint32_t used = 9;
	struct asked *a;
	size_t size;

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)i;
	for (size_t i = 0; i < 3; i++, used += 7)
		*spans[i] = (struct span){ bytes + used, 7 };
	for (uint32_t i = 0; i < CALL_OBJECTS; i++, used += 100)
		c.object[i] = (struct object){ .kind = OBJECT_FILE, .ops = OP_EXEC, .name = { bytes + used, 20 },
					       .named = { bytes + used + 20, 16 }, .sha256 = { bytes + used + 36, 64 } };
	assert_true(used <= sizeof(bytes));
	assert_int_equal(asked_new(&q, &a, &size), 0);
	for (size_t i = 0; i + sizeof(uintptr_t) <= sizeof(a->call); i += sizeof(uintptr_t)) {
		uintptr_t word;
		memcpy(&word, (const char *)&a->call + i, sizeof(word));
		assert_false(word >= (uintptr_t)bytes && word < (uintptr_t)bytes + sizeof(bytes));
	}
	assert_memory_equal(a->call.env.bytes, c.env.bytes, 7);
	assert_memory_equal(a->call.object[3].sha256.bytes, c.object[3].sha256.bytes, 64);
	assert_memory_equal(a->call.argv.bytes, c.argv.bytes, 7);
	assert_memory_equal(a->facts[0].value.bytes, bytes, 9);
	assert_true(same(a, &q));
	bytes[c.object[2].sha256.bytes - bytes]++;
	assert_false(same(a, &q));
	bytes[c.object[2].sha256.bytes - bytes]--;
	c.said ^= 1; /* its flags alone: the key is the same, for as many questions as somebody likes */
	assert_false(same(a, &q));
	c.said ^= 1;
	assert_true(same(a, &q));
	asked_free(a);
	c.argv = (struct span){ NULL, 0 };
	assert_int_equal(asked_new(&q, &a, &size), 0);
	assert_true(same(a, &q));
	c.argv = (struct span){ "", 0 }; /* one argument, which is empty */
	assert_false(same(a, &q));
	asked_free(a);
}

/* What is filed opens as it was asked, as often as somebody looks, wherever it lies by then; also after the next one was filed. */
static void filed_is_whole(void **state)
{
	static const struct image above[] = { { .exe = SPAN_LITERAL("/bin/parent"), .pid = 5 }, { .exe = SPAN_LITERAL("/bin/grandparent") } };
	static const struct object objects[] = {
		{ .kind = OBJECT_FILE, .ops = OP_READ, .name = SPAN_LITERAL("/a"), .named = SPAN_LITERAL("./a"), .dev = 3, .identified = true },
		{ .kind = OBJECT_FILE, .ops = OP_CREATE, .name = SPAN_LITERAL("/b"), .sha256 = SPAN_LITERAL("0123"), .argv = SPAN_LITERAL("") },
	};
	struct call c = { .syscall = "rename", .n_objects = 2, .by = { .pid = 7, .image.exe = SPAN_LITERAL("/bin/x"), .ancestors = above, .n_ancestors = 2 } };
	struct verdict v = { .kind = VERDICT_ASK, .where = "x:1", .unanswered = VERDICT_ALLOW };
	struct fact facts[] = { { "cwd", SPAN_LITERAL("/w") }, { "now", SPAN_LITERAL("file") } };
	char was[4096], is[4096];
	struct filed *filed[3];
	struct squeezer z;

	squeezer_init(&z);
	for (size_t n = 0; n < 3; n++) { /* without ancestors, without facts */
		struct question q = { &c, &v, facts, n == 2 ? 0 : 2 };
		memcpy(c.object, objects, sizeof(objects));
		c.by.ancestors = n == 1 ? NULL : above;
		struct question_sum sum;
		question_sum(&q, &sum);
		assert_int_equal(filed_new(&q, &sum, &z, &filed[n]), 0);
		assert_int_equal(filed[n]->unanswered, VERDICT_ALLOW);
		assert_true(filed[n]->sum.key == sum.key);
	}
	for (size_t n = 0; n < 6; n++) {
		struct question q = { &c, &v, facts, n % 3 == 2 ? 0 : 2 };
		struct asked *a, *b = filed_open(filed[n % 3]);
		struct text_buffer t, u;
		size_t size;
		c.by.ancestors = n % 3 == 1 ? NULL : above;
		assert_int_equal(asked_new(&q, &a, &size), 0);
		assert_non_null(b);
		assert_true(same(b, &q) && filed_same(filed[n % 3], &filed[0]->sum));
		assert_true(span_equal(a->call.object[0].named, b->call.object[0].named) && span_equal(a->call.object[1].argv, b->call.object[1].argv));
		assert_int_equal(b->call.by.n_ancestors, n % 3 == 1 ? 0 : 2);
		assert_true(n % 3 == 1 || span_equal(b->call.by.ancestors[1].exe, above[1].exe));
		text_start(&t, was, sizeof(was));
		asked_text(a, 80, &t);
		text_start(&u, is, sizeof(is));
		asked_text(b, 80, &u);
		assert_string_equal(was, is);
		asked_free(a);
		asked_free(b);
	}
	for (size_t n = 0; n < 3; n++)
		filed_put(filed[n]);
	squeezer_clear(&z);
}

static void escapes_come_back(void **state)
{
	static const struct span texts[] = { SPAN_LITERAL("plain"), SPAN_LITERAL("a\\b\nc\td\x01\xff"), SPAN_LITERAL("\\x41"), SPAN_LITERAL(""), SPAN_LITERAL(" a  b ") };
	char shown[64], back[64];
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		show_escape(texts[i], shown, sizeof(shown));
		assert_int_equal(show_unescape(shown, back, sizeof(back)), texts[i].len);
		assert_memory_equal(back, texts[i].bytes, texts[i].len);
	}
	show_escape(SPAN_LITERAL(" a  b "), shown, sizeof(shown)); /* that at the end would not be seen */
	assert_string_equal(shown, " a  b\\x20");
	static const char *const bad[] = { "\\", "\\q", "\\x", "\\x4", "\\xAB", "a\nb", "\x80" };
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(show_unescape(bad[i], back, sizeof(back)), -1);
	assert_int_equal(show_unescape("12345", back, 4), -1);
}

/* As a backspace does it: what stands for a letter goes as one. */
static void a_letter_is_erased(void **state)
{
	static const char *const cases[][2] = { { "", "" }, { "a", "" }, { "gr\\xc3\\xbc", "gr" }, { "\\xe2\\x82\\xac", "" }, { "a\\x41", "a\\x4" }, { "\\xc3\\xa4\\xc3\\xbc", "\\xc3\\xa4" },
						{ "\\x80\\x80\\x80\\x80\\x80", "\\x80" }, { "\\\\xc3", "\\\\xc" }, { "\\\\\\xc3", "\\\\" }, { "xff", "xf" }, { "\\xff", "" } };
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[32];
		strcpy(text, cases[i][0]);
		show_erase(text);
		assert_string_equal(text, cases[i][1]);
	}
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(deny_answers_at_once),  CASE(words_are_checked),       CASE(helper_answers),
		CASE(broken_helpers_never_allow), CASE(silence_times_out),  CASE(slow_helpers_run_side_by_side),
		CASE(identical_ones_are_joined), CASE(interrupted_ones_are_not_asked_anew), CASE(left_ones_go), CASE(answers_wait_for_who_comes_back), CASE(chains_ask_the_next),
		CASE(too_many_are_refused), CASE(a_letter_is_erased),
		CASE(each_is_answered_once), CASE(grants_answer_those_who_wait), CASE(the_same_from_several_threads),
		CASE(grants_answer_those_who_come), CASE(always_writes_a_rule),
		CASE(always_begins_a_line), CASE(half_a_rule_is_taken_back), CASE(a_link_is_followed), CASE(a_long_name_leaves_the_note_whole), CASE(what_is_not_noted_is_not_kept),
		CASE(after_counts_favours), CASE(after_counts_where_it_says), CASE(after_is_bounded), CASE(remember_is_the_default_scope),
		CASE(review_is_no_question), CASE(reviews_are_bounded), CASE(text_is_harmless), CASE(small_terminals), CASE(prompts_leave_room), CASE(folds_tell_names_apart), CASE(questions_begin_on_a_plain_screen),
		CASE(copy_is_whole), CASE(filed_is_whole), CASE(escapes_come_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
