/* SPDX-License-Identifier: Apache-2.0 */
/* Zeroed memory straight from the system: of a large table only what is used is ever touched, which calloc(3) does not promise. */
#ifndef USHER_RULES_PAGES_H
#define USHER_RULES_PAGES_H

#include <stddef.h>

/* N zeroed bytes; NULL when memory ran out. Free with pages_free() of the same N. */
void *pages_new(size_t n);
void pages_free(void *at, size_t n); /* safe on NULL */

#endif
