/* SPDX-License-Identifier: Apache-2.0 */
/* What the rows of supervisor/rows_file.inc name. Contracts: struct sysrow. */
#ifndef USHER_SUPERVISOR_ROWS_FILE_H
#define USHER_SUPERVISOR_ROWS_FILE_H

#include "supervisor/file.h"
#include "supervisor/job.h"

/* open.c */
int open_resolve(struct job *j);
int open_check(struct job *j);
int openat_check(struct job *j);
int creat_check(struct job *j);
int openat2_check(struct job *j);
int open_perform(struct job *j);
int open_redirect(struct job *j, uint32_t index, const struct object *to);

/* file_entry.c */
int unlink_resolve(struct job *j);
int rmdir_resolve(struct job *j);
int unlinkat_check(struct job *j);
int unlinkat_resolve(struct job *j);
int unlink_perform(struct job *j);
int mkdir_resolve(struct job *j);
int mkdirat_resolve(struct job *j);
int mkdir_perform(struct job *j);
int mknod_check(struct job *j);
int mknodat_check(struct job *j);
int mknod_resolve(struct job *j);
int mknodat_resolve(struct job *j);
int mknod_perform(struct job *j);
int symlink_resolve(struct job *j);
int symlinkat_resolve(struct job *j);
int symlink_perform(struct job *j);
int link_resolve(struct job *j);
int linkat_check(struct job *j);
int linkat_resolve(struct job *j);
int link_perform(struct job *j);
int link_redirect(struct job *j, uint32_t index, const struct object *to);

/* file_rename.c */
int rename_resolve(struct job *j);
int renameat_resolve(struct job *j);
int renameat2_check(struct job *j);
int renameat2_resolve(struct job *j);
int rename_perform(struct job *j);
int rename_redirect(struct job *j, uint32_t index, const struct object *to);

/* file_attr.c */
int truncate_check(struct job *j);
int truncate_resolve(struct job *j);
int truncate_perform(struct job *j);
int fchmodat2_check(struct job *j);
int fchownat_check(struct job *j);
int chmod_resolve(struct job *j);
int fchmodat_resolve(struct job *j);
int fchmodat2_resolve(struct job *j);
int fchmod_resolve(struct job *j);
int chmod_perform(struct job *j);
int chown_resolve(struct job *j);
int lchown_resolve(struct job *j);
int fchownat_resolve(struct job *j);
int fchown_resolve(struct job *j);
int chown_perform(struct job *j);

/* file_times.c */
int utime_check(struct job *j);
int utimes_check(struct job *j);
int futimesat_check(struct job *j);
int utimensat_check(struct job *j);
int utime_resolve(struct job *j);
int futimesat_resolve(struct job *j);
int utimensat_resolve(struct job *j);
int times_perform(struct job *j);

/* file_xattr.c */
int setxattr_check(struct job *j);
int setxattr_resolve(struct job *j);
int lsetxattr_resolve(struct job *j);
int fsetxattr_resolve(struct job *j);
int setxattrat_check(struct job *j);
int setxattrat_resolve(struct job *j);
int setxattr_perform(struct job *j);
int removexattr_check(struct job *j);
int removexattr_resolve(struct job *j);
int lremovexattr_resolve(struct job *j);
int fremovexattr_resolve(struct job *j);
int removexattrat_check(struct job *j);
int removexattrat_resolve(struct job *j);
int removexattr_perform(struct job *j);
int file_setattr_check(struct job *j);
int file_setattr_resolve(struct job *j);
int file_setattr_perform(struct job *j);
int ioctl_resolve(struct job *j);
int ioctl_perform(struct job *j);

/* file_xattr_get.c */
int getxattr_resolve(struct job *j);
int lgetxattr_resolve(struct job *j);
int fgetxattr_resolve(struct job *j);
int getxattrat_check(struct job *j);
int getxattrat_resolve(struct job *j);
int listxattr_resolve(struct job *j);
int llistxattr_resolve(struct job *j);
int listxattrat_resolve(struct job *j);
int getxattr_perform(struct job *j);
int listxattr_perform(struct job *j);
int file_getattr_resolve(struct job *j);
int file_getattr_perform(struct job *j);

/* file_stat.c */
int stat_resolve(struct job *j);
int lstat_resolve(struct job *j);
int newfstatat_check(struct job *j);
int newfstatat_resolve(struct job *j);
int stat_perform(struct job *j);
int statx_check(struct job *j);
int statx_resolve(struct job *j);
int statx_perform(struct job *j);
int access_check(struct job *j);
int faccessat_check(struct job *j);
int faccessat2_check(struct job *j);
int access_resolve(struct job *j);
int faccessat_resolve(struct job *j);
int faccessat2_resolve(struct job *j);
int access_perform(struct job *j);
int readlink_check(struct job *j);
int readlinkat_check(struct job *j);
int readlink_resolve(struct job *j);
int readlinkat_resolve(struct job *j);
int readlink_perform(struct job *j);
int statfs_resolve(struct job *j);
int statfs_perform(struct job *j);

/* file_list.c */
int getdents_resolve(struct job *j);
int getdents64_perform(struct job *j);
int getdents_perform(struct job *j);

/* file_place.c */
int umask_at_once(struct job *j);
int chdir_at_once(struct job *j);
int fchdir_at_once(struct job *j);
int chdir_resolve(struct job *j);
int chdir_perform(struct job *j);
int chdir_redirect(struct job *j, uint32_t index, const struct object *to);
int chroot_resolve(struct job *j);
int chroot_perform(struct job *j);
int inotify_check(struct job *j);
int inotify_resolve(struct job *j);
int inotify_perform(struct job *j);

/* fs.c */

#endif
