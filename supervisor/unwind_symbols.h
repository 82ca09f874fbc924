/* SPDX-License-Identifier: Apache-2.0 */
/* Names of functions: from the module's file, else from what its dynamic linker sees in memory. */
#ifndef USHER_SUPERVISOR_UNWIND_SYMBOLS_H
#define USHER_SUPERVISOR_UNWIND_SYMBOLS_H

#include "supervisor/unwind_memory.h"

/* A function to be named: addr is given, the rest found. */
struct symbol {
	const struct module *module; /* NULL: none to ask */
	uint64_t addr;
	uint64_t value, size;        /* of the best match so far; size 0: none */
	uint32_t name;
};

/* Looks all of LIST up in the symbols of their modules, each table read once. */
void view_symbols(struct view *v, struct symbol *list, unsigned n);

/* The name of a symbol that was found (size not 0) into BUF. */
bool view_name(struct view *v, const struct symbol *s, char *buf, size_t cap);

#endif
