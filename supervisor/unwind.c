/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel tells a waiting thread's instruction and stack pointer (/proc/TID/syscall); unwind tables lead on from
 * there wherever they do not need another register, which is so in most code compiled without frame pointers. Where
 * one is needed and not known the stack ends and is called partial: nothing is guessed.
 *
 * MUST: libunwind reads only through the accessors below, whose budget ends every loop that the tables could make it run;
 * what it would use as a place in its own tables is looked at first.
 */
#include "supervisor/unwind.h"

#include <errno.h>
#include <fcntl.h>
#include <libunwind.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "rules/cleanup.h"
#include "supervisor/thread_state.h"
#include "supervisor/unwind_code.h"
#include "supervisor/unwind_image.h"
#include "supervisor/unwind_internal.h"
#include "supervisor/unwind_lib.h"
#include "supervisor/unwind_memory.h"
#include "supervisor/unwind_python.h"
#include "supervisor/unwind_symbols.h"

#define WHERE_TRIES 100
#define WHERE_WAITS 100 /* of 50 us and the timer's slack each, for a caller whose core is taken away on its way into the wait (a busy hypervisor's) */
#ifndef UNWIND_LIMIT_MS /* make tsan is slower */
#define UNWIND_LIMIT_MS 5
#endif
#define LIMIT_NS (UNWIND_LIMIT_MS * 1000 * 1000)
#define FDES_MAX 1000000
#define NAME_MAX_SHOWN 256

/* On aarch64 libunwind's UNW_REG_IP is the register of the return address. */
#ifdef __x86_64__
#define RETURN_COLUMN UNW_X86_64_RIP
#define IP_REGISTER UNW_X86_64_RIP
#else
#define RETURN_COLUMN UNW_AARCH64_X30
#define IP_REGISTER UNW_AARCH64_PC
#endif

struct unwinding {
	const struct unwind_lib *lib;
	struct unwind_lib *own;
	struct view *view;
	const exec_regs *regs; /* NULL: only these */
	uint64_t ip, sp;
	bool lacks;
	bool unknown; /* code without a table was met: libunwind would guess on */
	bool refused; /* its table must not be run: nothing more is read */
	struct unwind_code code[2]; /* of the table that is being run: what all functions of its kind share, and its own */
};

/* The binary search table behind a PT_GNU_EH_FRAME header, in the one form linkers write. */
static bool search_table(struct view *v, const struct module *m, unw_dyn_info_t *di)
{
	struct {
		uint8_t version, frame_enc, count_enc, table_enc;
		int32_t frame;
		uint32_t count;
	} hdr;

	if (!m->eh_frame_hdr || !view_read(v, m->eh_frame_hdr, &hdr, sizeof(hdr)))
		return false;
	if (hdr.version != 1 || hdr.count_enc != 0x03 || hdr.table_enc != 0x3b || hdr.count > FDES_MAX)
		return false;
	*di = (unw_dyn_info_t){
		.format = UNW_INFO_FORMAT_REMOTE_TABLE,
		.start_ip = m->start,
		.end_ip = m->end,
	};
	di->u.rti.segbase = m->eh_frame_hdr;
	di->u.rti.table_data = m->eh_frame_hdr + sizeof(hdr);
	di->u.rti.table_len = hdr.count * (uint64_t)8 / sizeof(unw_word_t);
	return true;
}

/* How libunwind begins what it keeps of a CIE. Were it otherwise in some version, no column would be the right one, and stacks end early. */
struct kept_cie {
	unw_word_t instructions[4], code_align, data_align, return_column;
};

/* Compilers write one number for each architecture. libunwind takes any, and looks there without asking whether its table is as long. */
static bool column_put_right(unw_proc_info_t *pi)
{
	struct kept_cie *cie = pi->unwind_info;

	if (!cie || pi->unwind_info_size < (int)sizeof(*cie) || cie->return_column == RETURN_COLUMN)
		return false;
	cie->return_column = RETURN_COLUMN;
	return true;
}

/* Copies FROM to TO of the process, from where they are run. */
static bool take_code(struct unwinding *u, struct unwind_code *c, uint64_t from, uint64_t to)
{
	const uint64_t word = sizeof(unw_word_t);

	c->len = 0;
	if (from >= to)
		return true;
	c->at = from & ~(word - 1);
	if (to - c->at > UNWIND_CODE - word)
		return false;
	size_t len = (size_t)((to - c->at + word - 1) & ~(word - 1));
	if (!view_read(u->view, c->at, c->bytes, len))
		return false;
	c->len = len;
	return unwind_code_fits(c->bytes + (from - c->at), (size_t)(to - from), RETURN_COLUMN);
}

static bool may_run(struct unwinding *u, const unw_proc_info_t *pi)
{
	const struct kept_cie *cie = pi->unwind_info;

	if (!cie)
		return true;
	return pi->unwind_info_size >= (int)sizeof(*cie) && take_code(u, &u->code[0], cie->instructions[0], cie->instructions[1]) &&
	       take_code(u, &u->code[1], cie->instructions[2], cie->instructions[3]);
}

