/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/disposition.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/auto_fs.h>
#include <linux/btrfs.h>
#include <linux/f2fs.h>
#include <linux/fs.h>
#include <linux/fscrypt.h>
#include <linux/fsverity.h>
#include <linux/kd.h>
#include <linux/nilfs2_api.h>
#include <linux/sockios.h>
#include <linux/udf_fs_i.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>

#include "supervisor/kernel.h"
#include "supervisor/tracer.h"

#define BY_RULES "decided by the rules, or by usher's own knowledge of the tree"
#define ALLOW(why, nr) [__NR_##nr] = { #nr, CALL_ALLOWED, 0, 0, why },
#define MEDIATE(cond, nr) [__NR_##nr] = { #nr, CALL_MEDIATED, cond, 0, BY_RULES },
#define DECIDE(nr, why) [__NR_##nr] = { #nr, CALL_DECIDED, 0, 0, why },
#define REFUSE(cond, err, nr, why) [__NR_##nr] = { #nr, CALL_REFUSED, cond, err, why },

static const struct disposition table[] = {
#include "supervisor/calls.inc"
#ifdef __x86_64__
#include "supervisor/calls_x86_64.inc"
#endif
};

/* Constants of headers that cannot be included beside these, or that are newer than some. */
#define PR_SCHED_CORE_ 62
#define TIOCVHANGUP_ 0x5437
#define F_SETDELEG_ 1040
#define USERFAULTFD_IOC_NEW_ _IO(0xAA, 0)
#define FAT_SET_ATTRIBUTES _IOW('r', 0x11, uint32_t)
/* Of file systems whose headers are the kernel's own: by the sizes of their arguments. */
#define EXT4_NONE(n) _IO('f', n)
#define EXT4_WRITE(n, size) _IOW('f', n, char[size])
#define BTRFS_READ(n, size) _IOR(0x94, n, char[size])
#define BTRFS_WRITE(n, size) _IOW(0x94, n, char[size])
#define BTRFS_BOTH(n, size) _IOWR(0x94, n, char[size])
#define XFS_READ(n, size) _IOR('X', n, char[size])
#define XFS_WRITE(n, size) _IOW('X', n, char[size])
#define XFS_BOTH(n, size) _IOWR('X', n, char[size])
#define OCFS2_WRITE(n, size) _IOW('o', n, char[size])
#define VFAT_READ(n, size) _IOR('r', n, char[size])
#define BCACHEFS_READ(n, size) _IOR(0xbc, n, char[size])
#define BCACHEFS_WRITE(n, size) _IOW(0xbc, n, char[size])
#define CEPH_WRITE(n, size) _IOW(0x97, n, char[size])
#define HFSPLUS_NONE(n) _IO('h', n)
#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x00000080
#endif

#define WHERE(call, cond, err, text, why, ...) { __NR_##call, cond, err, { __VA_ARGS__ }, text, why },

static const struct condition conditions[] = {
#include "supervisor/conditions.inc"
};

static const struct disposition unknown = { "", CALL_UNKNOWN, 0, ENOSYS, "newer than this release, or no call at all" };

int disposition_end(void)
{
	return (int)(sizeof(table) / sizeof(table[0]));
}

const struct disposition *disposition_of(int nr)
{
	if (nr < 0 || nr >= disposition_end() || !table[nr].name)
		return &unknown;
	return &table[nr];
}

const struct condition *condition_at(unsigned index)
{
	return index < sizeof(conditions) / sizeof(conditions[0]) ? &conditions[index] : NULL;
}

bool disposition_traps(int nr)
{
	if (disposition_of(nr)->kind == CALL_MEDIATED)
		return true;
	for (unsigned i = 0; i < sizeof(conditions) / sizeof(conditions[0]); i++) {
		if (conditions[i].nr == nr && conditions[i].error == CONDITION_TRAP)
			return true;
	}
	return false;
}
