/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/policy_setup.h"

#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit/journal.h"
#include "rules/cleanup.h"

#define MAX_PINNED 128
#define PLACES 3

/* Names that patterns are matched against are canonical: so is every variable that is one. */
static const char *canonical(const char *path, char out[PATH_MAX])
{
	return path && realpath(path, out) ? out : path;
}

struct places {
	char home[PATH_MAX];
	char pwd[PATH_MAX];
	char tmp[PATH_MAX];
	char self[PATH_MAX];
	char journals[PLACES][PATH_MAX];
	char salts[PATH_MAX + 8];
	char uid[16];
};

static const char *home_of_user(const struct passwd *pw)
{
	const char *home = getenv("HOME");

	if (home && home[0] == '/')
		return home;
	return pw ? pw->pw_dir : "/";
}

static size_t set_variables(struct places *at, struct variable *v)
{
	const struct passwd *pw = getpwuid(getuid());
	const char *tmp = getenv("TMPDIR");
	char cwd[PATH_MAX];
	size_t n = 0;

	snprintf(at->uid, sizeof(at->uid), "%u", (unsigned)getuid());
	v[n++] = (struct variable){ "HOME", canonical(home_of_user(pw), at->home) };
	if (getcwd(cwd, sizeof(cwd)) && realpath(cwd, at->pwd))
		v[n++] = (struct variable){ "PWD", at->pwd };
	v[n++] = (struct variable){ "TMPDIR", canonical(tmp && tmp[0] == '/' ? tmp : "/tmp", at->tmp) };
	v[n++] = (struct variable){ "USER", pw ? pw->pw_name : at->uid };
	v[n++] = (struct variable){ "UID", at->uid };
	return n;
}

/* Where other sessions' journals are: out of reach too. A place that is not there would only be a name the tree cannot make. */
static size_t journal_places(struct places *at, const char **out)
{
	char name[PATH_MAX];
	size_t n = 0;

	for (unsigned i = 0; i < PLACES; i++) {
		if (journal_place(i, name, sizeof(name)) != 0 || (i != 0 && access(name, F_OK) != 0))
			continue;
		if (!realpath(name, at->journals[i]))
			memcpy(at->journals[i], name, sizeof(name)); /* not there yet: the name itself */
		out[n++] = at->journals[i];
	}
	return n;
}

static void print_findings(const struct diagnostics *found, bool failed)
{
	/* Warnings are for usher check; here only what stops the start is said. */
	if (failed)
		diagnostics_print(found, stderr, isatty(STDERR_FILENO) && !getenv("NO_COLOR"));
}

/* Real names of the rule files, so that nothing in the tree can change them. Returns how many; out[] is malloc'd strings. */
static size_t pin_files(const struct run_options *o, const char **out)
{
	size_t n = 0;

	for (size_t i = 0; i < o->n_files && n < MAX_PINNED; i++) {
		if (strncmp(o->files[i], "builtin:", 8) == 0)
			continue;
		char *real = realpath(o->files[i], NULL);
		if (real)
			out[n++] = real;
	}
	return n;
}

/* Files that the given ones include are pinned like them. Returns whether PINNED grew. */
static bool pin_included(const struct policy *p, const char **pinned, size_t *n)
{
	const struct ruleset *layer;
	size_t before = *n;

	for (size_t i = 1; (layer = policy_layer(p, i)); i++) { /* 0 is the guard */
		const struct ruleset_file *files;
		size_t count = ruleset_files(layer, &files);
		for (size_t k = 1; k < count && *n < MAX_PINNED; k++) { /* 0 is the layer's own file */
			char *real = strncmp(files[k].path, "builtin:", 8) ? realpath(files[k].path, NULL) : NULL;
			if (real)
				pinned[(*n)++] = real;
		}
	}
	return *n > before;
}

static int load(const struct policy_options *po, struct policy **out)
{
	struct diagnostics found = { 0 };
	int rc = policy_new(po, &found, out);

	print_findings(&found, rc != 0);
	if (rc < 0)
		fprintf(stderr, "usher: load the rules: %s\n", strerror(-rc));
	diagnostics_free(&found);
	return rc ? -1 : 0;
}

int policy_setup(const struct run_options *o, const char *journal, const char *terminal, struct policy **out)
{
	static const char *const agent[] = { "builtin:agent" };
	struct places at = { 0 };
	struct variable variables[8];
	const char *pinned[MAX_PINNED + 1];
	const char *guarded[3 + PLACES];
	char grants[PATH_MAX];
	size_t n_pinned = pin_files(o, pinned), n_guarded = 0;

	if (n_pinned < MAX_PINNED && realpath("/proc/self/exe", at.self))
		pinned[n_pinned++] = strdup(at.self);
	guarded[n_guarded++] = journal;
	journal_salts(at.salts, sizeof(at.salts), journal);
	guarded[n_guarded++] = at.salts;
	n_guarded += journal_places(&at, guarded + n_guarded);
	if (terminal)
		guarded[n_guarded++] = terminal;
	struct policy_options po = {
		.files = o->n_files ? o->files : agent,
		.n_files = o->n_files ? o->n_files : 1,
		.variables = variables,
		.n_variables = set_variables(&at, variables),
		.guarded = guarded,
		.n_guarded = n_guarded,
		.pinned = pinned,
		.n_pinned = n_pinned,
		.grants_file = policy_grants_path(grants, sizeof(grants)) == 0 ? grants : NULL,
	};
	int rc = load(&po, out);
	if (rc == 0 && pin_included(*out, pinned, &n_pinned)) {
		po.n_pinned = n_pinned;
		policy_free(*out);
		rc = load(&po, out);
	}
	for (size_t i = 0; i < n_pinned; i++)
		free((void *)(uintptr_t)pinned[i]);
	return rc;
}
