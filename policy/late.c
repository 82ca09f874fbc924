/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/late.h"

#include <stdlib.h>
#include <string.h>

void late_keep(struct late **all, const uint8_t *mark, pid_t tree, uint64_t until_ns, const struct answer *answer)
{
	struct late *l = malloc(sizeof(*l));

	if (!l)
		return;
	*l = (struct late){ .next = *all, .tree = tree, .until_ns = until_ns, .answer = *answer };
	memcpy(l->mark, mark, QUESTION_MARK);
	*all = l;
}

static void drop(struct late **at)
{
	struct late *l = *at;

	*at = l->next;
	free(l);
}

bool late_take(struct late **all, const uint8_t *mark, pid_t tree, uint64_t now_ns, struct answer *out)
{
	for (struct late **at = all; *at;) {
		struct late *l = *at;

		if (now_ns >= l->until_ns) {
			drop(at);
		} else if (l->tree == tree && memcmp(l->mark, mark, QUESTION_MARK) == 0) {
			*out = l->answer;
			drop(at);
			return true;
		} else {
			at = &l->next;
		}
	}
	return false;
}

void late_free(struct late **all)
{
	while (*all)
		drop(all);
}
