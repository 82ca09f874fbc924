/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a program's or library's file says about its code: where it is loaded, how to unwind it, what its functions are called. Read once
 * for each file and kept; never mapped, so that a file that is cut short meanwhile is a short read and nothing else.
 */
#ifndef USHER_SUPERVISOR_UNWIND_IMAGE_H
#define USHER_SUPERVISOR_UNWIND_IMAGE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#define IMAGE_BUILD_ID 32
#define IMAGE_LOADS 16
#define IMAGES 24

struct image_load {
	uint64_t offset, vaddr, len;
};

struct image_symbol {
	uint64_t value;
	uint32_t size;
	uint32_t name;  /* in names */
	uint64_t reach; /* where the last of all up to this one ends */
};

/* Does not change once it is made. */
struct image_file {
	unsigned refs; /* under the cache's lock */
	struct stat st;
	size_t bytes;  /* of memory, all together */
	uint8_t build_id[IMAGE_BUILD_ID];
	size_t build_id_len;
	struct image_load load[IMAGE_LOADS];
	unsigned n_loads;
	uint64_t eh_frame_hdr;   /* the file's address, 0: none */
	char *tables;            /* the file's bytes from eh_frame_hdr on, to the end of what is loaded with it; NULL: not kept */
	uint64_t tables_len;
	struct image_symbol *symbol; /* functions, by address */
	size_t n_symbols;
	struct {
		uint64_t runtime, code_type, string_type; /* addresses of CPython's own objects, 0: it is another program */
	} python;
	char *names;             /* ends with a NUL */
	size_t names_len;
};

struct unwind_lib;

struct image_files {
	pthread_mutex_t lock;
	struct image_file *at[IMAGES]; /* the one used last first */
	size_t bytes;
	bool tried; /* to load libunwind; under the lock, as the two below are made */
	struct unwind_lib *lib;
	void *space; /* libunwind's, for all */
	struct voice *voice;
};

/*
 * The function that the file's address ADDR lies in: of several the one that begins last, of several at one address the first in the file's
 * table. NULL when there is none, or when it lies below very many others.
 */
const struct image_symbol *image_file_symbol(const struct image_file *f, uint64_t addr);

void image_files_init(struct image_files *c);
void image_files_clear(struct image_files *c);

/*
 * The file NAME (as /proc/PID/maps shows it), if it is the inode INO. *out is held (image_file_put). At most some megabytes are
 * read; what is bigger is left out. *took_ns is for how long this thread ran to read it, 0 when it was kept already. Thread safe. Returns 0
 * or a negative errno.
 */
int image_file_get(struct image_files *c, const char *name, uint64_t ino, uint64_t *took_ns, struct image_file **out);
void image_file_put(struct image_files *c, struct image_file *f); /* safe on NULL */

/* For how long the calling thread has run (CLOCK_THREAD_CPUTIME_ID). */
uint64_t thread_ran_ns(void);

/* The address at which the file's address 0 lies in a process that has mapped OFFSET of it at START. False when no part of it is loaded so. */
bool image_file_bias(const struct image_file *f, uint64_t start, uint64_t offset, uint64_t *bias);

#endif
