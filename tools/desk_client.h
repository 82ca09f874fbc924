/* SPDX-License-Identifier: Apache-2.0 */
/* The sessions of this user and their questions, as seen over the desk's sockets. */
#ifndef USHER_TOOLS_DESK_CLIENT_H
#define USHER_TOOLS_DESK_CLIENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "policy/desk_line.h"

struct json_object;

#define DESK_SESSIONS 32

struct desk_session {
	struct desk_line line; /* fd -1: the place is free */
	pid_t pid;             /* of its usher */
	char name[128];        /* the command; printable ASCII */
	struct json_object *questions; /* the open ones, oldest first */
	uint64_t more;         /* that had no room in the reply: they come when some of these have gone */
	size_t listed;         /* in that reply */
	bool silent;           /* it was given up, as no reply came in time */
};

struct desk_sessions {
	struct desk_session at[DESK_SESSIONS];
	unsigned count;   /* of places used */
	unsigned refused; /* sessions that did not let us in at the last look */
	uint64_t more;    /* questions that had no room */
};

void desk_sessions_init(struct desk_sessions *all);
void desk_sessions_free(struct desk_sessions *all);

/* Looks for sessions that are not known yet, says hello, asks for their questions and to be told of new ones; and for questions that had no room. */
void desk_look(struct desk_sessions *all);

/* Sends REQUEST (put by this call) and waits for its reply, at most 5 s. The caller puts it; NULL: the session is gone. */
struct json_object *desk_request(struct desk_session *s, struct json_object *request);

/*
 * Reads what S has to say; questions are brought up to date, and EACH (may be NULL) gets every event. False: the session is gone and
 * closed.
 */
bool desk_read(struct desk_session *s, void (*each)(void *context, struct desk_session *s, struct json_object *event), void *context);

/* A request about a question or a grant. */
struct json_object *desk_make(const char *what, const char *key, uint64_t number);

/* Whether REPLY says ok; *error (never NULL) says what is wrong else. */
bool desk_ok(struct json_object *reply, const char **error);

/* Printable ASCII only, whatever the other side sent: for terminals. "" when absent. */
const char *desk_field(struct json_object *o, const char *key, char *buf, size_t cap);
uint64_t desk_number(struct json_object *o, const char *key);

#endif
