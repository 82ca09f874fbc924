/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an unwind table tells libunwind to do, looked at before it does. Of all that it reads it takes one number for a place in a table of its own, on its
 * stack, and never looks at it: the second register of DW_CFA_register. And in expressions it divides whatever numbers it is told to.
 */
#ifndef USHER_SUPERVISOR_UNWIND_CODE_H
#define USHER_SUPERVISOR_UNWIND_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UNWIND_CODE 4096 /* bytes: more than any function of a compiler's has */

/* The instructions of one table, as they were when they were looked at: what is run must not have changed since. */
struct unwind_code {
	uint64_t at; /* whole words, which is what libunwind reads */
	size_t len;
	uint8_t bytes[UNWIND_CODE];
};

/* Whether the LEN bytes of CODE are whole instructions that name no register beyond LAST as the place of another one, with expressions that neither divide nor jump. */
bool unwind_code_fits(const uint8_t *code, size_t len, unsigned last);

/* Whether C has the word at AT. */
bool unwind_code_word(const struct unwind_code *c, uint64_t at, uint64_t *word);

#endif
