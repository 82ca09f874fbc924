// SPDX-License-Identifier: Apache-2.0
/* Operations and groups by name. */
#include "rules/op.h"

#include <string.h>

static const char *const names[OP_COUNT] = {
	"read", "modify", "create", "delete", "attr", "stat", "exec", "connect", "bind", "send", "socket",
};

static const struct {
	const char *name;
	op_set ops;
} groups[] = {
	{ "write", OPS_WRITE },
	{ "open", OPS_OPEN },
	{ "net", OPS_NET },
};

const char *op_name(unsigned bit)
{
	return bit < OP_COUNT ? names[bit] : "none";
}

static int same(const char *name, const char *word, size_t len)
{
	return strlen(name) == len && memcmp(name, word, len) == 0;
}

op_set op_parse(const char *word, size_t len)
{
	for (unsigned i = 0; i < OP_COUNT; i++)
		if (same(names[i], word, len))
			return (op_set)(1U << i);
	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++)
		if (same(groups[i].name, word, len))
			return groups[i].ops;
	return 0;
}
