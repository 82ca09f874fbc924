/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel leaves a call's number nowhere once the call has returned (x86-64 returns its result in the same register), but
 * C libraries write it into their code:
 *
 *	mov $83, %eax
 *	syscall
 *
 * sometimes with a move or two for the arguments between. Whatever else is met means that the number is not known.
 */
#include "supervisor/interrupted.h"

#ifdef __x86_64__
#include <stdbool.h>
#include <string.h>

#define MOVES_MOST 3

/* Length of an instruction at P that moves an argument into its register; 0 for any other, and for one that writes eax. */
static size_t move_length(const uint8_t *p, size_t len)
{
	if (len < 4)
		return 0;
	bool rex = (p[0] & 0xf0) == 0x40;
	const uint8_t *op = p + rex;
	if (!rex && (op[0] == 0xbf || op[0] == 0xbe || op[0] == 0xba))
		return 5; /* mov $x, %edi, %esi, %edx */
	if ((op[0] == 0x31 || op[0] == 0x89) && (op[1] & 0xc0) == 0xc0) {
		bool eax = !(op[1] & 7) && !(rex && p[0] & 1);
		return eax ? 0 : 2u + rex; /* xor or mov between registers */
	}
	if (op[0] == 0x8b && (op[1] & 0xc7) == 0x44 && op[2] == 0x24) {
		bool eax = !(op[1] >> 3 & 7) && !(rex && p[0] & 4);
		return eax ? 0 : 4u + rex; /* mov x(%rsp), %r */
	}
	return 0;
}

/* Whether P to END is nothing but moves; behind END lie two more bytes. */
static bool only_moves(const uint8_t *p, const uint8_t *end)
{
	for (int n = 0; p < end; n++) {
		size_t k = move_length(p, (size_t)(end - p) + 2);
		if (!k || k > (size_t)(end - p) || n == MOVES_MOST)
			return false;
		p += k;
	}
	return true;
}

static int constant(const uint8_t *p)
{
	int32_t n;

	memcpy(&n, p, sizeof(n));
	return n < 0 ? -1 : n;
}

int interrupted_number(const uint8_t *code, size_t len)
{
	if (len < 7 || code[len - 2] != 0x0f || code[len - 1] != 0x05)
		return -1;
	const uint8_t *end = code + len - 2;
	for (const uint8_t *p = end - 5; p >= code; p--) {
		/* with a prefix the same byte names another register */
		if (*p == 0xb8 && p > code && (p[-1] & 0xf0) != 0x40 && only_moves(p + 5, end))
			return constant(p + 1);
		if (p - code >= 2 && *p == 0xc0 && p[-1] == 0xc7 && p[-2] == 0x48 && only_moves(p + 5, end))
			return constant(p + 1);
	}
	return -1;
}
#endif
