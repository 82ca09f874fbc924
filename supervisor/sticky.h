/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel forbids in directories where everybody may make entries (fs.protected_symlinks, fs.protected_regular, fs.protected_fifos): it does
 * so where it walks a name itself, usher does where it walks by hand or opens what it holds. See may_follow_link() and may_create_in_sticky() in the kernel.
 */
#ifndef USHER_SUPERVISOR_STICKY_H
#define USHER_SUPERVISOR_STICKY_H

#include <sys/stat.h>

struct job;

/* Whether J's caller may follow a symbolic link, LINK its identity, that lies in a directory that is DIR. 0, -EACCES or another negative errno. */
int sticky_link(struct job *j, const struct stat *dir, const struct stat *link);

/* Whether J's caller may open with O_CREAT what is there already as FILE, in a directory that is DIR. As sticky_link(). */
int sticky_create(struct job *j, const struct stat *dir, const struct stat *file);

#endif
