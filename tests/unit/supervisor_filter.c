/* SPDX-License-Identifier: Apache-2.0 */
/* The filter as a table "mode, call, registers -> action", evaluated without a kernel, and one real installation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "supervisor/disposition.h"
#include "supervisor/filter.h"
#include "supervisor/kernel.h"
#include "tests/unit/bpf_run.h"

#define ALLOW SECCOMP_RET_ALLOW
#define TRAP SECCOMP_RET_USER_NOTIF
#define E(n) (SECCOMP_RET_ERRNO | (n))
#define HIGH 0xdead000000000000ULL

static const struct filter_options user = { .domain = true, .scoped = true, .sockets = { .udp = true } };
static const struct filter_options root = { .domain = true, .scoped = true, .sockets = { .udp = true }, .privileged = true, .sighted = true };
static const struct filter_options hidden = { .domain = true, .scoped = true, .sockets = { .udp = true }, .trap_stat = true };
static const struct filter_options bare = { 0 };
static const struct filter_options writers = { .domain = true, .scoped = true, .changes = true, .groups = true, .anywhere = true };
static bool lacks(int nr)
{
	return nr == __NR_setxattrat || nr == __NR_open_tree_attr || nr == __NR_file_getattr || nr == __NR_lsm_get_self_attr;
}
static const struct filter_options older = { .domain = true, .scoped = true, .trap_stat = true, .lacks = lacks };
static const struct filter_options readers = { .domain = true, .scoped = true, .reads = true };

struct expectation {
	const struct filter_options *mode;
	int nr;
	uint32_t action;
	uint64_t arg[6];
};

#define X(mode, nr, action, ...) { &mode, nr, action, { __VA_ARGS__ } }

static const struct expectation expected[] = {
	X(user, __NR_read, ALLOW, 0),
	X(user, __NR_setxattrat, TRAP, 0),
	X(user, __NR_open_tree_attr, E(EPERM), 0),
	X(hidden, __NR_file_getattr, TRAP, 0),
	X(user, __NR_fgetxattr, ALLOW, (uint32_t)AT_FDCWD),
	X(hidden, __NR_fgetxattr, ALLOW, 3),
	X(hidden, __NR_fgetxattr, TRAP, HIGH | (uint32_t)AT_FDCWD),
	X(older, __NR_setxattrat, E(ENOSYS), 0),
	X(older, __NR_open_tree_attr, E(ENOSYS), 0),
	X(older, __NR_file_getattr, E(ENOSYS), 0),
	X(older, __NR_lsm_get_self_attr, ALLOW, 0), /* the kernel says so itself */
	X(user, __NR_statmount, ALLOW, 0),
	X(hidden, __NR_statmount, E(ENOSYS), 0),
	X(hidden, __NR_listmount, E(ENOSYS), 0),
	X(older, __NR_removexattrat, TRAP, 0),
	X(user, __NR_madvise, ALLOW, 0, 4096, 100 /* MADV_HWPOISON */),
	X(root, __NR_madvise, ALLOW, 0, 4096, 4 /* MADV_DONTNEED */),
	X(root, __NR_madvise, E(EPERM), 0, 4096, 100),
	X(root, __NR_madvise, E(EPERM), 0, 4096, HIGH | 101 /* MADV_SOFT_OFFLINE */),
	X(user, __NR_process_madvise, ALLOW, 3, 0, 1, 21 /* MADV_PAGEOUT */),
	X(root, __NR_process_madvise, E(EPERM), 3, 0, 1, 21),
	X(root, __NR_process_madvise, E(EPERM), HIGH | 3, 0, 1, 21),
	X(root, __NR_process_madvise, ALLOW, (uint64_t)-10000 /* PIDFD_SELF_THREAD */, 0, 1, 21),
	X(root, __NR_process_madvise, ALLOW, (uint32_t)-10001 /* PIDFD_SELF_THREAD_GROUP */, 0, 1, 21),
	X(root, __NR_process_madvise, E(EPERM), (uint32_t)-10000, 0, 1, 100),
	X(root, __NR_process_madvise, E(EPERM), (uint32_t)-10000, 0, 1, 101),
	X(bare, __NR_process_madvise, E(EPERM), 3, 0, 1, 21),
	X(user, __NR_openat, TRAP, 0),
	X(readers, __NR_openat, ALLOW, 0, 0, O_RDONLY),
	X(readers, __NR_openat, ALLOW, 0, 0, O_RDONLY | O_CLOEXEC | O_DIRECTORY | O_NONBLOCK | O_NOFOLLOW),
	X(readers, __NR_openat, ALLOW, HIGH, HIGH, HIGH),
	X(readers, __NR_openat, TRAP, 0, 0, O_WRONLY),
	X(readers, __NR_openat, TRAP, 0, 0, HIGH | O_RDWR),
	X(readers, __NR_openat, TRAP, 0, 0, 3),
	X(readers, __NR_openat, TRAP, 0, 0, O_CREAT),
	X(readers, __NR_openat, TRAP, 0, 0, O_TRUNC),
	X(readers, __NR_openat, TRAP, 0, 0, O_PATH),
	X(readers, __NR_openat, TRAP, 0, 0, O_TMPFILE),
	X(readers, __NR_openat, TRAP, O_RDONLY, O_RDONLY, O_RDWR, O_RDONLY),
	X(readers, __NR_openat2, TRAP, 0),
