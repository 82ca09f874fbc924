/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Headers, tables and symbols are read from the process's memory, not from the files: no file of the
 * caller's choice is mapped, so none can be cut short under the reader.
 *
 * MUST: every count that comes from the process is capped; every read is counted and timed.
 */
#include "supervisor/unwind_memory.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "rules/cleanup.h"

#define MAPS_MAX (64 * 1024)
#define PHDRS_MAX 32
#define NOTES_MAX 1024
#define DYNAMIC_MAX 128
#define SYMBOLS_MAX 8192
#define SYMBOLS_AT_ONCE 512
#define WANTED_MAX 64

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static bool spend(struct view *v)
{
	if (v->reads >= VIEW_READS)
		return false;
	if (++v->reads % 64 == 0 && now_ns() > v->deadline_ns)
		v->reads = VIEW_READS;
	return v->reads < VIEW_READS;
}

bool view_read_block(struct view *v, uint64_t at, void *out, size_t len)
{
	struct iovec mine = { out, len }, theirs = { (void *)(uintptr_t)at, len };

	v->reads |= 63; /* the clock is looked at */
	return spend(v) && process_vm_readv(v->tid, &mine, 1, &theirs, 1, 0) == (ssize_t)len;
}

static const char *view_page(struct view *v, uint64_t page)
{
	unsigned i = (unsigned)(page / VIEW_PAGE) % VIEW_PAGES;

	if (v->page[i] == page)
		return v->bytes[i];
	v->page[i] = 1;
	if (!view_read_block(v, page, v->bytes[i], VIEW_PAGE))
		return NULL;
	v->page[i] = page;
	return v->bytes[i];
}

bool view_read(struct view *v, uint64_t at, void *out, size_t len)
{
	char *to = out;

	if (!spend(v))
		return false;
	while (len) {
		size_t in = at & (VIEW_PAGE - 1);
		size_t n = VIEW_PAGE - in < len ? VIEW_PAGE - in : len;
		const char *page = view_page(v, at - in);

		if (!page)
			return false;
		if (n == sizeof(uint64_t))
			memcpy(to, page + in, sizeof(uint64_t));
		else
			memcpy(to, page + in, n);
		to += n;
		at += n;
		len -= n;
	}
	return true;
}

/* Modules. */

static char *maps_text(pid_t tid)
{
	char path[32];
	size_t len = 0;

	snprintf(path, sizeof(path), "/proc/%d/maps", tid);
	CLEANUP_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *text = fd < 0 ? NULL : malloc(MAPS_MAX + 1);
	if (!text)
		return NULL;
	ssize_t n;
	while (len < MAPS_MAX && (n = read(fd, text + len, MAPS_MAX - len)) > 0)
		len += (size_t)n;
	text[len] = '\0';
	return text;
}

static void add_mapping(struct view *v, uint64_t start, uint64_t end, const char *name)
{
	struct module *last = v->n_modules ? &v->module[v->n_modules - 1] : NULL;

	if (name[0] != '/' && strcmp(name, "[vdso]") != 0)
		return;
	if (last && !strcmp(last->name, name)) {
		last->end = end;
		return;
	}
	if (v->n_modules < VIEW_MODULES)
		v->module[v->n_modules++] = (struct module){ .start = start, .end = end, .name = name };
}

static void parse_maps(struct view *v)
{
	char *next = v->maps;

	while (next && *next) {
		char *line = next, *end;

		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		uint64_t from = strtoull(line, &end, 16);
		if (*end != '-')
			break;
		uint64_t to = strtoull(end + 1, &end, 16);
		const char *name = end;
		for (int field = 0; field < 4 && name; field++) {
			name = strchr(name + 1, ' ');
		}
		if (!name)
			continue;
		name += strspn(name, " 0123456789");
		add_mapping(v, from, to, name);
	}
}

int view_open(pid_t tid, uint64_t limit_ns, struct view **out)
{
	struct view *v = malloc(sizeof(*v));

	if (!v)
		return -ENOMEM;
	v->tid = tid;
	v->deadline_ns = now_ns() + limit_ns;
	v->reads = v->n_modules = 0;
	for (unsigned i = 0; i < VIEW_PAGES; i++)
		v->page[i] = 1;
	v->maps = maps_text(tid);
	if (!v->maps) {
		free(v);
		return -EPERM;
	}
	parse_maps(v);
	*out = v;
	return 0;
}

void view_free(struct view *v)
{
	if (!v)
		return;
	free(v->maps);
	free(v);
}

