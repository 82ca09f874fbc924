/* SPDX-License-Identifier: Apache-2.0 */
/* Small files of /proc, read at once. */
#ifndef USHER_SUPERVISOR_PROC_TEXT_H
#define USHER_SUPERVISOR_PROC_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The first SIZE - 1 bytes at most of the file PATH, ended by a NUL. False, with OUT empty, when it cannot be read or has none. */
bool file_text(const char *path, char *out, size_t size);

/* The same of /proc/PID/WHAT (a short name). PID may be a thread's; whose number it is by now is the caller's business. */
bool proc_text(pid_t pid, const char *what, char *out, size_t size);

/*
 * All of /proc/PID/WHAT, up to a mebibyte: a status has as many groups as 65,536. *out is malloc'd. 0, -ESRCH when there is no such thread,
 * -ENOMEM.
 */
int proc_whole(pid_t pid, const char *what, char **out);

/* The same of the file that FD is at the beginning of. */
int text_whole(int fd, char **out);

/* Of /proc/PID/stat what is behind the name, from its ')' on: a name may hold anything, another ')' too. NULL when it does not tell. */
#define PROC_STAT 1024
const char *proc_stat(pid_t pid, char text[PROC_STAT]);

/* Whether the directory PROC is a procfs with this pid namespace's numbers: in another's each leads to another process. */
bool proc_is_own(int proc);

#endif
