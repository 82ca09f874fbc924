/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether keeper and guardian hide their memory: until its exec the command is in it, and usher has to look into that. A word that they share
 * with usher. MUST: no program of the tree runs before it is set.
 */
#ifndef USHER_SUPERVISOR_HIDDEN_H
#define USHER_SUPERVISOR_HIDDEN_H

#include <stdbool.h>

struct hidden;

/* Before the fork, not set. NULL: no memory. Stays as long as the process. */
struct hidden *hidden_new(void);

/* Not set any more: who was to set it has been given up. */
void hidden_again(struct hidden *h);

/* The guardian: it is so. Once; H is not its own any more. Async-signal-safe. */
void hidden_set(struct hidden *h);

/* Waits for that up to MS milliseconds. Any thread; true at once when it is set. */
bool hidden_wait(struct hidden *h, int ms);

#endif
