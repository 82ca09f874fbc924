/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ownership helpers: a descriptor or pointer declared with one of these
 * attributes is released when its scope ends, unless it was stolen.
 */
#ifndef USHER_RULES_CLEANUP_H
#define USHER_RULES_CLEANUP_H

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* Closes *fd when it is open and keeps errno. */
static inline void cleanup_fd(int *fd)
{
	if (*fd < 0)
		return;
	int saved = errno;
	close(*fd);
	errno = saved;
}

static inline void cleanup_free(void *p)
{
	free(*(void **)p);
}

#define CLEANUP_FD __attribute__((cleanup(cleanup_fd)))
#define CLEANUP_FREE __attribute__((cleanup(cleanup_free)))

/* Takes the descriptor out of *fd: the scope no longer closes it. */
static inline int steal_fd(int *fd)
{
	int taken = *fd;
	*fd = -1;
	return taken;
}

static inline void *steal_pointer_impl(void *pp)
{
	void **slot = pp;
	void *taken = *slot;
	*slot = NULL;
	return taken;
}

#define steal_pointer(pp) ((__typeof__(*(pp)))steal_pointer_impl(pp))

#endif
