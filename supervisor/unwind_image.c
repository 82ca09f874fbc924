/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MUST: every offset, count and length from the file is checked and capped before it is used; what is kept of all files together is bounded.
 */
#include "supervisor/unwind_image.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "rules/cleanup.h"
#include "rules/clock.h"
#include "rules/pages.h"
#include "supervisor/elf_note.h"
#include "supervisor/resolve.h"
#include "supervisor/stat_same.h"

#define PHDRS_MAX 64
#define SECTIONS_MAX 256
#define NOTES_MAX 1024
#define TABLES_MAX (2u << 20)
#define NAMES_MAX (2u << 20)
#define SYMBOLS_MAX 65536
#define NESTED_MOST 256
#define KEPT_MAX (32u << 20)

static bool read_at(int fd, void *out, size_t len, uint64_t offset)
{
	return offset <= INT64_MAX - len && pread(fd, out, len, (off_t)offset) == (ssize_t)len;
}

static void note_build_id(struct image_file *f, int fd, const Elf64_Phdr *ph)
{
	char notes[NOTES_MAX];
	size_t n = ph->p_filesz < NOTES_MAX ? (size_t)ph->p_filesz : NOTES_MAX;

	if (!f->build_id_len && read_at(fd, notes, n, ph->p_offset))
		f->build_id_len = elf_note_build_id(notes, n, f->build_id, IMAGE_BUILD_ID);
}

static void read_tables(struct image_file *f, int fd)
{
	for (unsigned i = 0; f->eh_frame_hdr && i < f->n_loads; i++) {
		const struct image_load *l = &f->load[i];
		uint64_t into = f->eh_frame_hdr - l->vaddr;

		if (f->eh_frame_hdr < l->vaddr || into >= l->len || l->len - into > TABLES_MAX)
			continue;
		size_t len = (size_t)(l->len - into);
		char *tables = pages_to_fill(len);
		if (tables && read_at(fd, tables, len, l->offset + into)) {
			f->tables = tables;
			f->tables_len = len;
			f->bytes += len;
		} else {
			free(tables);
		}
		return;
	}
}

static int read_headers(struct image_file *f, int fd, Elf64_Ehdr *eh)
{
	Elf64_Phdr ph[PHDRS_MAX];

	if (!read_at(fd, eh, sizeof(*eh), 0) || memcmp(eh->e_ident, ELFMAG, SELFMAG) != 0 || eh->e_ident[EI_CLASS] != ELFCLASS64)
		return -ENOEXEC;
	if (eh->e_phentsize != sizeof(ph[0]) || eh->e_phnum > PHDRS_MAX || !read_at(fd, ph, eh->e_phnum * sizeof(ph[0]), eh->e_phoff))
		return -ENOEXEC;
	for (unsigned i = 0; i < eh->e_phnum; i++) {
		if (ph[i].p_type == PT_LOAD && f->n_loads < IMAGE_LOADS)
			f->load[f->n_loads++] = (struct image_load){ ph[i].p_offset, ph[i].p_vaddr, ph[i].p_filesz };
		else if (ph[i].p_type == PT_GNU_EH_FRAME)
			f->eh_frame_hdr = ph[i].p_vaddr;
		else if (ph[i].p_type == PT_NOTE)
			note_build_id(f, fd, &ph[i]);
	}
	return 0;
}

static void note_object(struct image_file *f, const Elf64_Sym *sym)
{
	const char *name = f->names + sym->st_name;

	if (!strcmp(name, "_PyRuntime"))
		f->python.runtime = sym->st_value;
	else if (!strcmp(name, "PyCode_Type"))
		f->python.code_type = sym->st_value;
	else if (!strcmp(name, "PyUnicode_Type"))
		f->python.string_type = sym->st_value;
}

/* Keeps the functions among N symbols. */
static void keep_functions(struct image_file *f, const Elf64_Sym *sym, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		unsigned type = ELF64_ST_TYPE(sym[i].st_info);

		if (sym[i].st_shndx == SHN_UNDEF || sym[i].st_name >= f->names_len)
			continue;
		if (type == STT_OBJECT)
			note_object(f, &sym[i]);
		if (type != STT_FUNC && type != STT_GNU_IFUNC)
			continue;
		f->symbol[f->n_symbols++] = (struct image_symbol){
			.value = sym[i].st_value,
			.size = sym[i].st_size < UINT32_MAX ? (uint32_t)sym[i].st_size : UINT32_MAX,
			.name = sym[i].st_name,
		};
	}
}

