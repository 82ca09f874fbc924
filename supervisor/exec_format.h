/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel makes of a program file's first bytes. Pure but for reads of a held descriptor.
 */
#ifndef USHER_SUPERVISOR_EXEC_FORMAT_H
#define USHER_SUPERVISOR_EXEC_FORMAT_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rules/call.h"

/* What the kernel looks at (BINPRM_BUF_SIZE). */
#define FORMAT_HEAD 256

enum format_kind {
	FORMAT_OTHER = 0, /* the kernel says ENOEXEC, or binfmt_misc knows it */
	FORMAT_SCRIPT,
	FORMAT_ELF,
};

/* The line of a script; spans point into the head. arg is absent when there is none. */
struct script_line {
	struct span interpreter;
	struct span arg;
	bool keeps_name; /* binfmt_misc: argv[0] stays */
};

struct elf_facts {
	bool library;           /* a shared object with a soname and no interpreter: a dynamic loader when it is executed */
	bool needs;             /* it has an interpreter, and names libraries for it to find */
	char interpreter[PATH_MAX]; /* PT_INTERP, "" when there is none */
};

/*
 * Parses HEAD (FORMAT_HEAD bytes, zeros behind the end of a short file) as the kernel's binfmt_script does.
 * Returns true with *out filled when it is a script that the kernel would run.
 */
bool format_script(const char head[FORMAT_HEAD], struct script_line *out);

/*
 * Reads the first bytes of FD (any readable descriptor) into HEAD. Returns the kind, or a negative errno.
 */
int format_kind(int fd, char head[FORMAT_HEAD]);

/*
 * Facts about the ELF file open at FD with first bytes HEAD. Bounded whatever the file says. Returns 0, -ENOEXEC where
 * the kernel would not run it either, or another negative errno.
 */
int format_elf(int fd, const char head[FORMAT_HEAD], struct elf_facts *out);

/* Whether LEAF is the name of a dynamic loader: ld-linux*.so*, ld-musl-*, ld.so*, ld64.so*, ld-2.31.so ... */
bool format_loader_name(struct span leaf);

#endif
