/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls without a directory: by their own numbers, which C libraries do not always take, where the architecture has them; aarch64 has only those
 * with one.
 */
#ifndef USHER_TESTS_OLD_CALLS_H
#define USHER_TESTS_OLD_CALLS_H

#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Whether usher has a caller do what only itself can do: SECURITY.md. */
#ifdef __x86_64__
#define FROM_INSIDE true
#else
#define FROM_INSIDE false
#endif

#ifdef SYS_open
#define OLD_CALL(name, args, old, at) \
	static inline long old_##name args { return syscall old; }
#else
#define OLD_CALL(name, args, old, at) \
	static inline long old_##name args { return syscall at; }
#endif

OLD_CALL(open, (const char *p, int flags), (SYS_open, p, flags), (SYS_openat, AT_FDCWD, p, flags))
OLD_CALL(unlink, (const char *p), (SYS_unlink, p), (SYS_unlinkat, AT_FDCWD, p, 0))
OLD_CALL(rmdir, (const char *p), (SYS_rmdir, p), (SYS_unlinkat, AT_FDCWD, p, AT_REMOVEDIR))
OLD_CALL(mkdir, (const char *p, unsigned mode), (SYS_mkdir, p, mode), (SYS_mkdirat, AT_FDCWD, p, mode))
OLD_CALL(mknod, (const char *p, unsigned mode), (SYS_mknod, p, mode, 0), (SYS_mknodat, AT_FDCWD, p, mode, 0))
OLD_CALL(symlink, (const char *text, const char *p), (SYS_symlink, text, p), (SYS_symlinkat, text, AT_FDCWD, p))
OLD_CALL(link, (const char *from, const char *to), (SYS_link, from, to), (SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0))
OLD_CALL(rename, (const char *from, const char *to), (SYS_rename, from, to), (SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0))
OLD_CALL(chmod, (const char *p, unsigned mode), (SYS_chmod, p, mode), (SYS_fchmodat, AT_FDCWD, p, mode))
OLD_CALL(chown, (const char *p, int uid, int gid), (SYS_chown, p, uid, gid), (SYS_fchownat, AT_FDCWD, p, uid, gid, 0))
OLD_CALL(lchown, (const char *p, int uid, int gid), (SYS_lchown, p, uid, gid), (SYS_fchownat, AT_FDCWD, p, uid, gid, AT_SYMLINK_NOFOLLOW))
OLD_CALL(utime, (const char *p), (SYS_utime, p, NULL), (SYS_utimensat, AT_FDCWD, p, NULL, 0))
OLD_CALL(stat, (const char *p, struct stat *st), (SYS_stat, p, st), (SYS_newfstatat, AT_FDCWD, p, st, 0))
OLD_CALL(readlink, (const char *p, char *out, size_t cap), (SYS_readlink, p, out, cap), (SYS_readlinkat, AT_FDCWD, p, out, cap))

#endif
