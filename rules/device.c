// SPDX-License-Identifier: Apache-2.0
#include "rules/device.h"

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#define PTS_FIRST 136
#define PTS_LAST 143
/* No file system has these numbers: the kernel's have 32 bits. */
#define CHARACTER (UINT64_MAX - 1)
#define BLOCK UINT64_MAX

/* One whose node counts less than what it stands for. */
static bool is_device(mode_t mode, dev_t rdev)
{
	return S_ISBLK(mode) || (S_ISCHR(mode) && !(major(rdev) >= PTS_FIRST && major(rdev) <= PTS_LAST));
}

struct identity identity_of(mode_t mode, dev_t rdev, uint64_t dev, uint64_t ino)
{
	if (!is_device(mode, rdev))
		return (struct identity){ dev, ino };
	return (struct identity){ S_ISBLK(mode) ? BLOCK : CHARACTER, rdev };
}
