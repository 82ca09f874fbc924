/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/unwind_lib.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_OF(x) #x
#define NAME_OF(x) TEXT_OF(x)
/* The major version is that of the header: 8 since libunwind 1.0. */
#define LIBRARY "libunwind-" NAME_OF(UNW_TARGET) ".so.8"

/* POSIX lets dlsym's result be a function; ISO C has no cast for it. */
static bool find(void *lib, const char *name, void *function)
{
	void *at = dlsym(lib, name);

	memcpy(function, &at, sizeof(at));
	return at != NULL;
}

static bool fill(struct unwind_lib *u)
{
	void *lib = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

	return lib && find(lib, NAME_OF(unw_create_addr_space), &u->create) && find(lib, NAME_OF(unw_destroy_addr_space), &u->destroy) &&
	       find(lib, NAME_OF(unw_set_caching_policy), &u->caching) && find(lib, NAME_OF(unw_init_remote), &u->init) &&
	       find(lib, NAME_OF(unw_get_reg), &u->get) && find(lib, NAME_OF(unw_step), &u->step) &&
	       find(lib, NAME_OF(UNW_OBJ(dwarf_search_unwind_table)), &u->search);
}

struct unwind_lib *unwind_lib_load(void)
{
	struct unwind_lib *u = malloc(sizeof(*u));

	if (u && fill(u))
		return u;
	fprintf(stderr, "usher: no stacks in the journal: %s\n", u ? dlerror() : "out of memory");
	free(u);
	return NULL;
}
