/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "tools/tool.h"

void tool_unexpected(const char *name, const char *word)
{
	fprintf(stderr, "usher %s: '%s' is not expected here; 'usher %s --help' tells what is\n", name, word, name);
}