#ifdef __NR_open
	X(readers, __NR_open, ALLOW, 0, O_RDONLY | O_CLOEXEC),
	X(readers, __NR_open, TRAP, 0, O_RDONLY | O_CREAT),
	X(readers, __NR_creat, TRAP, 0, 0),
#endif
	X(readers, __NR_unlinkat, TRAP, 0),
	X(user, __NR_execve, TRAP, 0),
	X(user, __NR_newfstatat, ALLOW, 0),
	X(hidden, __NR_newfstatat, TRAP, 0),
	X(user, __NR_kill, ALLOW, 1, 9),
	X(bare, __NR_kill, TRAP, 1, 9),
	X(user, __NR_setuid, ALLOW, 0),
	X(root, __NR_setuid, TRAP, 0),
	X(user, __NR_clone3, E(ENOSYS), 0),
	X(user, __NR_clone, ALLOW, CLONE_VM | CLONE_FILES | CLONE_FS | CLONE_THREAD | CLONE_SIGHAND | CLONE_SETTLS),
	X(user, __NR_clone, E(EPERM), CLONE_NEWUSER | 17),
	X(user, __NR_clone, E(EPERM), HIGH | CLONE_NEWNET),
	X(user, __NR_clone, ALLOW, CLONE_UNTRACED | CLONE_VM),
	X(user, __NR_clone, TRAP, CLONE_FILES | CLONE_VM),
	X(root, __NR_clone, TRAP, HIGH | CLONE_FILES | 17),
	X(root, __NR_unshare, E(EPERM), CLONE_NEWNS),
	X(root, __NR_unshare, E(EPERM), 0x80),
	X(user, __NR_unshare, ALLOW, CLONE_FILES | CLONE_FS),
	X(user, __NR_unshare, ALLOW, CLONE_THREAD | CLONE_SIGHAND | CLONE_VM | CLONE_SYSVSEM),
	X(user, __NR_unshare, E(EINVAL), 0x100000 /* UNSHARE_EMPTY_MNTNS */),
	X(root, __NR_unshare, E(EINVAL), 0x100000 | CLONE_FS),
	X(root, __NR_unshare, E(EINVAL), CLONE_NEWNS | CLONE_UNTRACED),
	X(root, __NR_unshare, E(EINVAL), 1ULL << 37),
	X(user, __NR_setns, E(EPERM), 3, 0),
	X(root, __NR_mount, E(EPERM), 0),
	X(root, __NR_open_tree, E(EPERM), 0),
	X(root, __NR_open_tree_attr, E(EPERM), 0),
	X(root, __NR_open_by_handle_at, E(EPERM), 0),
	X(user, __NR_io_uring_setup, E(ENOSYS), 0),
	X(user, __NR_memfd_secret, E(ENOSYS), 0),
	X(user, __NR_bpf, E(EPERM), 0),
	X(user, __NR_perf_event_open, E(EACCES), 0),
	X(user, __NR_userfaultfd, E(EPERM), 0),
	X(user, __NR_keyctl, E(ENOSYS), 0),
	X(user, __NR_ptrace, ALLOW, 0),
	X(bare, __NR_ptrace, E(EPERM), 0),
	X(bare, __NR_process_vm_writev, E(EPERM), 0),
	X(bare, __NR_pidfd_getfd, E(EPERM), 0),
	X(user, __NR_personality, ALLOW, 0xffffffff),
	X(user, __NR_personality, ALLOW, HIGH | 0xffffffff),
	X(user, __NR_personality, E(EPERM), 0x80400000),
	X(user, __NR_personality, E(EPERM), 0xfffffffe),
	X(user, __NR_personality, E(EPERM), HIGH | 0x80100000),
	X(user, __NR_personality, ALLOW, 0x0040000),
	X(user, __NR_personality, E(EPERM), HIGH | 0x0400000),
	X(user, __NR_prctl, ALLOW, PR_SET_NAME),
	X(user, __NR_prctl, ALLOW, PR_SET_DUMPABLE, 1),
	X(user, __NR_prctl, E(0), HIGH | PR_SET_DUMPABLE, 0),
	X(root, __NR_prctl, ALLOW, PR_SET_DUMPABLE, 0),
	X(root, __NR_prctl, TRAP, PR_CAPBSET_DROP, 5),
	X(user, __NR_prctl, ALLOW, PR_CAPBSET_DROP, 5),
	X(user, __NR_prctl, E(EPERM), PR_SET_MM, 1),
	X(user, __NR_prctl, E(EINVAL), PR_SET_PTRACER, 1),
	X(user, __NR_seccomp, ALLOW, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC),
	X(user, __NR_seccomp, E(EBUSY), HIGH | SECCOMP_SET_MODE_FILTER, HIGH | SECCOMP_FILTER_FLAG_NEW_LISTENER),
	X(user, __NR_setsockopt, E(EPERM), 3, HIGH | 0, HIGH | 35),
	X(user, __NR_setsockopt, E(EPERM), 3, 41, 20),
	X(user, __NR_setsockopt, E(EPERM), 3, 41, 46),
	X(user, __NR_setsockopt, ALLOW, 3, 1, 46),
	X(user, __NR_setsockopt, ALLOW, 3, 1, 15),
	X(writers, __NR_setsockopt, ALLOW, 3, 0, 35),
	X(writers, __NR_setsockopt, E(EPERM), 3, 0, 4),
	X(user, __NR_ioctl, ALLOW, 0, TCGETS),
	X(user, __NR_ioctl, ALLOW, 0, TIOCSCTTY, 1),
	X(user, __NR_ioctl, E(EPERM), 0, TIOCSTI),
	X(user, __NR_ioctl, E(EPERM), 0, HIGH | TIOCSTI),
	X(user, __NR_ioctl, E(EPERM), 0, HIGH | 0x100000000ULL | TIOCLINUX),
	X(user, __NR_ioctl, ALLOW, 0, 0x4B47),
	X(root, __NR_ioctl, E(EPERM), 0, 0x4B47),
	X(root, __NR_ioctl, E(EPERM), 0, HIGH | 0x4B49),
	X(user, __NR_ioctl, TRAP, 0, 0x40086602),
	X(user, __NR_ioctl, TRAP, 0, 0x401c5820),
	X(user, __NR_ioctl, ALLOW, 0, 0xd0009411 /* BTRFS_IOC_TREE_SEARCH */),
	X(root, __NR_ioctl, E(EPERM), 0, 0xd0009411),
	X(root, __NR_ioctl, E(EPERM), 0, HIGH | 0xc0709411 /* BTRFS_IOC_TREE_SEARCH_V2 */),
	X(root, __NR_ioctl, E(EPERM), 0, 0x40489426 /* BTRFS_IOC_SEND */),
	X(root, __NR_ioctl, E(EPERM), 0, 0x40449426 /* BTRFS_IOC_SEND_32 */),
	X(root, __NR_ioctl, E(EPERM), 0, 0x80809440 /* BTRFS_IOC_ENCODED_READ */),
	X(root, __NR_ioctl, E(EPERM), 0, HIGH | 0x80789440 /* BTRFS_IOC_ENCODED_READ_32 */),
	X(root, __NR_ioctl, ALLOW, 0, 0x40809440 /* BTRFS_IOC_ENCODED_WRITE */),
	X(user, __NR_ioctl, E(ENOTTY), 0, 0xd000943e /* BTRFS_IOC_INO_LOOKUP_USER */),
	X(root, __NR_ioctl, E(EPERM), 0, 0xd0009412 /* BTRFS_IOC_INO_LOOKUP */),
	X(root, __NR_ioctl, E(EPERM), 0, HIGH | 0xc0389423 /* BTRFS_IOC_INO_PATHS */),
	X(root, __NR_ioctl, E(EPERM), 0, 0xc028583e /* XFS_IOC_GETPARENTS */),
	X(root, __NR_ioctl, E(EPERM), 0, 0xc040583f /* XFS_IOC_GETPARENTS_BY_HANDLE */),
	X(user, __NR_ioctl, E(ENOTTY), 0, 0xc0c09425 /* BTRFS_IOC_SET_RECEIVED_SUBVOL_32 */),
	X(root, __NR_ioctl, E(EPERM), 0, 0x8004587d /* FS_IOC_SHUTDOWN */),
	X(root, __NR_ioctl, E(EPERM), 0, 0x40086610 /* EXT4_IOC_RESIZE_FS */),
	X(user, __NR_ioctl, E(ENOTTY), 0, 0x40806685 /* FS_IOC_ENABLE_VERITY */),
	X(user, __NR_ioctl, E(ENOTTY), 0, 0x40186f04 /* OCFS2_IOC_REFLINK */),
	X(user, __NR_ioctl, E(ENOTTY), 0, 0x4020bc10 /* BCH_IOCTL_SUBVOLUME_CREATE */),
	X(user, __NR_ioctl, E(ENOTTY), 0, HIGH | 0x4020bc11 /* BCH_IOCTL_SUBVOLUME_DESTROY */),
	X(user, __NR_ioctl, E(ENOTTY), 0, 0x8008bc40 /* BCHFS_IOC_REINHERIT_ATTRS */),
	X(user, __NR_ioctl, E(ENOTTY), 0, 0x40289702 /* CEPH_IOC_SET_LAYOUT */),
	X(user, __NR_ioctl, E(ENOTTY), 0, 0x40289705 /* CEPH_IOC_SET_LAYOUT_POLICY */),
	X(user, __NR_ioctl, E(ENOTTY), 0, 0x4004f50d /* F2FS_IOC_SET_PIN_FILE */),
	X(user, __NR_ioctl, ALLOW, 0, 0x40e8662e /* EXT4_IOC_SET_TUNE_SB_PARAM */),
	X(root, __NR_ioctl, E(EPERM), 0, 0x40e8662e),
	X(root, __NR_ioctl, E(EPERM), 0, HIGH | 0xc0406619 /* FS_IOC_REMOVE_ENCRYPTION_KEY_ALL_USERS */),
	X(root, __NR_ioctl, E(EPERM), 0, 0xc0285840 /* XFS_IOC_SCRUBV_METADATA */),
	X(root, __NR_ioctl, E(EPERM), 0, 0xc0105872 /* XFS_IOC_SET_RESBLKS */),
	X(root, __NR_ioctl, E(EPERM), 0, 0x40085874 /* XFS_IOC_ERROR_INJECTION */),
	X(root, __NR_ioctl, E(EPERM), 0, 0x40085875 /* XFS_IOC_ERROR_CLEARALL */),
	X(root, __NR_ioctl, E(EPERM), 0, 0x4004f506 /* F2FS_IOC_GARBAGE_COLLECT */),
	X(root, __NR_ioctl, E(EPERM), 0, 0x0000f507 /* F2FS_IOC_WRITE_CHECKPOINT */),
	X(root, __NR_ioctl, E(EPERM), 0, 0x4008f50a /* F2FS_IOC_FLUSH_DEVICE */),
	X(root, __NR_ioctl, E(EPERM), 0, 0x4018f50b /* F2FS_IOC_GARBAGE_COLLECT_RANGE */),
	X(root, __NR_ioctl, E(EPERM), 0, 0x4008f510 /* F2FS_IOC_RESIZE_FS */),
	X(root, __NR_ioctl, E(EPERM), 0, 0x40106e80 /* NILFS_IOCTL_CHANGE_CPMODE */),
	X(root, __NR_ioctl, E(EPERM), 0, 0x40086e81 /* NILFS_IOCTL_DELETE_CHECKPOINT */),
	X(root, __NR_ioctl, E(EPERM), 0, 0x40086e8b /* NILFS_IOCTL_RESIZE */),
	X(root, __NR_ioctl, E(EPERM), 0, 0x40046f01 /* OCFS2_IOC_GROUP_EXTEND */),
	X(root, __NR_ioctl, E(EPERM), 0, 0x00006880 /* HFSPLUS_IOC_BLESS */),
	X(root, __NR_ioctl, E(EPERM), 0, 0xc0086c43 /* UDF_RELOCATE_BLOCKS */),
	X(root, __NR_ioctl, ALLOW, 0, 0xc0385869 /* XFS_IOC_PATH_TO_HANDLE */),
	X(root, __NR_ioctl, ALLOW, 0, 0x82307201 /* VFAT_IOCTL_READDIR_BOTH */),
	X(hidden, __NR_ioctl, E(ENOTTY), 0, 0x82307201),
	X(hidden, __NR_ioctl, E(ENOTTY), 0, HIGH | 0x82307202 /* VFAT_IOCTL_READDIR_SHORT */),
	X(hidden, __NR_ioctl, E(ENOTTY), 0, 0xc0385868 /* XFS_IOC_PATH_TO_FSHANDLE */),
	X(hidden, __NR_ioctl, E(ENOTTY), 0, 0xc0385869),
	X(hidden, __NR_ioctl, E(EPERM), 0, 0xc0205865 /* XFS_IOC_FSBULKSTAT */),
	X(hidden, __NR_ioctl, E(EPERM), 0, 0xc0205866 /* XFS_IOC_FSBULKSTAT_SINGLE */),
	X(hidden, __NR_ioctl, E(EPERM), 0, 0x8040587f /* XFS_IOC_BULKSTAT */),
	X(root, __NR_ioctl, E(EPERM), 0, 0x00009361 /* AUTOFS_IOC_FAIL */),
	X(root, __NR_ioctl, E(EPERM), 0, 0x00009362 /* AUTOFS_IOC_CATATONIC */),
	X(root, __NR_ioctl, E(EPERM), 0, 0xc0089364 /* AUTOFS_IOC_SETTIMEOUT */),
	X(root, __NR_ioctl, E(EPERM), 0, 0xc0049364 /* AUTOFS_IOC_SETTIMEOUT32 */),
	X(root, __NR_ioctl, E(EPERM), 0, 0x810c9365 /* AUTOFS_IOC_EXPIRE */),
	X(root, __NR_ioctl, E(EPERM), 0, 0x40049366 /* AUTOFS_IOC_EXPIRE_MULTI */),
	X(root, __NR_ioctl, ALLOW, 0, 0x80e8662d /* EXT4_IOC_GET_TUNE_SB_PARAM */),
	X(root, __NR_ioctl, ALLOW, 0, 0x40049409 /* FICLONE */),
	X(root, __NR_ioctl, ALLOW, 0, 0xc0189436 /* FIDEDUPERANGE */),
	X(user, __NR_fcntl, ALLOW, 0, F_SETOWN, 1),
	X(bare, __NR_fcntl, TRAP, 0, F_SETOWN, 1),
	X(bare, __NR_fcntl, ALLOW, 0, F_SETFL, 0),
	X(user, __NR_fcntl, E(EINVAL), 0, F_SETLEASE, F_RDLCK),
	X(user, __NR_fcntl, E(EINVAL), 0, HIGH | F_SETLEASE, F_WRLCK),
	X(user, __NR_fcntl, ALLOW, 0, F_SETLEASE, F_UNLCK),
	X(user, __NR_fcntl, E(EINVAL), 0, 1040 /* F_SETDELEG */, 4096),
	X(user, __NR_fcntl, ALLOW, 0, F_GETLEASE),
	X(bare, __NR_fcntl, E(EINVAL), 0, F_SETLEASE, F_WRLCK),
	X(writers, __NR_fcntl, ALLOW, 0, F_SETLEASE, F_WRLCK),
	X(writers, __NR_fcntl, ALLOW, 0, 1040, 4096),
	X(user, __NR_sendto, ALLOW, 3, 4096, 10, 0, 0, 0),
	X(user, __NR_sendto, TRAP, 3, 4096, 10, 0, 0x100000000ULL, 16),
	X(user, __NR_prlimit64, ALLOW, 0, 7, 4096, 0),
	X(user, __NR_prlimit64, ALLOW, 77, 7, 0, 4096),
	X(user, __NR_prlimit64, TRAP, 77, 7, 4096, 0),
	X(user, __NR_setpgid, ALLOW, 0, 0),
	X(user, __NR_setpgid, ALLOW, 77, 0),
	X(user, __NR_setpgid, TRAP, 0, 77),
	X(user, __NR_setpriority, ALLOW, PRIO_PROCESS, 0, 5),
	X(user, __NR_setpriority, TRAP, PRIO_PROCESS, 77, 5),
	X(user, __NR_setpriority, TRAP, PRIO_USER, 0, 5),
	X(user, __NR_sched_setaffinity, ALLOW, 0, 8, 4096),
	X(user, __NR_sched_setaffinity, TRAP, 77, 8, 4096),
	X(user, __NR_sched_getaffinity, ALLOW, 0, 8, 4096),
	X(user, __NR_sched_getaffinity, TRAP, 77, 8, 4096),
	X(user, __NR_socket, ALLOW, AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0),
	X(user, __NR_socket, ALLOW, HIGH | AF_INET6, SOCK_DGRAM, 0),
	X(user, __NR_socket, ALLOW, AF_UNIX, SOCK_STREAM, 0),
	X(user, __NR_socket, ALLOW, AF_NETLINK, SOCK_RAW, 0),
	X(user, __NR_socket, E(EPROTONOSUPPORT), AF_NETLINK, SOCK_RAW, 9),
	X(root, __NR_socket, E(EAFNOSUPPORT), AF_PACKET, SOCK_RAW, 0),
	X(root, __NR_socket, E(EAFNOSUPPORT), HIGH | AF_PACKET, SOCK_RAW, 0),
	X(root, __NR_socket, E(ESOCKTNOSUPPORT), AF_INET, SOCK_RAW, 1),
	X(user, __NR_socket, E(EPROTONOSUPPORT), AF_INET, SOCK_STREAM, 262),
	X(user, __NR_socket, E(EAFNOSUPPORT), 40, SOCK_STREAM, 0),
	X(user, __NR_socketpair, ALLOW, AF_UNIX, SOCK_STREAM, 0),
	X(user, __NR_socketpair, E(EAFNOSUPPORT), 30, SOCK_STREAM, 0),
	X(user, __NR_clock_settime, ALLOW, 0),
	X(root, __NR_clock_settime, E(EPERM), 0),
	X(user, 400, E(ENOSYS), 0),
	X(user, __NR_file_setattr + 1, E(ENOSYS), 0),
	X(user, 0x40000000, E(ENOSYS), 0),
	X(user, 0x40000001, E(ENOSYS), 0),
	X(user, 0x40000208, E(ENOSYS), 0),
	X(user, -2, E(ENOSYS), 0),
	X(user, -1, ALLOW, 0),
};

