// SPDX-License-Identifier: Apache-2.0
/*
 * $OTHER_HOMES: /root and what lies in /home, and beside $HOME where that is another directory of homes, but for
 * those that $HOME, $PWD and $TMPDIR are in.
 */
#include <errno.h>
#include <string.h>

#include "rules/others.h"

static void own_names(const struct ruleset_source *from, const char *dir, size_t dir_len, struct own_names *out)
{
	static const char *const variables[OWN_NAMES] = { "HOME", "PWD", "TMPDIR" };
	for (size_t i = 0; i < OWN_NAMES; i++) {
		const char *value = variables_given(from, variables[i]);
		bool below = value && strncmp(value, dir, dir_len) == 0;
		out->name[i] = below ? value + dir_len : "";
		out->len[i] = strcspn(out->name[i], "/");
	}
}

static void put_homes(struct others *o, const struct ruleset_source *from, const char *dir, size_t dir_len)
{
	struct own_names own;
	own_names(from, dir, dir_len, &own);
	if (own.len[0] || own.len[1] || own.len[2]) {
		others_but(o, dir, dir_len, &own, VARIABLE_UNITS);
		return;
	}
	others_form(o, dir, dir_len);
	others_put(o, "*", 1, 0);
}

/* Whether NAME[0..len) is a directory that homes lie in, by its last component; /home itself apart. */
static bool keeps_homes(const char *name, size_t len)
{
	static const char *const names[] = { "/home", "/homes", "/users", "/Users" };
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t n = strlen(names[i]);
		if (len >= n && memcmp(name + len - n, names[i], n) == 0)
			return len != 5 || memcmp(name, "/home", 5) != 0;
	}
	return false;
}

int other_homes(struct variables *v, struct arena *a, const struct ruleset_source *from)
{
	struct others o = { .n = 0 };
	struct own_names root;
	const char *home = variables_given(from, "HOME");
	const char *slash = home ? strrchr(home, '/') : NULL;
	others_put(&o, "{", 1, 0);
	own_names(from, "/", 1, &root);
	bool mine = false;
	for (size_t i = 0; i < OWN_NAMES; i++)
		mine |= root.len[i] == 4 && memcmp(root.name[i], "root", 4) == 0;
	if (!mine)
		others_form(&o, "/root", 5);
	put_homes(&o, from, "/home/", 6);
	if (slash && keeps_homes(home, (size_t)(slash - home)))
		put_homes(&o, from, home, (size_t)(slash - home) + 1);
	others_put(&o, "}", 1, 0);
	if (o.full)
		return -ENAMETOOLONG;
	return variables_set(v, a, "OTHER_HOMES", sizeof("OTHER_HOMES") - 1, o.units, o.n);
}
