/* SPDX-License-Identifier: Apache-2.0 */
/* What identifies a file to rules: its device and inode; of a device node the device that it stands for, which other nodes may stand for too. */
#ifndef USHER_RULES_DEVICE_H
#define USHER_RULES_DEVICE_H

#include <stdint.h>
#include <sys/types.h>

struct identity {
	uint64_t dev, ino;
};

/*
 * Of a file with MODE and RDEV (st_mode, st_rdev), whose own are DEV and INO. Pseudo-terminals keep their own: each devpts numbers its
 * terminals anew.
 */
struct identity identity_of(mode_t mode, dev_t rdev, uint64_t dev, uint64_t ino);

#endif
