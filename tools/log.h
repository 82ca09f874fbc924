/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of usher log share. */
#ifndef USHER_TOOLS_LOG_H
#define USHER_TOOLS_LOG_H

#include <stdbool.h>
#include <stddef.h>

struct query;

struct log {
	const char *dir;
	const char **words;
	size_t n_words;
	struct query *query;
	bool json;
	bool follow;
	bool colour;
};

/* Prints the record if it answers the query. */
void log_show(struct log *l, const char *text, size_t len);

#endif
