// SPDX-License-Identifier: Apache-2.0
/*
 * What names lead to on this machine when the rules are loaded: patterns are matched against
 * canonical names, so a beginning that holds links (/lib, /bin/sh, /var/run) gets its
 * canonical form beside it; and literal names that are forbidden get their identity.
 *
 * MUST: identities and links make what is refused match more, always; a link makes anything else
 * match more only where nobody but root could have laid it, outside the directories that the
 * variables name (or where it is part of a variable's own value): an ask that came to
 * match more could come before a refusal.
 */
#include <errno.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "rules/device.h"
#include "rules/links.h"

static bool forbids(const struct rule *r)
{
	return r->kind == VERDICT_DENY || r->kind == VERDICT_KILL;
}

/* The canonical form of G (a program over names without the first slash) into *out. 1: there is none, 0, or -ENOMEM. */
static int canonical_glob(struct ruleset *rs, struct links *links, const struct rule *rule, const struct glob *g,
			  struct glob *out)
{
	glob_unit units[GLOB_TOKENS + PATH_MAX];
	char path[GLOB_TOKENS + 2], to[PATH_MAX];
	uint32_t whole = glob_literal_components(g);
	bool trusted;
	path[0] = '/';
	for (uint32_t i = 0; i < whole; i++)
		path[1 + i] = (char)g->token[i].byte;
	path[1 + whole] = 0;
	/* It leads to usher's own process here (object_parser.c). */
	if (links_of_self(path, whole + 1))
		return 1;
	int r = whole ? links_follow(links, path, to, &trusted) : 1;
	if (r || strcmp(path, to) == 0)
		return r ? r : 1;
	if (!trusted && !forbids(rule))
		return 1;
	size_t n = 0;
	for (size_t i = 1; to[i]; i++)
		units[n++] = (glob_unit)((unsigned char)to[i] | GLOB_LITERAL);
	return glob_graft(&rs->arena, units, n, g, whole, out);
}

static int alias_pattern(struct ruleset *rs, struct links *links, const struct compiled_rule *rule, const struct pattern *p,
			 struct pattern *out)
{
	if (p->kind != OBJECT_FILE && p->kind != OBJECT_UNIX)
		return 1;
	*out = *p;
	out->alias = true;
	int r = canonical_glob(rs, links, &rule->pub, &p->glob, &out->glob);
	return r ? r : pattern_name(&rs->arena, out);
}

static int alias_patterns(struct ruleset *rs, struct links *links, struct compiled_rule *rule)
{
	struct pattern *more = NULL;
	uint32_t n = 0, room = 0;
	bool any = false;
	int r = 0;
	for (uint32_t i = 0; r >= 0 && i < rule->n_patterns; i++) {
		r = reserve((void **)&more, &room, n + rule->n_patterns - i + 1, sizeof(*more));
		if (r)
			break;
		more[n++] = rule->pattern[i];
		r = alias_pattern(rs, links, rule, &rule->pattern[i], &more[n]);
		n += r == 0;
		any |= r == 0;
	}
	struct pattern *kept = r >= 0 && any ? arena_alloc(&rs->arena, n * sizeof(*kept)) : NULL;
	if (kept) {
		memcpy(kept, more, n * sizeof(*kept));
		rule->pattern = kept;
		rule->n_patterns = n;
	}
	free(more);
	return r < 0 ? r : any && !kept ? -ENOMEM : 0;
}

/*
 * Where a rewrite leads, over links that the program cannot have laid: a name that is canonical already. Any other link on the way
 * is found when it leads on, and what is there is decided on for itself.
 */
static int canonical_goal(struct ruleset *rs, struct links *links, struct compiled_rule *rule)
{
	char path[GLOB_TOKENS + 2], to[PATH_MAX];
	bool trusted;
	if (!rule->to || (rule->to->kind != OBJECT_FILE && rule->to->kind != OBJECT_UNIX) || rule->to->len < 2)
		return 0;
	memcpy(path, rule->to->name, rule->to->len);
	path[rule->to->len] = 0;
	int r = links_follow(links, path, to, &trusted);
	if (r || !trusted || strcmp(path, to) == 0)
		return r < 0 ? r : 0;
	struct rewrite *real = arena_alloc(&rs->arena, sizeof(*real));
	if (!real)
		return -ENOMEM;
	*real = *rule->to;
	real->len = strcmp(to, "/") == 0 && real->subtree ? 0 : (uint32_t)strlen(to);
	real->name = arena_copy(&rs->arena, to, real->len);
	rule->to = real;
	return real->name ? 0 : -ENOMEM;
}

