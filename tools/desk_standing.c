/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/desk_standing.h"

#include <errno.h>
#include <json-c/json.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "policy/json_build.h"
#include "policy/policy.h"
#include "rules/cleanup.h"
#include "rules/colours.h"
#include "rules/plain_file.h"
#include "tools/rule_files.h"

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

/* With a file that does not load no session starts: what is listed answers nothing then. */
static int try_load(const char *path)
{
	CLEANUP_FREE struct rule_variables *v = calloc(1, sizeof(*v));
	struct diagnostics found = { 0 };
	struct policy *p = NULL;

	if (!v)
		return -ENOMEM;
	rule_variables(v);
	int rc = policy_new(&(struct policy_options){ .variables = v->item, .n_variables = v->n, .grants_file = path }, &found, &p);
	if (rc) {
		diagnostics_print(&found, stderr, colours_on(STDERR_FILENO));
		fputs("usher: desk: the file of grants does not load: no session starts until that is mended\n", stderr);
	}
	policy_free(p);
	diagnostics_free(&found);
	return rc < 0 ? rc : rc != 0;
}

static int list(const char *path, bool json)
{
	CLEANUP_FREE char *line = NULL;
	size_t room = 0;
	unsigned number = 0;
	int rc = 0;

	FILE *f = plain_lines(path, 0);
	if (!f)
		return -errno;
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

int desk_standing(bool json)
{
	char path[PATH_MAX];

	if (policy_grants_path(path, sizeof(path)) < 0 || (access(path, F_OK) < 0 && errno == ENOENT))
		return 0;
	int rc = list(path, json);
	return rc < 0 ? rc : try_load(path);
}
