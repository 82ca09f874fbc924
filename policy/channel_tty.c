/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tty: one question at a time on the person's own terminal, while the command
 * has a terminal of its own.
 *
 * MUST: no key counts that was typed or held down before the question could be read;
 * one byte is an answer, a burst (a paste, an escape sequence) never is; Enter denies; nothing is allowed that had no room to be
 * shown; the screen is given back as it was.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "policy/channel.h"
#include "policy/policy_state.h"
#include "policy/screen.h"
#include "policy/thread.h"
#include "policy/tty_state.h"
#include "policy/tty_text.h"
#include "policy/wait_for.h"
#include "rules/cleanup.h"
#include "rules/clock.h"

#define QUIET_MS 700 /* longer than a keyboard waits before it repeats a held key */
#define RETRY_MS 200

struct shown {
	struct shown *next;
	struct filed *asked;
};

static void wake(struct tty_channel *c)
{
	uint64_t one = 1;
	if (write(c->wake, &one, sizeof(one)) < 0)
		return; /* the counter is full: it is awake */
}

/* The oldest question, held, or NULL. */
static struct filed *first(struct tty_channel *c)
{
	pthread_mutex_lock(&c->lock);
	struct filed *f = c->queue && !c->stopping ? filed_hold(c->queue->asked) : NULL;
	pthread_mutex_unlock(&c->lock);
	return f;
}

static unsigned waiting(struct tty_channel *c)
{
	pthread_mutex_lock(&c->lock);
	unsigned n = c->waiting;
	pthread_mutex_unlock(&c->lock);
	return n;
}

/* Whether A is still the one to show. */
static bool current(struct tty_channel *c, const struct asked *a)
{
	pthread_mutex_lock(&c->lock);
	bool same = c->queue && c->queue->asked == a->of && !c->stopping;
	pthread_mutex_unlock(&c->lock);
	return same;
}

static void drop(struct tty_channel *c, uint64_t id)
{
	pthread_mutex_lock(&c->lock);
	struct shown **at = &c->queue;
	while (*at && (*at)->asked->id != id)
		at = &(*at)->next;
	struct shown *s = *at;
	if (s) {
		*at = s->next;
		c->waiting--;
	}
	pthread_mutex_unlock(&c->lock);
	if (s)
		filed_put(s->asked);
	free(s);
}

void tty_write(const struct tty_channel *c, const struct text_buffer *t)
{
	size_t done = 0;
	while (done < t->len) {
		ssize_t n = write(c->screen->fd, t->buf + done, t->len - done);
		struct pollfd p = { .fd = c->screen->fd, .events = POLLOUT };
		if (n < 0 && errno == EAGAIN && poll(&p, 1, 1000) > 0)
			continue;
		if (n <= 0)
			return;
		done += (size_t)n;
	}
}

static bool screen_have(struct tty_channel *c)
{
	const struct screen *s = c->screen;
	char buf[128];
	struct text_buffer t;
	if (c->have)
		return true;
	bool dyed;
	if (s->take(s->context, &c->full, &dyed) < 0)
		return false;
	c->have = true;
	c->changes = s->changes(s->context);
	text_start(&t, buf, sizeof(buf));
	tty_enter(&c->frame, c->full, dyed, &t);
	tty_write(c, &t);
	return true;
}

static void screen_leave(struct tty_channel *c)
{
	char buf[64];
	struct text_buffer t;
	if (!c->have)
		return;
	tty_end_line(c);
	text_start(&t, buf, sizeof(buf));
	tty_leave(&c->frame, c->full, &t);
	tty_write(c, &t);
	c->screen->give(c->screen->context);
	c->have = false;
}

static void draw(struct tty_channel *c, const struct asked *a, bool armed)
{
	static const size_t cap = 64 * 1024;
	struct winsize size = { 0 };
	struct text_buffer t;
	CLEANUP_FREE char *buf = malloc(cap);
	if (!buf)
		return;
	tty_end_line(c);
	ioctl(c->screen->fd, TIOCGWINSZ, &size);
	c->frame.rows = size.ws_row ? size.ws_row : 24;
	c->frame.cols = size.ws_col ? size.ws_col : 80;
	text_start(&t, buf, cap);
	c->seen = tty_draw(&c->frame, a, waiting(c), armed, &t);
	tty_write(c, &t);
}

