/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/unwind_lib.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rules/cleanup.h"
#include "supervisor/cached_libraries.h"
#include "supervisor/unwind_files.h"
#include "supervisor/voice.h"

#define TEXT_OF(x) #x
#define NAME_OF(x) TEXT_OF(x)
/* The major version is that of the header: 8 since libunwind 1.0. */
#define LIBRARY "libunwind-" NAME_OF(UNW_TARGET) ".so.8"

/* Where every program's interpreter is by the architecture's ABI. It is of the C library's version, and says so. */
#ifdef __x86_64__
#define LOADER "/lib64/ld-linux-x86-64.so.2"
#else
#define LOADER "/lib/ld-linux-aarch64.so.1"
#endif

static bool says(const char *file, const char *text)
{
	CLEANUP_FD int fd = open(file, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || st.st_size <= 0)
		return false;
	CLEANUP_FREE char *all = malloc((size_t)st.st_size);
	ssize_t n = all ? read(fd, all, (size_t)st.st_size) : -1;
	return n > 0 && memmem(all, (size_t)n, text, strlen(text));
}

/* A static program and the libraries it loads must be of one version of the C library, which that does not check itself. */
static bool fits(struct voice *voice)
{
	const char *version = gnu_get_libc_version();
	char text[64];

	snprintf(text, sizeof(text), " version %s.", version);
	if (says(LOADER, text))
		return true;
	if (access(LOADER, F_OK) < 0 && errno == ENOENT)
		voice_say(voice, "usher: no stacks in the journal: they take the GNU C library, version %s, and this system has none (%s)\n", version, LOADER);
	else
		voice_say(voice, "usher: no stacks in the journal: this usher was built for the C library version %s and the system (%s) has another; build usher again\n",
			version, LOADER);
	return false;
}

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

/* Loaded while the command runs: what it could have exchanged would run in usher. What root's command may write is for rules to say. */
static bool is_out_of_reach(struct voice *voice)
{
	static const char *const names[] = { LIBRARY, "libunwind.so.8", "liblzma.so.5", "libz.so.1", "libgcc_s.so.1", "libc.so.6", NULL };

	if (getenv("LD_LIBRARY_PATH") || geteuid() == 0 || cached_libraries_safe(names))
		return true;
	voice_say(voice, "usher: no stacks in the journal: %s, or a library that it takes, is where the command could change it\n", LIBRARY);
	return false;
}

struct unwind_lib *unwind_lib_load(struct voice *voice)
{
	if (!fits(voice) || !is_out_of_reach(voice))
		return NULL;
	struct unwind_lib *u = malloc(sizeof(*u));
	if (u && fill(u))
		return u;
	voice_say(voice, "usher: no stacks in the journal: %s\n", u ? dlerror() : "out of memory");
	free(u);
	return NULL;
}

struct loaded {
	int (*each)(void *context, const char *file);
	void *context;
};

/* The vdso has a name without a slash, usher none. */
static int take_name(struct dl_phdr_info *info, size_t size, void *data)
{
	const struct loaded *l = data;

	(void)size;
	return info->dlpi_name && strchr(info->dlpi_name, '/') ? l->each(l->context, info->dlpi_name) : 0;
}

int unwind_lib_files(int (*each)(void *context, const char *file), void *context)
{
	struct loaded l = { each, context };

	if (!getenv("LD_LIBRARY_PATH"))
		return 0;
	free(unwind_lib_load(NULL)); /* why it cannot be loaded is said by unwind_init() */
	return dl_iterate_phdr(take_name, &l);
}
