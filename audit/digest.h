/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hashes of the journal: SHA-256 of a line, and their hexadecimal form (lower case). nettle uses the
 * processor's own instructions where it has them; libsodium does not.
 */
#ifndef USHER_AUDIT_DIGEST_H
#define USHER_AUDIT_DIGEST_H

#include <endian.h>
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

/* What digest_padded() needs behind the data. */
#define DIGEST_PAD 72

/*
 * The same of DATA that has DIGEST_PAD bytes of room behind its N, which are overwritten: the padding of FIPS 180-4, 5.1.1, is put there,
 * so that nettle gets whole blocks only and copies nothing. Short data takes half the time so.
 */
static inline void digest_padded(struct digest *out, uint8_t *data, size_t n)
{
	struct sha256_ctx ctx;
	size_t whole = (n + 8) / SHA256_BLOCK_SIZE * SHA256_BLOCK_SIZE + SHA256_BLOCK_SIZE;
	uint64_t bits = htobe64((uint64_t)n * 8);
	data[n] = 0x80;
	__builtin_memset(data + n + 1, 0, whole - n - 1);
	__builtin_memcpy(data + whole - sizeof bits, &bits, sizeof bits);
	sha256_init(&ctx);
	sha256_update(&ctx, whole, data);
	for (unsigned i = 0; i < DIGEST_BYTES / 4; i++) {
		uint32_t word = htobe32(ctx.state[i]);
		__builtin_memcpy(out->bytes + (size_t)4 * i, &word, sizeof word);
	}
}

#define HEX_AT_ONCE 16
typedef uint8_t hex_bytes __attribute__((vector_size(HEX_AT_ONCE)));

/* The digits of sixteen values below 16. */
static inline hex_bytes hex_digits(hex_bytes v)
{
	return v + '0' + ((hex_bytes)(v > 9) & ('a' - '0' - 10));
}

/* Writes 2*N digits, no NUL. Sixteen bytes at once: every record has a hash in it. */
static inline void hex_write(char *out, const uint8_t *bytes, size_t n)
{
	static const char digit[] = "0123456789abcdef";
	for (; n >= HEX_AT_ONCE; n -= HEX_AT_ONCE, bytes += HEX_AT_ONCE, out += 2 * HEX_AT_ONCE) {
		hex_bytes v, text;
		__builtin_memcpy(&v, bytes, sizeof v);
		hex_bytes high = hex_digits(v >> 4), low = hex_digits(v & 0xf);
		text = __builtin_shufflevector(high, low, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
		__builtin_memcpy(out, &text, sizeof text);
		text = __builtin_shufflevector(high, low, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
		__builtin_memcpy(out + HEX_AT_ONCE, &text, sizeof text);
	}
	for (; n; n--, bytes++) {
		*out++ = digit[*bytes >> 4];
		*out++ = digit[*bytes & 0xf];
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
