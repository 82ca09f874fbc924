/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MUST: the terminal's modes are as they were whenever usher is stopped or gone;
 * nothing is changed on a terminal that usher is in the background of.
 */
#include "supervisor/relay.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "rules/cleanup.h"
#include "supervisor/outlets.h"
#include "supervisor/relay_state.h"

#define PTS_MAJOR 136 /* to 143: pseudo-terminals, 256 each */

/* The kernel looks whose turn it is before it looks how much is to be read: EIO in the background (job_control(), drivers/tty/n_tty.c). */
static bool may_read(int tty)
{
	sigset_t wait, before;
	char none;
	sigemptyset(&wait);
	sigaddset(&wait, SIGTTIN); /* blocked, it stops nobody */
	pthread_sigmask(SIG_BLOCK, &wait, &before);
	bool may = read(tty, &none, 0) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return may;
}

/* In a pid namespace of its own usher's group has no number, nor has a shell's: both are 0. */
static bool in_front(const struct relay *r)
{
	pid_t front = tcgetpgrp(r->tty);
	return front == getpgrp() && (front != 0 || may_read(r->tty));
}

#define LEAVE_MS 500
#define LEAVE_LOOK_MS 10
#define GIVE_SECONDS 2 /* for who has the screen to give it back; as long as a terminal may take to take what is written to it */

static void set_raw(struct relay *r)
{
	struct termios raw = r->modes;
	cfmakeraw(&raw);
	if (r->rescue) {
		r->rescue->modes = r->modes;
		r->rescue->raw = true;
	}
	r->raw = tcsetattr(r->tty, TCSANOW, &raw) == 0;
}

static void not_raw(struct relay *r)
{
	r->raw = false;
	if (r->rescue)
		r->rescue->raw = false;
}

static void set_back(struct relay *r)
{
	if (r->raw)
		tcsetattr(r->tty, TCSANOW, &r->modes);
	not_raw(r);
}

/* In the background of a shell whose line editor reads keys one by one: what a program finds that the shell brings to the front, but for the keys' meaning. */
static void make_cooked(struct termios *t)
{
	t->c_iflag &= ~(tcflag_t)(IGNBRK | INLCR | IGNCR | ISTRIP);
	t->c_iflag |= BRKINT | ICRNL | IXON;
	t->c_oflag |= OPOST | ONLCR;
	t->c_lflag |= ICANON | ISIG | IEXTEN | ECHO | ECHOE | ECHOK;
}

static bool same_modes(const struct termios *a, const struct termios *b)
{
	return a->c_iflag == b->c_iflag && a->c_oflag == b->c_oflag && a->c_cflag == b->c_cflag && a->c_lflag == b->c_lflag &&
	       memcmp(a->c_cc, b->c_cc, sizeof(a->c_cc)) == 0;
}

/* In front for the first time: the command's terminal gets the real one's modes, unless the command has chosen its own meanwhile. */
static void stop_lending(struct relay *r)
{
	struct termios now;
	bool unchanged = r->lends && tcgetattr(r->master, &now) == 0 && same_modes(&now, &r->lent);
	r->lends = false;
	if (unchanged)
		tcsetattr(r->master, TCSANOW, &r->modes);
}

void relay_modes(struct relay *r)
{
	bool front = in_front(r);
	if (r->raw && !front) {
		not_raw(r); /* whoever is in front now has set its own modes */
	} else if (!r->raw && front && r->keyboard && tcgetattr(r->tty, &r->modes) == 0) {
		stop_lending(r);
		relay_take_lines(r);
		set_raw(r);
	}
}

/* Nobody else in the pipeline may want the keys when our output does not go to another program. */
static bool keyboard_ours(void)
{
	struct stat st;
	return isatty(STDOUT_FILENO) || fstat(STDOUT_FILENO, &st) < 0 || !(S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode));
}

void relay_copy_size(const struct relay *r, unsigned fewer)
{
	struct winsize size;
	if (ioctl(r->tty, TIOCGWINSZ, &size) < 0)
		return;
	if (size.ws_row > fewer + 1)
		size.ws_row -= fewer;
	ioctl(r->master, TIOCSWINSZ, &size);
}

static void put(const struct relay *r, const char *text, size_t len)
{
	while (len > 0) {
		ssize_t n = write(r->tty, text, len);
		struct pollfd p = { .fd = r->tty, .events = POLLOUT };
		if (n < 0 && errno == EAGAIN && poll(&p, 1, 1000) > 0)
			continue;
		if (n <= 0)
			return;
		text += n;
		len -= (size_t)n;
	}
}

