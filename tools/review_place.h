/* SPDX-License-Identifier: Apache-2.0 */
/* The names of a session as rules have them: with wildcards where a number, letters drawn by lot or a directory are others next time. */
#ifndef USHER_TOOLS_REVIEW_PLACE_H
#define USHER_TOOLS_REVIEW_PLACE_H

#include "rules/strbuf.h"
#include "tools/review_lot.h"
#include "tools/review_state.h"

/* Looks through all names, sorted, for letters that were drawn and for directories over which files are spread. Without memory `failed` of R's parts is set. */
void review_places_find(struct review_rules *r);

/* What is another one next time at the end of W's name, by itself; and by those beside it, where all of its directory says no more. */
struct unsteady review_end(const struct done_to *w);
struct unsteady review_end_spread(const struct review_rules *r, const struct done_to *w);

static inline size_t review_unsteady_len(const struct unsteady *u)
{
	return u->lot + u->digits + u->whole;
}

void review_put_unsteady(struct strbuf *to, const struct unsteady *u);

/* The name, up to LEN, with wildcards where something is another one next time; the closing quote is the caller's. */
void review_put_name(struct strbuf *to, const struct review_rules *r, const struct done_to *w, size_t len);

#endif
