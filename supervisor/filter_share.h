/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a finished program shorter: returns that say the same become one, as far as jumps reach. The kernel checks, translates and compiles each
 * instruction when a filter is installed, which every start waits for.
 */
#ifndef USHER_SUPERVISOR_FILTER_SHARE_H
#define USHER_SUPERVISOR_FILTER_SHARE_H

#include "supervisor/filter_tree.h"

#define SHARE_MOST 4096 /* instructions: BPF_MAXINSNS */

/* The same answers with fewer instructions, in place. Longer programs than SHARE_MOST and those that are too long stay as they are. */
void filter_share(struct code *c);

#endif
