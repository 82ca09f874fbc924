/* SPDX-License-Identifier: Apache-2.0 */
/* Reading answers. The writer may be slow, broken or lying: whatever is not plainly an answer is none. */
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/question_json.h"

uint32_t duration_parse(const char *text)
{
	char *end;
	if (!text || *text < '0' || *text > '9')
		return 0;
	errno = 0;
	unsigned long n = strtoul(text, &end, 10);
	unsigned long unit = *end == 'm' ? 60 : *end == 'h' ? 3600 : *end == 'd' ? 86400 : 1;
	if (*end && strchr("smhd", *end))
		end++;
	if (*end || errno || n > 366ul * 86400 / unit)
		return 0;
	return (uint32_t)(n * unit);
}

static int read_kind(struct json_object *o, struct answer *a)
{
	static const enum verdict_kind kinds[] = { VERDICT_ALLOW, VERDICT_DENY, VERDICT_KILL, VERDICT_REWRITE };
	const char *word = json_text(o, "answer");
	for (size_t i = 0; word && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(word, verdict_name(kinds[i])) == 0) {
			a->kind = kinds[i];
			return 0;
		}
	}
	return -EINVAL;
}

static int read_scope(struct json_object *o, struct settlement *s)
{
	static const char *const words[] = { "once", "time", "tree", "session", "always" };
	const char *word = json_text(o, "scope");
	s->scope_given = word != NULL;
	if (!word)
		return json_object_object_get_ex(o, "scope", NULL) ? -EINVAL : 0;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(word, words[i]) != 0)
			continue;
		s->answer.scope = (enum answer_scope)i;
		if (s->answer.scope == SCOPE_TIME)
			s->answer.scope_s = duration_parse(json_text(o, "for"));
		return s->answer.scope == SCOPE_TIME && !s->answer.scope_s ? -EINVAL : 0;
	}
	return -EINVAL;
}

/* A name as it was shown, back to its bytes: absolute and clean. */
static long read_name(struct json_object *o, const char *key, char *out, size_t cap)
{
	const char *text = json_text(o, key);
	if (!text)
		return json_object_object_get_ex(o, key, NULL) ? -1 : 0;
	long n = show_unescape(text, out, cap - 1);
	if (n <= 0 || memchr(out, '\0', (size_t)n))
		return -1;
	out[n] = '\0';
	return n;
}

int answer_json(struct json_object *o, struct answer_read *out, const char **why)
{
	*out = (struct answer_read){ 0 };
	struct settlement *s = &out->settlement;
	*why = "\"answer\" must be allow, deny, kill or rewrite";
	if (read_kind(o, &s->answer) < 0)
		return -EINVAL;
	*why = "\"scope\" must be once, time (with \"for\"), tree, session or always";
	if (read_scope(o, s) < 0)
		return -EINVAL;
	*why = "\"target\" must be a name, and is what rewrite needs";
	long target = read_name(o, "target", s->answer.target, sizeof(s->answer.target));
	if (target < 0 || (s->answer.kind == VERDICT_REWRITE) != (target > 0))
		return -EINVAL;
	*why = "\"directory\" must be an absolute name";
	long dir = read_name(o, "directory", out->directory, sizeof(out->directory));
	if (dir < 0 || (dir > 0 && out->directory[0] != '/'))
		return -EINVAL;
	while (dir > 1 && out->directory[dir - 1] == '/')
		dir--;
	if (dir > 0)
		s->directory = (struct span){ out->directory, (uint32_t)dir };
	*why = "\"pattern\" must be one of the rule language, without \"directory\"";
	const char *pattern = json_text(o, "pattern");
	if (json_object_object_get_ex(o, "pattern", NULL) &&
	    (!pattern || !*pattern || dir > 0 || strlen(pattern) >= sizeof(out->pattern)))
		return -EINVAL;
	if (pattern) {
		snprintf(out->pattern, sizeof(out->pattern), "%s", pattern);
		s->pattern = out->pattern;
	}
	const char *message = json_text(o, "message");
	snprintf(s->answer.message, sizeof(s->answer.message), "%s", message ? message : "");
	show_clean(s->answer.message);
	*why = NULL;
	return 0;
}