static int alias_globs(struct ruleset *rs, struct links *links, const struct rule *rule, const struct glob **globs, uint32_t *n)
{
	struct glob *more = *n ? arena_alloc(&rs->arena, 2 * *n * sizeof(*more)) : NULL;
	uint32_t have = 0;
	if (!*n)
		return 0;
	if (!more)
		return -ENOMEM;
	for (uint32_t i = 0; i < *n; i++) {
		more[have++] = (*globs)[i];
		int r = canonical_glob(rs, links, rule, &(*globs)[i], &more[have]);
		if (r < 0)
			return r;
		have += r == 0;
	}
	*globs = more;
	*n = have;
	return 0;
}

static int alias_conditions(struct ruleset *rs, struct links *links, struct compiled_rule *rule)
{
	if (!rule->when || !(rule->when->n_by || rule->when->n_tree))
		return 0;
	struct conditions *when = arena_alloc(&rs->arena, sizeof(*when));
	if (!when)
		return -ENOMEM;
	*when = *rule->when;
	rule->when = when;
	int r = alias_globs(rs, links, &rule->pub, &when->by, &when->n_by);
	return r ? r : alias_globs(rs, links, &rule->pub, &when->tree, &when->n_tree);
}

/*
 * overlayfs gives each name of a lower file a file of its own as soon as it is changed by that name, or moved (where it has no index): a copy
 * that no identity tells from others.
 */
static op_set parting(const struct compiled_rule *rule, const char *path, const struct stat *st)
{
	struct statfs fs;
	if (!(rule->pub.ops & (OP_READ | OP_EXEC)) || !S_ISREG(st->st_mode) || st->st_nlink < 2)
		return 0;
	return statfs(path, &fs) == 0 && fs.f_type == OVERLAYFS_SUPER_MAGIC ? OP_MODIFY | OP_DELETE | OP_ATTR : 0;
}

static int pin_pattern(struct ruleset *rs, const struct compiled_rule *rule, const struct pattern *p, struct links *links, bool linked)
{
	struct stat st;
	char path[GLOB_TOKENS + 2];
	if ((p->kind != OBJECT_FILE && p->kind != OBJECT_UNIX) || p->alias || !p->glob.literal || !p->glob.n)
		return 0;
	path[0] = '/'; /* not as an initializer: that would write all of it for each pattern */
	memcpy(path + 1, p->glob.literal, p->glob.n);
	path[1 + p->glob.n] = 0;
	if (links_of_self(path, 1 + p->glob.n) || (linked ? links_single(links, path) : links_missing(links, path)))
		return 0;
	/* What is not there, or that this user cannot reach, has no other names for the command either. */
	if (stat(path, &st) < 0)
		return errno == ENOENT || errno == ENOTDIR || errno == EACCES || errno == ELOOP || errno == ENAMETOOLONG ? 0 : -errno;
	if (linked && (!S_ISREG(st.st_mode) || st.st_nlink < 2))
		return 0;
	struct identity is = identity_of(st.st_mode, st.st_rdev, st.st_dev, st.st_ino);
	int r = reserve((void **)&rs->pin, &rs->room_pins, rs->n_pins + 1, sizeof(*rs->pin));
	if (r)
		return r;
	struct pin *pin = &rs->pin[rs->n_pins++];
	*pin = (struct pin){ .dev = is.dev, .ino = is.ino, .rule = rule->index, .parting = parting(rule, path, &st) };
	rs->ops |= pin->parting;
	return 0;
}

/* LINKED: only files that have another name already. */
static int pin_rule(struct ruleset *rs, const struct compiled_rule *rule, struct links *links, bool linked)
{
	int r = 0;
	for (uint32_t p = 0; forbids(&rule->pub) && !r && p < rule->n_patterns; p++)
		r = pin_pattern(rs, rule, &rule->pattern[p], links, linked);
	return r;
}

int names_pin_linked(struct ruleset *rs)
{
	struct links *links = NULL;
	int r = links_new(NULL, &links);
	for (uint32_t i = 0; !r && i < rs->n_rules; i++)
		r = pin_rule(rs, &rs->rule[i], links, true);
	links_free(links);
	return r;
}

int names_resolve(struct ruleset *rs, const struct ruleset_source *from)
{
	struct links *links = NULL;
	int r = links_new(from, &links);
	for (uint32_t i = 0; !r && i < rs->n_rules; i++) {
		r = pin_rule(rs, &rs->rule[i], links, false);
		if (!r)
			r = alias_patterns(rs, links, &rs->rule[i]);
		if (!r)
			r = alias_conditions(rs, links, &rs->rule[i]);
		if (!r)
			r = canonical_goal(rs, links, &rs->rule[i]);
	}
	links_free(links);
	return r;
}
