/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MUST: every transfer is non-blocking and under the lock; while the screen is
 * taken nothing is read from or written to the terminal here, and what the command writes is kept.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "policy/wait_for.h"
#include "rules/cleanup.h"
#include "rules/clock.h"
#include "supervisor/relay_state.h"
#include "supervisor/vfork_stop.h"

#define BACKGROUND_MS 300 /* a shell brings a running job to the foreground without telling it */
#define SEQUENCE_MS 100   /* how long an unfinished escape sequence may hold up a question */
#define DRAIN_MS 1000
#define LINE_MAX_TYPED 4096 /* the kernel's N_TTY_BUF_SIZE */
#define BURSTS 8          /* pieces of output before anything else is looked at */
#define REDRAW_AFTER_MS 200 /* a signal would interrupt the call that asks the next question: let it come first */
#define REDRAW_MS 250 /* some wait for a tenth of a second for the last of several changes, and draw nothing where the size is what it was */
#define STOPPED_MS 100      /* from the key to the first look for who is stopped by it, and from the last to the end of looking: */
#define STOPPED_MOST_MS 800

void relay_kick(struct relay *r)
{
	uint64_t one = 1;
	if (write(r->wake, &one, sizeof(one)) < 0)
		return; /* the counter is full: it is awake */
}

static size_t flow_used(const struct flow *f)
{
	return f->to - f->from;
}

/* Gives back what a question made it grow. */
static void flow_shrink(struct flow *f)
{
	char *less = f->cap > RELAY_CHUNK ? realloc(f->bytes, RELAY_CHUNK) : NULL;
	if (!less)
		return;
	f->bytes = less;
	f->cap = RELAY_CHUNK;
}

/* Room behind the bytes, made by moving or, up to MOST, by growing. */
static size_t flow_room(struct flow *f, size_t most)
{
	if (f->from == f->to) {
		f->from = f->to = 0;
		flow_shrink(f);
	}
	if (f->to == f->cap && f->from > 0) {
		memmove(f->bytes, f->bytes + f->from, flow_used(f));
		f->to -= f->from;
		f->from = 0;
	}
	if (f->to == f->cap && f->cap < most) {
		char *more = realloc(f->bytes, f->cap * 2);
		if (more) {
			f->bytes = more;
			f->cap *= 2;
		}
	}
	return f->cap - f->to;
}

