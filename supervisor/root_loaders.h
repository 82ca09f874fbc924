/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The system's own dynamic loaders, as they are before an ordinary user's user namespace (spaces.h) is entered: root's files seem to be
 * nobody's in there, as everybody else's do.
 */
#ifndef USHER_SUPERVISOR_ROOT_LOADERS_H
#define USHER_SUPERVISOR_ROOT_LOADERS_H

#include <stdbool.h>
#include <sys/stat.h>

#define ROOT_LOADERS 4

struct root_loaders {
	struct {
		dev_t dev;
		ino_t ino; /* 0: none */
	} at[ROOT_LOADERS];
};

/* Those of the usual names that are root's and nobody else's to write. */
void root_loaders_note(struct root_loaders *out);

/* Whether the file that is as ST says is root's, or was one of those. */
bool root_loaders_has(const struct root_loaders *l, const struct stat *st);

#endif