short tty_wait(struct tty_channel *c, int ms)
{
	struct pollfd p[3] = { { .fd = c->screen->fd, .events = POLLIN }, { .fd = c->wake, .events = POLLIN }, { .fd = c->screen->news, .events = POLLIN } };
	uint64_t count;
	if (wait_for(p, 3, ms) <= 0)
		return 0;
	for (int i = 1; i < 3; i++) {
		if (p[i].revents && read(p[i].fd, &count, sizeof(count)) < 0)
			return 0;
	}
	return p[0].revents;
}

/* Waits up to MS for keys or news. Returns a single key, 0 for none, -1 for what is no key (several bytes at once). */
static int get_key(struct tty_channel *c, int ms)
{
	char keys[256];
	if (!tty_wait(c, ms))
		return 0;
	ssize_t n = read(c->screen->fd, keys, sizeof(keys));
	if (n < 0) {
		poll(NULL, 0, RETRY_MS); /* not ours to read just now */
		return 0;
	}
	return n == 1 && keys[0] != '\033' ? (unsigned char)keys[0] : -1;
}

/* Interrupt keys are the command's, as if no question were up. */
static bool pass_key(struct tty_channel *c, int key)
{
	if (key != 3 && key != 26 && key != 28)
		return false;
	c->screen->pass(c->screen->context, (char)key);
	return true;
}

bool tty_disturbed(struct tty_channel *c, const struct asked *a)
{
	return !current(c, a) || c->screen->changes(c->screen->context) != c->changes;
}

static uint64_t now_ms(void)
{
	return clock_ms(CLOCK_MONOTONIC);
}

/*
 * Discards what is typed until nothing has come for QUIET_MS. False when the question is no longer to be shown. That no key has come is no sign
 * of it: other questions that come and go end the wait for one as well.
 */
static bool arm(struct tty_channel *c, const struct asked *a)
{
	tcflush(c->screen->fd, TCIFLUSH);
	for (uint64_t since = now_ms();;) {
		uint64_t quiet = now_ms() - since;
		int key = get_key(c, quiet < QUIET_MS ? (int)(QUIET_MS - quiet) : 0);
		if (tty_disturbed(c, a))
			return false;
		if (key == 0 && quiet >= QUIET_MS)
			return true;
		if (key != 0)
			since = now_ms();
		pass_key(c, key);
	}
}

/* False when nobody answered and the question is to be looked at again, if it is still there. */
static bool read_answer(struct tty_channel *c, const struct asked *a, struct settlement *s, struct pick *k)
{
	draw(c, a, false);
	if (!arm(c, a))
		return false;
	draw(c, a, true);
	for (;;) {
		int key = get_key(c, 1000);
		if (tty_disturbed(c, a))
			return false;
		if (key < 0)
			return false; /* a burst: discard the rest, show it anew */
		if (key > 0 && !pass_key(c, key) && (c->seen || strchr("dDxk\r\n", key))) {
			const char *pattern = s->pattern;
			*s = (struct settlement){ .pattern = pattern };
			if (tty_key(key, &s->answer) || tty_read_more(c, a, key, s, k))
				return true;
			if (strchr("pamDkxr", key))
				draw(c, a, true);
			if (tty_disturbed(c, a))
				return false;
			if (s->pattern)
				tty_show_line(c, "  for: ", s->pattern);
		}
		if (!c->frame.dumb && !s->pattern)
			draw(c, a, true); /* the seconds that are left */
	}
}

