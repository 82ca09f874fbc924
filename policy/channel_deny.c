/* SPDX-License-Identifier: Apache-2.0 */
/* Nobody is there: every question is answered with deny at once. */
#include <string.h>

#include "policy/channel.h"

static int deny_open(struct questions *qs, const struct questions_options *options, const char *argument, void **state,
		     const char **why)
{
	*state = qs;
	return 0;
}

static void deny_put(void *state, struct filed *q)
{
	struct settlement s = { .scope_given = true };
	strcpy(s.answer.channel, "deny");
	strcpy(s.answer.who, "--ask=deny");
	question_answer(state, q->id, &s);
}

static void deny_close(void *state)
{
}

const struct channel_row channel_deny = {
	.word = "deny",
	.timeout_s = 60,
	.open = deny_open,
	.put = deny_put,
	.close = deny_close,
};
