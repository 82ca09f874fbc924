/* SPDX-License-Identifier: Apache-2.0 */
/* The full-screen desk. */
#ifndef USHER_TOOLS_DESK_SCREEN_H
#define USHER_TOOLS_DESK_SCREEN_H

#include <stdbool.h>

/* Whether this terminal has a whole screen: TERM names one whose cursor can be moved. */
bool desk_screen_possible(void);

/* Runs until the person leaves. Returns the exit status. */
int desk_screen(void);

#endif
