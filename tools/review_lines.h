/* SPDX-License-Identifier: Apache-2.0 */
/* The lines that `desk review rules` makes of a session's names. */
#ifndef USHER_TOOLS_REVIEW_LINES_H
#define USHER_TOOLS_REVIEW_LINES_H

#include "rules/strbuf.h"
#include "tools/review_state.h"

/* All of them, each once, with the include of the secrets behind those on what these deny. R's names are sorted, and looked through: review_places_find(). */
void review_lines_put(struct strbuf *to, const struct review_rules *r);

#endif
