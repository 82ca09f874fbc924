/* SPDX-License-Identifier: Apache-2.0 */
/* The full-screen desk. */
#ifndef USHER_TOOLS_DESK_SCREEN_H
#define USHER_TOOLS_DESK_SCREEN_H

/* Runs until the person leaves. Returns the exit status. */
int desk_screen(void);

#endif
