/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/strbuf.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CAP_FIRST 256

/* Room for LEN bytes more and the zero byte. */
static bool reserve(struct strbuf *b, size_t len)
{
	size_t cap = b->cap ? b->cap : CAP_FIRST;

	while (!b->failed && cap - b->len <= len) {
		b->failed = cap > (size_t)-1 / 2;
		cap *= 2;
	}
	if (b->failed || cap == b->cap)
		return !b->failed;
	char *bytes = realloc(b->bytes, cap);
	b->failed = !bytes;
	if (b->failed)
		return false;
	b->bytes = bytes;
	b->cap = cap;
	return true;
}

void strbuf_add(struct strbuf *b, const char *bytes, size_t len)
{
	if (len == 0 || !reserve(b, len))
		return;
	memcpy(b->bytes + b->len, bytes, len);
	b->len += len;
	b->bytes[b->len] = '\0';
}

void strbuf_puts(struct strbuf *b, const char *text)
{
	strbuf_add(b, text, strlen(text));
}

void strbuf_printf(struct strbuf *b, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	int need = vsnprintf(NULL, 0, format, ap);
	va_end(ap);
	if (need < 0)
		b->failed = true;
	if (!reserve(b, need < 0 ? 0 : (size_t)need))
		return;
	va_start(ap, format);
	b->failed = vsnprintf(b->bytes + b->len, b->cap - b->len, format, ap) != need;
	va_end(ap);
	b->len += (size_t)need;
}

int strbuf_end(struct strbuf *b, char **out, size_t *len)
{
	bool whole = reserve(b, 0);

	if (whole) {
		b->bytes[b->len] = '\0';
		if (len)
			*len = b->len;
		*out = b->bytes;
		b->bytes = NULL;
	}
	strbuf_free(b);
	return whole ? 0 : -ENOMEM;
}

void strbuf_free(struct strbuf *b)
{
	free(b->bytes);
	*b = (struct strbuf){ 0 };
}
