/* SPDX-License-Identifier: Apache-2.0 */
/* usher's own process, made harder to touch and to lead astray. */
#ifndef USHER_SUPERVISOR_HARDEN_H
#define USHER_SUPERVISOR_HARDEN_H

#include <stdbool.h>

/*
 * First thing in the process, before keys or files are opened: no core dumps, no_new_privs, no tracing by
 * processes of the same user where /proc stays usable. Returns 0 or a negative errno (the session must not start).
 */
int harden_start(void);

#endif
