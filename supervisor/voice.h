/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What usher says on its standard error once there is a command, which may share it: a terminal whose output somebody stopped, or a pipe that
 * is full and that nobody reads, keeps whoever writes waiting.
 *
 * MUST: nobody but a thread of the voice's own writes there from then on; who has something to say never waits. O_NONBLOCK is not
 * the way: it would be set for everybody who shares the description.
 */
#ifndef USHER_SUPERVISOR_VOICE_H
#define USHER_SUPERVISOR_VOICE_H

#include <stdbool.h>

#define VOICE_PATIENCE_MS 3000 /* for voice_finish() at the end of a session */

struct voice;

/* Speaks on FD, which stays the caller's. NULL where there is no memory. */
struct voice *voice_new(int fd);

/* Any thread; V may be NULL: then nothing is said. Behind 64 KiB that wait nothing more does: it is dropped. */
void voice_say(struct voice *v, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Waits until all was said, but not for one who takes nothing for PATIENCE_MS. True when all was said. V may be NULL. */
bool voice_finish(struct voice *v, unsigned patience_ms);

#endif
