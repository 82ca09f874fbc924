/* SPDX-License-Identifier: Apache-2.0 */
#ifndef USHER_RULES_HEX_H
#define USHER_RULES_HEX_H

/* The value of a hexadecimal digit of either case, -1 of anything else. */
static inline int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

#endif
