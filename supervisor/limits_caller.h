/* SPDX-License-Identifier: Apache-2.0 */
/* The caller's own resource limits, where usher acts for it: the kernel would hold usher's against the act. */
#ifndef USHER_SUPERVISOR_LIMITS_CALLER_H
#define USHER_SUPERVISOR_LIMITS_CALLER_H

#include <stdbool.h>
#include <stdint.h>

struct job;

/* Whether the caller may make a file of SIZE bytes. With usher's own credentials: the caller's may not be enough to ask. */
bool limits_allow_size(const struct job *j, uint64_t size);

/* It may not, and tried: SIGXFSZ, as from the kernel; the answer is EFBIG. Ends the tree where `limit filesize` is what stood against it. */
void limits_size_met(const struct job *j, uint64_t size);

/* How many descriptors the caller may have. */
uint64_t limits_files(const struct job *j);

/* The kernel had no number for a descriptor: ends the tree where `limit files` is what stood against it. */
void limits_no_number(const struct job *j);

#endif