static void build(const struct filter_options *o, struct sock_fprog *p)
{
	const char *why = "";
	int rc = filter_build(o, p, &why);

	if (rc)
		fail_msg("%s: %d", why, rc);
}

static void registers_give_the_expected_action(void **state)
{
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		const struct expectation *x = &expected[i];
		struct seccomp_data d = { .nr = x->nr, .arch = NATIVE_AUDIT_ARCH };
		struct sock_fprog p = { 0 };

		memcpy(d.args, x->arg, sizeof(d.args));
		build(x->mode, &p);
		uint32_t got = bpf_run(&p, &d);
		if (got != x->action)
			print_error("line %zu: call %d: %#x, expected %#x\n", i, x->nr, got, x->action);
		assert_int_equal(got, x->action);
		filter_free(&p);
	}
}

static void other_architectures_get_enosys(void **state)
{
	const uint32_t arch[] = { AUDIT_ARCH_I386, AUDIT_ARCH_ARM, 0,
				  AUDIT_ARCH_X86_64 ^ AUDIT_ARCH_AARCH64 ^ NATIVE_AUDIT_ARCH };
	struct sock_fprog p = { 0 };

	build(&user, &p);
	for (size_t i = 0; i < sizeof(arch) / sizeof(arch[0]); i++) {
		for (int nr = -1; nr < 500; nr++) {
			struct seccomp_data d = { .nr = nr, .arch = arch[i] };
			assert_int_equal(bpf_run(&p, &d), E(ENOSYS));
		}
	}
	filter_free(&p);
}

