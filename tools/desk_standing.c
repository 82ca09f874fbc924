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

/* As it stands in the file, so that it can be copied; what is not printable ASCII as rules may have it, too. */
static void print_text(const char *file, unsigned line, const char *rule)
{
	fputs("always   ", stdout);
	for (const char *p = rule; *p; p++)
		printf((unsigned char)*p >= 0x20 && (unsigned char)*p < 0x7f ? "%c" : "\\x%02x", (unsigned char)*p);
	printf("   (%s:%u)\n", file, line);
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

int desk_standing(bool json)
{
	char path[PATH_MAX];
	CLEANUP_FREE char *line = NULL;
	size_t room = 0;
	unsigned number = 0;

	if (policy_grants_path(path, sizeof(path)) < 0)
		return 0;
	FILE *f = fopen(path, "re");
	if (!f)
		return errno == ENOENT ? 0 : -errno;
	for (ssize_t n; (n = getline(&line, &room, f)) > 0;) {
		number++;
		line[strcspn(line, "\r\n")] = '\0';
		const char *rule = line + strspn(line, " \t");
		if (*rule && *rule != '#')
			(json ? print_json : print_text)(path, number, rule);
	}
	int rc = ferror(f) ? -EIO : 0;
	fclose(f);
	return rc;
}
