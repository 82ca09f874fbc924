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

#include "supervisor/procmap.h"
#include "supervisor/unwind_image.h"

/* Below what malloc maps anew each time. */
#define VIEW_PAGES 16
#define VIEW_PAGE 4096
#define VIEW_READS 20000  /* reads by the unwinder, all together */
#define VIEW_MODULES 48
#define VIEW_NAMES 8192

/* Code of one file that is mapped together, or of none (the vdso). */
struct module {
	uint64_t start, end;
	uint64_t base;        /* where the file's first byte lies, if it is loaded as linkers do it */
	const char *name;     /* as the kernel shows it */
	struct image_file *file; /* NULL: what is known comes from memory */
	uint64_t bias;        /* run-time address minus the file's */
	uint64_t eh_frame_hdr, dynamic; /* addresses, 0: none */
	size_t dynamic_len;
	uint8_t build_id[IMAGE_BUILD_ID];
	size_t build_id_len;
};

struct view {
	pid_t tid;
	int maps;
	struct image_files *files;
	uint64_t limit_ns;
	uint64_t look_ns, end_ns; /* CLOCK_MONOTONIC: before the one the limit cannot be reached, at the other it ends anyhow */
	uint64_t ran_ns;          /* thread_ran_ns(), from which on it counts */
	uint64_t loads_ns;        /* how much of the reading of files is not counted yet */
	unsigned reads;
	uint64_t page[VIEW_PAGES]; /* addresses; 1: unused */
	struct module module[VIEW_MODULES];
	unsigned n_modules;
	struct mapping mapping; /* the one asked for last */
	char names[VIEW_NAMES];
	size_t names_len;
	char bytes[VIEW_PAGES][VIEW_PAGE];
};

/*
 * Returns 0 with *out set (free with view_free), or a negative errno. LIMIT_NS is what the thread that opened it, and reads
 * alone, may run until the last read, the first reading of files left out up to four times the limit; ten times as long the view lasts at most. FILES is where files are looked up, NULL: all comes from memory.
 */
int view_open(pid_t tid, uint64_t limit_ns, struct image_files *files, struct view **out);
void view_free(struct view *v); /* safe on NULL */

/* Counts a read that needs none of the process. False: no more. */
bool view_spend(struct view *v);

/* Copies from the cached pages and files. False when unreadable, or when time or reads are used up. */
bool view_read(struct view *v, uint64_t at, void *out, size_t len);

/* As view_read(), past the cache: for tables that are looked at once. */
bool view_read_block(struct view *v, uint64_t at, void *out, size_t len);

/* The module that ADDR lies in; NULL when there is none. It lives as long as V. */
struct module *view_module(struct view *v, uint64_t addr);

#endif
