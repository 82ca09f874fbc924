/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/pages.h"

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE 4096u
#define WORTH_IT (8 * PAGE)
#define KEPT (8 << 20)     /* bytes that may be free at the heap's end */
#define MAPPED (128 << 10) /* glibc's own bound for what gets a mapping */

void *pages_new(size_t n)
{
	void *at = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

void pages_free(void *at, size_t n)
{
	if (at)
		(void)munmap(at, n);
}

/* Of the whole pages within AT only. EINVAL on older kernels, ENOMEM where a part is not mapped: no loss. */
static void advise(char *at, size_t n, int advice)
{
	size_t skip = -(uintptr_t)at % PAGE;

	if (n > skip)
		(void)madvise(at + skip, (n - skip) & ~(size_t)(PAGE - 1), advice);
}

static void populate(char *at, size_t n)
{
	advise(at, n, MADV_POPULATE_WRITE);
}

void pages_give_back(void *at, size_t n)
{
	advise(at, n, MADV_DONTNEED);
}

void pages_ready(void *at, size_t n)
{
	if (at && n >= WORTH_IT)
		populate(at, n);
}

void *pages_to_fill(size_t n)
{
	void *at = malloc(n);

	pages_ready(at, n);
	return at;
}

void *pages_zeroed(size_t n)
{
	if (n < MAPPED) {
		void *at = pages_to_fill(n);

		return at ? memset(at, 0, n) : NULL;
	}
	void *at = calloc(1, n); /* a mapping, zero as it comes */

	pages_ready(at, n);
	return at;
}

/* Of the heap itself, not of a mapping of its own, and still there when it is free again. */
void pages_ahead(size_t stack, size_t heap)
{
	char *here = __builtin_frame_address(0);

	(void)mallopt(M_ARENA_MAX, 1); /* what one thread needs for a moment serves the next: each in an arena of its own would keep as much */
	(void)mallopt(M_TRIM_THRESHOLD, KEPT);
	(void)mallopt(M_MMAP_THRESHOLD, KEPT);
	char *at = malloc(heap);
	(void)mallopt(M_MMAP_THRESHOLD, MAPPED);
	populate(here - stack, stack);
	if (at)
		populate(at, heap);
	free(at);
}
