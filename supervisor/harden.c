/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/harden.h"

#include <errno.h>
#include <sys/prctl.h>
#include <sys/resource.h>

int harden_start(void)
{
	const struct rlimit none = { 0, 0 };

	if (setrlimit(RLIMIT_CORE, &none) < 0)
		return -errno;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 ? -errno : 0;
}
