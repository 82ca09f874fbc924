/* SPDX-License-Identifier: Apache-2.0 */
/* Answers on their way to a session. */
#ifndef USHER_TOOLS_DESK_ANSWER_H
#define USHER_TOOLS_DESK_ANSWER_H

#include <stdbool.h>
#include <stdint.h>

#include "tools/desk_client.h"

struct desk_answer {
	const char *word;      /* allow, deny, kill, rewrite */
	const char *scope;     /* once, session, tree, always or a time ("10m"); NULL: as the rule says */
	const char *directory; /* NULL: the object */
	const char *pattern;   /* NULL: the object, or the directory */
	const char *message;
	const char *target;    /* rewrite */
};

/* Answers question ID of S. Returns 0, or -1 with *error (in BUF). */
int desk_answer(struct desk_session *s, uint64_t id, const struct desk_answer *a, char *error, size_t cap);

/* The rules that answering for ever would write, and where: into TEXT and FILE. Returns 0, or -1 with the reason in TEXT. */
int desk_answer_rule(struct desk_session *s, uint64_t id, const struct desk_answer *a, char *text, size_t cap, char *file,
		     size_t file_cap);

#endif
