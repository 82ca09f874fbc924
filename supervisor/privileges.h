/* SPDX-License-Identifier: Apache-2.0 */
/* What usher itself may do beyond an ordinary user. */
#ifndef USHER_SUPERVISOR_PRIVILEGES_H
#define USHER_SUPERVISOR_PRIVILEGES_H

#include <stdbool.h>

/* Whether a process of the tree could have less power than usher: it is root or holds a capability. Errs towards true. */
bool privileges_held(void);

/* Whether usher can read processes that hide themselves, or that changed their user (CAP_SYS_PTRACE). Errs towards false. */
bool privileges_read_any(void);

#endif
