/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libunwind, loaded when the first stack is wanted: Debian's libunwind.a is not position independent, and most sessions want none. It
 * brings a C library of its own into usher, which is linked statically; that works where both are of one version.
 */
#ifndef USHER_SUPERVISOR_UNWIND_LIB_H
#define USHER_SUPERVISOR_UNWIND_LIB_H

#include <libunwind.h>

struct voice;

struct unwind_lib {
	unw_addr_space_t (*create)(unw_accessors_t *, int);
	void (*destroy)(unw_addr_space_t);
	int (*caching)(unw_addr_space_t, unw_caching_policy_t);
	int (*init)(unw_cursor_t *, unw_addr_space_t, void *);
	int (*get)(unw_cursor_t *, int, unw_word_t *);
	int (*step)(unw_cursor_t *);
	/* Exported for users with accessors of their own, but in none of its headers. */
	int (*search)(unw_addr_space_t, unw_word_t ip, unw_dyn_info_t *, unw_proc_info_t *, int need_info, void *arg);
};

/*
 * Loads it; NULL when it is not there, the system's C library is another version than usher's, or memory ran out, which VOICE
 * says (may be NULL). Free it with free(): the library stays. Any thread, but see unwind_init() for LD_LIBRARY_PATH.
 */
struct unwind_lib *unwind_lib_load(struct voice *voice);

#endif
