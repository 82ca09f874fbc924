/* SPDX-License-Identifier: Apache-2.0 */
/* Large memory: of which little is used, and that whose pages are wanted all at once. */
#ifndef USHER_RULES_PAGES_H
#define USHER_RULES_PAGES_H

#include <stddef.h>
#include <sys/mman.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

/*
 * N zeroed bytes straight from the system: of a large table only what is used is ever touched, which calloc(3) does not promise. NULL when
 * memory ran out. Free with pages_free() of the same N.
 */
void *pages_new(size_t n);
void pages_free(void *at, size_t n); /* safe on NULL */

/*
 * Brings in the pages of N bytes at AT, which are about to be written, at once and not one by one as each is touched (a fault for each costs
 * ten times as much on some virtual machines). Little memory is left alone.
 */
void pages_ready(void *at, size_t n);

/* malloc(N) with its pages_ready(); NULL when memory ran out. Free with free(). */
void *pages_to_fill(size_t n);

/* The same, zeroed. */
void *pages_zeroed(size_t n);

/* Lets go of the whole pages within N bytes at AT, of memory that is private: they read as zeros, and come again when they are written. */
void pages_give_back(void *at, size_t n);

/* pages_ready() for what is about to be used of the caller's stack and of the heap. Before there are other threads. */
void pages_ahead(size_t stack, size_t heap);

#endif
