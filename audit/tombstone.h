/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is left of sessions that were removed: one signed line each in pruned.jsonl, beside the sessions.
 *
 * MUST: the lines are a chain of hashes, and of keys: each line names the key of the next, which lies in pruned.key until it
 * has signed and is then replaced. Who takes the account today cannot rewrite the lines of yesterday.
 */
#ifndef USHER_AUDIT_TOMBSTONE_H
#define USHER_AUDIT_TOMBSTONE_H

#include <stdbool.h>
#include <stdint.h>

#include "audit/verify.h"

#define TOMBSTONE_FILE "pruned.jsonl"
#define TOMBSTONE_KEY "pruned.key"

/* Appends a line for the session NAME as far as P proves it, and has it on the disk. HOME: the directory of both. 0 or a negative errno. */
int tombstone_append(int home, const char *name, const struct proof *p);

/*
 * Verifies all lines of the file PATH, and that the key beside it follows the last one: so that none was cut off. Returns 0 with *lines
 * (and *all false where there is no key to tell, in a copy), 1 when line *lines + 1 is damaged or missing, or a negative errno.
 */
int tombstone_verify(const char *path, uint64_t *lines, bool *all);

#endif
