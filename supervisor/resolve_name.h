/* SPDX-License-Identifier: Apache-2.0 */
/* Names as bytes: what can be said of a path without asking the kernel. Pure. */
#ifndef USHER_SUPERVISOR_RESOLVE_NAME_H
#define USHER_SUPERVISOR_RESOLVE_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Copies PATH (LEN bytes) to OUT (LEN + 1 bytes of room) without empty and "." components. Returns false, OUT
 * unspecified, when the kernel must walk it to know what it means: it has "..", ends in a slash or ".", or is empty. OUT
 * may be PATH.
 */
bool name_fold(const char *path, size_t len, char *out, size_t *out_len);

/* The offset of PATH's first ".." component; LEN when there is none. */
size_t name_up(const char *path, size_t len);

/* How much of PATH is left without the slashes and "." components at its end. */
size_t name_without_ending(const char *path, size_t len);

/* A path split at its last component. */
struct split {
	size_t dir;    /* length of what precedes the last component, slashes between them excluded; 0: none */
	size_t leaf;   /* offset of the last component */
	size_t len;    /* its length, without slashes behind it; 0 for "/" */
	bool slash;    /* slashes follow it */
	bool dots;     /* it is "." or "..", or the path is the root, which lies in itself: no entry is meant */
};
void name_split(const char *path, size_t len, struct split *out);

/* The process number that a canonical name lies below in /proc ("/proc/12/..."), and the rest behind it; -1 when none. */
pid_t name_proc(const char *name, size_t len, const char **rest, size_t *rest_len);

/* The entry of a process's or a thread's directory that REST (*LEN bytes) names; REST itself where it names such a directory. */
const char *name_proc_entry(const char *rest, size_t *len);

/* Whether what lies at REST below a foreign process's directory in /proc may be read at all. */
bool name_proc_public(const char *rest, size_t len);

/*
 * As name_proc_public(), of a process of the tree where others must not enter it: besides, the links to its program and directories, and what WRITING
 * gives it no other's rights. Not its memory, registers, environment and descriptors.
 */
bool name_proc_outer(const char *rest, size_t len, bool writing);

/* Whether the canonical NAME is DIR itself or lies below it. */
bool name_below(const char *name, size_t len, const char *dir, size_t dir_len);

#endif
