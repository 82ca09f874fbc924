/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MUST: every count that comes from the process is capped.
 */
#include "supervisor/unwind_symbols.h"

#include <elf.h>
#include <string.h>

#define DYNAMIC_MAX 128
#define SYMBOLS_MAX 8192
#define SYMBOLS_AT_ONCE 512
#define WANTED_MAX 64

#define MODULE_MAX (1ull << 32)

struct symtab {
	uint64_t symbols, strings;
};

/* Addresses in a dynamic section are absolute once the loader has seen it, and the file's in musl and the vdso. */
static uint64_t absolute(const struct module *m, uint64_t at)
{
	return at >= m->bias && at - m->bias < MODULE_MAX ? at : at + m->bias;
}

static bool find_symtab(struct view *v, const struct module *m, struct symtab *out)
{
	Elf64_Dyn dyn[DYNAMIC_MAX];
	size_t n = m->dynamic_len / sizeof(dyn[0]);

	*out = (struct symtab){ 0, 0 };
	if (n > DYNAMIC_MAX)
		n = DYNAMIC_MAX;
	if (!m->dynamic || !view_read(v, m->dynamic, dyn, n * sizeof(dyn[0])))
		return false;
	for (size_t i = 0; i < n && dyn[i].d_tag != DT_NULL; i++) {
		if (dyn[i].d_tag == DT_SYMTAB)
			out->symbols = absolute(m, dyn[i].d_un.d_ptr);
		else if (dyn[i].d_tag == DT_STRTAB)
			out->strings = absolute(m, dyn[i].d_un.d_ptr);
	}
	/* The linker puts the strings behind the symbols; how many there are is not said elsewhere at a fixed place. */
	return out->symbols && out->strings > out->symbols;
}

/* The symbols wanted of one module, by address. */
struct wanted {
	const struct module *module;
	unsigned n;
	struct symbol *symbol[WANTED_MAX];
};

static void want(struct wanted *w, struct symbol *s)
{
	unsigned i = w->n;

	if (i == WANTED_MAX)
		return;
	for (w->n++; i && w->symbol[i - 1]->addr > s->addr; i--)
		w->symbol[i] = w->symbol[i - 1];
	w->symbol[i] = s;
}

static void weigh(const struct wanted *w, uint64_t value, uint64_t size, uint32_t name)
{
	unsigned low = 0, high = w->n;
	uint64_t from = w->module->bias + value;

	while (low < high) {
		unsigned mid = (low + high) / 2;

		if (w->symbol[mid]->addr < from)
			low = mid + 1;
		else
			high = mid;
	}
	for (; low < w->n && w->symbol[low]->addr - from < size; low++) {
		struct symbol *to = w->symbol[low];

		if (to->size && value <= to->value)
			continue;
		to->value = value;
		to->size = size;
		to->name = name;
	}
}

static void weigh_elf(const struct wanted *w, const Elf64_Sym *s)
{
	unsigned type = ELF64_ST_TYPE(s->st_info);

	if ((type == STT_FUNC || type == STT_GNU_IFUNC) && s->st_shndx != SHN_UNDEF)
		weigh(w, s->st_value, s->st_size, s->st_name);
}

static void find_in_file(struct symbol *to)
{
	const struct image_symbol *found = image_file_symbol(to->module->file, to->addr - to->module->bias);

	if (!found)
		return;
	to->value = found->value;
	to->size = found->size;
	to->name = found->name;
}

static void scan_memory(struct view *v, const struct wanted *w)
{
	Elf64_Sym block[SYMBOLS_AT_ONCE];
	struct symtab tab;

	if (!find_symtab(v, w->module, &tab))
		return;
	size_t count = (size_t)((tab.strings - tab.symbols) / sizeof(block[0]));
	if (count > SYMBOLS_MAX)
		count = SYMBOLS_MAX;
	for (size_t i = 0; i < count; i += SYMBOLS_AT_ONCE) {
		size_t k = count - i < SYMBOLS_AT_ONCE ? count - i : SYMBOLS_AT_ONCE;

		if (!view_read_block(v, tab.symbols + i * sizeof(block[0]), block, k * sizeof(block[0])))
			return;
		for (size_t x = 0; x < k; x++)
			weigh_elf(w, &block[x]);
	}
}

static bool module_before(const struct symbol *list, unsigned i)
{
	for (unsigned k = 0; k < i; k++) {
		if (list[k].module == list[i].module)
			return true;
	}
	return false;
}

void view_symbols(struct view *v, struct symbol *list, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		struct wanted w = { .module = list[i].module };

		if (w.module && w.module->file)
			find_in_file(&list[i]);
		if (!w.module || w.module->file || module_before(list, i))
			continue;
		for (unsigned k = i; k < n; k++) {
			if (list[k].module == w.module)
				want(&w, &list[k]);
		}
		scan_memory(v, &w);
	}
}

static bool file_name(const struct image_file *f, uint32_t name, char *buf, size_t cap)
{
	size_t n = strnlen(f->names + name, cap - 1);

	memcpy(buf, f->names + name, n);
	buf[n] = '\0';
	return n > 0;
}

bool view_name(struct view *v, const struct symbol *s, char *buf, size_t cap)
{
	struct symtab tab;
	size_t n = 0;

	if (!s->size)
		return false;
	if (s->module->file)
		return file_name(s->module->file, s->name, buf, cap);
	if (!find_symtab(v, s->module, &tab))
		return false;
	while (n + 1 < cap && view_read(v, tab.strings + s->name + n, buf + n, 1) && buf[n])
		n++;
	buf[n] = '\0';
	return n > 0;
}
