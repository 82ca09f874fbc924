/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/desk_client.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "policy/desk_claim.h"
#include "policy/policy.h"
#include "policy/question_json.h"
#include "policy/show.h"
#include "rules/cleanup.h"
#include "rules/clock.h"
#include "rules/plain_file.h"

#define REPLY_MS 5000
#define REPLY_MOST_MS 15000 /* of one that goes on saying other things */
#define GREETINGS 4

void desk_sessions_init(struct desk_sessions *all)
{
	*all = (struct desk_sessions){ 0 };
	for (int i = 0; i < DESK_SESSIONS; i++)
		all->at[i].line.fd = -1;
}

static void session_close(struct desk_session *s)
{
	desk_line_close(&s->line);
	json_object_put(s->questions);
	*s = (struct desk_session){ .line.fd = -1 };
}

void desk_sessions_free(struct desk_sessions *all)
{
	for (int i = 0; i < DESK_SESSIONS; i++)
		session_close(&all->at[i]);
}

const char *desk_field(struct json_object *o, const char *key, char *buf, size_t cap)
{
	const char *text = o ? json_text(o, key) : NULL;
	snprintf(buf, cap, "%s", text ? text : "");
	show_clean(buf);
	return buf;
}

uint64_t desk_number(struct json_object *o, const char *key)
{
	struct json_object *v;
	return o && json_object_object_get_ex(o, key, &v) ? json_object_get_uint64(v) : 0;
}

struct json_object *desk_make(const char *what, const char *key, uint64_t number)
{
	struct json_object *o = json_object_new_object();
	json_object_object_add(o, "do", json_object_new_string(what));
	if (key)
		json_object_object_add(o, key, json_object_new_uint64(number));
	return o;
}

bool desk_ok(struct json_object *reply, const char **error)
{
	struct json_object *v;
	*error = "the session is gone";
	if (!reply)
		return false;
	if (json_object_object_get_ex(reply, "ok", &v) && json_object_get_boolean(v))
		return true;
	const char *said = json_text(reply, "error");
	*error = said ? said : "not understood";
	return false;
}

static void forget(struct desk_session *s, uint64_t id)
{
	for (size_t i = 0; i < json_object_array_length(s->questions); i++) {
		if (desk_number(json_object_array_get_idx(s->questions, i), "id") == id) {
			json_object_array_del_idx(s->questions, i, 1);
			return;
		}
	}
}

/* "left" was true when it was sent: what stays true is when it ends, by this clock. */
static void add_deadline(struct json_object *q)
{
	json_object_object_add(q, "deadline", json_object_new_int64(time(NULL) + (int64_t)desk_number(q, "left")));
}

static void apply(struct desk_session *s, struct json_object *event)
{
	const char *what = json_text(event, "event");
	struct json_object *q;
	if (!what || !s->questions)
		return;
	if (strcmp(what, "question") == 0 && json_object_object_get_ex(event, "question", &q)) {
		add_deadline(q);
		json_object_array_add(s->questions, json_object_get(q));
	}
	else if (strcmp(what, "gone") == 0)
		forget(s, desk_number(event, "id"));
}

/* The next line as an object: an event was applied; a reply goes to *reply. False: the session is gone. */
static bool take_line(struct desk_session *s, struct json_object **event, struct json_object **reply)
{
	size_t len;
	const char *line = desk_line_get(&s->line, &len);
	*event = *reply = NULL;
	if (!line)
		return true;
	struct json_object *o = json_read(line, len);
	desk_line_next(&s->line, len);
	if (!o)
		return false;
	if (json_text(o, "reply")) {
		*reply = o;
		return true;
	}
	apply(s, o);
	*event = o;
	return true;
}

/* What has come with a reply: nothing more may come that would wake anybody up for it. */
static void take_events(struct desk_session *s)
{
	for (bool more = true; more;) {
		struct json_object *event, *reply;
		more = take_line(s, &event, &reply) && (event || reply);
		json_object_put(event);
		json_object_put(reply);
	}
}

struct json_object *desk_request(struct desk_session *s, struct json_object *request)
{
	size_t len = 0;
	const uint64_t until = clock_ms(CLOCK_MONOTONIC) + REPLY_MOST_MS;
	char *line = json_line(request, &len);
	bool alive = line && desk_line_put(&s->line, line, len), silent = false;
	free(line);
	json_object_put(request);
	while (alive) {
		struct json_object *event, *reply;
		silent = clock_ms(CLOCK_MONOTONIC) > until;
		alive = !silent && take_line(s, &event, &reply);
		if (!alive)
			break;
		json_object_put(event);
		if (reply) {
			take_events(s);
			return reply;
		}
		if (event)
			continue;
		struct pollfd p = { .fd = s->line.fd, .events = POLLIN };
		int ready = desk_line_flush(&s->line) ? poll(&p, 1, REPLY_MS) : -1;
		silent = ready == 0;
		alive = ready > 0 && desk_line_read(&s->line);
	}
	session_close(s);
	s->silent = silent;
	return NULL;
}

bool desk_read(struct desk_session *s, void (*each)(void *context, struct desk_session *s, struct json_object *event), void *context)
{
	bool alive = desk_line_read(&s->line), more = true;
	while (more) {
		struct json_object *event, *reply;
		alive = take_line(s, &event, &reply) && alive;
		more = event || reply;
		if (event && each)
			each(context, s, event);
		json_object_put(event);
		json_object_put(reply);
	}
	if (!alive)
		session_close(s);
	return alive;
}

