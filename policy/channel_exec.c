/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec:CMD: each question goes to a helper of its own: one JSON object on its
 * standard input, one JSON line back on its standard output.
 *
 * MUST: a helper can answer only the question it was given; what is no answer is a
 * failure of the channel and never an allow; a slow helper holds up nobody but its own question;
 * every helper is reaped, and killed with its process group when its question is over.
 */
#include <errno.h>
#include <json-c/json.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "policy/helper.h"
#include "policy/question_json.h"
#include "policy/thread.h"
#include "rules/cleanup.h"

#define HELPERS_MAX 64
#define ROUND_MS 20
#define LOOK_MS 1000 /* should nobody wake it */
#define TRIES 8
#define GRACE (2000 / ROUND_MS) /* rounds that a helper has to end after its answer */

struct task {
	struct task *next;
	struct filed *asked;
	struct helper helper;
	bool running;
	bool gone;   /* nobody waits for its answer any more */
};

struct exec_channel {
	struct questions *qs;
	char *command;
	pthread_t thread;
	pthread_mutex_t lock;
	struct task *fresh;  /* newest first; under the lock */
	uint64_t *gone;      /* ids; under the lock */
	size_t n_gone;
	bool stopping;
	int wake;            /* eventfd */
	struct task *tasks;  /* oldest first; the thread's own */
	unsigned running;
};

static void wake(struct exec_channel *c)
{
	uint64_t one = 1;
	for (int i = 0; i < TRIES && write(c->wake, &one, sizeof(one)) < 0; i++) {
		if (errno == EAGAIN)
			return; /* the counter is full: it wakes already */
	}
}

static void task_free(struct task *t)
{
	filed_put(t->asked);
	free(t);
}

static void task_start(struct exec_channel *c, struct task *t)
{
	size_t len = 0;
	struct json_object *o = question_json(t->asked);
	char *line = json_line(o, &len);
	json_object_put(o);
	int rc = line ? helper_start(&t->helper, c->command, line, len) : -ENOMEM;
	if (rc == 0) {
		t->running = true;
		c->running++;
		return;
	}
	char why[128];
	snprintf(why, sizeof(why), "the helper did not start: %s", strerror(-rc));
	question_pass(c->qs, t->asked->id, "exec", why);
	t->gone = true;
}

/* The first line of a helper, or its end. */
static void task_answer(struct exec_channel *c, struct task *t)
{
	static const char *const no_line = "the helper ended without an answer";
	struct answer_read *a = malloc(sizeof(*a));
	const char *why = no_line;
	size_t len = 0;
	const char *line = helper_line(&t->helper, &len);
	struct json_object *o = a && line ? json_read(line, len) : NULL, *id;
	bool good = false;
	if (line && !o)
		why = "the helper's line is not a JSON object";
	else if (o && json_object_object_get_ex(o, "id", &id) && json_object_get_uint64(id) != t->asked->id)
		why = "the helper answered another question";
	else if (o)
		good = answer_json(o, a, &why) == 0;
	if (good) {
		snprintf(a->settlement.answer.channel, sizeof(a->settlement.answer.channel), "exec");
		snprintf(a->settlement.answer.who, sizeof(a->settlement.answer.who), "%.60s", c->command);
		show_clean(a->settlement.answer.who);
		asked_shown(t->helper.question, t->helper.question_len, a->settlement.answer.shown);
		int rc = question_answer(c->qs, t->asked->id, &a->settlement);
		good = rc != -EINVAL && rc != -ENOTDIR && rc != -ENOMEM;
		why = rc == -ENOMEM ? "out of memory" : "the helper's answer does not fit the question";
	}
	if (!good)
		question_pass(c->qs, t->asked->id, "exec", why);
	t->helper.grace = good ? GRACE : 0;
	json_object_put(o);
	free(a);
	t->gone = true;
}

/* What was put and what has gone since the last round. */
static bool take_news(struct exec_channel *c)
{
	uint64_t count;
	if (read(c->wake, &count, sizeof(count)) < 0)
		count = 0; /* nothing new, or a reason to look once more: the lists tell */
	pthread_mutex_lock(&c->lock);
	struct task *fresh = steal_pointer(&c->fresh);
	uint64_t *gone = steal_pointer(&c->gone);
	size_t n_gone = c->n_gone;
	c->n_gone = 0;
	bool stopping = c->stopping;
	pthread_mutex_unlock(&c->lock);
	struct task *ordered = NULL;
	while (fresh) {
		struct task *t = fresh;
		fresh = t->next;
		t->next = ordered;
		ordered = t;
	}
	struct task **end = &c->tasks;
	while (*end)
		end = &(*end)->next;
	*end = ordered;
	for (struct task *t = c->tasks; t; t = t->next) {
		for (size_t i = 0; i < n_gone; i++)
			t->gone = t->gone || gone[i] == t->asked->id;
	}
	free(gone);
	return !stopping;
}

