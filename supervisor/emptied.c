/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/emptied.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit/journal.h"
#include "policy/policy.h"
#include "rules/cleanup.h"
#include "supervisor/run.h"
#include "supervisor/run_internal.h"
#include "supervisor/spaces.h"

/* NAME without links; of one that is not there yet, its directory. False where that is not there either: whoever opens it says so. */
static bool real(const char *name, char out[PATH_MAX])
{
	char copy[PATH_MAX];

	if (realpath(name, out))
		return true;
	if (strlen(name) >= sizeof(copy))
		return false;
	strcpy(copy, name);
	return realpath(dirname(copy), out);
}

#define LOST "it would be gone with the session. Name a place elsewhere"

/* WHAT lies at NAME, THEN says what to do. */
static int look(const struct run_options *o, const struct spaces *s, const char *name, const char *what, const char *then)
{
	char at[PATH_MAX];
	const char *dir = name && real(name, at) ? spaces_emptied(s, at) : NULL;

	if (!dir)
		return 0;
	CLEANUP_FREE char *shown = run_shown(name);
	fprintf(stderr, "usher: --isolate=%s: %s %s lies in %s, and the session has an empty one of its own: %s\n", o->isolate, what, shown ? shown : "", dir, then);
	return -EBUSY;
}

/* What follows exec: is a command. */
static bool names_desk(const char *channel)
{
	const char *desk = channel ? strstr(channel, "desk") : NULL, *exec = channel ? strstr(channel, "exec:") : NULL;

	return desk && (!exec || desk < exec);
}

/* Answers that hold for ever, denials too, would be out of sight. One that is not there yet has none. */
static int look_at_grants(const struct run_options *o, const struct spaces *s)
{
	char grants[PATH_MAX];

	if (policy_grants_path(grants, sizeof(grants)) < 0 || access(grants, F_OK) < 0)
		return 0;
	return look(o, s, grants, "the file of grants", "its answers would not hold. Set XDG_CONFIG_HOME to a place elsewhere");
}

int emptied_names(const struct run_options *o)
{
	struct spaces s;
	char cwd[PATH_MAX], desk[PATH_MAX];
	int rc = spaces_parse(o->isolate, &s);

	if (rc < 0 || (!s.tmp && !s.shm))
		return rc;
	if (getcwd(cwd, sizeof(cwd)) && spaces_emptied(&s, cwd)) /* spaces_enter() says so */
		return 0;
	for (size_t i = 0; rc == 0 && i < o->n_files; i++)
		rc = strncmp(o->files[i], "builtin:", 8) == 0 ? 0 : look(o, &s, o->files[i], "the rule file", "put the file elsewhere");
	if (rc == 0)
		rc = look_at_grants(o, &s);
	if (rc == 0)
		rc = look(o, &s, o->journal, "the journal", LOST " (--journal=DIR)");
	if (rc == 0 && o->anchor && strncmp(o->anchor, ANCHOR_FILE, strlen(ANCHOR_FILE)) == 0)
		rc = look(o, &s, o->anchor + strlen(ANCHOR_FILE), "the anchor", LOST);
	if (rc == 0 && names_desk(o->ask) && policy_desk_dir(desk, sizeof(desk)) == 0)
		rc = look(o, &s, desk, "the desk's directory", "nobody could answer there. Set XDG_RUNTIME_DIR to a place elsewhere");
	return rc;
}

int emptied_journal(const struct run_options *o, const char *journal)
{
	struct spaces s;

	return spaces_parse(o->isolate, &s) < 0 || (!s.tmp && !s.shm) || o->journal ? 0 : look(o, &s, journal, "the journal", LOST " (--journal=DIR)");
}
