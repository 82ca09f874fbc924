// SPDX-License-Identifier: Apache-2.0
/* Operations and groups by name. */
#include "rules/op.h"

#include <string.h>

/* The operations by bit, then the groups. */
static const char *const words[] = {
	"read", "modify", "create", "delete", "attr", "stat", "exec", "connect", "bind", "send", "socket", "write", "open", "net", NULL,
};

static const op_set groups[] = { OPS_WRITE, OPS_OPEN, OPS_NET };

_Static_assert(sizeof(words) / sizeof(words[0]) == OP_COUNT + sizeof(groups) / sizeof(groups[0]) + 1, "a word for each");

const char *op_name(unsigned bit)
{
	return bit < OP_COUNT ? words[bit] : "none";
}

const char *const *op_words(void)
{
	return words;
}

op_set op_parse(const char *word, size_t len)
{
	for (unsigned i = 0; words[i]; i++)
		if (strlen(words[i]) == len && memcmp(words[i], word, len) == 0)
			return i < OP_COUNT ? (op_set)(1U << i) : groups[i - OP_COUNT];
	return 0;
}
