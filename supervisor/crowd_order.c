/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/crowd_order.h"

#define STRANGER 6      /* a process that was not answered yet, or long ago */
#define BUSY_LEAST 7
#define BUSY_MOST (ORDER_CLASSES - 3)
#define RARE_ABOVE 1    /* classes */
#define NOTED 64        /* calls, between two looks at which class most are below */
#define OLDEST_EVERY 16
#define NEAR 48         /* calls: so much earlier than its turn a busy process of the same core is served */
#define NONE UINT16_MAX

void order_init(struct order *o)
{
	const struct order_list empty = { NONE, NONE };

	o->busiest = BUSY_LEAST;
	o->all = empty;
	for (int i = 0; i < ORDER_CLASSES; i++)
		o->ranked[i] = empty;
	for (int i = 0; i < ARRANGE_CORES; i++)
		o->busy[i] = empty;
}

#define LINK(o, i, which) (&(o)->call[i].which)
#define APPEND(o, list, i, which)                             \
	do {                                                  \
		*LINK(o, i, which) = (struct order_link){ (list)->last, NONE }; \
		if ((list)->last != NONE)                     \
			LINK(o, (list)->last, which)->next = (i); \
		else                                          \
			(list)->first = (i);                  \
		(list)->last = (i);                           \
	} while (0)
#define REMOVE(o, list, i, which)                             \
	do {                                                  \
		struct order_link l_ = *LINK(o, i, which);    \
		if (l_.prev != NONE)                          \
			LINK(o, l_.prev, which)->next = l_.next; \
		else                                          \
			(list)->first = l_.next;              \
		if (l_.next != NONE)                          \
			LINK(o, l_.next, which)->prev = l_.prev; \
		else                                          \
			(list)->last = l_.prev;               \
	} while (0)

/*
 * Calls that wait in the kernel to be received make every pause longer: what most pauses last is that, and little more. What
 * counts is by how much one's own is longer.
 */
static uint32_t beyond_usual(struct order *o, uint32_t pause)
{
	uint32_t usual = o->usual, step = usual / 8 + 1;

	if (pause > usual)
		o->usual += step;
	else if (pause < usual)
		o->usual -= step;
	return pause > usual ? pause - usual : 0;
}

static uint8_t class_of(struct order *o, pid_t process, uint32_t now_us)
{
	const struct order_answered *a = &o->answered[(unsigned)process % ORDER_REMEMBERED];
	uint8_t class = 0;

	if (!process || a->process != process)
		return STRANGER;
	for (uint32_t pause = beyond_usual(o, now_us - a->at_us); pause && class < ORDER_CLASSES - 1; pause >>= 1)
		class++;
	return class;
}

/* The busiest class is the one that seven of eight calls do not exceed. */
static void note_class(struct order *o, uint8_t class)
{
	unsigned all = 0, below = 0;
	uint8_t k = 0;

	o->of_class[class]++;
	if (++o->noted < NOTED)
		return;
	o->noted = 0;
	for (int i = 0; i < ORDER_CLASSES; i++)
		all += o->of_class[i];
	while (k < BUSY_MOST && (below += o->of_class[k]) < all - all / 8)
		k++;
	o->busiest = k < BUSY_LEAST ? BUSY_LEAST : k;
	for (int i = 0; i < ORDER_CLASSES; i++)
		o->of_class[i] /= 2;
}

uint8_t order_rank(struct order *o, pid_t process, uint32_t now_us)
{
	uint8_t class = class_of(o, process, now_us);

	note_class(o, class);
	return class <= o->busiest ? 0 : class;
}

bool order_is_rare(const struct order *o, uint8_t rank)
{
	return rank > o->busiest + RARE_ABOVE;
}

static struct order_list *list_of(struct order *o, uint16_t i)
{
	return o->call[i].of ? &o->ranked[o->call[i].of] : &o->busy[o->call[i].core];
}

void order_add(struct order *o, const struct seccomp_notif *n, pid_t process, uint8_t rank, int core)
{
	const struct order_home *home = &o->home[n->pid % ORDER_REMEMBERED];
	uint16_t i = o->spares ? o->spare[--o->spares] : (uint16_t)o->untouched++;
	struct order_call *c = &o->call[i];

	if (home->tid == (pid_t)n->pid && home->core >= 0)
		core = home->core;
	c->notif = *n;
	c->process = process;
	c->of = rank;
	c->core = core < 0 ? 0 : (uint8_t)core;
	c->number = o->number++;
	APPEND(o, &o->all, i, age);
	APPEND(o, list_of(o, i), i, rank);
}

static uint16_t choose(struct order *o, int core)
{
	uint16_t oldest = o->all.first, here = core < 0 ? NONE : o->busy[core].first;

	if (oldest == NONE || ++o->turn % OLDEST_EVERY == 0)
		return oldest;
	for (int k = ORDER_CLASSES - 1; k > 0; k--) {
		if (o->ranked[k].first != NONE)
			return o->ranked[k].first;
	}
	return here != NONE && o->call[here].number - o->call[oldest].number < NEAR ? here : oldest;
}

bool order_next(struct order *o, int core, struct seccomp_notif *out, pid_t *process)
{
	uint16_t i = choose(o, core);

	if (i == NONE)
		return false;
	REMOVE(o, &o->all, i, age);
	REMOVE(o, list_of(o, i), i, rank);
	*out = o->call[i].notif;
	*process = o->call[i].process;
	o->spare[o->spares++] = i;
	return true;
}

void order_answered(struct order *o, pid_t process, pid_t tid, int core, uint32_t now_us)
{
	o->home[(unsigned)tid % ORDER_REMEMBERED] = (struct order_home){ tid, core };
	if (process)
		o->answered[(unsigned)process % ORDER_REMEMBERED] = (struct order_answered){ process, now_us };
}