static void answer(struct tty_channel *c, const struct asked *a, struct settlement *s)
{
	CLEANUP_FREE char *text = malloc(24 * 1024);
	struct text_buffer t;
	s->scope_given = true;
	snprintf(s->answer.channel, sizeof(s->answer.channel), "tty");
	snprintf(s->answer.who, sizeof(s->answer.who), "uid %u", getuid());
	if (text) {
		text_start(&t, text, 24 * 1024);
		asked_text(a, c->frame.cols, &t);
		asked_shown(text, t.len, s->answer.shown);
	}
	int rc = question_answer(c->qs, a->of->id, s);
	if (rc == -EINVAL || rc == -ENOTDIR)
		tty_tell(c, a, s->answer.kind == VERDICT_REWRITE ? "  nothing that this can be led to: Enter goes back " : "  this does not fit the question: Enter goes back ");
	else if (rc != -ENOMEM) /* else it is asked again, too */
		drop(c, a->of->id);
}

static void *tty_main(void *arg)
{
	struct tty_channel *c = arg;
	for (;;) {
		struct settlement s = { 0 };
		struct pick k = { 0 };
		struct filed *f = first(c);
		struct asked *a = f ? filed_open(f) : NULL; /* without memory: tried again */
		if (!a || !screen_have(c)) {
			struct pollfd p = { .fd = c->wake, .events = POLLIN };
			uint64_t count;
			screen_leave(c);
			if (c->stopping)
				return NULL;
			if (poll(&p, 1, f ? RETRY_MS : -1) > 0 && read(c->wake, &count, sizeof(count)) < 0)
				poll(NULL, 0, 1);
		} else if (read_answer(c, a, &s, &k)) {
			answer(c, a, &s);
		} else if (c->screen->changes(c->screen->context) != c->changes) {
			screen_leave(c);
		}
		asked_free(a);
		filed_put(f);
	}
}

static void tty_put(void *state, struct filed *q)
{
	struct tty_channel *c = state;
	struct shown *s = malloc(sizeof(*s));
	if (!s) {
		question_pass(c->qs, q->id, "tty", "out of memory");
		return;
	}
	*s = (struct shown){ .asked = filed_hold(q) };
	pthread_mutex_lock(&c->lock);
	struct shown **end = &c->queue;
	while (*end)
		end = &(*end)->next;
	*end = s;
	c->waiting++;
	pthread_mutex_unlock(&c->lock);
	wake(c);
}

static void tty_gone(void *state, uint64_t id)
{
	drop(state, id);
	wake(state);
}

static void tty_close(void *state)
{
	struct tty_channel *c = state;
	pthread_mutex_lock(&c->lock);
	c->stopping = true;
	pthread_mutex_unlock(&c->lock);
	wake(c);
	pthread_join(c->thread, NULL);
	while (c->queue)
		drop(c, c->queue->asked->id);
	cleanup_fd(&c->wake);
	pthread_mutex_destroy(&c->lock);
	free(c);
}

/* Said once on the real terminal, before the command starts: a question without it is the command's own. */
static void tell_mark(const struct tty_channel *c)
{
	char line[128];
	struct text_buffer t;
	text_start(&t, line, sizeof(line));
	text_add(&t, "usher: questions on this terminal carry the mark [%s]\r\n", c->mark);
	tty_write(c, &t);
}

static int tty_open(struct questions *qs, const struct questions_options *options, const char *argument, void **state,
		    const char **why)
{
	if (!options->screen) {
		*why = "there is no terminal to ask on";
		return -ENOTTY;
	}
	struct tty_channel *c = calloc(1, sizeof(*c));
	*why = "out of memory";
	if (!c)
		return -ENOMEM;
	const char *term = getenv("TERM");
	c->qs = qs;
	c->screen = options->screen;
	c->frame = (struct tty_frame){ .dumb = !term || !*term || strcmp(term, "dumb") == 0, .mark = c->mark };
	tty_mark(c->mark);
	pthread_mutex_init(&c->lock, NULL);
	c->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	tell_mark(c);
	int rc = c->wake < 0 ? -errno : thread_start(&c->thread, tty_main, c);
	if (rc < 0) {
		cleanup_fd(&c->wake);
		free(c);
		return rc;
	}
	*state = c;
	return 0;
}

const struct channel_row channel_tty = {
	.word = "tty",
	.timeout_s = 300,
	.open = tty_open,
	.put = tty_put,
	.gone = tty_gone,
	.close = tty_close,
};
