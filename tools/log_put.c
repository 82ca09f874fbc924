/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/field.h"
#include "rules/cleanup.h"
#include "tools/log.h"
#include "tools/rule_files.h"

/* Bytes that are not printable as \u00XX, which within a string says the same. NULL without memory. */
static char *printable(const char *text, size_t *len)
{
	char *out = malloc(*len * 6 + 1);
	size_t n = 0;
	for (size_t i = 0; out && i < *len; i++) {
		unsigned char c = (unsigned char)text[i];
		if (c >= 0x20 && c < 0x7f)
			out[n++] = text[i];
		else
			n += (size_t)sprintf(out + n, "\\u%04x", c);
	}
	*len = n;
	return out;
}

void log_put(const char *text, size_t len)
{
	if (field_valid(text, len)) {
		fwrite(text, 1, len, stdout);
		return;
	}
	size_t n = len;
	CLEANUP_FREE char *plain = printable(text, &n);
	if (plain && field_valid(plain, n)) {
		fwrite(plain, 1, n, stdout);
		return;
	}
	/* Whoever reads JSON stops at a line that is none, and sees nothing of what follows. */
	fputs("{\"damaged\":", stdout);
	put_json(text, len, stdout);
	putchar('}');
}

char *log_copy(const char *text, size_t len)
{
	char *copy = malloc(len + 1);
	if (!copy)
		return NULL;
	memcpy(copy, text, len);
	copy[len] = '\0';
	return copy;
}