static bool read_names(struct image_file *f, int fd, const Elf64_Shdr *strings)
{
	if (!strings->sh_size || strings->sh_size > NAMES_MAX)
		return false;
	f->names = pages_to_fill((size_t)strings->sh_size);
	if (!f->names || !read_at(fd, f->names, (size_t)strings->sh_size, strings->sh_offset))
		return false;
	f->names_len = (size_t)strings->sh_size;
	f->names[f->names_len - 1] = '\0';
	return true;
}

static int by_address(const void *left, const void *right)
{
	const struct image_symbol *a = left, *b = right;

	if (a->value != b->value)
		return a->value < b->value ? -1 : 1;
	return (a->reach > b->reach) - (a->reach < b->reach); /* the file's own order, until reach is known */
}

/* In order of their addresses; of several at one address the first of the file comes last, where it is found first. */
static void sort_symbols(struct image_file *f)
{
	uint64_t reach = 0;

	for (size_t i = 0; i < f->n_symbols; i++)
		f->symbol[i].reach = f->n_symbols - i;
	qsort(f->symbol, f->n_symbols, sizeof(*f->symbol), by_address);
	for (size_t i = 0; i < f->n_symbols; i++) {
		struct image_symbol *s = &f->symbol[i];

		reach = reach < s->value + s->size ? s->value + s->size : reach;
		s->reach = reach;
	}
}

