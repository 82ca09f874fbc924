/* SPDX-License-Identifier: Apache-2.0 */
/* Which of the newest calls the running kernel has. */
#ifndef USHER_SUPERVISOR_KERNEL_CALLS_H
#define USHER_SUPERVISOR_KERNEL_CALLS_H

#include <stdbool.h>

/*
 * Whether the running kernel has no call NR of those that came with Linux 6.6 and later and that usher mediates or refuses: what it does not have
 * does not exist for the command either. Asks by a call that can do nothing. Any thread.
 */
bool kernel_lacks(int nr);

#endif