/* Starts what may start, removes what is over. */
static void tidy(struct exec_channel *c)
{
	struct task **at = &c->tasks;
	while (*at) {
		struct task *t = *at;
		if (!t->running && !t->gone && c->running < HELPERS_MAX)
			task_start(c, t);
		if (t->gone && t->running && helper_stop(&t->helper)) {
			t->running = false;
			c->running--;
		}
		if (!t->gone || t->running) {
			at = &t->next;
			continue;
		}
		*at = t->next;
		task_free(t);
	}
}

/* One round: waits for news or for helpers, and moves each that is ready. */
static void round_of(struct exec_channel *c)
{
	struct pollfd p[1 + 2 * HELPERS_MAX] = { { .fd = c->wake, .events = POLLIN } };
	nfds_t n = 1;
	bool dying = false;
	for (struct task *t = c->tasks; t; t = t->next) {
		if (t->running && !t->gone) {
			p[n++] = (struct pollfd){ .fd = t->helper.in, .events = POLLOUT };
			p[n++] = (struct pollfd){ .fd = t->helper.out, .events = POLLIN };
		}
		dying = dying || (t->running && t->gone);
	}
	bool failed = poll(p, n, dying ? ROUND_MS : LOOK_MS) < 0;
	if (failed && errno == EINTR)
		return;
	if (failed) /* for want of memory, say: who may be ready is asked, none of the descriptors blocks */
		(void)nanosleep(&(struct timespec){ .tv_nsec = ROUND_MS * 1000000 }, NULL);
	n = 1;
	for (struct task *t = c->tasks; t; t = t->next) {
		if (!t->running || t->gone)
			continue;
		if (p[n++].revents || failed)
			helper_write(&t->helper);
		if ((p[n++].revents || failed) && helper_read(&t->helper))
			task_answer(c, t);
	}
}

static void *exec_main(void *arg)
{
	struct exec_channel *c = arg;
	while (take_news(c)) {
		tidy(c);
		round_of(c);
	}
	while (c->tasks) {
		for (struct task *t = c->tasks; t; t = t->next) {
			t->gone = true;
			t->helper.grace = 0;
		}
		tidy(c);
		if (c->tasks)
			poll(NULL, 0, 5);
	}
	return NULL;
}

static void exec_put(void *state, struct filed *q)
{
	struct exec_channel *c = state;
	struct task *t = calloc(1, sizeof(*t));
	if (!t) {
		question_pass(c->qs, q->id, "exec", "out of memory");
		return;
	}
	t->asked = filed_hold(q);
	pthread_mutex_lock(&c->lock);
	t->next = c->fresh;
	c->fresh = t;
	pthread_mutex_unlock(&c->lock);
	wake(c);
}

static void exec_gone(void *state, uint64_t id)
{
	struct exec_channel *c = state;
	pthread_mutex_lock(&c->lock);
	uint64_t *more = reallocarray(c->gone, c->n_gone + 1, sizeof(*more));
	if (more) {
		c->gone = more;
		c->gone[c->n_gone++] = id;
	}
	pthread_mutex_unlock(&c->lock);
	wake(c);
}

static void exec_free(struct exec_channel *c)
{
	while (c->fresh) {
		struct task *t = c->fresh;
		c->fresh = t->next;
		task_free(t);
	}
	cleanup_fd(&c->wake);
	pthread_mutex_destroy(&c->lock);
	free(c->gone);
	free(c->command);
	free(c);
}

static void exec_close(void *state)
{
	struct exec_channel *c = state;
	pthread_mutex_lock(&c->lock);
	c->stopping = true;
	pthread_mutex_unlock(&c->lock);
	wake(c);
	pthread_join(c->thread, NULL);
	exec_free(c);
}

static int exec_open(struct questions *qs, const struct questions_options *options, const char *argument, void **state,
		     const char **why)
{
	struct exec_channel *c = calloc(1, sizeof(*c));
	*why = "out of memory";
	if (!c)
		return -ENOMEM;
	c->qs = qs;
	pthread_mutex_init(&c->lock, NULL);
	c->command = strdup(argument);
	c->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	int rc = !c->command ? -ENOMEM : c->wake < 0 ? -errno : thread_start(&c->thread, exec_main, c);
	if (rc < 0) {
		exec_free(c);
		return rc;
	}
	*state = c;
	return 0;
}

const struct channel_row channel_exec = {
	.word = "exec",
	.argument = "CMD",
	.timeout_s = 60,
	.open = exec_open,
	.put = exec_put,
	.gone = exec_gone,
	.close = exec_close,
};
