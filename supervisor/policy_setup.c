/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/policy_setup.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/journal.h"
#include "policy/real_name.h"
#include "rules/cleanup.h"
#include "rules/colours.h"
#include "rules/user.h"
#include "supervisor/helper_files.h"
#include "supervisor/mounts.h"
#include "supervisor/unwind_files.h"

#define MAX_PINNED 2048 /* files of rules; mounts of control groups and, as root, of what the kernel is changed by */
#define MAX_LINKS 256
#define PLACES 3
#define HELPER "exec:"

/* Names that patterns are matched against are canonical: so is every variable that is one. */
static const char *canonical(const char *path, char out[PATH_MAX])
{
	if (real_name(path, out) < 0)
		snprintf(out, PATH_MAX, "%s", path);
	return out;
}

struct places {
	char home[PATH_MAX];
	char pwd[PATH_MAX];
	char tmp[PATH_MAX];
	char journals[PLACES][PATH_MAX];
	char salts[PATH_MAX + 8];
	char uid[16];
	struct user user;
};

static const char *home_of_user(struct user *user)
{
	const char *home = getenv("HOME");

	if (home && home[0] == '/')
		return home;
	return user_find(getuid(), user) ? user->home : "/";
}

/* May ask name services: only for a file that wants to know. */
static char *name_of_user(void)
{
	struct user user;

	return user_find(getuid(), &user) ? strdup(user.name) : NULL;
}

static size_t set_variables(struct places *at, struct variable *v)
{
	const char *tmp = getenv("TMPDIR");
	size_t n = 0;

	snprintf(at->uid, sizeof(at->uid), "%u", (unsigned)getuid());
	v[n++] = (struct variable){ .name = "HOME", .value = canonical(home_of_user(&at->user), at->home) };
	if (getcwd(at->pwd, sizeof(at->pwd)) && at->pwd[0] == '/')
		v[n++] = (struct variable){ .name = "PWD", .value = at->pwd };
	v[n++] = (struct variable){ .name = "TMPDIR", .value = canonical(tmp && tmp[0] == '/' ? tmp : "/tmp", at->tmp) };
	v[n++] = (struct variable){ "USER", at->uid, name_of_user };
	v[n++] = (struct variable){ .name = "UID", .value = at->uid };
	return n;
}

/* Names of links by which what is guarded is known; each was malloc'd. */
struct links {
	char *name[MAX_LINKS];
	size_t n;
	int rc;
};

static void add_link(void *context, const char *name)
{
	struct links *l = context;

	for (size_t i = 0; i < l->n; i++) {
		if (!strcmp(l->name[i], name))
			return;
	}
	if (l->n == MAX_LINKS)
		l->rc = -E2BIG;
	else if (!(l->name[l->n] = strdup(name)))
		l->rc = -ENOMEM;
	else
		l->n++;
}

/* NAME, which may begin where usher was started, from the root. */
static int absolute(const char *name, char out[2 * PATH_MAX])
{
	out[0] = '\0';
	if (name[0] != '/' && !getcwd(out, PATH_MAX))
		return -errno;
	size_t len = strlen(out);
	int n = snprintf(out + len, PATH_MAX, "%s%s", name[0] == '/' ? "" : "/", name);
	return n < PATH_MAX ? 0 : -ENAMETOOLONG;
}

/* Those that lead to NAME, which may begin where usher was started, and is REAL. Most names are what they say. */
static void find_links(struct links *l, const char *name, const char *real)
{
	char whole[2 * PATH_MAX];

	if (!strcmp(name, real) || absolute(name, whole) < 0)
		return;
	int rc = real_name_leads(whole, add_link, l);
	if (rc < 0)
		l->rc = rc;
}

static void free_links(struct links *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->name[i]);
}

/*
 * Where other sessions' journals are: out of reach too. The last place lies where anybody can make names, and is closed whether it is there or
 * not; the guard layer itself sees to what is missing of the others.
 */
static size_t journal_places(struct places *at, struct links *links, const char **out)
{
	char name[PATH_MAX];
	size_t n = 0;

	for (unsigned i = 0; i < PLACES; i++) {
		if (journal_place(i, name, sizeof(name)) != 0 || (i == 1 && access(name, F_OK) != 0))
			continue;
		out[n] = canonical(name, at->journals[i]);
		find_links(links, name, out[n++]);
	}
	return n;
}

static void print_findings(const struct diagnostics *found, bool failed)
{
	/* Warnings are for usher check; here only what stops the start is said. */
	if (failed)
		diagnostics_print(found, stderr, colours_on(STDERR_FILENO));
}

