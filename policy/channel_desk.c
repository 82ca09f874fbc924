/* SPDX-License-Identifier: Apache-2.0 */
/*
 * desk: questions wait on a socket for `usher desk`, from any terminal of the same user.
 *
 * MUST: nobody of the watched tree gets as far as saying hello (the guard layer refuses the
 * connect, the descent check the connection, and the token is out of its reach); a desk that dies or does
 * not read delays nothing.
 */
#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "policy/desk_claim.h"
#include "policy/desk_peer.h"
#include "policy/desk_state.h"
#include "policy/thread.h"
#include "policy/wait_for.h"
#include "rules/cleanup.h"

#define NUMBERS (1 << 22) /* no process has a number as high: the kernel's PID_MAX_LIMIT */
#define NUMBER_TRIES 100

static void wake(struct desk *d)
{
	uint64_t one = 1;
	if (write(d->wake, &one, sizeof(one)) < 0)
		return; /* the counter is full: it is awake */
}

static void hang_up(struct client *c)
{
	desk_line_close(&c->line);
	*c = (struct client){ .line.fd = -1 };
}

static void accept_one(struct desk *d)
{
	int fd = accept4(d->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	pid_t pid;
	uid_t uid;
	if (fd < 0)
		return;
	if ((d->peer ? d->peer(d->peer_context, fd, &pid, &uid) : desk_peer_check(fd, &pid, &uid)) < 0) {
		question_note(d->qs, "desk-refused", "a process of the tree, or of somebody else, connected to the desk");
		close(fd);
		return;
	}
	for (int i = 0; i < DESK_CLIENTS; i++) {
		struct client *c = &d->client[i];
		if (c->line.fd >= 0)
			continue;
		*c = (struct client){ .pid = pid, .uid = uid };
		if (desk_line_open(&c->line, fd, DESK_LINE) < 0)
			c->line.fd = -1;
		return;
	}
	close(fd); /* all places are taken */
}

/* Sends to everybody who watches. */
static void tell(struct desk *d, const struct paper *p)
{
	for (int i = 0; i < DESK_CLIENTS; i++) {
		struct client *c = &d->client[i];
		if (c->line.fd < 0 || !c->watches)
			continue;
		if (!desk_send(c, p->review ? desk_event_review(p->asked) : p->asked ? desk_event_question(p->asked) : desk_event_gone(p->id)))
			hang_up(c);
	}
}

static void paper_free(struct paper *p)
{
	filed_put(p->asked);
	free(p);
}

/* A new question joins the open ones; one that has gone leaves them. */
static void take_paper(struct desk *d, struct paper *p)
{
	struct paper **at = &d->open;
	p->next = NULL;
	if (p->review) { /* news only: the list is the questions' */
		tell(d, p);
		paper_free(p);
		return;
	}
	while (*at && (p->asked || (*at)->id != p->id))
		at = &(*at)->next;
	tell(d, p);
	if (p->asked) {
		*at = p;
		return;
	}
	struct paper *old = *at;
	if (old) {
		*at = old->next;
		paper_free(old);
	}
	paper_free(p);
}

static bool take_news(struct desk *d)
{
	uint64_t count;
	if (read(d->wake, &count, sizeof(count)) < 0 && errno != EAGAIN)
		return false;
	pthread_mutex_lock(&d->lock);
	struct paper *news = steal_pointer(&d->news), *ordered = NULL;
	bool stopping = d->stopping;
	pthread_mutex_unlock(&d->lock);
	while (news) {
		struct paper *next = news->next;
		news->next = ordered;
		ordered = news;
		news = next;
	}
	while (ordered) {
		struct paper *next = ordered->next;
		take_paper(d, ordered);
		ordered = next;
	}
	return !stopping;
}

static bool serve_client(struct desk *d, struct client *c, short events)
{
	const char *line;
	size_t len;
	if ((events & POLLOUT) && !desk_line_flush(&c->line))
		return false;
	if (!(events & (POLLIN | POLLHUP | POLLERR)))
		return true;
	if (!desk_line_read(&c->line))
		return false;
	while ((line = desk_line_get(&c->line, &len))) {
		if (!desk_serve(d, c, line, len))
			return false;
		desk_line_next(&c->line, len);
	}
	return true;
}

static void *desk_main(void *arg)
{
	struct desk *d = arg;
	struct pollfd p[2 + DESK_CLIENTS];
	while (take_news(d)) {
		p[0] = (struct pollfd){ .fd = d->wake, .events = POLLIN };
		p[1] = (struct pollfd){ .fd = d->listener, .events = POLLIN };
		for (int i = 0; i < DESK_CLIENTS; i++) {
			struct client *c = &d->client[i];
			short out = c->line.fd >= 0 && desk_line_waiting(&c->line) ? POLLOUT : 0;
			p[2 + i] = (struct pollfd){ .fd = c->line.fd, .events = (short)(POLLIN | out) };
		}
		if (wait_for(p, 2 + DESK_CLIENTS, -1) < 0)
			continue;
		for (int i = 0; i < DESK_CLIENTS; i++) {
			struct client *c = &d->client[i];
			if (p[2 + i].revents && c->line.fd == p[2 + i].fd && !serve_client(d, c, p[2 + i].revents))
				hang_up(c);
		}
		if (p[1].revents)
			accept_one(d);
	}
	return NULL;
}

static void add_news(struct desk *d, struct filed *f, uint64_t id, bool review)
{
	struct paper *p = malloc(sizeof(*p));
	if (!p) {
		if (f && !review)
			question_pass(d->qs, id, "desk", "out of memory");
		return;
	}
	*p = (struct paper){ .asked = f ? filed_hold(f) : NULL, .id = id, .review = review };
	pthread_mutex_lock(&d->lock);
	p->next = d->news;
	d->news = p;
	pthread_mutex_unlock(&d->lock);
	wake(d);
}

static void desk_put(void *state, struct filed *q)
{
	add_news(state, q, q->id, false);
}

static void desk_gone(void *state, uint64_t id)
{
	add_news(state, NULL, id, false);
}

static void desk_reviewed(void *state, struct filed *f)
{
	add_news(state, f, f->id, true);
}

static void papers_free(struct paper *p)
{
	while (p) {
		struct paper *next = p->next;
		paper_free(p);
		p = next;
	}
}

static void desk_free(struct desk *d)
{
	for (int i = 0; i < DESK_CLIENTS; i++) {
		if (d->client[i].line.fd >= 0)
			hang_up(&d->client[i]);
	}
	if (d->listener >= 0)
		unlink(d->path);
	if (d->token[0])
		unlink(d->token_path);
	cleanup_fd(&d->claim); /* after the names: they are ours no longer */
	cleanup_fd(&d->listener);
	cleanup_fd(&d->wake);
	papers_free(d->news);
	papers_free(d->open);
	pthread_mutex_destroy(&d->lock);
	free(d);
}

static void desk_close(void *state)
{
	struct desk *d = state;
	pthread_mutex_lock(&d->lock);
	d->stopping = true;
	pthread_mutex_unlock(&d->lock);
	wake(d);
	pthread_join(d->thread, NULL);
	desk_free(d);
}

/* *rc keeps the first error: those behind it come of it. */
static void make_one(const char *name, int *rc)
{
	if (mkdir(name, 0700) < 0 && errno != EEXIST && *rc == 0)
		*rc = -errno;
}

/* The directory, its parents included, for this user alone. */
static int make_dir(struct desk *d)
{
	struct stat st;
	int rc = 0;
	if (policy_desk_dir(d->dir, sizeof(d->dir)) < 0)
		return -ENOENT;
	for (char *p = d->dir + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		make_one(d->dir, &rc);
		*p = '/';
	}
	make_one(d->dir, &rc);
	if (lstat(d->dir, &st) < 0)
		return rc ? rc : -errno;
	return S_ISDIR(st.st_mode) && st.st_uid == geteuid() && !(st.st_mode & 077) ? 0 : -EPERM;
}

/* The process's own number, or the next that no living session has: one in another pid namespace may be numbered alike. */
static int claim_number(struct desk *d)
{
	int own = d->number;
	for (int i = 0; d->claim < 0 && i < NUMBER_TRIES; i++) {
		d->number = own + i * NUMBERS;
		d->claim = desk_claim(d->dir, d->number);
	}
	return d->claim < 0 ? d->claim : 0;
}

static int make_names(struct desk *d, const char **why)
{
	size_t room = sizeof(d->path);
	*why = "its directory's name is too long for a socket";
	if ((size_t)snprintf(d->path, room, "%s/%d.sock", d->dir, d->number) >= room ||
	    (size_t)snprintf(d->token_path, room, "%s/%d.token", d->dir, d->number) >= room)
		return -ENAMETOOLONG;
	return 0;
}

static int make_token(struct desk *d)
{
	unsigned char random[DESK_TOKEN / 2];
	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return -EIO;
	for (size_t i = 0; i < sizeof(random); i++)
		snprintf(d->token + 2 * i, 3, "%02x", random[i]);
	if (fchmod(d->claim, 0600) < 0 || ftruncate(d->claim, 0) < 0)
		return -errno;
	return write(d->claim, d->token, DESK_TOKEN) == DESK_TOKEN ? 0 : -EIO;
}

static int make_socket(struct desk *d)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	if (strlen(d->path) >= sizeof(addr.sun_path))
		return -ENAMETOOLONG;
	strcpy(addr.sun_path, d->path);
	int fd CLEANUP_FD = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	unlink(d->path);
	if (fd < 0 || bind(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0 || listen(fd, 16) < 0)
		return -errno;
	d->listener = steal_fd(&fd);
	return 0;
}

static int desk_make(struct desk *d, const char **why)
{
	*why = "the desk's directory cannot be made, or is not this user's alone: set XDG_RUNTIME_DIR to a directory that is (usher-desk(5), the socket)";
	int rc = make_dir(d);
	if (rc < 0)
		return rc;
	*why = "its token cannot be made";
	rc = claim_number(d);
	if (rc == 0)
		rc = make_names(d, why);
	if (rc < 0)
		return rc;
	*why = "its token cannot be written";
	rc = make_token(d);
	if (rc < 0)
		return rc;
	*why = "its socket cannot be made";
	rc = make_socket(d);
	if (rc < 0)
		return rc;
	d->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	*why = "it cannot be started";
	return d->wake < 0 ? -errno : thread_start(&d->thread, desk_main, d);
}

static int desk_open(struct questions *qs, const struct questions_options *options, const char *argument, void **state,
		     const char **why)
{
	struct desk *d = calloc(1, sizeof(*d));
	if (!d)
		return -ENOMEM;
	d->qs = qs;
	d->number = options->number ? options->number : getpid();
	d->session = options->session ? options->session : "";
	d->peer = options->peer;
	d->peer_context = options->context;
	d->wake = d->listener = d->claim = -1;
	for (int i = 0; i < DESK_CLIENTS; i++)
		d->client[i].line.fd = -1;
	pthread_mutex_init(&d->lock, NULL);
	int rc = desk_make(d, why);
	if (rc < 0) {
		desk_free(d);
		return rc;
	}
	*state = d;
	return 0;
}

const struct channel_row channel_desk = {
	.word = "desk",
	.timeout_s = 3600,
	.open = desk_open,
	.put = desk_put,
	.gone = desk_gone,
	.reviewed = desk_reviewed,
	.close = desk_close,
};
