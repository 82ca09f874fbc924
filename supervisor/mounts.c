/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/mounts.h"

#include <errno.h>
#include <mntent.h>
#include <stdio.h>
#include <string.h>

int mounts_each(void (*each)(const char *type, const char *dir, void *context), void *context)
{
	FILE *f = setmntent("/proc/self/mounts", "re");
	struct mntent *m;

	if (!f)
		return -errno;
	while ((m = getmntent(f)))
		each(m->mnt_type, m->mnt_dir, context);
	endmntent(f);
	return 0;
}

/* procfs is not among them: it is known by its kind at each use (resolve_describe.c), for it shows processes as well. */
static const struct {
	const char *type;
	const char *place[2];
} kernels_own[] = {
	{ "sysfs", { "/sys" } },
	{ "debugfs", { "/sys/kernel/debug" } },
	{ "tracefs", { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" } },
	{ "binfmt_misc", { "/proc/sys/fs/binfmt_misc" } },
	{ "securityfs", { "/sys/kernel/security" } },
	{ "configfs", { "/sys/kernel/config" } },
	{ "efivarfs", { "/sys/firmware/efi/efivars" } },
	{ "pstore", { "/sys/fs/pstore" } },
	{ "selinuxfs", { "/sys/fs/selinux" } },
	{ "smackfs", { "/sys/fs/smackfs" } },
};

bool mounts_astray(const char *type, const char *dir)
{
	for (size_t i = 0; i < sizeof(kernels_own) / sizeof(kernels_own[0]); i++) {
		const char *const *place = kernels_own[i].place;

		if (strcmp(type, kernels_own[i].type) == 0)
			return strcmp(dir, place[0]) != 0 && !(place[1] && strcmp(dir, place[1]) == 0);
	}
	return false;
}