static int screen_take(void *context, bool *full, bool *dyed)
{
	struct relay *r = context;
	char calm[256];
	pthread_mutex_lock(&r->lock);
	if (r->suspended || r->hung_up || !in_front(r)) {
		pthread_mutex_unlock(&r->lock);
		return -EAGAIN;
	}
	r->wanted = true;
	relay_kick(r);
	while (!r->taken && !r->hung_up)
		pthread_cond_wait(&r->quiet, &r->lock);
	r->wanted = false;
	if (r->taken && !r->raw && tcgetattr(r->tty, &r->modes) == 0)
		set_raw(r);
	*full = scan_full_screen(&r->scan);
	*dyed = r->scan.palette || r->scan.console;
	if (r->rescue)
		r->rescue->asking = r->taken && !*full;
	if (r->taken)
		put(r, calm, scan_calm(&r->scan, calm, sizeof(calm)));
	int rc = r->taken ? 0 : -EAGAIN;
	pthread_mutex_unlock(&r->lock);
	if (rc == 0)
		outlets_hold(r->outlets, true);
	return rc;
}

static void screen_give(void *context)
{
	struct relay *r = context;
	char modes[256];
	pthread_mutex_lock(&r->lock);
	if (scan_full_screen(&r->scan))
		relay_redraw(r);
	put(r, modes, scan_restore(&r->scan, modes, sizeof(modes)));
	if (!r->keyboard)
		set_back(r);
	r->taken = false;
	if (r->rescue)
		r->rescue->asking = false;
	pthread_cond_broadcast(&r->quiet);
	pthread_mutex_unlock(&r->lock);
	relay_kick(r);
	outlets_hold(r->outlets, false);
}

static unsigned screen_changes(void *context)
{
	struct relay *r = context;
	return atomic_load(&r->changes);
}

static void screen_pass(void *context, char key)
{
	struct relay *r = context;
	pthread_mutex_lock(&r->lock);
	relay_interrupt(r, &key, 1);
	pthread_mutex_unlock(&r->lock);
	if (write(r->master, &key, 1) < 0)
		return; /* its input is full: it does not read keys */
}

/* The name behind /dev/tty: by its device number, else what a standard descriptor is called. */
static void name_terminal(struct relay *r)
{
	unsigned int dev = 0;
	struct stat st;
	if (ioctl(r->tty, TIOCGDEV, &dev) == 0 && major(dev) >= PTS_MAJOR && major(dev) < PTS_MAJOR + 8) {
		snprintf(r->name, sizeof(r->name), "/dev/pts/%u", (major(dev) - PTS_MAJOR) * 256 + minor(dev));
		if (stat(r->name, &st) == 0 && S_ISCHR(st.st_mode) && st.st_rdev == makedev(major(dev), minor(dev)))
			return;
	}
	for (int fd = 0; fd < 3; fd++) {
		if (ttyname_r(fd, r->name, sizeof(r->name)) == 0)
			return;
	}
	r->name[0] = '\0';
}

static int open_terminal(struct relay *r)
{
	r->tty = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
	if (r->tty < 0 || tcgetattr(r->tty, &r->modes) < 0)
		return -ENOTTY;
	name_terminal(r);
	r->rescue = rescue_new(r->tty);
	return 0;
}

static int open_pty(struct relay *r)
{
	char name[64];
	r->master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
	if (r->master < 0 || grantpt(r->master) < 0 || unlockpt(r->master) < 0 ||
	    ptsname_r(r->master, name, sizeof(name)) != 0)
		return -errno;
	r->slave = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
	r->lent = r->modes;
	r->lends = !in_front(r);
	if (r->lends)
		make_cooked(&r->lent);
	if (r->slave < 0 || tcsetattr(r->slave, TCSANOW, &r->lent) < 0 || tcgetattr(r->slave, &r->lent) < 0)
		return -errno;
	relay_copy_size(r, 0);
	r->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r->news = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return r->wake < 0 || r->news < 0 ? -errno : 0;
}

static int open_flows(struct relay *r)
{
	r->out = (struct flow){ .bytes = malloc(RELAY_CHUNK), .cap = RELAY_CHUNK };
	r->in = (struct flow){ .bytes = malloc(RELAY_CHUNK), .cap = RELAY_CHUNK };
	return r->out.bytes && r->in.bytes ? 0 : -ENOMEM;
}

int relay_open(struct relay **out, struct outlets *outlets)
{
	struct relay *r = calloc(1, sizeof(*r));
	if (!r)
		return -ENOMEM;
	r->tty = r->master = r->slave = r->wake = r->news = -1;
	r->outlets = outlets;
	r->keyboard = keyboard_ours();
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->quiet, NULL);
	int rc = open_terminal(r);
	if (rc == 0)
		rc = open_pty(r);
	if (rc == 0)
		rc = open_flows(r);
	if (rc < 0) {
		relay_close(r, false);
		return rc;
	}
	r->screen = (struct screen){ r->tty, r->news, screen_take, screen_give, screen_changes, screen_pass, r };
	*out = r;
	return 0;
}

int relay_slave(const struct relay *r)
{
	return r->slave;
}

const char *relay_terminal(const struct relay *r)
{
	return r->name[0] ? r->name : NULL;
}

