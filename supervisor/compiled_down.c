/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MUST: a call stands here only when each one of its kind needs the operation beside it, on some file, whatever its arguments
 * are. Nothing is allowed from here: what the guard closes (usher's journals, rules, sockets) cannot be kept closed
 * by a filter, which sees no names. Opens for reading, which can be covered, are cover.h's.
 */
#include "supervisor/compiled_down.h"

#include <stddef.h>
#include <sys/syscall.h>

#include "policy/constant.h"
#include "supervisor/compat.h"

struct need {
	int nr;
	op_set op;
};

static const struct need needs[] = {
	{ __NR_unlinkat, OP_DELETE },
	{ __NR_mkdirat, OP_CREATE },
	{ __NR_mknodat, OP_CREATE },
	{ __NR_symlinkat, OP_CREATE },
	{ __NR_linkat, OP_CREATE },
	{ __NR_renameat2, OP_CREATE },
	{ __NR_renameat2, OP_DELETE },
	{ __NR_truncate, OP_MODIFY },
	{ __NR_fchmod, OP_ATTR },
	{ __NR_fchmodat, OP_ATTR },
	{ __NR_fchmodat2, OP_ATTR },
	{ __NR_fchown, OP_ATTR },
	{ __NR_fchownat, OP_ATTR },
	{ __NR_setxattr, OP_ATTR },
	{ __NR_lsetxattr, OP_ATTR },
	{ __NR_fsetxattr, OP_ATTR },
	{ __NR_removexattr, OP_ATTR },
	{ __NR_lremovexattr, OP_ATTR },
	{ __NR_fremovexattr, OP_ATTR },
	{ __NR_utimensat, OP_ATTR },
#ifdef __NR_renameat
	{ __NR_renameat, OP_CREATE },
	{ __NR_renameat, OP_DELETE },
#endif
#ifdef __x86_64__
	{ __NR_unlink, OP_DELETE },
	{ __NR_rmdir, OP_DELETE },
	{ __NR_mkdir, OP_CREATE },
	{ __NR_mknod, OP_CREATE },
	{ __NR_symlink, OP_CREATE },
	{ __NR_link, OP_CREATE },
	{ __NR_rename, OP_CREATE },
	{ __NR_rename, OP_DELETE },
	{ __NR_chmod, OP_ATTR },
	{ __NR_chown, OP_ATTR },
	{ __NR_lchown, OP_ATTR },
	{ __NR_utime, OP_ATTR },
	{ __NR_utimes, OP_ATTR },
	{ __NR_futimesat, OP_ATTR },
#endif
};

int compiled_down(const struct policy *policy, int nr, op_set *op)
{
	for (size_t i = 0; policy && i < sizeof(needs) / sizeof(needs[0]); i++) {
		int error = needs[i].nr == nr ? policy_refuses(policy, needs[i].op) : 0;

		if (!error)
			continue;
		*op = needs[i].op;
		return error;
	}
	return 0;
}
