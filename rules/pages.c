/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/pages.h"

#include <sys/mman.h>

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
