/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel interface that the filter and the floor need beyond Debian 12's headers: the end of the
 * call table as of Linux 6.18, the architecture, and seccomp's newer flags. Presence is asked at run time.
 */
#ifndef USHER_SUPERVISOR_KERNEL_H
#define USHER_SUPERVISOR_KERNEL_H

#include <linux/audit.h>
#include <linux/ioctl.h>
#include <linux/seccomp.h>

#include "supervisor/compat.h"

#ifdef __x86_64__
#ifndef __NR_uretprobe
#define __NR_uretprobe 335
#endif
#ifndef __NR_uprobe
#define __NR_uprobe 336
#endif
#define NATIVE_AUDIT_ARCH AUDIT_ARCH_X86_64
/* The kernel's O_LARGEFILE, which it sets by itself; the C library's is 0. */
#define USHER_O_LARGEFILE 0100000
#elif defined(__aarch64__)
#define NATIVE_AUDIT_ARCH AUDIT_ARCH_AARCH64
#define USHER_O_LARGEFILE 0400000
#else
#error "usher knows the call tables of x86-64 and aarch64 only"
#endif

/* The highest call number that is known. */
#define NR_LAST __NR_file_setattr

/* Offsets of the halves of argument N in struct seccomp_data. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define LOW_HALF(n) (offsetof(struct seccomp_data, args) + 8 * (n))
#define HIGH_HALF(n) (LOW_HALF(n) + 4)
#else
#define HIGH_HALF(n) (offsetof(struct seccomp_data, args) + 8 * (n))
#define LOW_HALF(n) (HIGH_HALF(n) + 4)
#endif

/* Linux 5.19 */
#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif
/* Linux 6.6 */
#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS _IOW('!', 4, __u64)
#endif
#ifndef SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP
#define SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP (1UL << 0)
#endif
/* Linux 6.9 */
#ifndef PIDFD_THREAD
#define PIDFD_THREAD 0200 /* O_EXCL */
#endif
/* Linux 6.12 */
#ifndef F_CREATED_QUERY
#define F_CREATED_QUERY (1024 + 4)
#endif

#endif
