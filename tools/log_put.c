/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "tools/log.h"

void log_put(const char *text, size_t len)
{
	size_t from = 0;
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];
		if (c >= 0x20 && c < 0x7f)
			continue;
		fwrite(text + from, 1, i - from, stdout);
		printf("\\u%04x", c);
		from = i + 1;
	}
	fwrite(text + from, 1, len - from, stdout);
}
