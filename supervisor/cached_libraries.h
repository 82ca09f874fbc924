/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the system's libraries are out of reach of this user, and so of a command that runs as he does: usually they are root's. */
#ifndef USHER_SUPERVISOR_CACHED_LIBRARIES_H
#define USHER_SUPERVISOR_CACHED_LIBRARIES_H

#include <stdbool.h>

/*
 * Whether none of what /etc/ld.so.cache has by one of NAMES (a NULL ends them), nor a directory or link on the way there, is this user's own or his to
 * write. What the cache has not is looked for in the system's directories. What cannot be known counts as his.
 */
bool cached_libraries_safe(const char *const *names);

#endif
