/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of the desk. */
#ifndef USHER_POLICY_DESK_STATE_H
#define USHER_POLICY_DESK_STATE_H

#include <limits.h>
#include <pthread.h>

#include "policy/channel.h"
#include "policy/desk_line.h"

#define DESK_CLIENTS 16
#define DESK_PROTOCOL 1
#define DESK_TOKEN 32

struct json_object;

/* A question on the desk, or the news that one has gone. */
struct paper {
	struct paper *next;
	struct filed *asked; /* NULL: question ID has gone */
	uint64_t id : 62;
	bool review : 1;     /* it was allowed: the news is that somebody may look at it */
	bool answered : 1;   /* here, and the news that it has gone is still to come */
};

struct client {
	struct desk_line line; /* fd -1: the place is free */
	pid_t pid;
	uid_t uid;
	bool known;            /* it has shown the token */
	bool watches;
};

struct desk {
	int number;           /* the process number, or what stands for it, that its files are named by */
	int claim;            /* the token's file, locked: no other session takes the number */
	struct questions *qs;
	const char *session;
	int (*peer)(void *context, int fd, pid_t *pid, uid_t *uid); /* as questions_options has it */
	void *peer_context;
	pthread_t thread;
	pthread_mutex_t lock;
	struct paper *news;    /* newest first; under the lock */
	bool stopping;         /* under the lock */
	int wake;              /* eventfd */
	int listener;
	char dir[PATH_MAX];
	char path[PATH_MAX];
	char token_path[PATH_MAX];
	char token[DESK_TOKEN + 1];
	struct paper *open;    /* oldest first; the thread's own, as all below */
	struct client client[DESK_CLIENTS];
};

/* Serves one line of C. False: the connection ends. */
bool desk_serve(struct desk *d, struct client *c, const char *line, size_t len);

/* Sends O (which it puts) as a line. False: the peer is gone. */
bool desk_send(struct client *c, struct json_object *o);

/* {"event":"question",...}, {"event":"gone",...} and {"event":"review",...} */
struct json_object *desk_event_question(struct filed *f);
struct json_object *desk_event_gone(uint64_t id);
struct json_object *desk_event_review(struct filed *f);

/* The requests reviews and review; see usher-desk(5). */
struct json_object *desk_reply(const char *to, const char *error);
struct json_object *desk_do_reviews(struct desk *d, struct client *c, struct json_object *in);
struct json_object *desk_do_history(struct desk *d, struct client *c, struct json_object *in);
struct json_object *desk_do_review(struct desk *d, struct client *c, struct json_object *in);
uint64_t desk_number_of(struct json_object *o, const char *key);

#endif
