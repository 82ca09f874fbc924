/* SPDX-License-Identifier: Apache-2.0 */
/* Everything that rows name. */
#ifndef USHER_SUPERVISOR_ROWS_H
#define USHER_SUPERVISOR_ROWS_H

#include "supervisor/rows_exec.h"
#include "supervisor/rows_file.h"
#include "supervisor/rows_guard.h"
#include "supervisor/rows_net.h"

#endif
