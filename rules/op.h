/* SPDX-License-Identifier: Apache-2.0 */
/* Operations: what a call does to an object, in the words of the rule language. */
#ifndef USHER_RULES_OP_H
#define USHER_RULES_OP_H

#include <stddef.h>
#include <stdint.h>

typedef uint16_t op_set;

enum {
	OP_READ = 1 << 0,
	OP_MODIFY = 1 << 1, /* the content of an existing file */
	OP_CREATE = 1 << 2,
	OP_DELETE = 1 << 3,
	OP_ATTR = 1 << 4, /* mode, owner, times, extended attributes */
	OP_STAT = 1 << 5,
	OP_EXEC = 1 << 6,
	OP_CONNECT = 1 << 7,
	OP_BIND = 1 << 8,
	OP_SEND = 1 << 9,
	OP_SOCKET = 1 << 10, /* making a socket of a kind that no endpoint rule speaks of */
};

#define OP_COUNT 11
#define OPS_WRITE ((op_set)(OP_MODIFY | OP_CREATE | OP_DELETE | OP_ATTR))
#define OPS_OPEN ((op_set)(OP_READ | OP_MODIFY | OP_CREATE))
#define OPS_NAMED ((op_set)(OP_EXEC | OP_STAT)) /* on what has no name: where a rule says memfd: and nowhere else */
#define OPS_NET ((op_set)(OP_CONNECT | OP_BIND | OP_SEND))
#define OPS_FILE ((op_set)(OP_READ | OPS_WRITE | OP_STAT | OP_EXEC))

/* The name of the single operation with bit number BIT (0 .. OP_COUNT-1), e.g. "read". */
const char *op_name(unsigned bit);

/* The words that op_parse() knows, NULL-terminated. */
const char *const *op_words(void);

/*
 * The set a word of the rule language names: an operation or a group
 * (write, open, net). Returns 0 when the word names none.
 */
op_set op_parse(const char *word, size_t len);

#endif
