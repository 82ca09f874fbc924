/* SPDX-License-Identifier: Apache-2.0 */
/* MUST: what is let pass is read here as libunwind reads it; what it would read otherwise, or beyond the end, is not let pass. */
#include "supervisor/unwind_code.h"

#include <string.h>

#define LEB_MOST 9 /* bytes: no bit beyond the 63rd, about which readers differ */

enum { OPERAND_BITS = 0x3f, OFFSET = 0x80 }; /* the high bits: advance_loc and restore have their operand below them, offset one more */

/* What follows an instruction without an operand in its own byte. */
enum operands { BAD, NONE, BYTE, HALF, WORD, LEB, LEB_LEB, PLACE, BLOCK, LEB_BLOCK };

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

static bool instruction_fits(struct reader *r, unsigned last)
{
	uint8_t op = *r->code;
	uint64_t first, second;

	skip(r, 1);
	if (op & ~OPERAND_BITS)
		return (op & ~OPERAND_BITS) != OFFSET || leb(r, &first);
	switch ((enum operands)operands[op]) {
	case NONE:
		return true;
	case BYTE:
		return skip(r, 1);
	case HALF:
		return skip(r, 2);
	case WORD:
		return skip(r, 4);
	case LEB:
		return leb(r, &first);
	case LEB_LEB:
		return leb(r, &first) && leb(r, &second);
	case PLACE:
		return leb(r, &first) && leb(r, &second) && second <= last;
	case BLOCK:
		return leb(r, &first) && skip(r, first);
	case LEB_BLOCK:
		return leb(r, &first) && leb(r, &second) && skip(r, second);
	case BAD:
		break;
	}
	return false;
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
