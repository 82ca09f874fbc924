/* SPDX-License-Identifier: Apache-2.0 */
#ifndef USHER_SUPERVISOR_TRUSTED_NAME_H
#define USHER_SUPERVISOR_TRUSTED_NAME_H

#include <stdbool.h>
#include <sys/stat.h>

#include "rules/call.h"

/* Whether what ST tells of is root's, and neither group nor others may write it. */
bool roots_alone(const struct stat *st);

/* Whether that holds of the file NAME (canonical), of which ST tells, and of every directory above it: 'trusted' in rules. */
bool trusted_name(struct span name, const struct stat *st);

#endif