static int connect_to(const char *path)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	if (strlen(path) >= sizeof(addr.sun_path))
		return -ENAMETOOLONG;
	strcpy(addr.sun_path, path);
	int fd CLEANUP_FD = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0)
		return -errno;
	return steal_fd(&fd);
}

static bool read_token(const char *dir, pid_t pid, char *token, size_t cap)
{
	char path[PATH_MAX];
	if (snprintf(path, sizeof(path), "%s/%d.token", dir, pid) >= (int)sizeof(path))
		return false;
	int fd CLEANUP_FD = plain_open(AT_FDCWD, path, O_RDONLY | O_NOFOLLOW);
	ssize_t n = fd < 0 ? -1 : read(fd, token, cap - 1);
	if (n <= 0)
		return false;
	token[n] = '\0';
	return true;
}

/* Asks for the open questions, by WHAT. False: the session is gone, or has not understood. */
static bool take_questions(struct desk_session *s, const char *what)
{
	const char *error;
	struct json_object *list, *reply = desk_request(s, desk_make(what, NULL, 0));
	bool good = desk_ok(reply, &error) && json_object_object_get_ex(reply, "questions", &list) &&
		    json_object_is_type(list, json_type_array);
	if (good) {
		json_object_put(s->questions);
		s->questions = json_object_get(list);
		s->listed = json_object_array_length(list);
		s->more = desk_number(reply, "more");
	}
	for (size_t i = 0; good && i < s->listed; i++)
		add_deadline(json_object_array_get_idx(list, i));
	json_object_put(reply);
	return good;
}

/* Hello and watch. False: this session does not let us in. */
static bool greet(struct desk_session *s, const char *dir)
{
	char token[64];
	const char *error;
	struct json_object *hello = desk_make("hello", NULL, 0);
	if (read_token(dir, s->pid, token, sizeof(token)))
		json_object_object_add(hello, "token", json_object_new_string(token));
	struct json_object *reply = desk_request(s, hello);
	bool good = desk_ok(reply, &error);
	desk_field(reply, "session", s->name, sizeof(s->name));
	json_object_put(reply);
	if (!good)
		return false;
	return take_questions(s, "watch");
}

static struct desk_session *place_for(struct desk_sessions *all, pid_t pid)
{
	struct desk_session *free_place = NULL;
	for (int i = 0; i < DESK_SESSIONS; i++) {
		struct desk_session *s = &all->at[i];
		if (s->line.fd >= 0 && s->pid == pid)
			return NULL;
		if (s->line.fd < 0 && !free_place)
			free_place = s;
	}
	return free_place;
}

/* What a session left behind that was killed. */
static void tidy(const char *dir, pid_t pid)
{
	char path[PATH_MAX];
	int claim CLEANUP_FD = desk_claim(dir, pid);
	if (claim < 0)
		return;
	if (snprintf(path, sizeof(path), "%s/%d.sock", dir, pid) < (int)sizeof(path))
		unlink(path);
	if (snprintf(path, sizeof(path), "%s/%d.token", dir, pid) < (int)sizeof(path))
		unlink(path);
}

/*
 * True as well where there is nobody to open. False with *GONE: the session ended, or let go of this reader, as it does while very long questions come
 * faster than they are read; not where it says nothing, which takes its time once.
 */
static bool open_session(struct desk_session *s, const char *dir, const char *path, bool *gone)
{
	pid_t pid = s->pid;
	int fd = connect_to(path);

	*gone = false;
	if (fd == -ECONNREFUSED)
		tidy(dir, pid);
	if (fd < 0 || desk_line_open(&s->line, fd, DESK_REPLY) < 0)
		return true;
	if (greet(s, dir))
		return true;
	*gone = s->line.fd < 0 && !s->silent;
	session_close(s);
	s->pid = pid;
	return false;
}

static void look_at(struct desk_sessions *all, const char *dir, const char *name)
{
	char path[PATH_MAX], *end;
	pid_t pid = (pid_t)strtol(name, &end, 10);
	struct desk_session *s = pid > 0 && strcmp(end, ".sock") == 0 ? place_for(all, pid) : NULL;
	if (!s || snprintf(path, sizeof(path), "%s/%s", dir, name) >= (int)sizeof(path))
		return;
	bool gone = true, done = false;
	s->pid = pid;
	for (int i = 0; i < GREETINGS && gone && !done; i++)
		done = open_session(s, dir, path, &gone);
	if (!done)
		all->refused++;
}

void desk_look(struct desk_sessions *all)
{
	char dir[PATH_MAX];
	all->refused = 0;
	DIR *d = policy_desk_dir(dir, sizeof(dir)) == 0 ? opendir(dir) : NULL;
	if (!d)
		return;
	for (struct dirent *e; (e = readdir(d));)
		look_at(all, dir, e->d_name);
	closedir(d);
	all->count = 0;
	all->more = 0;
	for (int i = 0; i < DESK_SESSIONS; i++) {
		struct desk_session *s = &all->at[i];
		if (s->more && json_object_array_length(s->questions) < s->listed)
			(void)take_questions(s, "list");
		all->count += s->line.fd >= 0;
		all->more += s->more;
	}
}
