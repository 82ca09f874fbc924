/* SPDX-License-Identifier: Apache-2.0 */
/* Answers for ever, which every session of the user takes from the file of grants. */
#ifndef USHER_TOOLS_DESK_STANDING_H
#define USHER_TOOLS_DESK_STANDING_H

#include <stdbool.h>

/* Prints each rule of that file with its place, as text or JSON; nothing where there is none. 0, 1 where it does not load, which is told, or a negative errno: it cannot be read. */
int desk_standing(bool json);

#endif
