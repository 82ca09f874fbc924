/* SPDX-License-Identifier: Apache-2.0 */
/* The names that a session used, with what was done to each: what `desk review rules` makes rules of. */
#ifndef USHER_TOOLS_REVIEW_NAMES_H
#define USHER_TOOLS_REVIEW_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "rules/op.h"

#define REVIEW_JOINED 4 /* names of one directory, or ports of one address, with the same operations, become one rule on all of it */
/* What changes something. */
#define REVIEW_CHANGES ((op_set)(OP_MODIFY | OP_CREATE | OP_DELETE | OP_ATTR))

#define REVIEW_PORTS 1024 /* ports from here on */

/* In a name: a process's number stood here, which is another one next time. */
#define REVIEW_NUMBER '\1'

struct done_to {
	const char *scheme; /* a pattern before the name */
	char *name;
	size_t directory; /* how much of the name is its directory; 0: it is not joined with others. Of an address, all but the port */
	op_set ops, done; /* done: what of it took effect, or is needed where a name that was moved came from */
	unsigned copied; /* by how many moves of a directory above its name was made; 0: the journal has it */
	bool looked, first; /* first: review_names.first said so */
	bool drawn; /* its letters are as a word's, and another name beside it has others in their place: review_like_word() */
	op_set shared; /* what the rule on all files of its directory allows; review_names_sort() */
};

/* An object that had the name FROM got the name TO. */
struct moved {
	struct done_to *from, *to;
	op_set given; /* what must not be more by the new name */
};

struct review_names {
	bool (*first)(void *context, const struct done_to *w); /* whether W comes before others, and is joined with none of these; it hangs on the name alone */
	void *context;
	void *tree; /* of struct done_to */
	size_t n;
	struct done_to **list;
	size_t listed; /* fewer than n while names are added */
	void *moved; /* a tree of struct moved */
	struct moved **move;
	size_t n_moved;
	size_t copies;
	bool failed;
};

/* The name as it is found, or made, with OPS more. NULL without memory, which `failed` tells. SCHEME lives on. */
struct done_to *review_names_want(struct review_names *of, const char *scheme, const char *name, op_set ops);
struct done_to *review_names_find(const struct review_names *of, const char *scheme, const char *name);
void review_names_move(struct review_names *of, struct done_to *from, struct done_to *to, op_set given);

/* Fills the list: by scheme and name, or by directory, with what each directory's names share. */
void review_names_list(struct review_names *of);
void review_names_sort(struct review_names *of);

/* Whether both are of one directory whose names are joined. */
bool review_names_together(const struct done_to *a, const struct done_to *b);

/* Brings each name that was moved to what the rules would ask of it: as much as its new name gives. */
void review_names_settle(struct review_names *of);

void review_names_free(struct review_names *of);

#endif
