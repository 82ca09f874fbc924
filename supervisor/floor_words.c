/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/floor_words.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rules/cleanup.h"
#include "rules/ruleset.h"
#include "rules/strbuf.h"

#define DEPTH_MAX 8

int floor_word_next(const char **at, char **word)
{
	const char *p = *at;

	p += strspn(p, " \t\r\n");
	if (*p == '\0' || *p == '#')
		return 0;
	char *out = malloc(strlen(p) + 1);
	if (!out)
		return -ENOMEM;
	size_t n = 0;
	bool quoted = false;
	for (; *p && (quoted || !strchr(" \t\r\n", *p)); p++) {
		if (*p == '"')
			quoted = !quoted;
		else
			out[n++] = *p;
	}
	out[n] = '\0';
	*at = p;
	*word = out;
	return 1;
}

bool floor_word_option(const char *word)
{
	size_t n = strspn(word, "abcdefghijklmnopqrstuvwxyz_-");

	return word[n] == '=' || strcmp(word, "stack") == 0;
}

/* LINE is "set NAME = VALUE": its value takes the place of *found, which is malloc'd. Returns 0 or -ENOMEM. */
static int set_in_line(const char *line, const char *name, size_t len, char **found)
{
	char key[256], value[PATH_MAX];

	if (sscanf(line, " set %255[A-Za-z0-9_] = %4095s", key, value) != 2 || strlen(key) != len || memcmp(key, name, len) != 0)
		return 0;
	free(*found);
	*found = strdup(value);
	return *found ? 0 : -ENOMEM;
}

/* The value of "set NAME = VALUE" in the layer's files; the last one counts. NULL when there is none. Malloc'd. Returns 0 or -ENOMEM. */
static int set_in_files(const struct ruleset *layer, const char *name, size_t len, char **out)
{
	const struct ruleset_file *files = NULL;
	size_t count = layer ? ruleset_files(layer, &files) : 0;
	CLEANUP_FREE char *found = NULL;

	for (size_t i = 0; i < count; i++) {
		const char *p = files[i].text;
		const char *end = p + files[i].len;
		while (p && p < end) {
			const char *eol = memchr(p, '\n', (size_t)(end - p));
			CLEANUP_FREE char *line = strndup(p, eol ? (size_t)(eol - p) : (size_t)(end - p));
			int rc = line ? set_in_line(line, name, len, &found) : -ENOMEM;
			if (rc < 0)
				return rc;
			p = eol ? eol + 1 : NULL;
		}
	}
	*out = steal_pointer(&found);
	return 0;
}

/* The variables that are set before a file is read. NULL when NAME is none of them. Malloc'd. */
static char *set_before(const char *name, size_t len)
{
	static const char *const known[] = { "HOME", "PWD", "TMPDIR", "USER", "UID" };
	char uid[32];

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strlen(known[i]) != len || memcmp(known[i], name, len) != 0)
			continue;
		if (i == 1)
			return getcwd(NULL, 0);
		snprintf(uid, sizeof(uid), "%u", (unsigned)getuid());
		const char *v = i == 4 ? uid : getenv(known[i]);
		if (!v && i == 2)
			v = "/tmp";
		return v ? strdup(v) : NULL;
	}
	return NULL;
}

static int expand(const struct ruleset *layer, const char *word, unsigned depth, char **out);

static int expand_name(const struct ruleset *layer, const char *name, size_t len, unsigned depth, char **out)
{
	CLEANUP_FREE char *value = NULL;
	CLEANUP_FREE char *word = NULL;

	int rc = set_in_files(layer, name, len, &value);
	if (rc < 0)
		return rc;
	if (!value) {
		*out = set_before(name, len);
		return *out ? 0 : 1;
	}
	const char *at = value;
	rc = floor_word_next(&at, &word);
	if (rc != 1)
		return rc < 0 ? rc : 1;
	return depth < DEPTH_MAX ? expand(layer, word, depth + 1, out) : 1;
}

static int expand(const struct ruleset *layer, const char *word, unsigned depth, char **out)
{
	CLEANUP_STRBUF struct strbuf text = { 0 };
	int rc = 0;

	for (const char *p = word; rc == 0 && *p;) {
		bool home = p == word && p[0] == '~' && (p[1] == '/' || p[1] == '\0');
		if (!home && *p != '$') {
			strbuf_add(&text, p++, 1);
			continue;
		}
		const char *name = home ? "HOME" : ++p;
		bool braced = *name == '{';
		name += braced;
		size_t len = home ? 4 : strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");
		CLEANUP_FREE char *value = NULL;
		rc = expand_name(layer, name, len, depth, &value);
		if (rc == 0)
			strbuf_puts(&text, value);
		p = home ? p + 1 : name + len + braced;
	}
	return rc ? rc : strbuf_end(&text, out, NULL);
}

int floor_word_expand(const struct ruleset *layer, const char *word, char **out)
{
	return expand(layer, word, 0, out);
}
