/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "tools/tool.h"

bool tool_help(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
			return true;
	return false;
}

const char *tool_plural(unsigned long long n)
{
	return n == 1 ? "" : "s";
}
