// SPDX-License-Identifier: Apache-2.0
/* Variables: a short list, searched from the front. */
#include "rules/variables.h"

#include <errno.h>
#include <string.h>

#include "rules/cleanup.h"

bool variable_byte(char c, bool first)
{
	bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
	return letter || (!first && c >= '0' && c <= '9');
}

static struct variable_value *find(struct variables *v, const char *name, size_t len)
{
	for (size_t i = 0; i < v->n; i++)
		if (strlen(v->value[i].name) == len && memcmp(v->value[i].name, name, len) == 0)
			return &v->value[i];
	return NULL;
}

int variables_set(struct variables *v, struct arena *a, const char *name, size_t len, const glob_unit *units, size_t n)
{
	struct variable_value *slot = find(v, name, len);
	if (!slot && v->n >= VARIABLES_MAX)
		return -ENOSPC;
	glob_unit *copy = arena_alloc(a, (n + 1) * sizeof(*copy));
	const char *kept = slot ? slot->name : arena_copy(a, name, len);
	if (!copy || !kept)
		return -ENOMEM;
	if (n)
		memcpy(copy, units, n * sizeof(*copy));
	if (!slot)
		slot = &v->value[v->n++];
	*slot = (struct variable_value){ .name = kept, .units = copy, .n = n };
	return 0;
}

static int import_one(struct variables *v, struct arena *a, const char *name, const char *value)
{
	glob_unit units[VARIABLE_UNITS];
	size_t n = strlen(value);
	if (n > VARIABLE_UNITS)
		return -ENAMETOOLONG;
	while (n > 1 && value[n - 1] == '/')
		n--;
	for (size_t i = 0; i < n; i++)
		units[i] = (glob_unit)((unsigned char)value[i] | GLOB_LITERAL);
	return variables_set(v, a, name, strlen(name), units, n);
}

/* Imports the variable that is only looked for now. */
static bool import_late(struct variables *v, const char *name, size_t len)
{
	for (size_t i = 0; v->late && i < v->late->n_variables; i++) {
		const struct variable *from = &v->late->variables[i];
		if (!from->find || strlen(from->name) != len || memcmp(from->name, name, len) != 0)
			continue;
		CLEANUP_FREE char *found = from->find();
		const char *value = found ? found : from->value;
		return value && import_one(v, v->arena, from->name, value) == 0;
	}
	return false;
}

const struct variable_value *variables_find(struct variables *v, const char *name, size_t len)
{
	const struct variable_value *at = find(v, name, len);
	return at || !import_late(v, name, len) ? at : find(v, name, len);
}

const char *variables_given(const struct ruleset_source *from, const char *name)
{
	for (size_t i = 0; i < from->n_variables; i++)
		if (strcmp(from->variables[i].name, name) == 0)
			return from->variables[i].value;
	return NULL;
}

int variables_import(struct variables *v, struct arena *a, const struct ruleset_source *from)
{
	v->late = from;
	v->arena = a;
	for (size_t i = 0; from && i < from->n_variables; i++) {
		const struct variable *one = &from->variables[i];
		int r = one->value && !one->find ? import_one(v, a, one->name, one->value) : 0;
		if (r)
			return r;
	}
	if (!from)
		return 0;
	int r = other_homes(v, a, from);
	r = r ? r : above_pwd(v, a, from);
	return r ? r : temporary(v, a, from);
}
