/* SPDX-License-Identifier: Apache-2.0 */
/* Intents in the chain and their outcomes: see intents.h. */
#include "audit/intents.h"

#include <stdlib.h>
#include <string.h>

#include "audit/field.h"

static bool same(const char *a, size_t a_len, const char *b, size_t b_len, const char *key)
{
	struct field x, y;
	return field_find(a, a_len, key, &x) && field_find(b, b_len, key, &y) && x.len == y.len && !memcmp(x.value, y.value, x.len);
}

static bool same_call(const struct intent *i, const char *text, size_t len)
{
	return same(i->text, i->len, text, len, "tid") && same(i->text, i->len, text, len, "pid") && same(i->text, i->len, text, len, "call");
}

static bool is_call(const char *text, size_t len)
{
	struct field type;
	return field_find(text, len, "type", &type) && field_is(&type, "call");
}

static void settle(struct intents *in, const char *text, size_t len)
{
	size_t left = 0;
	for (size_t i = 0; i < in->n; i++) {
		if (same_call(&in->at[i], text, len))
			free(in->at[i].text);
		else
			in->at[left++] = in->at[i];
	}
	in->n = left;
}

static void keep(struct intents *in, const char *text, size_t len)
{
	if (in->n == in->room) {
		size_t room = in->room ? 2 * in->room : 16;
		struct intent *grown = reallocarray(in->at, room, sizeof *grown);
		if (!grown) {
			in->failed = true;
			return;
		}
		in->at = grown;
		in->room = room;
	}
	char *copy = malloc(len);
	if (!copy) {
		in->failed = true;
		return;
	}
	memcpy(copy, text, len);
	in->at[in->n++] = (struct intent){ copy, len };
}

bool intents_note(struct intents *in, const char *text, size_t len)
{
	struct field intent, seq;
	if (in->n && is_call(text, len))
		settle(in, text, len);
	if (!memmem(text, len, "\"intent\":", 9) || !field_find(text, len, "intent", &intent) || !field_find(text, len, "seq", &seq))
		return false;
	keep(in, text, len);
	return true;
}

void intents_free(struct intents *in)
{
	for (size_t i = 0; i < in->n; i++)
		free(in->at[i].text);
	free(in->at);
}