unsigned relay_device(const struct relay *r)
{
	unsigned dev = 0;

	return ioctl(r->tty, TIOCGDEV, &dev) == 0 ? dev : 0;
}

const struct rescue *relay_rescue(const struct relay *r)
{
	return r->rescue;
}

const struct screen *relay_screen(struct relay *r)
{
	return &r->screen;
}

int relay_start(struct relay *r, pid_t command)
{
	sigset_t all, old;
	r->command = command;
	sigfillset(&all); /* SIGTTOU too: the modes may be set from the background of a race */
	pthread_sigmask(SIG_SETMASK, &all, &old);
	int rc = pthread_create(&r->thread, NULL, relay_main, r);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	r->started = rc == 0;
	return -rc;
}

/* Whoever has the screen draws it anew, where it is still his. */
static void tell_news(struct relay *r)
{
	uint64_t one = 1;
	atomic_fetch_add(&r->changes, 1);
	if (write(r->news, &one, sizeof(one)) < 0)
		return; /* the counter is full: there are news */
}

void relay_resize(struct relay *r)
{
	relay_copy_size(r, 0);
	tell_news(r);
}

/* The terminal still has the number of a group that has ended, which may be another's by now: in another session. Of a group that only lacks its first process nobody has it. */
static bool still_there(const struct relay *r, pid_t group)
{
	pid_t session = getsid(group);
	return session < 0 || session == tcgetsid(r->master);
}

bool relay_signal(struct relay *r, int sig)
{
	if (ioctl(r->master, TIOCSIG, sig) == 0) /* SIGINT, SIGQUIT and SIGTSTP alone */
		return true;
	pid_t group = tcgetpgrp(r->master);
	return group > 0 && still_there(r, group) && kill(-group, sig) == 0;
}

/* Of what runs there its first process alone is known to have stopped: a full-screen program beside it may still be leaving its screen. */
static void let_leave(struct relay *r)
{
	struct pollfd p = { .fd = r->master, .events = POLLIN };
	for (int ms = 0; ms <= LEAVE_MS; ms += LEAVE_LOOK_MS) {
		relay_flush(r);
		if (!scan_full_screen(&r->scan))
			return;
		(void)poll(&p, 1, LEAVE_LOOK_MS);
	}
}

/* A question leaves the screen, so that the shell has its own, and not what a question is shown on; what the command wrote meanwhile, leaving its own perhaps, comes before. */
static void take_back(struct relay *r)
{
	struct timespec until;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += GIVE_SECONDS;
	tell_news(r);
	while (r->taken && !r->hung_up && pthread_cond_timedwait(&r->quiet, &r->lock, &until) == 0)
		;
	if (!r->taken && !r->hung_up && in_front(r))
		let_leave(r);
}

bool relay_suspend(struct relay *r)
{
	pthread_mutex_lock(&r->lock);
	bool keys = r->raw && in_front(r);
	r->suspended = true;
	r->interrupted = 0;
	if (r->taken)
		take_back(r);
	if (in_front(r))
		set_back(r);
	not_raw(r);
	pthread_mutex_unlock(&r->lock);
	return keys;
}

void relay_resume(struct relay *r, bool let_go_on)
{
	pthread_mutex_lock(&r->lock);
	r->suspended = false;
	if (r->taken && in_front(r) && tcgetattr(r->tty, &r->modes) == 0)
		set_raw(r);
	pthread_mutex_unlock(&r->lock);
	relay_resize(r);
	if (let_go_on)
		(void)relay_signal(r, SIGCONT);
	relay_kick(r);
}

/* Whoever ended by itself has done so, or has left it on purpose (tput). */
static void leave_screen(struct relay *r)
{
	char text[RESCUE_LEAVE];

	put(r, text, scan_leave(&r->scan, text, sizeof(text)));
}

int relay_interrupted(struct relay *r)
{
	if (!r)
		return 0;
	pthread_mutex_lock(&r->lock);
	int sig = r->interrupted;
	pthread_mutex_unlock(&r->lock);
	return sig;
}

void relay_close(struct relay *r, bool cut_short)
{
	if (!r)
		return;
	if (r->started) {
		pthread_mutex_lock(&r->lock);
		r->closing = true;
		cleanup_fd(&r->slave);
		r->slave = -1;
		pthread_mutex_unlock(&r->lock);
		relay_kick(r);
		pthread_join(r->thread, NULL);
		bool front = in_front(r);
		if (front && cut_short)
			leave_screen(r);
		if (front)
			set_back(r);
	}
	cleanup_fd(&r->tty);
	cleanup_fd(&r->master);
	cleanup_fd(&r->slave);
	cleanup_fd(&r->wake);
	cleanup_fd(&r->news);
	rescue_free(r->rescue);
	free(r->out.bytes);
	free(r->in.bytes);
	pthread_mutex_destroy(&r->lock);
	pthread_cond_destroy(&r->quiet);
	free(r);
}
