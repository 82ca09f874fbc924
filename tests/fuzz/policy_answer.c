/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers and names from anybody. Properties: what is read as an answer is one (a known kind, a scope with its time, a
 * target only for rewrite); escaping is undone exactly and gives printable ASCII only; a standing rule made for a name answers for that name
 * and for no neighbour of it.
 */
#include <json-c/json.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/asked.h"
#include "policy/question_json.h"
#include "policy/standing.h"
#include "rules/ruleset.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define must(x)                      \
	do {                         \
		if (!(x))            \
			abort();     \
	} while (0)

static void read_answer(const char *line, size_t len)
{
	static struct answer_read a;
	const char *why;
	struct json_object *o = json_read(line, len);
	if (o && answer_json(o, &a, &why) == 0) {
		const struct answer *n = &a.settlement.answer;
		must(n->kind == VERDICT_ALLOW || n->kind == VERDICT_DENY || n->kind == VERDICT_KILL || n->kind == VERDICT_REWRITE);
		must((n->kind == VERDICT_REWRITE) == (n->target[0] != '\0'));
		must((n->scope == SCOPE_TIME) == (n->scope_s != 0));
		must(!a.settlement.directory.bytes || a.settlement.directory.bytes[0] == '/');
		for (const char *p = n->message; *p; p++)
			must(*p >= 0x20 && *p < 0x7f);
	}
	json_object_put(o);
}

static void escape_and_back(struct span s)
{
	size_t need = show_escape(s, NULL, 0);
	char *text = malloc(need + 1), *back = malloc(s.len + 1), cut[2048];
	struct text_buffer t;
	must(text && back && show_escape(s, text, need + 1) == need && strlen(text) == need);
	must(show_unescape(text, back, s.len) == (long)s.len && memcmp(back, s.bytes, s.len) == 0);
	text_start(&t, cut, sizeof(cut));
	text_show(&t, s, 60);
	for (const char *p = cut; *p; p++)
		must(*p >= 0x20 && *p < 0x7f);
	free(text);
	free(back);
}

static enum verdict_kind decide(const struct ruleset *rs, const struct call *call)
{
	struct verdict v;
	ruleset_decide(rs, call, &v);
	return v.kind;
}

/* NAME is a canonical file name. */
static void rule_for(const char *name, uint32_t len)
{
	static char text[STANDING_TEXT];
	struct call c = { .syscall = "openat", .n_objects = 1, .by.image.exe = { name, len } };
	struct verdict v = { .kind = VERDICT_ASK, .where = "x:1" };
	struct question q = { &c, &v, NULL, 0 };
	struct asked *a;
	size_t size;
	struct ruleset *rs = NULL;
	struct diagnostics found = { 0 };
	struct ruleset_source none = { .path = "x" };
	c.object[0] = (struct object){ .kind = OBJECT_FILE, .ops = OP_READ, .name = { name, len } };
	must(asked_new(&q, &a, &size) == 0);
	if (standing_rule(NULL, a, &(struct settlement){ .answer.kind = VERDICT_ALLOW }, text, sizeof(text)) == 0) {
		must(ruleset_parse("x", text, strlen(text), &none, &found, &rs) == 0);
		must(decide(rs, &c) == VERDICT_ALLOW);
		char *other = malloc(len + 1);
		memcpy(other, name, len);
		other[len] = 'x';
		c.object[0].name = (struct span){ other, len + 1 };
		must(decide(rs, &c) == VERDICT_NONE);
		other[len - 1] ^= 1;
		c.object[0].name.len = len;
		must(decide(rs, &c) == VERDICT_NONE);
		free(other);
		ruleset_free(rs);
	}
	diagnostics_free(&found);
	asked_free(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char name[1024] = "/";
	uint32_t len = 1;
	read_answer((const char *)data, size);
	escape_and_back((struct span){ (const char *)data, (uint32_t)size });
	for (size_t i = 0; i < size && len < sizeof(name) - 1; i++) {
		if (data[i] && !(data[i] == '/' && name[len - 1] == '/'))
			name[len++] = (char)data[i];
	}
	if (len > 1 && name[len - 1] != '/' && name[len - 1] != '.' && !strstr(name, "/.") && (name[len - 1] ^ 1) != '/' &&
	    (name[len - 1] ^ 1) != '.' && name[len - 1] != 1)
		rule_for(name, len);
	return 0;
}
