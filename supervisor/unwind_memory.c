/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks are read from the process's memory, tables from its files where they are at hand; no file is mapped, so none can be cut
 * short under the reader.
 *
 * MUST: every count that comes from the process is capped; every read is counted and timed.
 */
#include "supervisor/unwind_memory.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "rules/clock.h"
#include "supervisor/elf_note.h"

#define MAPS_LINES 4096
#define PHDRS_MAX 32
#define NOTES_MAX 1024

#define LOADS 4  /* how many times the limit the files may take that nobody has read yet */
#define WAITS 10 /* how many times the limit a view may last, with all that the thread did not run */

static uint64_t now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/* The limit is of time that this thread ran: on a busy machine one turn of somebody else's lasts as long. */
static bool late(struct view *v)
{
	uint64_t now = now_ns();

	if (now <= v->look_ns)
		return false;
	uint64_t ran = thread_ran_ns() - v->ran_ns;
	if (ran >= v->limit_ns || now >= v->end_ns)
		return true;
	v->look_ns = now + v->limit_ns - ran;
	return false;
}

bool view_spend(struct view *v)
{
	if (v->reads >= VIEW_READS)
		return false;
	if (++v->reads % 64 == 0 && late(v))
		v->reads = VIEW_READS;
	return v->reads < VIEW_READS;
}

bool view_read_block(struct view *v, uint64_t at, void *out, size_t len)
{
	struct iovec mine = { out, len }, theirs = { (void *)(uintptr_t)at, len };

	v->reads |= 63; /* the clock is looked at */
	return view_spend(v) && process_vm_readv(v->tid, &mine, 1, &theirs, 1, 0) == (ssize_t)len;
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

/* From the tables of a file; NULL: they are elsewhere. */
static const char *in_tables(const struct view *v, uint64_t at, size_t len)
{
	for (unsigned i = 0; i < v->n_modules; i++) {
		const struct module *m = &v->module[i];
		uint64_t into = at - m->eh_frame_hdr;

		if (m->file && m->file->tables && into < m->file->tables_len && len <= m->file->tables_len - into)
			return m->file->tables + into;
	}
	return NULL;
}

bool view_read(struct view *v, uint64_t at, void *out, size_t len)
{
	char *to = out;

	if (!view_spend(v))
		return false;
	const char *table = in_tables(v, at, len);
	if (table) {
		memcpy(out, table, len);
		return true;
	}
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

int view_open(pid_t tid, uint64_t limit_ns, struct image_files *files, struct view **out)
{
	struct view *v = malloc(sizeof(*v));

	if (!v)
		return -ENOMEM;
	v->tid = tid;
	v->files = files;
	v->limit_ns = limit_ns;
	v->look_ns = now_ns() + limit_ns;
	v->end_ns = v->look_ns + (WAITS - 1) * limit_ns;
	v->ran_ns = thread_ran_ns();
	v->loads_ns = LOADS * limit_ns;
	v->reads = v->n_modules = 0;
	v->names_len = 0;
	for (unsigned i = 0; i < VIEW_PAGES; i++)
		v->page[i] = 1;
	v->maps = mapping_open(tid);
	if (v->maps < 0) {
		int err = v->maps;

		free(v);
		return err;
	}
	*out = v;
	return 0;
}

void view_free(struct view *v)
{
	if (!v)
		return;
	for (unsigned i = 0; i < v->n_modules; i++) {
		if (v->module[i].file)
			image_file_put(v->files, v->module[i].file);
	}
	close(v->maps);
	free(v);
}

/* Modules. */

static void examine_notes(struct view *v, struct module *m, uint64_t at, uint64_t len)
{
	char notes[NOTES_MAX];
	size_t n = len < sizeof(notes) ? (size_t)len : sizeof(notes);

	if (!m->build_id_len && view_read(v, at, notes, n))
		m->build_id_len = elf_note_build_id(notes, n, m->build_id, IMAGE_BUILD_ID);
}

/* What the headers in memory say. */
static void examine(struct view *v, struct module *m)
{
	Elf64_Phdr ph[PHDRS_MAX];
	Elf64_Ehdr eh;
	bool based = false;

	if (!view_read(v, m->base, &eh, sizeof(eh)) || memcmp(eh.e_ident, ELFMAG, SELFMAG) != 0)
		return;
	size_t n = eh.e_phnum < PHDRS_MAX ? eh.e_phnum : PHDRS_MAX;
	if (eh.e_phentsize != sizeof(ph[0]) || !view_read(v, m->base + eh.e_phoff, ph, n * sizeof(ph[0])))
		return;
	for (size_t i = 0; i < n && !based; i++) {
		if (ph[i].p_type == PT_LOAD) {
			m->bias = m->base - (ph[i].p_vaddr & ~(uint64_t)(VIEW_PAGE - 1));
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

/* Who meets a file first reads it for all stacks: where a page fault costs 15 us (some hypervisors) that alone is 4 ms of Python's. */
static void leave_out(struct view *v, uint64_t ns)
{
	if (ns > v->loads_ns)
		ns = v->loads_ns;
	v->loads_ns -= ns;
	v->ran_ns += ns;
}

/* What its file says; false: nothing. */
static bool look_into_file(struct view *v, struct module *m)
{
	const struct mapping *at = &v->mapping;
	struct image_file *f;
	uint64_t took;

	if (!v->files || m->name[0] != '/' || image_file_get(v->files, m->name, at->ino, &took, &f))
		return false;
	leave_out(v, took);
	if (!image_file_bias(f, at->start, at->offset, &m->bias)) {
		image_file_put(v->files, f);
		return false;
	}
	m->file = f;
	m->eh_frame_hdr = f->eh_frame_hdr ? m->bias + f->eh_frame_hdr : 0;
	memcpy(m->build_id, f->build_id, f->build_id_len);
	m->build_id_len = f->build_id_len;
	return true;
}

static const char *keep_name(struct view *v, const char *name)
{
	size_t len = strlen(name) + 1;

	if (len > VIEW_NAMES - v->names_len)
		return "?";
	char *kept = memcpy(v->names + v->names_len, name, len);
	v->names_len += len;
	return kept;
}

static struct module *add_module(struct view *v)
{
	const struct mapping *at = &v->mapping;
	struct module *m = &v->module[v->n_modules++];

	*m = (struct module){ .start = at->start, .end = at->end, .base = at->start - at->offset, .name = keep_name(v, at->name) };
	if (!look_into_file(v, m))
		examine(v, m);
	return m;
}

struct module *view_module(struct view *v, uint64_t addr)
{
	for (unsigned i = 0; i < v->n_modules; i++) {
		if (addr >= v->module[i].start && addr < v->module[i].end)
			return &v->module[i];
	}
	if (v->n_modules == VIEW_MODULES || !view_spend(v) || mapping_at(v->maps, addr, MAPS_LINES, &v->mapping))
		return NULL;
	if (v->mapping.name[0] != '/' && strcmp(v->mapping.name, "[vdso]") != 0)
		return NULL;
	return add_module(v);
}
