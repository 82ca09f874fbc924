// SPDX-License-Identifier: Apache-2.0
#include "audit/escape.h"
#include "policy/real_name.h"
#include "rules/cleanup.h"
#include "rules/user.h"
#include "tools/rule_files.h"

#include <stdlib.h>
#include <unistd.h>

static const char *canonical(const char *path, char out[PATH_MAX])
{
	return path && path[0] == '/' && real_name(path, out) >= 0 ? out : path;
}

void rule_variables(struct rule_variables *out)
{
	const char *home = getenv("HOME"), *tmp = getenv("TMPDIR");
	char cwd[PATH_MAX];
	struct user user;
	bool known = user_find(getuid(), &user);

	out->n = 0;
	snprintf(out->uid, sizeof(out->uid), "%u", (unsigned)getuid());
	snprintf(out->user, sizeof(out->user), "%s", known ? user.name : out->uid);
	if (!home || home[0] != '/')
		home = known ? user.home : "/";
	out->item[out->n++] = (struct variable){ "HOME", canonical(home, out->home), NULL };
	if (getcwd(cwd, sizeof(cwd)) && realpath(cwd, out->pwd))
		out->item[out->n++] = (struct variable){ "PWD", out->pwd, NULL };
	out->item[out->n++] = (struct variable){ "TMPDIR", canonical(tmp && tmp[0] == '/' ? tmp : "/tmp", out->tmp), NULL };
	out->item[out->n++] = (struct variable){ "USER", out->user, NULL };
	out->item[out->n++] = (struct variable){ "UID", out->uid, NULL };
}

void put_text(const char *bytes, size_t n, FILE *to)
{
	CLEANUP_FREE char *text = malloc(n * ESCAPE_GROWTH + 1);
	ssize_t len = text ? escape(text, n * ESCAPE_GROWTH, bytes, n) : -1;
	if (len > 0)
		fwrite(text, 1, (size_t)len, to);
}

char *shown_name(const char *name)
{
	size_t n = strlen(name), cap = n * ESCAPE_GROWTH;
	char *text = malloc(cap + 1);
	ssize_t len = text ? escape(text, cap, name, n) : -1;
	if (text)
		text[len > 0 ? len : 0] = '\0';
	return text;
}

void put_json(const char *bytes, size_t n, FILE *to)
{
	fputc('"', to);
	put_text(bytes, n, to);
	fputc('"', to);
}
