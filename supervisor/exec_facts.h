/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was read from programs before: a build runs the same few again and again. Only of files of root's that nobody else may write, and
 * whose times tell that they are what they were. Nothing is decided on it: it says what the new image must look like, and an image that
 * does not is not run.
 */
#ifndef USHER_SUPERVISOR_EXEC_FACTS_H
#define USHER_SUPERVISOR_EXEC_FACTS_H

#include <stdbool.h>
#include <sys/stat.h>

#include "supervisor/exec_format.h"

#define FACTS_PLACES 16
#define FACTS_NAME 64 /* longer names of interpreters are not kept */

/* A worker's own: no lock. All zeros: nothing is kept. */
struct facts_kept {
	unsigned next;
	struct {
		dev_t dev;
		ino_t ino; /* 0: the place is free */
		off_t size;
		struct timespec written, changed;
		bool library;
		bool needs;
		char interpreter[FACTS_NAME];
	} at[FACTS_PLACES];
};

/* The facts of an ELF file that is as ST says; false when they are not kept. */
bool facts_known(const struct facts_kept *k, const struct stat *st, struct elf_facts *out);

/* Keeps FACTS of the ELF file that was as ST says before it was read, where that may be done. */
void facts_keep(struct facts_kept *k, const struct stat *st, const struct elf_facts *facts);

#endif
