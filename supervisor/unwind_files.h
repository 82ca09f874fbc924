/* SPDX-License-Identifier: Apache-2.0 */
/* Which files libunwind is read from, for who does not use it: its own header is there for one architecture alone. */
#ifndef USHER_SUPERVISOR_UNWIND_FILES_H
#define USHER_SUPERVISOR_UNWIND_FILES_H

/*
 * Loads libunwind where LD_LIBRARY_PATH says from where, and calls EACH with every file that then is part of usher: what is written into one that is mapped runs in usher.
 * Elsewhere libraries are the system's, and loaded later. Stops at an answer that is not 0 and returns it, else 0. For the thread that
 * starts usher, in the user's directory.
 */
int unwind_lib_files(int (*each)(void *context, const char *file), void *context);

#endif
