/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading at native cost: where the rules allow every read and want no record, opens for reading are left to the kernel. What usher's
 * guard layer closes to reading is covered in a mount namespace that the command and usher's workers share, since neither the
 * filter nor Landlock can say "all but these".
 *
 * MUST: nothing is left to the kernel unless every name that the guard layer closes is covered, and no descriptor or directory that the
 * command starts with leads around a cover; what /proc tells of processes outside the tree is refused by Landlock.
 */
#ifndef USHER_SUPERVISOR_COVER_H
#define USHER_SUPERVISOR_COVER_H

#include <stdbool.h>
#include <stddef.h>

struct policy;
struct cover;

struct cover_options {
	const struct policy *policy;
	bool domain;        /* the command enters a Landlock domain */
	const int *keep;    /* descriptors above 2 that the command inherits */
	size_t n_keep;
};

/*
 * Makes the namespace, and the covered places where they are missing. In the parent, before the fork, when the journal is there. Returns 0 with
 * *out set, which lives as long as the process, since threads may enter at any time; or 1 with *why saying what stands against
 * it. The calling thread stays where it is.
 */
int cover_make(const struct cover_options *options, struct cover **out, const char **why);

/* Whether cover_make() could succeed for these rules here, as far as can be told without a session; *why as there. */
bool cover_possible(const struct policy *policy, bool domain, const char **why);

/*
 * Enters the namespace, in the command's child and in each worker: in a thread whose file system information is its own. Keeps the working
 * directory, lays down CAP_SYS_ADMIN and CAP_PERFMON. COVER may be NULL: nothing to do. Returns 0 or a negative errno.
 */
int cover_enter(const struct cover *cover);

/* A descriptor of usher's working directory at the start, inside the namespace; or -1. */
int cover_home(const struct cover *cover);

#endif