static int find_proc_info(unw_addr_space_t as, unw_word_t ip, unw_proc_info_t *pi, int need, void *arg)
{
	struct unwinding *u = arg;
	struct module *m = view_module(u->view, ip);
	unw_dyn_info_t di;

	int rc = m && search_table(u->view, m, &di) ? u->lib->search(as, ip, &di, pi, need, arg) : -UNW_ENOINFO;
	u->refused = rc >= 0 && !may_run(u, pi); /* libunwind gives back what it has found when it cannot read it */
	u->unknown = rc < 0 || u->refused || column_put_right(pi);
	return rc;
}

static void put_unwind_info(unw_addr_space_t as, unw_proc_info_t *pi, void *arg)
{
}

static int no_dynamic_list(unw_addr_space_t as, unw_word_t *at, void *arg)
{
	return -UNW_ENOINFO;
}

static int access_mem(unw_addr_space_t as, unw_word_t at, unw_word_t *value, int write, void *arg)
{
	struct unwinding *u = arg;

	if (write || u->refused)
		return -UNW_EINVAL;
	for (unsigned i = 0; i < 2; i++) {
		if (unwind_code_word(&u->code[i], at, value))
			return view_spend(u->view) ? 0 : -UNW_EINVAL;
	}
	return view_read(u->view, at, value, sizeof(*value)) ? 0 : -UNW_EINVAL;
}

static int access_reg(unw_addr_space_t as, unw_regnum_t reg, unw_word_t *value, int write, void *arg)
{
	struct unwinding *u = arg;

	if (write)
		return -UNW_EREADONLYREG;
	if (reg == IP_REGISTER)
		*value = u->ip;
	else if (reg == UNW_REG_SP)
		*value = u->sp;
	else if (!u->regs)
		u->lacks = true;
	else if (regs_unwind(u->regs, reg, value))
		return 0;
	return reg == IP_REGISTER || reg == UNW_REG_SP ? 0 : -UNW_EBADREG;
}

static int no_fpreg(unw_addr_space_t as, unw_regnum_t reg, unw_fpreg_t *value, int write, void *arg)
{
	return -UNW_EBADREG;
}

static int no_resume(unw_addr_space_t as, unw_cursor_t *c, void *arg)
{
	return -UNW_EINVAL;
}

static int no_name(unw_addr_space_t as, unw_word_t at, char *buf, size_t len, unw_word_t *off, void *arg)
{
	return -UNW_ENOINFO;
}

static bool where(pid_t tid, uint64_t *sp, uint64_t *ip)
{
	struct thread_call call = { .nr = -1 };
	char path[32], line[256];

	snprintf(path, sizeof(path), "/proc/%d/syscall", tid);
	CLEANUP_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = 0;
	int err = -EAGAIN; /* it runs, on its way into the wait */
	for (int tries = 0; tries < WHERE_TRIES + WHERE_WAITS && fd >= 0 && err == -EAGAIN; tries++) {
		if (tries >= WHERE_TRIES)
			(void)nanosleep(&(struct timespec){ .tv_nsec = 50000 }, NULL);
		n = pread(fd, line, sizeof(line) - 1, 0);
		if (n <= 0)
			break;
		line[n] = '\0';
		err = thread_call_parse(line, &call);
	}
	*sp = call.sp;
	*ip = call.ip;
	return !err && call.nr >= 0;
}

/* A string into U's text; 0 when there is no room. */
static uint32_t keep(struct unwound *u, const char *s, size_t len)
{
	if (!len || len + 1 > TEXT_MAX - u->used)
		return 0;
	uint32_t at = u->used;

	memcpy(u->text + at, s, len);
	u->text[at + len] = '\0';
	u->used += (uint32_t)len + 1;
	return at;
}

static uint32_t keep_build_id(struct unwound *u, const struct module *m)
{
	char hex[2 * IMAGE_BUILD_ID + 1] = "";

	for (size_t i = 0; i < m->build_id_len; i++)
		snprintf(hex + 2 * i, 3, "%02x", m->build_id[i]);
	return keep(u, hex, strlen(hex));
}

/* Another frame of S's module, whose names are kept already; NULL: this is the first. */
static const struct frame *same_module(const struct unwound *u, const struct symbol *list, unsigned n)
{
	for (unsigned i = n; i--;) {
		if (list[i].module == list[n].module)
			return &u->frame[i];
	}
	return NULL;
}

static void note_frame(struct unwound *u, struct view *v, const uint64_t *ip, const struct symbol *list, unsigned i)
{
	const struct symbol *s = &list[i];
	const struct module *m = s->module;
	const struct frame *like = same_module(u, list, i);
	struct frame *f = &u->frame[i];
	char name[NAME_MAX_SHOWN];

	f->offset = m ? ip[i] - m->bias : ip[i];
	if (!m)
		return;
	f->object = like ? like->object : keep(u, m->name, strlen(m->name));
	f->build_id = like ? like->build_id : keep_build_id(u, m);
	if (!view_name(v, s, name, sizeof(name)))
		return;
	f->function = keep(u, name, strlen(name));
	f->in_function = ip[i] - m->bias - s->value;
}