/* Returns false at the end of the file. */
static bool flow_read(struct flow *f, int fd)
{
	ssize_t n = read(fd, f->bytes + f->to, f->cap - f->to);
	if (n > 0)
		f->to += (size_t)n;
	return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

/* Whether the line that N bytes end was ended by what is typed for an end of file, which the kernel keeps to itself. */
static bool ended_by_key(const struct relay *r, ssize_t n)
{
	char last = n > 0 ? r->in.bytes[r->in.to - 1] : '\0';
	return n == 0 || (last != '\n' && last != (char)r->modes.c_cc[VEOL] && last != (char)r->modes.c_cc[VEOL2]);
}

void relay_take_lines(struct relay *r)
{
	struct termios t;
	struct pollfd p = { .fd = r->tty, .events = POLLIN };
	if (!(r->modes.c_lflag & ICANON) || tcgetattr(r->master, &t) < 0 || !(t.c_lflag & ICANON))
		return;
	while (flow_room(&r->in, RELAY_CHUNK) > LINE_MAX_TYPED && poll(&p, 1, 0) > 0 && p.revents == POLLIN) {
		ssize_t n = read(r->tty, r->in.bytes + r->in.to, LINE_MAX_TYPED);
		if (n < 0)
			return;
		r->in.to += (size_t)n;
		if (ended_by_key(r, n) && t.c_cc[VEOF] != _POSIX_VDISABLE)
			r->in.bytes[r->in.to++] = (char)t.c_cc[VEOF];
	}
}

static bool flow_write(struct flow *f, int fd, struct scan *scan)
{
	if (f->from == f->to)
		return true;
	ssize_t n = write(fd, f->bytes + f->from, flow_used(f));
	if (n > 0) {
		if (scan)
			scan_output(scan, f->bytes + f->from, (size_t)n);
		f->from += (size_t)n;
	}
	return n >= 0 || errno == EAGAIN || errno == EINTR;
}

static bool may_use_terminal(const struct relay *r)
{
	return !r->taken && !r->suspended;
}

static int64_t now_ms(void)
{
	return (int64_t)clock_ms(CLOCK_MONOTONIC);
}

void relay_redraw(struct relay *r)
{
	r->redraw_at = now_ms() + REDRAW_AFTER_MS;
}

/* Full-screen programs draw everything when the size changes. Returns the ms until the next step, -1: none. */
static int redraw_step(struct relay *r)
{
	int64_t now = now_ms();
	if (!r->redraw_at || r->taken || r->suspended)
		return -1;
	if (now < r->redraw_at)
		return (int)(r->redraw_at - now);
	r->shrunk = !r->shrunk;
	relay_copy_size(r, r->shrunk);
	r->redraw_at = r->shrunk ? now + REDRAW_MS : 0;
	return r->shrunk ? REDRAW_MS : -1;
}

/* The bytes from FROM on, on their way to the command: is a key among them that stops? */
static void see_stop(struct relay *r, size_t from)
{
	struct termios t;
	if (r->in.to == from || tcgetattr(r->master, &t) < 0 || !(t.c_lflag & ISIG) || t.c_cc[VSUSP] == _POSIX_VDISABLE ||
	    !memchr(r->in.bytes + from, t.c_cc[VSUSP], r->in.to - from))
		return;
	r->stopped_after = STOPPED_MS;
	r->stopped_at = now_ms() + STOPPED_MS;
}

/* A key on both terminals: what the command makes of other keys is for itself. */
static bool is_key(const struct relay *r, const struct termios *its, int which, char key)
{
	return key == (char)r->modes.c_cc[which] && key == (char)its->c_cc[which] && its->c_cc[which] != _POSIX_VDISABLE;
}

void relay_interrupt(struct relay *r, const char *keys, size_t n)
{
	struct termios its;

	if (tcgetattr(r->master, &its) < 0 || !(its.c_lflag & r->modes.c_lflag & ISIG) || tcgetpgrp(r->master) != r->command)
		return;
	for (size_t i = 0; i < n; i++) {
		if ((its.c_lflag & ICANON) && (its.c_lflag & IEXTEN) && keys[i] == (char)its.c_cc[VLNEXT])
			i++;
		else if (is_key(r, &its, VINTR, keys[i]))
			r->interrupted = SIGINT;
		else if (is_key(r, &its, VQUIT, keys[i]))
			r->interrupted = SIGQUIT;
	}
}

/* Returns the ms until the next step, -1: none. */
static int stopped_step(struct relay *r)
{
	int64_t now = now_ms();
	if (!r->stopped_at)
		return -1;
	if (now < r->stopped_at)
		return (int)(r->stopped_at - now);
	pid_t group = tcgetpgrp(r->master);
	r->stopped_after = group > 0 && vfork_stop_end(group) ? STOPPED_MS : 2 * r->stopped_after;
	r->stopped_at = r->stopped_after <= STOPPED_MOST_MS ? now + r->stopped_after : 0;
	return r->stopped_at ? r->stopped_after : -1;
}

/* The terminal is nobody's for a moment: whoever waits for it gets it. */
static void hand_over(struct relay *r, int64_t *since)
{
	int64_t now = now_ms();
	if (!r->wanted || r->taken || r->suspended) {
		*since = 0;
		return;
	}
	if (!*since)
		*since = now;
	if (!scan_between(&r->scan) && now - *since < SEQUENCE_MS)
		return;
	r->taken = true;
	pthread_cond_broadcast(&r->quiet);
}

/* One pass over both directions; P is what poll() found. */
static void transfer(struct relay *r, const struct pollfd p[3])
{
	for (int burst = 0; p[1].revents && burst < BURSTS && !r->hung_up; burst++) {
		size_t had = flow_used(&r->out);
		if (flow_room(&r->out, r->taken ? RELAY_HELD : RELAY_CHUNK) == 0)
			break;
		if (!flow_read(&r->out, r->master))
			r->hung_up = true;
		if (flow_used(&r->out) == had || !may_use_terminal(r) || !flow_write(&r->out, r->tty, &r->scan) ||
		    flow_used(&r->out) > 0)
			break; /* nothing more to read, or the terminal is busy: seen again below or in the next round */
	}
	if (may_use_terminal(r) && !flow_write(&r->out, r->tty, &r->scan))
		r->hung_up = true;
	if (p[0].revents && r->raw && r->keyboard && may_use_terminal(r) && flow_room(&r->in, RELAY_CHUNK) > 0) {
		size_t had = r->in.to;
		if (!flow_read(&r->in, r->tty))
			r->hung_up = true;
		see_stop(r, had);
		relay_interrupt(r, r->in.bytes + had, r->in.to - had);
	}
	flow_write(&r->in, r->master, NULL);
}

/* Should usher be killed. */
static void note_leave(struct relay *r)
{
	char text[RESCUE_LEAVE];

	rescue_leave(r->rescue, text, scan_leave(&r->scan, text, sizeof(text)));
}

static int prepare(struct relay *r, struct pollfd p[3])
{
	bool usable = may_use_terminal(r);
	short tty = 0;
	if (usable && r->keyboard && r->raw && flow_room(&r->in, RELAY_CHUNK) > 0)
		tty |= POLLIN;
	if (usable && flow_used(&r->out) > 0)
		tty |= POLLOUT;
	short master = flow_room(&r->out, r->taken ? RELAY_HELD : RELAY_CHUNK) > 0 ? POLLIN : 0;
	if (flow_used(&r->in) > 0)
		master |= POLLOUT;
	p[0] = (struct pollfd){ .fd = tty ? r->tty : -1, .events = tty };
	p[1] = (struct pollfd){ .fd = master ? r->master : -1, .events = master };
	p[2] = (struct pollfd){ .fd = r->wake, .events = POLLIN };
	if (r->wanted && !r->taken && !r->suspended)
		return 10;
	int redraw = redraw_step(r), stopped = stopped_step(r);
	if (redraw >= 0 || stopped >= 0)
		return redraw < 0 || (stopped >= 0 && stopped < redraw) ? stopped : redraw;
	return r->keyboard && !r->raw && !r->taken ? BACKGROUND_MS : -1;
}

/* The real terminal is gone: so is the command's, which its processes are told by the kernel. Nothing is opened: there may be no descriptor to be had. */
static void hang_up(struct relay *r)
{
	dup3(r->wake, r->master, O_CLOEXEC);
}

void relay_flush(struct relay *r)
{
	(void)flow_read(&r->out, r->master);
	for (int64_t until = now_ms() + DRAIN_MS; flow_used(&r->out) > 0 && now_ms() < until;) {
		struct pollfd p = { .fd = r->tty, .events = POLLOUT };
		(void)wait_for(&p, 1, 10);
		if (!flow_write(&r->out, r->tty, &r->scan))
			return;
	}
}

/* The command has ended: what it wrote last, until the last descriptor of its terminal is closed. Whoever reads may be slow, but has to take something. */
static void drain(struct relay *r)
{
	for (int64_t until = now_ms() + DRAIN_MS; now_ms() < until;) {
		/* A terminal that nobody has open any more says so at once, each time. */
		bool full = flow_used(&r->out) > 0;
		struct pollfd p = { .fd = full ? r->tty : r->master, .events = full ? POLLOUT : POLLIN };
		poll(&p, 1, 10);
		bool more = flow_room(&r->out, RELAY_HELD) == 0 || flow_read(&r->out, r->master);
		size_t had = flow_used(&r->out);
		if (!flow_write(&r->out, r->tty, &r->scan) || (!more && flow_used(&r->out) == 0))
			return;
		if (flow_used(&r->out) < had)
			until = now_ms() + DRAIN_MS;
	}
}

void *relay_main(void *arg)
{
	struct relay *r = arg;
	int64_t since = 0;
	pthread_mutex_lock(&r->lock);
	while (!r->closing && !r->hung_up) {
		struct pollfd p[3];
		if (!r->suspended && !r->taken)
			relay_modes(r);
		hand_over(r, &since);
		int timeout = prepare(r, p);
		pthread_mutex_unlock(&r->lock);
		int n = wait_for(p, 3, timeout);
		pthread_mutex_lock(&r->lock);
		uint64_t count;
		if (n > 0 && p[2].revents && read(r->wake, &count, sizeof(count)) < 0)
			continue;
		transfer(r, p);
		note_leave(r);
	}
	if (r->closing && !r->taken)
		drain(r); /* the command's terminal may have no more for us, and the real one not all of it yet */
	else if (!r->closing)
		hang_up(r);
	r->hung_up = true; /* nobody gets the screen any more */
	pthread_cond_broadcast(&r->quiet);
	pthread_mutex_unlock(&r->lock);
	return NULL;
}