/* Real names of files; each was malloc'd. */
struct pins {
	const char *name[MAX_PINNED];
	size_t n;
	const char *failed; /* the file, as it was given, whose name could not be had; NULL: none */
};

/* The real name of FILE. One that does not exist is nothing to pin; one whose name cannot be had must not stay open to change. */
static int pin(struct pins *p, struct links *links, const char *file)
{
	if (strncmp(file, "builtin:", 8) == 0)
		return 0;
	if (p->n == MAX_PINNED)
		return -E2BIG;
	char *real = realpath(file, NULL);
	if (!real)
		return errno == ENOENT ? 0 : -errno;
	p->name[p->n++] = real;
	if (links)
		find_links(links, file, real);
	return 0;
}

#define GROUPS "/sys/fs/cgroup"

struct mounts {
	struct pins *pins;
	bool root;
	int rc;
};

static bool group_astray(const char *type, const char *dir)
{
	size_t n = strlen(GROUPS);

	return strncmp(type, "cgroup", 6) == 0 && !(strncmp(dir, GROUPS, n) == 0 && (dir[n] == '/' || !dir[n]));
}

static void pin_mount(const char *type, const char *dir, void *context)
{
	struct mounts *m = context;

	if (m->rc == 0 && (group_astray(type, dir) || (m->root && mounts_astray(type, dir))))
		m->rc = pin(m->pins, NULL, dir);
}

/*
 * Control groups: who may write there freezes, kills and starves whom it likes, and leaves its own limits. And as root, wherever they are
 * mounted besides, the files that change the kernel: guard.c and the user's rules know them by their usual names.
 */
static int pin_mounts(struct pins *p)
{
	struct mounts m = { p, geteuid() == 0, pin(p, NULL, GROUPS) };

	int rc = m.rc < 0 ? m.rc : mounts_each(pin_mount, &m);
	return rc < 0 ? rc : m.rc;
}

static bool is_pinned(const struct pins *p, const char *real)
{
	for (size_t i = 0; i < p->n; i++) {
		if (!strcmp(p->name[i], real))
			return true;
	}
	return false;
}

/* FILE, which may have to be made yet: nobody else makes it. */
static int pin_name(struct pins *p, struct links *links, const char *file)
{
	char whole[2 * PATH_MAX], real[PATH_MAX];

	int rc = absolute(file, whole);
	if (rc == 0 && real_name(whole, real) < 0)
		rc = -ENAMETOOLONG;
	if (rc < 0)
		return rc;
	if (!is_pinned(p, real)) { /* a helper's command may name it again and again */
		if (p->n == MAX_PINNED)
			return -E2BIG;
		if (!(p->name[p->n] = strdup(real)))
			return -ENOMEM;
		p->n++;
	}
	find_links(links, file, real);
	return 0;
}

/* The file of heads. A pipe or a device keeps nothing that could be changed, and others may use it. */
static int pin_anchor(struct pins *p, struct links *links, const struct run_options *o)
{
	struct stat st;

	if (!o->anchor || strncmp(o->anchor, ANCHOR_FILE, strlen(ANCHOR_FILE)) != 0)
		return 0;
	const char *file = o->anchor + strlen(ANCHOR_FILE);
	return stat(file, &st) == 0 && !S_ISREG(st.st_mode) ? 0 : pin_name(p, links, file);
}

struct named_pins {
	struct pins *pins;
	struct links *links;
};

static int pin_named(void *context, const char *file)
{
	struct named_pins *h = context;

	return pin_name(h->pins, h->links, file);
}

/* A place that the user chose may be one where the command could write. */
static int pin_libraries(struct pins *p, struct links *links)
{
	struct named_pins h = { p, links };

	return unwind_lib_files(pin_named, &h);
}

/* What answers for the person, or keeps the heads, is run by usher, outside: a tree that could change it would answer its own questions. */
static int pin_helpers(struct pins *p, struct links *links, const struct run_options *o)
{
	const char *ask = o->ask ? strstr(o->ask, HELPER) : NULL; /* it stands last */
	struct named_pins h = { p, links };

	int rc = ask ? helper_files(ask + strlen(HELPER), pin_named, &h) : 0;
	if (rc == 0 && o->anchor && strncmp(o->anchor, HELPER, strlen(HELPER)) == 0)
		rc = helper_files(o->anchor + strlen(HELPER), pin_named, &h);
	return rc;
}

static int pin_files(struct pins *p, struct links *links, const struct run_options *o)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < o->n_files; i++) {
		rc = pin(p, links, o->files[i]);
		p->failed = rc < 0 ? o->files[i] : NULL;
	}
	return rc;
}

