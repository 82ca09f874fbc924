/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of the questions: who waits for what. */
#ifndef USHER_POLICY_QUEUE_H
#define USHER_POLICY_QUEUE_H

#include <pthread.h>

#include "policy/channels.h"
#include "policy/history.h"
#include "policy/late.h"
#include "policy/question.h"
#include "policy/unanswered.h"

#define QUEUE_BUCKETS 1024
#define WAITING_DEFAULT 4096
#define LEFT_NS 1000000000ull /* so long a question stays whose callers were all interrupted: they may make their calls again */
#define LEFT_MOST 16 /* questions of that kind: none waits, and they take memory all the same */

/* An answer that several waiters share. Under the lock. */
struct shared_answer {
	unsigned refs;
	struct answer answer;
};

/* One call that waits. */
struct waiter {
	struct waiter *next_id;  /* in its hash bucket while it waits */
	struct waiter *next;     /* in its group, then in the queue of deliveries */
	struct waiter *prev;
	struct group *group;
	uint64_t id;
	uint64_t token;
	uint64_t asked_ns;
	uint32_t timeout_s;
	pid_t tree;              /* the branch of the session it belongs to */
	struct shared_answer *answer; /* set when it is to be delivered */
};

static inline uint64_t waiter_deadline_ns(const struct waiter *w)
{
	return w->asked_ns + w->timeout_s * UINT64_C(1000000000);
}

enum group_state {
	GROUP_NEW = 0,   /* not yet put to the channel of its stage */
	GROUP_WAITING,
	GROUP_SETTLING,  /* an answer came and is being written down: nothing else may answer */
};

/* Identical questions. */
struct group {
	struct group *next_key; /* in its hash bucket */
	struct group *next;     /* all groups, oldest first */
	struct group *prev;
	struct filed *asked;    /* id is the group's */
	struct waiter *waiters;
	uint8_t state;          /* enum group_state */
	uint8_t stage;          /* the channel that is asked now */
	uint8_t shown;          /* channels below this number have been put the question */
	uint32_t passed;        /* bits of the channels that cannot bring an answer */
	uint64_t stage_end_ns;  /* the next one is asked then; 0: this is the last */
	uint64_t left_until_ns; /* it is dropped then, unless the like is asked before; 0: somebody waits */
	pid_t left_by;          /* the tree of who waited last */
};

/* A question that the channels below SHOWN had and that waits no longer. */
struct departed {
	struct departed *next;
	uint64_t id;
	int shown;
};

/* Denials of one question in a row: a program that goes on asking is answered without a person. */
struct insistence {
	uint64_t key;
	uint64_t last_ns;
	uint32_t denials;
};

#define INSIST_PLACES 256
#define INSIST_MOST 5
#define INSIST_NS (60 * 1000000000ull)

struct questions {
	pthread_mutex_t lock;
	pthread_cond_t wake;   /* for the thread */
	pthread_cond_t idle;   /* a settlement has ended */
	pthread_t thread;
	struct questions_options options;
	struct stage stage[CHANNELS_MAX];
	int n_stages;
	bool together;         /* all channels are asked at once */
	uint32_t timeout_s;    /* for rules without one */
	uint64_t next_id;
	uint32_t waiting;
	uint32_t settling;
	uint32_t left;         /* questions in which nobody waits */
	struct late *late;     /* answers to some of them */
	bool served;           /* the thread runs: it starts with the first question where no rule asks by itself */
	bool stopping;
	bool fresh;            /* some group is GROUP_NEW */
	uint64_t sleeps_until; /* when the thread wakes by itself, 0: never */
	struct group *oldest;
	struct group *newest;
	struct waiter *delivery; /* oldest first */
	struct waiter **delivery_end;
	struct departed *departed;
	struct departed **departed_end;
	struct insistence insistence[INSIST_PLACES];
	struct unanswered unanswered;
	struct reviews *reviews;
	struct history history;
	struct squeezer squeezer; /* for what waits; has a lock of its own */
	struct group *by_key[QUEUE_BUCKETS];
	struct waiter *by_id[QUEUE_BUCKETS];
};

/* Starts the thread unless it runs. With the lock held, or before others know QS. Returns 0 or a negative errno. */
int queue_serve(struct questions *qs);

/* All of these: with the lock held. */
struct group *queue_group(struct questions *qs, uint64_t id);
struct group *queue_same(struct questions *qs, const struct question_sum *sum);
struct waiter *queue_waiter(struct questions *qs, uint64_t id);
uint32_t queue_count_tree(const struct questions *qs, pid_t tree);
void queue_add_group(struct questions *qs, struct group *g);
void queue_add_waiter(struct questions *qs, struct group *g, struct waiter *w);
/* Takes W out of its group and the tables; it stays the caller's. */
void queue_remove_waiter(struct questions *qs, struct waiter *w);
/* Nobody waits in G any more, but somebody may come back to it. False when it cannot stay. */
bool queue_leave_group(struct questions *qs, struct group *g, pid_t tree);
/* Frees G, which nobody waits in. The channels that have it are told. */
void queue_drop_group(struct questions *qs, struct group *g);
/* All waiters of G get ANSWER, or who comes back to it; G is dropped. Where nobody waits, one who ends the tree is heard at once, under token 0. */
void queue_deliver_group(struct questions *qs, struct group *g, const struct answer *answer);
/* W alone gets ANSWER. G is dropped when it was the last. */
void queue_deliver_one(struct questions *qs, struct waiter *w, const struct answer *answer);

/* A person answered the question of KEY; and whether the like was denied so often lately that it is denied unasked. */
void queue_person_answered(struct questions *qs, uint64_t key, bool denied);
bool queue_insists(const struct questions *qs, uint64_t key);

/* The answer that V, decided anew, is to a question; false where it asks still. What is led elsewhere is allowed: it is led when it is done. */
bool granted_answer(const struct verdict *v, struct answer *out);

/* Without a person: what the rule says of an unanswered question. */
void answer_unanswered(const struct filed *f, const char *channel, const char *message, struct answer *out);

#endif
