/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads with a working directory, root and umask of their own. unshare(2) is refused by what most containers run under (Docker's own filter), clone(2)
 * without CLONE_FS is not: the static program, whose C library is at hand, is linked so that its threads can begin that way (--wrap in the Makefile).
 */
#ifndef USHER_SUPERVISOR_OWN_FS_H
#define USHER_SUPERVISOR_OWN_FS_H

#include <pthread.h>

/* As pthread_create(); the new thread calls own_fs_enter() before all else. Returns 0 or a negative errno. */
int own_fs_create(pthread_t *out, const pthread_attr_t *attr, void *(*main)(void *), void *arg);

/* In a thread that own_fs_create() made: nobody shares its working directory from here on. Returns 0, or -1 with errno set (EPERM, ENOSYS: a container's filter). */
int own_fs_enter(void);

#endif
