/* SPDX-License-Identifier: Apache-2.0 */
/* What rules with log=alert decided, told to the person at the end of the session. */
#ifndef USHER_SUPERVISOR_ALERTS_H
#define USHER_SUPERVISOR_ALERTS_H

#include <pthread.h>
#include <stdatomic.h>

#include "rules/call.h"
#include "rules/verdict.h"
#include "supervisor/voice.h"

#define ALERTS_SHOWN 5
#define ALERT_TEXT 1024

struct alert_list {
	unsigned shown;
	atomic_bool more; /* than are shown */
	char text[ALERTS_SHOWN][ALERT_TEXT]; /* printable ASCII, each once */
};

/* Zeroed but for the lock, there were none. Apart, so that what went through cannot crowd out what was refused. */
struct alerts {
	pthread_mutex_t lock;
	struct alert_list refused;
	struct alert_list passed;
};

/* CALL was decided so, by a rule with log=alert. Any thread. */
void alerts_note(struct alerts *a, const struct call *call, const struct verdict *v);

/* Says the first of them, refusals before the rest, and how JOURNAL shows all; nothing where there were none. */
void alerts_tell(struct alerts *a, const char *journal, struct voice *to);

#endif
