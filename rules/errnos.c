// SPDX-License-Identifier: Apache-2.0
/* Errno names, as errno= takes them: all the kernel's own. */
#include <errno.h>
#include <string.h>

#include "rules/parser.h"

#define LARGEST 133

int errno_parse(const char *name)
{
	for (int e = 1; e <= LARGEST; e++) {
		const char *known = strerrorname_np(e);
		if (known && strcmp(known, name) == 0)
			return e;
	}
	if (strcmp(name, "EWOULDBLOCK") == 0)
		return EWOULDBLOCK;
	return 0;
}
