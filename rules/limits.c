// SPDX-License-Identifier: Apache-2.0
/* limit NAME VALUE: what the tree may use. Within a file the smallest holds. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rules/parser.h"

struct unit {
	const char *suffix;
	uint64_t factor;
};

static const struct unit times[] = { { "ms", 1 }, { "s", 1000 }, { "m", 60 * 1000 }, { "h", 60 * 60 * 1000 }, { NULL, 0 } };
static const struct unit sizes[] = { { "K", 1 << 10 }, { "M", 1 << 20 }, { "G", 1 << 30 }, { "T", 1ULL << 40 }, { NULL, 0 } };
static const struct unit counts[] = { { "", 1 }, { NULL, 0 } };

static const struct {
	const char *word;
	const struct unit *units;
	const char *expected;
} kinds[LIMIT_KINDS] = {
	[LIMIT_WALL] = { "wall", times, "a time such as 90s, 10m or 2h was expected" },
	[LIMIT_CPU] = { "cpu", times, "a time such as 90s, 10m or 2h was expected" },
	[LIMIT_MEMORY] = { "memory", sizes, "a size such as 512M or 2G was expected" },
	[LIMIT_PROCESSES] = { "processes", counts, "a number of processes, from 1, was expected" },
	[LIMIT_FILES] = { "files", counts, "a number of open files, from 1, was expected" },
	[LIMIT_FILESIZE] = { "filesize", sizes, "a size such as 512M or 2G was expected" },
};

const char *limit_name(enum limit_kind kind)
{
	return kinds[kind].word;
}

/* Digits, then one of UNITS. Returns 0 when TEXT is nothing of the kind, or too large. */
static uint64_t amount(const char *text, const struct unit *units)
{
	char *end;

	if (*text < '0' || *text > '9')
		return 0;
	errno = 0;
	uint64_t n = strtoull(text, &end, 10);
	for (; units->suffix; units++) {
		if (strcmp(end, units->suffix) == 0)
			return errno || n > INT64_MAX / units->factor ? 0 : n * units->factor;
	}
	return 0;
}

static int expected(struct parser *p, size_t at, const char *word)
{
	const char *known[LIMIT_KINDS + 1] = { NULL };
	char list[WORD_LIST];

	for (size_t i = 0; i < LIMIT_KINDS; i++)
		known[i] = kinds[i].word;
	return parser_fail_word(p, at, word, known, "limit %s, and how much, was expected", list_words(list, known));
}

int parse_limit(struct parser *p, const struct line *line)
{
	if (line->n != 3)
		return expected(p, line->to, NULL);
	const struct word *what = &line->word[1];
	for (size_t i = 0; i < LIMIT_KINDS; i++) {
		if (!word_is(what, kinds[i].word))
			continue;
		const char *text = word_text(&p->scratch, &line->word[2], 0);
		if (!text)
			return -ENOMEM;
		uint64_t value = amount(text, kinds[i].units);
		if (!value)
			return parser_fail(p, line->word[2].from, "%s", kinds[i].expected);
		if (!p->rs->limit[i] || value < p->rs->limit[i])
			p->rs->limit[i] = value;
		return 0;
	}
	return expected(p, what->from, word_text(&p->scratch, what, 0));
}

uint64_t ruleset_limit(const struct ruleset *rs, enum limit_kind kind)
{
	return rs->limit[kind];
}
