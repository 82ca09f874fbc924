/* SPDX-License-Identifier: Apache-2.0 */
/* Directories beside each other over which files are spread, by the first letters of a number in sixteens: git's objects/3f, a proxy's cache/c/29; or that come and go, a transaction each. */
#ifndef USHER_TOOLS_REVIEW_SPREAD_H
#define USHER_TOOLS_REVIEW_SPREAD_H

#include <stdbool.h>
#include <stddef.h>

#include "tools/review_lot.h"

struct review_spread {
	void *tree;
	bool failed;
};

/* Whether a directory of this name may be one of those; N letters. */
bool review_spread_is(const char *name, size_t n);

/* Files were made in the directory NAME, which is in the one that PARENT tells. */
void review_spread_add(struct review_spread *of, const char *parent, const char *name, size_t n);

/* Files were made in the directory NAME, in PARENT, which itself was made and is gone again. */
void review_spread_passed(struct review_spread *of, const char *parent, const char *name, size_t n);

/* Whether any directory in PARENT may be the next of these. */
bool review_spread_passes(const struct review_spread *of, const char *parent);

/* What may stand in the place of each letter of NAME. NULL: it stays. */
const struct lot_letter *review_spread_find(const struct review_spread *of, const char *parent, size_t n);

void review_spread_free(struct review_spread *of);

#endif
