/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that only an entry of binfmt_misc runs. */
#ifndef USHER_SUPERVISOR_BINFMT_H
#define USHER_SUPERVISOR_BINFMT_H

#include <stdbool.h>

#include "rules/call.h"
#include "supervisor/exec_format.h"

struct binfmt {
	char interpreter[FORMAT_HEAD];
	bool keeps_name; /* flag P: argv[0] stays, behind the program's name */
};

/*
 * The entry that the kernel would take for a file that begins with HEAD and is called FILENAME: the newest enabled one. Read anew each time.
 * False when there is none, or usher sees none (binfmt_misc is not mounted): what ran then all the same would not be what was decided on, and is killed.
 */
bool binfmt_find(const char head[FORMAT_HEAD], struct span filename, struct binfmt *out);

/* The same from TEXT, an entry as /proc/sys/fs/binfmt_misc shows it. Pure. */
bool binfmt_takes(const char *text, const char head[FORMAT_HEAD], struct span filename, struct binfmt *out);

#endif
