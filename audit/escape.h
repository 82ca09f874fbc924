/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes as the inside of a JSON string, and back.
 *
 * MUST: printable ASCII only; injective; every byte string comes back as it was.
 *
 * Text in UTF-8 is written as any JSON reader expects it (\n, \", \uXXXX, surrogate pairs). A
 * byte that is no part of valid UTF-8 is written as the private-use character U+EF00 + byte
 * (\uef80 to \uefff): readers such as jq replace lone surrogates by U+FFFD, which would make two
 * names look alike, but keep these. So that no valid text can give the same, the characters U+EF80 to U+EFFF
 * themselves count as invalid and are written byte by byte.
 */
#ifndef USHER_AUDIT_ESCAPE_H
#define USHER_AUDIT_ESCAPE_H

#include <stddef.h>
#include <sys/types.h>

/* The most that one byte can grow to. */
#define ESCAPE_GROWTH 6

/* Writes the escaped form of N bytes to OUT. Returns its length, or -1 when it does not fit into CAP. */
ssize_t escape(char *out, size_t cap, const char *bytes, size_t n);

/*
 * Undoes escape(): TEXT is the inside of a JSON string (between the quotes). OUT needs N bytes. Returns
 * the number of bytes, or -1 when TEXT is not valid (a bad escape, a lone surrogate, a byte that is not printable ASCII).
 */
ssize_t unescape(char *out, const char *text, size_t n);

#endif
