/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/own_fs.h"

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

/* The first of struct clone_args, clone(2). */
struct flags {
	uint64_t flags;
};

/* What glibc (since 2.34) begins threads and posix_spawn()'s children with. Where it is shared it stays as it is, and the weak name leads nowhere. */
int __real___clone_internal(struct flags *how, int (*main)(void *), void *arg) __attribute__((weak));
int __wrap___clone_internal(struct flags *how, int (*main)(void *), void *arg);

static _Thread_local bool apart;

int __wrap___clone_internal(struct flags *how, int (*main)(void *), void *arg)
{
	if (apart)
		how->flags &= ~(uint64_t)CLONE_FS;
	return __real___clone_internal(how, main, arg);
}

int own_fs_create(pthread_t *out, const pthread_attr_t *attr, void *(*main)(void *), void *arg)
{
	apart = true;
	int rc = pthread_create(out, attr, main, arg);
	apart = false;
	return -rc;
}

int own_fs_enter(void)
{
	return __real___clone_internal ? 0 : unshare(CLONE_FS);
}