static void note_frames(struct unwound *u, struct view *v, const uint64_t *ip, unsigned n)
{
	struct symbol symbol[FRAMES_MAX] = { 0 };

	for (unsigned i = 0; i < n; i++) {
		/* A return address belongs to the call before it. */
		symbol[i].addr = i ? ip[i] - 1 : ip[i];
		symbol[i].module = view_module(v, symbol[i].addr);
	}
	view_symbols(v, symbol, n);
	for (unsigned i = 0; i < n; i++)
		note_frame(u, v, ip, symbol, i);
	u->n = n;
}

static void note_python(struct unwound *u, struct view *v)
{
	struct python_frame frame[PYTHON_FRAMES];

	u->n_python = python_frames(v, frame);
	for (unsigned i = 0; i < u->n_python; i++) {
		u->python[i].file = keep(u, frame[i].file, strlen(frame[i].file));
		u->python[i].function = keep(u, frame[i].function, strlen(frame[i].function));
		u->python[i].line = frame[i].line;
	}
}

static void walk_stack(struct unwound *out, unw_addr_space_t as, struct unwinding *u)
{
	unw_cursor_t c;
	uint64_t ip[FRAMES_MAX];
	unsigned n = 0;
	int more = u->lib->init(&c, as, u) == 0;

	while (more > 0 && n < FRAMES_MAX) {
		unw_word_t at;

		if (u->lib->get(&c, UNW_REG_IP, &at) || !at)
			break;
		ip[n++] = at;
		more = u->lib->step(&c);
		if (u->unknown)
			more = -UNW_ENOINFO;
	}
	note_frames(out, u->view, ip, n);
	note_python(out, u->view);
	out->known = n > 0;
	out->complete = n && more == 0;
	out->lacks = u->lacks && !out->complete;
}

/* Without a cache it holds nothing that changes: threads may share it. */
static unw_addr_space_t new_space(const struct unwind_lib *lib)
{
	static const unw_accessors_t accessors = {
		.find_proc_info = find_proc_info, .put_unwind_info = put_unwind_info,
		.get_dyn_info_list_addr = no_dynamic_list, .access_mem = access_mem, .access_reg = access_reg,
		.access_fpreg = no_fpreg, .resume = no_resume, .get_proc_name = no_name,
	};
	unw_accessors_t mine = accessors;
	unw_addr_space_t as = lib->create(&mine, 0);

	if (as)
		lib->caching(as, UNW_CACHE_NONE);
	return as;
}

/* The library and a space in FILES, which have both for good. */
static void get_ready(struct image_files *files)
{
	pthread_mutex_lock(&files->lock);
	if (!files->tried) {
		files->tried = true;
		files->lib = unwind_lib_load(files->voice);
		files->space = files->lib ? new_space(files->lib) : NULL;
	}
	pthread_mutex_unlock(&files->lock);
}

void unwind_init(struct image_files *files, struct voice *voice)
{
	image_files_init(files);
	files->voice = voice;
	/* A relative name in it is one of the user's directory, in which this thread still is. */
	if (getenv("LD_LIBRARY_PATH"))
		get_ready(files);
}

void unwind_clear(struct image_files *files)
{
	if (files->space)
		files->lib->destroy(files->space);
	free(files->lib);
	image_files_clear(files);
}

/* What libunwind is asked through: the one of FILES, or, without, the caller's own to give back with leave_space(). */
static unw_addr_space_t enter_space(struct image_files *files, struct unwinding *u)
{
	if (files) {
		get_ready(files);
		u->lib = files->lib;
		return files->space;
	}
	u->lib = u->own = unwind_lib_load(NULL);
	return u->lib ? new_space(u->lib) : NULL;
}

static void leave_space(struct unwinding *u, unw_addr_space_t as)
{
	if (u->own && as)
		u->own->destroy(as);
	free(u->own);
}

struct unwound *unwind_thread(struct image_files *files, pid_t tid, const exec_regs *regs)
{
	struct unwound *out = malloc(sizeof(*out));
	struct unwinding u = { .regs = regs };

	if (!out)
		return NULL;
	memset(out, 0, offsetof(struct unwound, text));
	out->used = 1;
	if (regs) {
		u.sp = REGS_SP(regs);
		u.ip = REGS_IP(regs);
	}
	if (!regs && !where(tid, &u.sp, &u.ip))
		return out;
	/* Before the view and its limit: the first stack loads the library. */
	unw_addr_space_t as = enter_space(files, &u);
	if (as && view_open(tid, LIMIT_NS, files, &u.view) == 0)
		walk_stack(out, as, &u);
	view_free(u.view);
	leave_space(&u, as);
	return out;
}
