/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/alerts.h"

#include <string.h>

#include "policy/show.h"
#include "rules/rule.h"

#define NAME_SHOWN 300

static void show(struct text_buffer *t, const char *text)
{
	text_show(t, (struct span){ text, (uint32_t)strlen(text) }, NAME_SHOWN);
}

/* "deny read /home/u/.netrc by /bin/cat (builtin:secrets:11: passwords and tokens)" */
static void describe(const struct call *call, const struct verdict *v, char text[ALERT_TEXT])
{
	const struct object *o = v->object < call->n_objects ? &call->object[v->object] : NULL;
	struct text_buffer t;

	text_start(&t, text, ALERT_TEXT);
	text_add(&t, "%s ", verdict_name(v->kind));
	if (o) {
		text_ops(&t, o->ops);
		text_add(&t, " ");
		text_object_word(&t, o, NAME_SHOWN);
	} else {
		text_add(&t, "%s", call->syscall);
	}
	text_add(&t, " by ");
	text_word(&t, call->by.image.exe, NAME_SHOWN);
	text_add(&t, " (");
	show(&t, v->where ? v->where : "default");
	if (v->rule && v->rule->reason) {
		text_add(&t, ": ");
		show(&t, v->rule->reason);
	}
	text_add(&t, ")");
}

static bool is_known(const struct alert_list *a, const char *text)
{
	for (unsigned i = 0; i < a->shown; i++) {
		if (!strcmp(a->text[i], text))
			return true;
	}
	return false;
}

void alerts_note(struct alerts *a, const struct call *call, const struct verdict *v)
{
	struct alert_list *l = verdict_compare(v->kind, VERDICT_DENY) >= 0 ? &a->refused : &a->passed;
	char text[ALERT_TEXT];

	if (atomic_load(&l->more)) /* nothing of it would be told: a call that is decided again and again takes no lock */
		return;
	describe(call, v, text);
	pthread_mutex_lock(&a->lock);
	if (!is_known(l, text)) {
		if (l->shown < ALERTS_SHOWN)
			memcpy(l->text[l->shown++], text, ALERT_TEXT);
		else
			atomic_store(&l->more, true);
	}
	pthread_mutex_unlock(&a->lock);
}

static void tell(const struct alert_list *l, unsigned most, struct voice *to)
{
	for (unsigned i = 0; i < l->shown && i < most; i++)
		voice_say(to, "usher: alert: %s\n", l->text[i]);
}

void alerts_tell(struct alerts *a, const char *journal, struct voice *to)
{
	unsigned all;
	bool more;

	pthread_mutex_lock(&a->lock);
	all = a->refused.shown + a->passed.shown;
	more = a->refused.more || a->passed.more || all > ALERTS_SHOWN;
	tell(&a->refused, ALERTS_SHOWN, to);
	tell(&a->passed, ALERTS_SHOWN - a->refused.shown, to);
	if (all)
		voice_say(to, "usher: %s'usher log %s alert' shows %s\n", more ? "and more: " : "", journal, more ? "all" : "when, and what came of it");
	pthread_mutex_unlock(&a->lock);
}