static uint32_t plain_action(const struct disposition *d, unsigned mode)
{
	if (d->kind == CALL_UNKNOWN)
		return E(ENOSYS);
	if (d->kind == CALL_REFUSED && (d->when & mode) == d->when)
		return E((unsigned)d->error);
	if (d->kind == CALL_MEDIATED && (d->when & mode) == d->when)
		return TRAP;
	return ALLOW;
}

static void table_and_program_agree(void **state)
{
	static const struct {
		const struct filter_options *o;
		unsigned mode;
	} modes[] = {
		{ &user, WHEN_BLIND },
		{ &root, WHEN_PRIVILEGED },
		{ &hidden, WHEN_BLIND | WHEN_STAT },
		{ &bare, WHEN_BLIND | WHEN_UNSCOPED | WHEN_APART },
	};

	for (size_t m = 0; m < sizeof(modes) / sizeof(modes[0]); m++) {
		struct sock_fprog p = { 0 };

		build(modes[m].o, &p);
		for (int nr = 0; nr < 600; nr++) {
			const struct disposition *d = disposition_of(nr);
			struct seccomp_data data = { .nr = nr, .arch = NATIVE_AUDIT_ARCH };

			if (d->kind != CALL_DECIDED)
				assert_int_equal(bpf_run(&p, &data), plain_action(d, modes[m].mode));
		}
		filter_free(&p);
	}
}

