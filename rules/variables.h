/* SPDX-License-Identifier: Apache-2.0 */
/* Variables of a rule file: from outside (their bytes stand for themselves) and by set. */
#ifndef USHER_RULES_VARIABLES_H
#define USHER_RULES_VARIABLES_H

#include "rules/glob.h"
#include "rules/ruleset.h"

#define VARIABLES_MAX 256
#define VARIABLE_UNITS 8192

struct variable_value {
	const char *name;
	const glob_unit *units;
	size_t n;
};

struct variables {
	struct variable_value value[VARIABLES_MAX];
	size_t n;
	const struct ruleset_source *late; /* has variables that are looked for when they are named */
	struct arena *arena;
};

/* Whether a byte may stand in a name, FIRST: at its beginning. */
bool variable_byte(char c, bool first);

/* The variable of that name, or NULL. */
const struct variable_value *variables_find(struct variables *v, const char *name, size_t len);

/* Sets NAME (LEN bytes) to N units, both copied. Returns 0, -ENOSPC when there are too many, or -ENOMEM. */
int variables_set(struct variables *v, struct arena *a, const char *name, size_t len, const glob_unit *units, size_t n);

/* Takes over what is set before a file is read. A trailing slash of a value is dropped; a NULL value is unset. */
int variables_import(struct variables *v, struct arena *a, const struct ruleset_source *from);

/* The value that FROM gives variable NAME, as it was given, or NULL. */
const char *variables_given(const struct ruleset_source *from, const char *name);

/* homes.c: sets $OTHER_HOMES, a pattern for the homes of everybody else, from HOME, PWD and TMPDIR of FROM. 0 or a negative errno. */
int other_homes(struct variables *v, struct arena *a, const struct ruleset_source *from);

/* above.c: sets $ABOVE_PWD, a pattern for the directories above PWD of FROM. 0 or a negative errno. */
int above_pwd(struct variables *v, struct arena *a, const struct ruleset_source *from);

/* temporary.c: sets $TEMPORARY, a pattern for TMPDIR of FROM, /tmp and /var/tmp without HOME of FROM. 0 or a negative errno. */
int temporary(struct variables *v, struct arena *a, const struct ruleset_source *from);

#endif
