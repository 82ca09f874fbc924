/* SPDX-License-Identifier: Apache-2.0 */
/* Lines beside a journal that would pass for its records. */
#ifndef USHER_AUDIT_STRAY_H
#define USHER_AUDIT_STRAY_H

#include <stdint.h>

#include "audit/segment.h"

/*
 * A file in DIR that is named as segments are, journal-*.jsonl, but is none of those up to LAST, and has a line that begins as a record does: whoever
 * looks with grep takes it for one. 1 with its NAME, cut where it is longer, 0 when there is none, or a negative errno.
 */
int stray_find(const char *dir, uint32_t last, char name[SEGMENT_NAME_MAX]);

#endif