const struct image_symbol *image_file_symbol(const struct image_file *f, uint64_t addr)
{
	size_t low = 0, high = f->n_symbols;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (f->symbol[mid].value <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	for (unsigned tries = 0; low-- && tries < NESTED_MOST && f->symbol[low].reach > addr; tries++) {
		if (addr - f->symbol[low].value < f->symbol[low].size)
			return &f->symbol[low];
	}
	return NULL;
}

/* False when they are not to be had: then there are none. */
static bool read_symbols(struct image_file *f, int fd, const Elf64_Shdr *table, const Elf64_Shdr *strings)
{
	size_t n = (size_t)(table->sh_size / sizeof(Elf64_Sym));

	if (!n || n > SYMBOLS_MAX || table->sh_entsize != sizeof(Elf64_Sym) || !read_names(f, fd, strings))
		return false;
	CLEANUP_FREE Elf64_Sym *sym = pages_to_fill(n * sizeof(*sym));
	f->symbol = pages_to_fill(n * sizeof(*f->symbol));
	if (!sym || !f->symbol || !read_at(fd, sym, n * sizeof(*sym), table->sh_offset))
		return false;
	keep_functions(f, sym, n);
	sort_symbols(f);
	f->bytes += f->names_len + n * sizeof(*f->symbol);
	return true;
}

static void drop_symbols(struct image_file *f)
{
	free(f->symbol);
	free(f->names);
	f->symbol = NULL;
	f->names = NULL;
	f->n_symbols = f->names_len = 0;
}

/* The full table where there is one, else the one for the dynamic linker. */
static void find_symbols(struct image_file *f, int fd, const Elf64_Ehdr *eh)
{
	static const uint32_t types[] = { SHT_SYMTAB, SHT_DYNSYM };
	unsigned n = eh->e_shnum;

	if (!n || n > SECTIONS_MAX || eh->e_shentsize != sizeof(Elf64_Shdr))
		return;
	CLEANUP_FREE Elf64_Shdr *sh = malloc(n * sizeof(*sh));
	if (!sh || !read_at(fd, sh, n * sizeof(*sh), eh->e_shoff))
		return;
	for (unsigned t = 0; t < 2; t++) {
		for (unsigned i = 0; i < n; i++) {
			if (sh[i].sh_type != types[t] || sh[i].sh_link >= n)
				continue;
			if (read_symbols(f, fd, &sh[i], &sh[sh[i].sh_link]))
				return;
			drop_symbols(f);
		}
	}
}

static void file_free(struct image_file *f)
{
	if (!f)
		return;
	drop_symbols(f);
	free(f->tables);
	free(f);
}

static int file_load(int fd, const struct stat *st, struct image_file **out)
{
	struct image_file *f = calloc(1, sizeof(*f));
	Elf64_Ehdr eh;

	if (!f)
		return -ENOMEM;
	f->st = *st;
	f->bytes = sizeof(*f);
	f->refs = 1;
	int err = read_headers(f, fd, &eh);
	if (err) {
		file_free(f);
		return err;
	}
	read_tables(f, fd);
	find_symbols(f, fd, &eh);
	*out = f;
	return 0;
}

static void put_locked(struct image_files *c, struct image_file *f)
{
	if (f && --f->refs == 0) {
		c->bytes -= f->bytes;
		file_free(f);
	}
}

/* Moves place I to the front. */
static struct image_file *to_front(struct image_files *c, unsigned i)
{
	struct image_file *f = c->at[i];

	memmove(c->at + 1, c->at, i * sizeof(c->at[0]));
	c->at[0] = f;
	return f;
}

static struct image_file *find_locked(struct image_files *c, const struct stat *st)
{
	for (unsigned i = 0; i < IMAGES && c->at[i]; i++) {
		if (stat_same(&c->at[i]->st, st))
			return to_front(c, i);
	}
	return NULL;
}

static void keep_locked(struct image_files *c, struct image_file *f)
{
	f->refs++;
	c->bytes += f->bytes;
	put_locked(c, c->at[IMAGES - 1]);
	memmove(c->at + 1, c->at, (IMAGES - 1) * sizeof(c->at[0]));
	c->at[0] = f;
	for (unsigned i = IMAGES - 1; i > 0 && c->bytes > KEPT_MAX; i--) {
		put_locked(c, c->at[i]);
		c->at[i] = NULL;
	}
}

/* Never a FIFO or a device, whatever is at NAME by now. */
static int open_file(const char *name, uint64_t ino, struct stat *st)
{
	CLEANUP_FD int path = open(name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

	if (path < 0 || fstat(path, st) < 0)
		return -errno;
	if (!S_ISREG(st->st_mode) || st->st_ino != ino)
		return -ENOENT;
	return resolve_reopen(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

uint64_t thread_ran_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

int image_file_get(struct image_files *c, const char *name, uint64_t ino, uint64_t *took_ns, struct image_file **out)
{
	struct image_file *f;
	struct stat st;

	*took_ns = 0;
	if (lstat(name, &st) < 0)
		return -errno;
	if (st.st_ino != ino)
		return -ENOENT;
	pthread_mutex_lock(&c->lock);
	f = find_locked(c, &st);
	if (f)
		f->refs++;
	pthread_mutex_unlock(&c->lock);
	*out = f;
	if (f)
		return 0;
	uint64_t from = thread_ran_ns();
	CLEANUP_FD int fd = open_file(name, ino, &st);
	int err = fd < 0 ? fd : file_load(fd, &st, &f);
	if (err)
		return err;
	pthread_mutex_lock(&c->lock);
	keep_locked(c, f);
	pthread_mutex_unlock(&c->lock);
	*took_ns = thread_ran_ns() - from;
	*out = f;
	return 0;
}

void image_file_put(struct image_files *c, struct image_file *f)
{
	pthread_mutex_lock(&c->lock);
	put_locked(c, f);
	pthread_mutex_unlock(&c->lock);
}

bool image_file_bias(const struct image_file *f, uint64_t start, uint64_t offset, uint64_t *bias)
{
	for (unsigned i = 0; i < f->n_loads; i++) {
		const struct image_load *l = &f->load[i];

		if (offset < (l->offset & ~(uint64_t)4095) || offset >= l->offset + l->len)
			continue;
		*bias = start - offset + l->offset - l->vaddr;
		return true;
	}
	return false;
}

void image_files_init(struct image_files *c)
{
	*c = (struct image_files){ 0 };
	pthread_mutex_init(&c->lock, NULL);
}

void image_files_clear(struct image_files *c)
{
	for (unsigned i = 0; i < IMAGES; i++)
		put_locked(c, c->at[i]);
	pthread_mutex_destroy(&c->lock);
}
