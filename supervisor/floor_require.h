/* SPDX-License-Identifier: Apache-2.0 */
/* What of the floor a session insists on (--require): without it, it does not start. */
#ifndef USHER_SUPERVISOR_FLOOR_REQUIRE_H
#define USHER_SUPERVISOR_FLOOR_REQUIRE_H

#include <stddef.h>

/* The words LIST may hold, separated by commas. */
#define FLOOR_WORDS "landlock, truncate, tcp, ioctl, scopes"

/*
 * Whether a floor of Landlock ABI ABI (0: there is none) has all that LIST names. Returns 0; -EOPNOTSUPP with the first word that is
 * missing in WORD; -EINVAL with the first that is not known. *needs gets the ABI that the missing word takes.
 */
int floor_require(const char *list, int abi, char *word, size_t size, int *needs);

#endif