static size_t close_files(const struct pins *p, const char **out)
{
	memcpy(out, p->name, p->n * sizeof(out[0]));
	return p->n;
}

static void free_pins(struct pins *p)
{
	for (size_t i = 0; i < p->n; i++)
		free((void *)(uintptr_t)p->name[i]);
}

static int pin_included_by(struct pins *pins, struct links *links, const struct ruleset *rules)
{
	const struct ruleset_file *files;
	size_t count = ruleset_files(rules, &files);
	int rc = 0;

	for (size_t k = 1; rc == 0 && k < count; k++) /* 0 is its own file */
		rc = pin(pins, links, files[k].path);
	return rc;
}

/* Files that the given ones and the file of grants include are closed like them. */
static int pin_included(struct pins *pins, struct links *links, const struct policy *p)
{
	const struct ruleset *rules = policy_standing(p);
	int rc = rules ? pin_included_by(pins, links, rules) : 0;

	for (size_t i = 1; rc == 0 && (rules = policy_layer(p, i)); i++) /* 0 is the guard */
		rc = pin_included_by(pins, links, rules);
	return rc;
}

static int load(const struct policy_options *po, struct policy **out)
{
	struct diagnostics found = { 0 };
	int rc = policy_new(po, &found, out);

	print_findings(&found, rc != 0);
	if (rc != 0 && found.errors) /* what is found says more than an errno */
		fputs("usher: the rules do not load: nothing is started\n", stderr);
	else if (rc < 0)
		fprintf(stderr, "usher: load the rules: %s\n", strerror(-rc));
	diagnostics_free(&found);
	return rc ? -1 : 0;
}

int policy_setup(const struct run_options *o, const char *executable, const char *journal, const char *terminal, struct policy **out)
{
	static const char *const agent[] = { "builtin:agent" };
	struct places at = { 0 };
	struct variable variables[8];
	struct pins program = { .n = 0 }, pins = { .n = 0 };
	struct links links = { .n = 0 };
	const char *guarded[3 + PLACES + MAX_PINNED];
	char grants[PATH_MAX];
	size_t n_guarded = 0;

	int rc = executable ? pin(&program, NULL, executable) : 0;
	const char *called = (const char *)getauxval(AT_EXECFN); /* as usher was started: perhaps by a link */
	if (rc == 0 && called && program.n)
		find_links(&links, called, program.name[0]);
	if (o->journal)
		find_links(&links, o->journal, journal);
	if (rc == 0)
		rc = pin_mounts(&program);
	if (rc == 0)
		rc = pin_anchor(&program, &links, o);
	if (rc == 0)
		rc = pin_helpers(&program, &links, o);
	if (rc == 0)
		rc = pin_libraries(&program, &links);
	if (rc == 0)
		rc = pin_files(&pins, &links, o);
	size_t given = pins.n;
	guarded[n_guarded++] = journal;
	journal_salts(at.salts, sizeof(at.salts), journal);
	guarded[n_guarded++] = at.salts;
	n_guarded += journal_places(&at, &links, guarded + n_guarded);
	if (terminal)
		guarded[n_guarded++] = terminal;
	size_t own = n_guarded, led = links.n;
	n_guarded += close_files(&pins, guarded + own);
	struct policy_options po = {
		.files = o->n_files ? o->files : agent,
		.n_files = o->n_files ? o->n_files : 1,
		.variables = variables,
		.n_variables = set_variables(&at, variables),
		.guarded = guarded,
		.n_guarded = n_guarded,
		.pinned = program.name,
		.n_pinned = program.n,
		.links = (const char *const *)links.name,
		.n_links = links.n,
		.makes_places = true,
		.grants_file = policy_grants_path(grants, sizeof(grants)) == 0 ? grants : NULL,
	};
	bool again = *out, loaded = rc == 0 && (again || load(&po, out) == 0);
	if (loaded)
		rc = pin_included(&pins, &links, *out);
	if (rc == 0)
		rc = links.rc;
	if (loaded && rc == 0 && (again || pins.n > given || links.n > led)) {
		po.n_links = links.n;
		po.n_guarded = own + close_files(&pins, guarded + own);
		rc = policy_guard_anew(*out, &po);
	}
	if (rc < 0) {
		policy_free(*out);
		*out = NULL;
		fprintf(stderr, "usher: find %s%s to guard: %s\n", pins.failed ? "the rule file " : "the rule files", pins.failed ? pins.failed : "",
			strerror(-rc));
	}
	free_pins(&program);
	free_pins(&pins);
	free_links(&links);
	return loaded && rc == 0 ? 0 : -1;
}
