/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/kernel_calls.h"

#include <errno.h>
#include <stddef.h>
#include <unistd.h>

#include "supervisor/compat.h"

/* Each fails on its first argument already, a descriptor or an attribute that is none, or on memory that is none. */
static const int asked[] = {
	__NR_fchmodat2, __NR_lsm_set_self_attr, __NR_setxattrat, __NR_getxattrat, __NR_listxattrat,
	__NR_removexattrat, __NR_open_tree_attr, __NR_file_getattr, __NR_file_setattr,
};

bool kernel_lacks(int nr)
{
	for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
		if (asked[i] == nr)
			return syscall(nr, -1L, -1L, -1L, -1L, -1L, -1L) < 0 && errno == ENOSYS;
	}
	return false;
}