static void examine_notes(struct view *v, struct module *m, uint64_t at, uint64_t len)
{
	char notes[NOTES_MAX];
	size_t n = len < sizeof(notes) ? (size_t)len : sizeof(notes);
	Elf64_Nhdr nh;

	if (m->build_id_len || !view_read(v, at, notes, n))
		return;
	for (size_t off = 0; off + sizeof(nh) <= n;) {
		memcpy(&nh, notes + off, sizeof(nh));
		size_t name = off + sizeof(nh);
		if (nh.n_namesz > n || nh.n_descsz > n)
			return;
		size_t desc = name + ((nh.n_namesz + 3u) & ~3u);
		size_t end = desc + ((nh.n_descsz + 3u) & ~3u);
		if (end > n)
			return;
		if (nh.n_type == NT_GNU_BUILD_ID && nh.n_namesz == 4 && !memcmp(notes + name, "GNU", 4)) {
			m->build_id_len = nh.n_descsz < VIEW_BUILD_ID ? nh.n_descsz : VIEW_BUILD_ID;
			memcpy(m->build_id, notes + desc, m->build_id_len);
			return;
		}
		off = end;
	}
}

static void examine(struct view *v, struct module *m)
{
	Elf64_Phdr ph[PHDRS_MAX];
	Elf64_Ehdr eh;
	bool based = false;

	m->examined = true;
	if (!view_read(v, m->start, &eh, sizeof(eh)) || memcmp(eh.e_ident, ELFMAG, SELFMAG) != 0)
		return;
	size_t n = eh.e_phnum < PHDRS_MAX ? eh.e_phnum : PHDRS_MAX;
	if (eh.e_phentsize != sizeof(ph[0]) || !view_read(v, m->start + eh.e_phoff, ph, n * sizeof(ph[0])))
		return;
	for (size_t i = 0; i < n && !based; i++) {
		if (ph[i].p_type == PT_LOAD) {
			m->bias = m->start - (ph[i].p_vaddr & ~(uint64_t)(VIEW_PAGE - 1));
			based = true;
		}
	}
	for (size_t i = 0; i < n && based; i++) {
		uint64_t at = m->bias + ph[i].p_vaddr;

		if (ph[i].p_type == PT_GNU_EH_FRAME) {
			m->eh_frame_hdr = at;
		} else if (ph[i].p_type == PT_DYNAMIC) {
			m->dynamic = at;
			m->dynamic_len = (size_t)ph[i].p_memsz;
		} else if (ph[i].p_type == PT_NOTE) {
			examine_notes(v, m, at, ph[i].p_memsz);
		}
	}
}

struct module *view_module(struct view *v, uint64_t addr)
{
	for (unsigned i = 0; i < v->n_modules; i++) {
		struct module *m = &v->module[i];

		if (addr < m->start || addr >= m->end)
			continue;
		if (!m->examined)
			examine(v, m);
		return m;
	}
	return NULL;
}

/* Symbols. */

struct symtab {
	uint64_t symbols, strings;
};

/* Addresses in a dynamic section are absolute once the loader has seen it, and the file's in musl and the vdso. */
static uint64_t absolute(const struct module *m, uint64_t at)
{
	return at >= m->start && at < m->end ? at : at + m->bias;
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

static void weigh(const struct wanted *w, const Elf64_Sym *s)
{
	unsigned type = ELF64_ST_TYPE(s->st_info), low = 0, high = w->n;
	uint64_t from = w->module->bias + s->st_value;

	if ((type != STT_FUNC && type != STT_GNU_IFUNC) || s->st_shndx == SHN_UNDEF)
		return;
	while (low < high) {
		unsigned mid = (low + high) / 2;

		if (w->symbol[mid]->addr < from)
			low = mid + 1;
		else
			high = mid;
	}
	for (; low < w->n && w->symbol[low]->addr - from < s->st_size; low++) {
		struct symbol *to = w->symbol[low];

		if (to->size && s->st_value <= to->value)
			continue;
		to->value = s->st_value;
		to->size = s->st_size;
		to->name = s->st_name;
	}
}

static void scan_module(struct view *v, const struct wanted *w)
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
			weigh(w, &block[x]);
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

		if (!w.module || module_before(list, i))
			continue;
		for (unsigned k = i; k < n; k++) {
			if (list[k].module == w.module)
				want(&w, &list[k]);
		}
		scan_module(v, &w);
	}
}

bool view_name(struct view *v, const struct symbol *s, char *buf, size_t cap)
{
	struct symtab tab;
	size_t n = 0;

	if (!s->size || !find_symtab(v, s->module, &tab))
		return false;
	while (n + 1 < cap && view_read(v, tab.strings + s->name + n, buf + n, 1) && buf[n])
		n++;
	buf[n] = '\0';
	return n > 0;
}
