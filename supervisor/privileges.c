/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/privileges.h"

#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

struct caps {
	struct __user_cap_data_struct word[_LINUX_CAPABILITY_U32S_3];
};

static bool caps_read(struct caps *out)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };

	return syscall(__NR_capget, &head, out->word) == 0;
}

bool privileges_held(void)
{
	struct caps c;

	if (geteuid() == 0 || !caps_read(&c))
		return true;
	return (c.word[0].effective | c.word[1].effective | c.word[0].permitted | c.word[1].permitted) != 0;
}

bool privileges_read_any(void)
{
	struct caps c;

	return caps_read(&c) && (c.word[CAP_TO_INDEX(CAP_SYS_PTRACE)].effective & CAP_TO_MASK(CAP_SYS_PTRACE)) != 0;
}
