/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The unwound process as the unwinder may see it: pages read on demand, and its modules. Everything is bounded here.
 */
#ifndef USHER_SUPERVISOR_UNWIND_MEMORY_H
#define USHER_SUPERVISOR_UNWIND_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define VIEW_PAGES 64
#define VIEW_PAGE 4096
#define VIEW_READS 20000  /* reads by the unwinder, all together */
#define VIEW_MODULES 128
#define VIEW_BUILD_ID 32

struct module {
	uint64_t start, end;  /* of all its mappings */
	const char *name;     /* in the view's maps text, escaped as /proc shows it */
	bool examined;
	uint64_t bias;        /* run-time address minus the file's */
	uint64_t eh_frame_hdr, dynamic; /* addresses, 0: none */
	size_t dynamic_len;
	uint8_t build_id[VIEW_BUILD_ID];
	size_t build_id_len;
};

struct view {
	pid_t tid;
	uint64_t deadline_ns; /* CLOCK_MONOTONIC */
	unsigned reads;
	uint64_t page[VIEW_PAGES]; /* addresses; 1: unused */
	char *maps;
	struct module module[VIEW_MODULES];
	unsigned n_modules;
	char bytes[VIEW_PAGES][VIEW_PAGE];
};

/* Returns 0 with *out set (free with view_free), or a negative errno. LIMIT_NS is the time all reads together may take. */
int view_open(pid_t tid, uint64_t limit_ns, struct view **out);
void view_free(struct view *v); /* safe on NULL */

/* Copies from the cached pages. False when unreadable, or when time or reads are used up. */
bool view_read(struct view *v, uint64_t at, void *out, size_t len);

/* As view_read(), past the cache: for tables that are looked at once. */
bool view_read_block(struct view *v, uint64_t at, void *out, size_t len);

/* The module that ADDR lies in, examined; NULL when there is none. */
struct module *view_module(struct view *v, uint64_t addr);

/* A function to be named: addr is given, the rest found. */
struct symbol {
	const struct module *module; /* NULL: none to ask */
	uint64_t addr;
	uint64_t value, size;        /* of the best match so far; size 0: none */
	uint32_t name;
};

/* Looks all of LIST up in the dynamic symbols of their modules, each table read once. */
void view_symbols(struct view *v, struct symbol *list, unsigned n);

/* The name of a symbol that was found (size not 0) into BUF. */
bool view_name(struct view *v, const struct symbol *s, char *buf, size_t cap);

#endif
