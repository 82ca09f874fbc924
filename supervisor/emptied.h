/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a private /tmp or /dev/shm (`--isolate=tmp,shm`) would take from usher itself: rule files there would not be found, what is kept
 * there would be gone with the session, and nobody outside would find its desk.
 */
#ifndef USHER_SUPERVISOR_EMPTIED_H
#define USHER_SUPERVISOR_EMPTIED_H

struct run_options;

/* Before the namespaces are made: whether a file that O names lies there. Returns 0, or -EBUSY: said on standard error, with what to do. */
int emptied_names(const struct run_options *o);

/* Inside: the same of the place JOURNAL that was chosen by default. */
int emptied_journal(const struct run_options *o, const char *journal);

#endif
