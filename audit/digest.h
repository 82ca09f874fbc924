/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hashes of the journal: SHA-256 of a line, and their hexadecimal form (lower case). nettle uses the
 * processor's own instructions where it has them; libsodium does not.
 */
#ifndef USHER_AUDIT_DIGEST_H
#define USHER_AUDIT_DIGEST_H

#include <nettle/sha2.h>
#include <sodium.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DIGEST_BYTES 32
#define DIGEST_HEX (2 * DIGEST_BYTES)

struct digest {
	uint8_t bytes[DIGEST_BYTES];
};

static inline void digest_of(struct digest *out, const void *data, size_t n)
{
	struct sha256_ctx ctx;
	sha256_init(&ctx);
	sha256_update(&ctx, n, data);
	sha256_digest(&ctx, DIGEST_BYTES, out->bytes);
}

/* Writes 2*N digits, no NUL. */
static inline void hex_write(char *out, const uint8_t *bytes, size_t n)
{
	static const char digit[] = "0123456789abcdef";
	for (size_t i = 0; i < n; i++) {
		out[2 * i] = digit[bytes[i] >> 4];
		out[2 * i + 1] = digit[bytes[i] & 0xf];
	}
}

/* Reads exactly N bytes from 2*N lower-case digits: any other spelling is refused, so that one value has one form. */
static inline bool hex_read(uint8_t *out, size_t n, const char *text)
{
	for (size_t i = 0; i < 2 * n; i++) {
		char c = text[i];
		int d = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
		if (d < 0)
			return false;
		out[i / 2] = (uint8_t)(i % 2 ? out[i / 2] | d : d << 4);
	}
	return true;
}

#endif
