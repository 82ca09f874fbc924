/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel tells a waiting thread's instruction and stack pointer (/proc/TID/syscall); unwind tables lead on from
 * there wherever they do not need another register, which is so in code compiled without frame pointers. Where
 * one is needed the stack ends and is called partial: nothing is guessed.
 *
 * MUST: libunwind reads only through the accessors below, whose budget ends every loop that the tables could make it run.
 */
#include "supervisor/unwind.h"

#include <fcntl.h>
#include <inttypes.h>
#include <libunwind.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "rules/cleanup.h"
#include "supervisor/unwind_memory.h"

#define FRAMES_MAX 64
#define FRAMES_TOLD 8 /* to a person */
#define LIMIT_NS (5 * 1000 * 1000)
#define FDES_MAX 1000000

/* Exported by libunwind for users with accessors of their own, but in none of its headers. */
#define dwarf_search_unwind_table UNW_OBJ(dwarf_search_unwind_table)
extern int dwarf_search_unwind_table(unw_addr_space_t as, unw_word_t ip, unw_dyn_info_t *di, unw_proc_info_t *pi,
				     int need_unwind_info, void *arg);

struct unwinding {
	struct view *view;
	uint64_t ip, sp;
	char *text; /* NULL: nobody reads it */
	size_t text_cap;
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

static int find_proc_info(unw_addr_space_t as, unw_word_t ip, unw_proc_info_t *pi, int need, void *arg)
{
	struct unwinding *u = arg;
	struct module *m = view_module(u->view, ip);
	unw_dyn_info_t di;

	if (!m || !search_table(u->view, m, &di))
		return -UNW_ENOINFO;
	return dwarf_search_unwind_table(as, ip, &di, pi, need, arg);
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

	return !write && view_read(u->view, at, value, sizeof(*value)) ? 0 : -UNW_EINVAL;
}

static int access_reg(unw_addr_space_t as, unw_regnum_t reg, unw_word_t *value, int write, void *arg)
{
	struct unwinding *u = arg;

	if (write)
		return -UNW_EREADONLYREG;
	if (reg == UNW_REG_IP)
		*value = u->ip;
	else if (reg == UNW_REG_SP)
		*value = u->sp;
	else
		return -UNW_EBADREG;
	return 0;
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
	char path[32], line[256];

	snprintf(path, sizeof(path), "/proc/%d/syscall", tid);
	CLEANUP_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, line, sizeof(line) - 1);
	if (n <= 0)
		return false;
	line[n] = '\0';
	return sscanf(line, "%*s %*s %*s %*s %*s %*s %*s %" SCNx64 " %" SCNx64, sp, ip) == 2;
}

static void write_build_id(struct record *r, const struct module *m)
{
	char hex[2 * VIEW_BUILD_ID + 1] = "";

	for (size_t i = 0; i < m->build_id_len; i++)
		snprintf(hex + 2 * i, 3, "%02x", m->build_id[i]);
	if (m->build_id_len)
		record_text(r, "build_id", hex);
}

static void write_frame(struct record *r, struct view *v, uint64_t ip, const struct symbol *s)
{
	const struct module *m = s->module;
	char name[256];

	record_object(r, NULL);
	if (m) {
		record_text(r, "object", m->name);
		write_build_id(r, m);
	}
	if (m && view_name(v, s, name, sizeof(name))) {
		record_text(r, "function", name);
		record_int(r, "in_function", (int64_t)(ip - m->bias - s->value));
	}
	record_int(r, "offset", (int64_t)(m ? ip - m->bias : ip));
	record_close(r);
}

/* The innermost frames for a person, on one line: what does not fit is left out. */
static void tell_stack(struct unwinding *u, const uint64_t *ip, const struct symbol *s, unsigned n)
{
	size_t at = 0;

	for (unsigned i = 0; i < n && i < FRAMES_TOLD; i++) {
		const struct module *m = s[i].module;
		char name[256];
		bool named = m && view_name(u->view, &s[i], name, sizeof(name));
		int len = named ? snprintf(u->text + at, u->text_cap - at, "%s%s in %s", i ? " < " : "", name, m->name) :
				  snprintf(u->text + at, u->text_cap - at, "%s+0x%" PRIx64 " in %s", i ? " < " : "",
					   m ? ip[i] - m->bias : ip[i], m ? m->name : "?");
		if (len < 0 || (size_t)len >= u->text_cap - at) {
			u->text[at] = '\0';
			return;
		}
		at += (size_t)len;
	}
}

static void write_stack(struct record *r, struct unwinding *u, const uint64_t *ip, unsigned n)
{
	struct view *v = u->view;
	struct symbol symbol[FRAMES_MAX] = { 0 };

	for (unsigned i = 0; i < n; i++) {
		/* A return address belongs to the call before it. */
		symbol[i].addr = i ? ip[i] - 1 : ip[i];
		symbol[i].module = view_module(v, symbol[i].addr);
	}
	view_symbols(v, symbol, n);
	record_list(r, "stack");
	for (unsigned i = 0; i < n; i++)
		write_frame(r, v, ip[i], &symbol[i]);
	record_close(r);
	if (u->text)
		tell_stack(u, ip, symbol, n);
}

/* Writes the frames; returns whether the outermost was reached. */
static bool walk_stack(struct record *r, unw_addr_space_t as, struct unwinding *u)
{
	unw_cursor_t c;
	uint64_t ip[FRAMES_MAX];
	unsigned n = 0;
	int more = unw_init_remote(&c, as, u) == 0;

	while (more > 0 && n < FRAMES_MAX) {
		unw_word_t at;

		if (unw_get_reg(&c, UNW_REG_IP, &at) || !at)
			break;
		ip[n++] = at;
		more = unw_step(&c);
	}
	write_stack(r, u, ip, n);
	return n && more == 0;
}

static void unwind(pid_t tid, struct record *r, char *text, size_t cap)
{
	static const unw_accessors_t accessors = {
		.find_proc_info = find_proc_info, .put_unwind_info = put_unwind_info,
		.get_dyn_info_list_addr = no_dynamic_list, .access_mem = access_mem, .access_reg = access_reg,
		.access_fpreg = no_fpreg, .resume = no_resume, .get_proc_name = no_name,
	};
	struct unwinding u = { .text = text, .text_cap = cap };
	unw_accessors_t mine = accessors;
	bool complete = false;

	if (!where(tid, &u.sp, &u.ip) || view_open(tid, LIMIT_NS, &u.view)) {
		record_text(r, "unwind", "none");
		return;
	}
	unw_addr_space_t as = unw_create_addr_space(&mine, 0);
	if (as)
		complete = walk_stack(r, as, &u);
	record_text(r, "unwind", complete ? "complete" : "partial");
	if (as)
		unw_destroy_addr_space(as);
	view_free(u.view);
}

void unwind_thread(pid_t tid, struct record *r)
{
	unwind(tid, r, NULL, 0);
}

void unwind_caller_text(struct job *j, struct record *r, char *text, size_t cap)
{
	text[0] = '\0';
	unwind((pid_t)j->notif.pid, r, text, cap);
}

void unwind_caller(struct job *j, struct record *r)
{
	unwind_thread((pid_t)j->notif.pid, r);
}