#ifdef __x86_64__
static long int80(void)
{
	long rc;

	__asm__ volatile("int $0x80" : "=a"(rc) : "0"(20L) : "memory", "r8", "r9", "r10", "r11");
	return rc;
}

/* Without a filter: a kernel may have no 32-bit calls (a guest of a host that runs 64-bit code only), the instruction ends in SIGSEGV then. */
static bool int80_known(void)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		signal(SIGSEGV, SIG_DFL);
		_exit(int80() != getpid());
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
#endif

static int foreign_calls(bool gate)
{
#ifdef __x86_64__
	if (gate && int80() != -ENOSYS)
		return 1;
	if (syscall(0x40000000 | 39) != -1 || errno != ENOSYS)
		return 2;
#endif
	return 0;
}

static int probe(const struct sock_fprog *p, bool gate)
{
	int listener = -1;

	if (filter_install(p, &listener) < 0)
		return 1;
	if (!(fcntl(listener, F_GETFD) & FD_CLOEXEC))
		return 2;
	if (syscall(__NR_io_uring_setup, 1, NULL) != -1 || errno != ENOSYS)
		return 3;
	if (unshare(CLONE_NEWUSER) != -1 || errno != EPERM)
		return 4;
	if (syscall(9999) != -1 || errno != ENOSYS)
		return 5;
	if (foreign_calls(gate))
		return 6;
	if (syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, p) != -1 || errno != EBUSY)
		return 7;
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
		return 8;
	return 0;
}

static void kernel_takes_it(void **state)
{
	struct sock_fprog p = { 0 };
	bool gate = false;
	int status;

#ifdef __x86_64__
	gate = int80_known();
#endif
	build(&user, &p);
	pid_t pid = fork();
	if (pid == 0)
		_exit(probe(&p, gate));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	filter_free(&p);
}

static void flags_are_probed(void **state)
{
	assert_true(filter_flags_known(SECCOMP_FILTER_FLAG_NEW_LISTENER));
	assert_false(filter_flags_known(1u << 30));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(registers_give_the_expected_action),
		cmocka_unit_test(other_architectures_get_enosys),
		cmocka_unit_test(table_and_program_agree),
		cmocka_unit_test(kernel_takes_it),
		cmocka_unit_test(flags_are_probed),
	};

	return cmocka_run_group_tests_name("supervisor_filter", tests, NULL, NULL);
}
