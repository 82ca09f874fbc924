/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/channels.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct channel_row *const rows[] = { &channel_tty, &channel_desk, &channel_exec, &channel_deny, NULL };

static const struct channel_row *row_find(const char *word, size_t len)
{
	for (size_t i = 0; rows[i]; i++) {
		if (strlen(rows[i]->word) == len && memcmp(rows[i]->word, word, len) == 0)
			return rows[i];
	}
	return NULL;
}

static int stage_parse(const char *word, size_t len, struct stage *out, const char **why)
{
	const char *colon = memchr(word, ':', len);
	size_t name = colon ? (size_t)(colon - word) : len;
	*out = (struct stage){ .row = row_find(word, name) };
	if (!out->row) {
		*why = "unknown channel: expected tty, desk, deny, exec:CMD, chain:A,B or any:A,B";
		return -EINVAL;
	}
	bool given = colon && len > name + 1;
	if (given != (out->row->argument != NULL) || (colon && !given)) {
		*why = out->row->argument ? "exec needs a command: exec:CMD" : "this channel takes no argument";
		return -EINVAL;
	}
	if (given)
		out->argument = strndup(colon + 1, len - name - 1);
	return given && !out->argument ? -ENOMEM : 0;
}

static bool named_before(const struct stage *s, int n, const struct channel_row *row)
{
	for (int i = 0; i < n; i++) {
		if (s[i].row == row)
			return true;
	}
	return false;
}

static int stage_add(const char *word, size_t len, struct stage *s, int n, const char **why)
{
	if (n == CHANNELS_MAX) {
		*why = "too many channels";
		return -EINVAL;
	}
	int rc = stage_parse(word, len, &s[n], why);
	if (rc == 0 && named_before(s, n, s[n].row)) {
		free(s[n].argument);
		*why = "the same channel twice";
		return -EINVAL;
	}
	return rc;
}

int channels_parse(const char *word, struct stage out[CHANNELS_MAX], bool *together, const char **why)
{
	bool chain = strncmp(word, "chain:", 6) == 0;
	*together = strncmp(word, "any:", 4) == 0;
	const char *at = chain ? word + 6 : *together ? word + 4 : word;
	for (int n = 0;;) {
		bool exec = strncmp(at, "exec:", 5) == 0;
		const char *comma = (chain || *together) && !exec ? strchr(at, ',') : NULL;
		int rc = stage_add(at, comma ? (size_t)(comma - at) : strlen(at), out, n, why);
		if (rc < 0) {
			while (n > 0)
				free(out[--n].argument);
			return rc;
		}
		n++;
		if (!comma)
			return n;
		at = comma + 1;
	}
}

int channels_check(const char *word, const char **why)
{
	struct stage stage[CHANNELS_MAX] = { 0 };
	bool together;

	*why = "out of memory";
	int n = channels_parse(word, stage, &together, why);
	for (int i = 0; i < n; i++)
		free(stage[i].argument);
	return n < 0 ? n : 0;
}
