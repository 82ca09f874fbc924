/* SPDX-License-Identifier: Apache-2.0 */
/* MUST: what is let pass is read here as libunwind reads it; what it would read otherwise, or beyond the end, is not let pass. */
#include "supervisor/unwind_code.h"

#include <string.h>

#define LEB_MOST 9 /* bytes: no bit beyond the 63rd, about which readers differ */

enum { LITERALS = 0x30, BASES = 0x70, BASES_END = 0x90 }; /* operations of an expression: literals and registers, then registers with an offset */
enum { OPERAND_BITS = 0x3f, OFFSET = 0x80 }; /* the high bits: advance_loc and restore have their operand below them, offset one more */

/* What follows an instruction without an operand in its own byte. */
enum operands { BAD, NONE, BYTE, HALF, WORD, QUAD, LEB, LEB_LEB, PLACE, BLOCK, LEB_BLOCK };

static const uint8_t operands[OPERAND_BITS + 1] = {
	[0x00] = NONE,      /* nop */
	[0x02] = BYTE,      /* advance_loc1, 2, 4; set_loc (1) no compiler writes */
	[0x03] = HALF,      [0x04] = WORD,
	[0x05] = LEB_LEB,   /* offset_extended */
	[0x06] = LEB,       /* restore_extended */
	[0x07] = LEB,       /* undefined */
	[0x08] = LEB,       /* same_value */
	[0x09] = PLACE,     /* register */
	[0x0a] = NONE,      /* remember_state */
	[0x0b] = NONE,      /* restore_state */
	[0x0c] = LEB_LEB,   /* def_cfa */
	[0x0d] = LEB,       /* def_cfa_register */
	[0x0e] = LEB,       /* def_cfa_offset */
	[0x0f] = BLOCK,     /* def_cfa_expression */
	[0x10] = LEB_BLOCK, /* expression */
	[0x11] = LEB_LEB,   /* offset_extended_sf */
	[0x12] = LEB_LEB,   /* def_cfa_sf */
	[0x13] = LEB,       /* def_cfa_offset_sf */
	[0x16] = LEB_BLOCK, /* val_expression */
	[0x2d] = NONE,      /* GNU_window_save, AARCH64_negate_ra_state */
	[0x2e] = LEB,       /* GNU_args_size */
	[0x2f] = LEB_LEB,   /* GNU_negative_offset_extended */
};

/*
 * What may be in an expression: no division (0x1b), which the processor may answer with a signal; no jump (0x28, 0x2f), which leads
 * out of what was looked at; nothing of which libunwind leaves an operand unread and takes it for the next operation (constu, consts, bregx).
 */
static const uint8_t operations[LITERALS] = {
	[0x03] = QUAD, /* addr */
	[0x06] = NONE, /* deref */
	[0x08] = BYTE, [0x09] = BYTE, [0x0a] = HALF, [0x0b] = HALF, /* const1u, 1s, 2u, 2s, 4u, 4s, 8u, 8s */
	[0x0c] = WORD, [0x0d] = WORD, [0x0e] = QUAD, [0x0f] = QUAD,
	[0x12] = NONE, [0x13] = NONE, [0x14] = NONE, [0x15] = BYTE, /* dup, drop, over, pick */
	[0x16] = NONE, [0x17] = NONE, [0x19] = NONE, [0x1a] = NONE, /* swap, rot, abs, and */
	[0x1c] = NONE, [0x1d] = NONE, [0x1e] = NONE, [0x1f] = NONE, /* minus, mod (of numbers without a sign), mul, neg */
	[0x20] = NONE, [0x21] = NONE, [0x22] = NONE, [0x23] = LEB,  /* not, or, plus, plus_uconst */
	[0x24] = NONE, [0x25] = NONE, [0x26] = NONE, [0x27] = NONE, /* shl, shr, shra, xor */
	[0x29] = NONE, [0x2a] = NONE, [0x2b] = NONE, [0x2c] = NONE, /* eq, ge, gt, le, lt, ne */
	[0x2d] = NONE, [0x2e] = NONE,
};

struct reader {
	const uint8_t *code;
	size_t left;
};

static bool skip(struct reader *r, uint64_t n)
{
	if (n > r->left)
		return false;
	r->code += n;
	r->left -= (size_t)n;
	return true;
}

static bool leb(struct reader *r, uint64_t *value)
{
	*value = 0;
	for (unsigned i = 0; i < LEB_MOST && i < r->left; i++) {
		*value |= (uint64_t)(r->code[i] & 0x7f) << (7 * i);
		if (!(r->code[i] & 0x80))
			return skip(r, i + 1);
	}
	return false;
}

static enum operands operation(uint8_t op)
{
	if (op >= BASES)
		return op < BASES_END ? LEB : BAD;
	return op >= LITERALS ? NONE : (enum operands)operations[op];
}

/* One operand, or none. */
static bool operand_fits(struct reader *r, enum operands kind)
{
	static const uint8_t size[] = { [BYTE] = 1, [HALF] = 2, [WORD] = 4, [QUAD] = 8 };
	uint64_t value;

	if (kind == LEB)
		return leb(r, &value);
	return kind != BAD && kind < LEB && skip(r, size[kind]);
}

static bool expression_fits(struct reader *r)
{
	uint64_t len;

	if (!leb(r, &len) || len > r->left)
		return false;
	struct reader in = { r->code, (size_t)len };
	while (in.left) {
		uint8_t op = *in.code;

		skip(&in, 1);
		if (!operand_fits(&in, operation(op)))
			return false;
	}
	return skip(r, len);
}

static bool instruction_fits(struct reader *r, unsigned last)
{
	uint8_t op = *r->code;
	uint64_t first, second;

	skip(r, 1);
	if (op & ~OPERAND_BITS)
		return (op & ~OPERAND_BITS) != OFFSET || leb(r, &first);
	enum operands kind = (enum operands)operands[op];
	if (kind <= LEB)
		return operand_fits(r, kind);
	if (kind == BLOCK)
		return expression_fits(r);
	if (!leb(r, &first))
		return false;
	return kind == LEB_BLOCK ? expression_fits(r) : leb(r, &second) && (kind != PLACE || second <= last);
}

bool unwind_code_fits(const uint8_t *code, size_t len, unsigned last)
{
	struct reader r = { code, len };

	while (r.left) {
		if (!instruction_fits(&r, last))
			return false;
	}
	return true;
}

bool unwind_code_word(const struct unwind_code *c, uint64_t at, uint64_t *word)
{
	uint64_t into = at - c->at;

	if (c->len < sizeof(*word) || into > c->len - sizeof(*word))
		return false;
	memcpy(word, c->bytes + into, sizeof(*word));
	return true;
}
