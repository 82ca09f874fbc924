// SPDX-License-Identifier: Apache-2.0
#include "rules/colours.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool colours_on(int fd)
{
	const char *term = getenv("TERM");
	return isatty(fd) && !getenv("NO_COLOR") && term && *term && strcmp(term, "dumb") != 0;
}
