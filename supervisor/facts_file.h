/* SPDX-License-Identifier: Apache-2.0 */
/* Facts about files. Everything comes back as raw bytes: whoever shows it escapes it. */
#ifndef USHER_SUPERVISOR_FACTS_FILE_H
#define USHER_SUPERVISOR_FACTS_FILE_H

#include <stddef.h>
#include <sys/types.h>

#include "rules/call.h"
#include "supervisor/job.h"

/* An O_PATH descriptor of the object of T, proven to be the one that was resolved; -1 when it cannot be had. The caller closes it. */
int fact_hold(const struct job *j, const struct target *t);

/* What is there now: kind, size, mode, owner, time of change. Returns the length, 0 when it cannot be had. */
int fact_now(const struct job *j, const struct target *t, char *out, size_t cap);

/* The beginning of the regular file behind the O_PATH descriptor OBJECT. Returns its length, or -1. */
ssize_t fact_read(int object, char *out, size_t cap);

/* The symbolic links on the way of NAMED, as thread TID sees it: "/a -> b, /b -> /c". A hint: links may change. Returns the length, 0 without any. */
size_t fact_links(pid_t tid, const char *cwd, struct span named, char *out, size_t cap);

/* Lines of OLD (-) and NEW (+) that differ, a few lines around, cut to what fits. Returns the length; 0: not text, or too long. */
size_t fact_diff(struct span old, struct span new, char *out, size_t cap);

#endif
