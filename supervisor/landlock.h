/* SPDX-License-Identifier: Apache-2.0 */
/* Landlock's interface up to ABI 10 (Linux 7.2), which Debian 12's headers have up to ABI 2 only. */
#ifndef USHER_SUPERVISOR_LANDLOCK_H
#define USHER_SUPERVISOR_LANDLOCK_H

#include <stdint.h>

#define LL_FS_EXECUTE (1ULL << 0)
#define LL_FS_READ_FILE (1ULL << 2)
#define LL_FS_READ_DIR (1ULL << 3)
#define LL_FS_ABI1 ((1ULL << 13) - 1)
#define LL_FS_REFER (1ULL << 13)     /* ABI 2, Linux 5.19 */
#define LL_FS_TRUNCATE (1ULL << 14)  /* ABI 3, Linux 6.2 */
#define LL_NET_BIND_TCP (1ULL << 0)  /* ABI 4, Linux 6.7 */
#define LL_NET_CONNECT_TCP (1ULL << 1)
#define LL_FS_IOCTL_DEV (1ULL << 15) /* ABI 5, Linux 6.10 */
#define LL_SCOPE_ABSTRACT (1ULL << 0) /* ABI 6, Linux 6.12 */
#define LL_SCOPE_SIGNAL (1ULL << 1)
#define LL_FS_RESOLVE_UNIX (1ULL << 16) /* ABI 9 */
#define LL_NET_BIND_UDP (1ULL << 2)     /* ABI 10, Linux 7.2 */
#define LL_NET_CONNECT_SEND_UDP (1ULL << 3)

#define LL_CREATE_VERSION 1U
#define LL_RULE_PATH_BENEATH 1

/* The kernel takes a shorter one: its size tells which fields are there. */
struct ll_ruleset {
	uint64_t handled_fs;
	uint64_t handled_net; /* ABI 4 */
	uint64_t scoped;      /* ABI 6 */
};

struct ll_path_beneath {
	uint64_t allowed;
	int32_t parent;
} __attribute__((packed));

#endif
