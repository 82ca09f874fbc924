/* SPDX-License-Identifier: Apache-2.0 */
/* Text written ahead: each returns where the next goes. The room is the caller's business. */
#ifndef USHER_AUDIT_PUT_H
#define USHER_AUDIT_PUT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The compiler's own memcpy(): with a length that is known it becomes a few moves, where a fortified one stays a call. */
static inline __attribute__((always_inline)) char *put_bytes(char *out, const char *bytes, size_t n)
{
	__builtin_memcpy(out, bytes, n);
	return out + n;
}

/* Inlined so that the length of a literal is known when compiled. */
static inline __attribute__((always_inline)) char *put_literal(char *out, const char *text)
{
	return put_bytes(out, text, strlen(text));
}

/* Two decimal digits; V below 100. */
static inline char *put_two(char *out, unsigned v)
{
	static const char pairs[] = "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
				    "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
				    "8081828384858687888990919293949596979899";
	return put_bytes(out, pairs + (size_t)2 * v, 2);
}

static inline char *put_number(char *out, uint64_t v)
{
	char text[20], *p = text + sizeof text;
	while (v >= 100) {
		p -= 2;
		put_two(p, (unsigned)(v % 100));
		v /= 100;
	}
	if (v >= 10)
		put_two(p -= 2, (unsigned)v);
	else
		*--p = (char)('0' + v);
	return put_bytes(out, p, (size_t)(text + sizeof text - p));
}

#endif
