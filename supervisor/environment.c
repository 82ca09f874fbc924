/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/environment.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "policy/policy.h"

/* Whether a layer other than EXCEPT (NULL: any) drops the name that TEXT begins with. */
static bool drops(const struct policy *policy, const struct ruleset *except, const char *text)
{
	const struct ruleset *layer;
	size_t len = strcspn(text, "=");

	for (size_t i = 0; (layer = policy_layer(policy, i)); i++) {
		if (layer != except && ruleset_env(layer, text, len) == ENV_DROP)
			return true;
	}
	return false;
}

static size_t count(char *const *list)
{
	size_t n = 0;

	while (list[n])
		n++;
	return n;
}

static size_t settings(const struct policy *policy)
{
	const struct ruleset *layer;
	size_t n = 0;

	for (size_t i = 0; (layer = policy_layer(policy, i)); i++) {
		for (size_t k = 0; ruleset_env_setting(layer, k); k++)
			n++;
	}
	return n;
}

static char **find(char **list, const char *text)
{
	size_t len = strcspn(text, "=");

	while (*list && (strncmp(*list, text, len) != 0 || (*list)[len] != '='))
		list++;
	return list;
}

/* A list of the settings in force: of one name the first. There is room. */
static void choose(const struct policy *policy, char **chosen)
{
	const struct ruleset *layer;
	const char *text;

	for (size_t i = 0; (layer = policy_layer(policy, i)); i++) {
		for (size_t k = 0; (text = ruleset_env_setting(layer, k)); k++) {
			char **at = find(chosen, text);
			if (!*at && !drops(policy, layer, text))
				*at = (char *)text;
		}
	}
}

int environment_make(const struct policy *policy, char *const *from, struct environment *out)
{
	size_t n = count(from), more = settings(policy), kept = 0, dropped = 0;
	char **chosen = calloc(more + 1, sizeof(*chosen));
	struct environment e = { calloc(n + more + 1, sizeof(char *)), calloc(n + 1, sizeof(char *)) };

	if (!chosen || !e.list || !e.dropped) {
		free(chosen);
		free(e.list);
		free(e.dropped);
		return -ENOMEM;
	}
	choose(policy, chosen);
	for (size_t i = 0; i < n; i++) {
		if (*find(chosen, from[i]))
			continue; /* set anew below */
		if (drops(policy, NULL, from[i]))
			e.dropped[dropped++] = from[i];
		else
			e.list[kept++] = from[i];
	}
	for (size_t i = 0; i < more && chosen[i]; i++)
		e.list[kept++] = chosen[i];
	free(chosen);
	*out = e;
	return 0;
}
