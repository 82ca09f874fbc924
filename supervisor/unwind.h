/* SPDX-License-Identifier: Apache-2.0 */
/* The stack of whoever asks, as evidence. */
#ifndef USHER_SUPERVISOR_UNWIND_H
#define USHER_SUPERVISOR_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "audit/record.h"
#include "supervisor/exec_regs.h"

struct image_files;
struct unwound;
struct voice;

/*
 * FILES is ready for unwind_thread(), which loads libunwind the first time; where LD_LIBRARY_PATH is set it is loaded here, in the working
 * directory usher was started in. VOICE says what is missing; may be NULL.
 */
void unwind_init(struct image_files *files, struct voice *voice);
void unwind_clear(struct image_files *files);

/*
 * Unwinds thread TID, which waits in a system call or is stopped behind one with registers REGS. With REGS NULL only what the kernel tells
 * of a waiting thread is known, its instruction and stack pointer: frames that need another register end the stack
 * then (unwound_lacks()). FILES may be NULL. At most 64 frames, 5 ms and a fixed number of reads, whatever the thread's memory says. Returns what
 * was found, free() it; NULL without memory.
 */
struct unwound *unwind_thread(struct image_files *files, pid_t tid, const exec_regs *regs);

/* Whether the registers of the stopped thread would lead further. */
bool unwound_lacks(const struct unwound *u);

/* Beside them `python` for CPython 3.11: file, line, function of its own frames. The list `stack` (innermost frame first: object, build_id, function, in_function, offset) and `unwind` ("complete", "partial", "none"). U may be NULL. */
void unwound_record(const struct unwound *u, struct record *r);

/* How many bytes of U say all there is, for one that is kept; 0 where U is NULL. */
size_t unwound_size(const struct unwound *u);

/* The innermost frames in words ("main in app < ..."): what does not fit is left out. */
void unwound_text(const struct unwound *u, char *text, size_t cap);

#endif
