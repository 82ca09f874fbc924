/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/desk_standing.h"

#include <errno.h>
#include <json-c/json.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/json_build.h"
#include "policy/policy.h"
#include "rules/cleanup.h"
#include "rules/plain_file.h"

/* RULE as it stands in the file, so that it can be copied; what is not printable ASCII as rules may have it, too. NULL without memory. */
static char *plain(const char *rule)
{
	char *out = malloc(4 * strlen(rule) + 1), *at = out;

	if (!out)
		return NULL;
	for (; *rule; rule++)
		at += sprintf(at, (unsigned char)*rule >= 0x20 && (unsigned char)*rule < 0x7f ? "%c" : "\\x%02x", (unsigned char)*rule);
	*at = '\0';
	return out;
}

static void print_text(const char *file, unsigned line, const char *rule)
{
	printf("always   %s   (%s:%u)\n", rule, file, line);
}

static void print_json(const char *file, unsigned line, const char *rule)
{
	struct json_build b = json_build_new();

	json_put(&b, "file", json_object_new_string(file));
	json_put(&b, "line", json_object_new_int64(line));
	json_put(&b, "rule", json_object_new_string(rule));
	struct json_object *o = json_build_done(&b);
	if (o)
		puts(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(o);
}

static int print_rule(const char *path, unsigned line, const char *rule, bool json)
{
	CLEANUP_FREE char *file = plain(path), *text = plain(rule);

	if (!file || !text)
		return -ENOMEM;
	(json ? print_json : print_text)(file, line, text);
	return 0;
}

int desk_standing(bool json)
{
	char path[PATH_MAX];
	CLEANUP_FREE char *line = NULL;
	size_t room = 0;
	unsigned number = 0;
	int rc = 0;

	if (policy_grants_path(path, sizeof(path)) < 0)
		return 0;
	FILE *f = plain_lines(path, 0);
	if (!f)
		return errno == ENOENT ? 0 : -errno;
	for (ssize_t n; (n = getline(&line, &room, f)) > 0;) {
		number++;
		line[strcspn(line, "\r\n")] = '\0';
		const char *rule = line + strspn(line, " \t");
		if (*rule && *rule != '#' && (rc = print_rule(path, number, rule, json)) < 0)
			break;
	}
	if (ferror(f))
		rc = -EIO;
	fclose(f);
	return rc;
}
