/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/hidden.h"

#include <linux/futex.h>
#include <limits.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct hidden {
	_Atomic uint32_t set;
};

struct hidden *hidden_new(void)
{
	void *at = mmap(NULL, sizeof(struct hidden), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

void hidden_again(struct hidden *h)
{
	atomic_store(&h->set, 0);
}

void hidden_set(struct hidden *h)
{
	atomic_store(&h->set, 1);
	(void)syscall(SYS_futex, &h->set, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
	(void)munmap(h, sizeof(*h));
}

bool hidden_wait(struct hidden *h, int ms)
{
	if (atomic_load(&h->set))
		return true;
	const struct timespec rest = { ms / 1000, (long)(ms % 1000) * 1000000 };

	(void)syscall(SYS_futex, &h->set, FUTEX_WAIT, 0, &rest, NULL, 0);
	return atomic_load(&h->set);
}
