/* SPDX-License-Identifier: Apache-2.0 */
/* Which letters of a temporary file's name were drawn by lot, so that they are others next time. */
#ifndef USHER_TOOLS_REVIEW_LOT_H
#define USHER_TOOLS_REVIEW_LOT_H

#include <stddef.h>

/*
 * How many letters and digits at the end of NAME, of LEN bytes, were drawn by lot; 0 where they seem to mean something. NAME is that of a file that was made
 * and is gone again. *ONE is set to the pattern for each of them.
 */
size_t review_lot(const char *name, size_t len, const char **one);

#endif
