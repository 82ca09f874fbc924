/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/beside.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rules/pages.h"

#define PAGE 4096

#ifndef __has_feature
#define __has_feature(x) 0
#endif

/* Sanitizers know of threads and forks: under them the child is a fork, whose memory is a copy. */
static bool shares(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
	__has_feature(memory_sanitizer) || __has_feature(hwaddress_sanitizer)
	return false;
#else
	return true;
#endif
}

pid_t beside_fork(void)
{
	return (pid_t)syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0);
}

static pid_t start_fork(int (*main)(void *), void *arg)
{
	pid_t pid = beside_fork();

	if (pid == 0)
		_exit(main(arg));
	return pid < 0 ? -errno : pid;
}

static int make_stack(struct beside *b, size_t size)
{
	b->size = ((size + PAGE - 1) & ~(size_t)(PAGE - 1)) + PAGE;
	b->stack = pages_new(b->size);
	if (!b->stack)
		return -ENOMEM;
	if (mprotect(b->stack, PAGE, PROT_NONE) == 0)
		return 0;
	int rc = -errno;
	beside_free(b);
	return rc;
}

pid_t beside_start(struct beside *b, size_t stack, int (*main)(void *), void *arg)
{
	*b = (struct beside){ 0 };
	if (!shares())
		return start_fork(main, arg);
	int rc = make_stack(b, stack);
	if (rc < 0)
		return rc;
	b->in = 1;
	/* The kernel clears it when the child gives the memory up (mm_release()), not before its new image is there. */
	pid_t pid = clone(main, b->stack + b->size, CLONE_VM | CLONE_FILES | CLONE_CHILD_CLEARTID | SIGCHLD, arg, NULL, NULL, &b->in);
	if (pid >= 0)
		return pid;
	rc = -errno;
	beside_free(b);
	return rc;
}

bool beside_left(const struct beside *b)
{
	return __atomic_load_n(&b->in, __ATOMIC_ACQUIRE) == 0;
}

void beside_free(struct beside *b)
{
	pages_free(b->stack, b->size);
	b->stack = NULL;
}
