/* SPDX-License-Identifier: Apache-2.0 */
/* Program formats and argument vectors, without a kernel. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "supervisor/exec_args.h"
#include "supervisor/binfmt.h"
#include "supervisor/exec_format.h"

struct line_case {
	const char *text;
	const char *interpreter; /* NULL: no script */
	const char *arg;
};

static const struct line_case lines[] = {
	{ "#!/bin/sh\n", "/bin/sh", NULL },
	{ "#! /bin/sh -e\n", "/bin/sh", "-e" },
	{ "#!\t/bin/sh\t-e  -x \t\nrest", "/bin/sh", "-e  -x" },
	{ "#!/bin/sh", "/bin/sh", NULL },
	{ "#!/bin/sh -e", "/bin/sh", "-e" },
	{ "#!sh\n", "sh", NULL },
	{ "#!/usr/bin/env -S python3 -u\n", "/usr/bin/env", "-S python3 -u" },
	{ "#!\n/bin/sh\n", NULL, NULL },
	{ "#!   \n", NULL, NULL },
	{ "# !/bin/sh\n", NULL, NULL },
	{ "#", NULL, NULL },
	{ "", NULL, NULL },
	{ "\177ELF", NULL, NULL },
};

static bool same(struct span s, const char *text)
{
	return text ? s.bytes && s.len == strlen(text) && !memcmp(s.bytes, text, s.len) : !s.bytes;
}

static void script_lines(void **state)
{
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		char head[FORMAT_HEAD] = "";
		struct script_line line;

		strncpy(head, lines[i].text, sizeof(head) - 1);
		assert_int_equal(format_script(head, &line), lines[i].interpreter != NULL);
		if (!lines[i].interpreter)
			continue;
		assert_true(same(line.interpreter, lines[i].interpreter));
		assert_true(same(line.arg, lines[i].arg));
	}
}

/* A first line longer than what the kernel reads: a name that is cut is no script, an argument that is cut is. */
static void script_long(void **state)
{
	char head[FORMAT_HEAD];
	struct script_line line;

	memset(head, 'a', sizeof(head));
	memcpy(head, "#!/", 3);
	assert_false(format_script(head, &line));
	head[100] = ' ';
	assert_true(format_script(head, &line));
	assert_int_equal(line.interpreter.len, 98);
	assert_int_equal(line.arg.len, FORMAT_HEAD - 1 - 101);
	memset(head + 2, ' ', sizeof(head) - 2);
	assert_false(format_script(head, &line));
}

static void binfmt_entries(void **state)
{
	static const char by_magic[] = "enabled\ninterpreter /usr/bin/run\nflags: OCF\noffset 2\nmagic 4d5a00\nmask ffff00\n";
	static const char by_name[] = "enabled\ninterpreter /usr/bin/java\nflags: P\nextension .jar\n";
	static const char off[] = "disabled\ninterpreter /usr/bin/java\nflags: \nextension .jar\n";
	char head[FORMAT_HEAD] = "xxMZy";
	struct binfmt b;

	assert_true(binfmt_takes(by_magic, head, SPAN_LITERAL("/a"), &b));
	assert_string_equal(b.interpreter, "/usr/bin/run");
	assert_false(b.keeps_name);
	head[3] = 'X';
	assert_false(binfmt_takes(by_magic, head, SPAN_LITERAL("/a"), &b));
	assert_false(binfmt_takes(by_magic, head, SPAN_LITERAL("/a."), &b));
	assert_true(binfmt_takes(by_name, head, SPAN_LITERAL("/a/b.jar"), &b));
	assert_true(b.keeps_name);
	assert_false(binfmt_takes(by_name, head, SPAN_LITERAL("/a/b.jars"), &b));
	assert_false(binfmt_takes(by_name, head, SPAN_LITERAL("jar"), &b));
	assert_false(binfmt_takes(off, head, SPAN_LITERAL("b.jar"), &b));
	/* Half an entry, and one that names bytes the kernel has not read. */
	assert_false(binfmt_takes("enabled\ninterpreter /x\nflags: \noffset 255\nmagic 0000\n", head, SPAN_LITERAL("a"), &b));
	assert_false(binfmt_takes("enabled\ninterpreter /x\nflags: \noffset 0\nmagic 7g\n", head, SPAN_LITERAL("a"), &b));
	assert_false(binfmt_takes("enabled\n", head, SPAN_LITERAL("a"), &b));
}

static int file_of(const void *bytes, size_t len)
{
	int fd = memfd_create("format", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, len), len);
	return fd;
}

static void elf_interpreter_found(void **state)
{
	struct {
		Elf64_Ehdr eh;
		Elf64_Phdr ph;
		char name[32];
	} f = { 0 };
	struct elf_facts facts;
	char head[FORMAT_HEAD];

	memcpy(f.eh.e_ident, ELFMAG, SELFMAG);
	f.eh.e_ident[EI_CLASS] = ELFCLASS64;
	f.eh.e_type = ET_DYN;
#ifdef __aarch64__
	f.eh.e_machine = EM_AARCH64;
#else
	f.eh.e_machine = EM_X86_64;
#endif
	f.eh.e_phentsize = sizeof(f.ph);
	f.eh.e_phnum = 1;
	f.eh.e_phoff = offsetof(__typeof__(f), ph);
	f.ph.p_type = PT_INTERP;
	f.ph.p_offset = offsetof(__typeof__(f), name);
	strcpy(f.name, "/lib/ld.so");
	f.ph.p_filesz = strlen(f.name) + 1;
	int fd = file_of(&f, sizeof(f));
	assert_int_equal(format_kind(fd, head), FORMAT_ELF);
	assert_int_equal(format_elf(fd, head, &facts), 0);
	assert_string_equal(facts.interpreter, "/lib/ld.so");
	close(fd);

	f.ph.p_filesz = strlen(f.name); /* not terminated */
	fd = file_of(&f, sizeof(f));
	format_kind(fd, head);
	assert_int_equal(format_elf(fd, head, &facts), -ENOEXEC);
	close(fd);
	f.ph.p_filesz = (uint64_t)-1;
	fd = file_of(&f, sizeof(f));
	format_kind(fd, head);
	assert_int_equal(format_elf(fd, head, &facts), -ENOEXEC);
	close(fd);
	f.eh.e_phoff = (uint64_t)-8;
	fd = file_of(&f, sizeof(f));
	format_kind(fd, head);
	assert_int_equal(format_elf(fd, head, &facts), -ENOEXEC);
	close(fd);
}

/* Whether there are libraries for the interpreter to open, and whose name a library has. */
static void elf_libraries(void **state)
{
	static const struct {
		bool interpreter;
		Elf64_Sxword tag;
		bool needs, library;
	} cases[] = {
		{ true, DT_NEEDED, true, false }, { true, DT_SONAME, false, false }, { true, DT_NULL, false, false },
		{ false, DT_NEEDED, false, false }, { false, DT_SONAME, false, true },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct {
			Elf64_Ehdr eh;
			Elf64_Phdr ph[3];
			Elf64_Dyn dyn[4];
			char name[32];
		} f = { .eh = { .e_type = ET_DYN, .e_phentsize = sizeof(f.ph[0]), .e_phnum = 3, .e_phoff = offsetof(__typeof__(f), ph) },
			.ph = { { .p_type = PT_DYNAMIC, .p_offset = offsetof(__typeof__(f), dyn), .p_vaddr = 4096 + offsetof(__typeof__(f), dyn), .p_filesz = sizeof(f.dyn) },
				{ .p_type = PT_INTERP, .p_offset = offsetof(__typeof__(f), name), .p_filesz = sizeof("/lib/ld.so") },
				{ .p_type = PT_LOAD, .p_offset = 0, .p_vaddr = 4096, .p_filesz = sizeof(f) } },
			.dyn = { { .d_tag = DT_HASH }, { .d_tag = cases[i].tag }, { .d_tag = DT_NULL }, { .d_tag = DT_NEEDED } },
			.name = "/lib/ld.so" };
		char head[FORMAT_HEAD] = "";
		struct elf_facts facts;

		if (!cases[i].interpreter)
			f.ph[1].p_type = PT_NOTE;
		int fd = file_of(&f, sizeof(f));
		memcpy(head, &f.eh, sizeof(f.eh));
		assert_int_equal(format_elf(fd, head, &facts), 0);
		assert_int_equal(facts.needs, cases[i].needs);
		assert_int_equal(facts.library, cases[i].library);
		close(fd);
		f.ph[0].p_vaddr += 16; /* another place is mapped */
		fd = file_of(&f, sizeof(f));
		assert_int_equal(format_elf(fd, head, &facts), 0);
		assert_false(facts.needs);
		close(fd);
	}
}

/* Damaged programs never do more than fail: what is asserted is that the sanitizers have nothing to say. */
static void elf_damaged(void **state)
{
	char bytes[2048], head[FORMAT_HEAD];
	struct elf_facts facts;
	struct script_line line;
	unsigned seed = 1;
	FILE *f = fopen("/proc/self/exe", "r");

	assert_non_null(f);
	assert_int_equal(fread(bytes, 1, sizeof(bytes), f), sizeof(bytes));
	fclose(f);
	int fd = memfd_create("damaged", MFD_CLOEXEC);
	for (int i = 0; i < 20000; i++) {
		size_t at = (size_t)rand_r(&seed) % (i & 1 ? 64 : sizeof(bytes));
		char old = bytes[at];

		bytes[at] = (char)rand_r(&seed);
		assert_int_equal(pwrite(fd, bytes, sizeof(bytes), 0), sizeof(bytes));
		if (format_kind(fd, head) == FORMAT_ELF)
			format_elf(fd, head, &facts);
		memcpy(head, "#!", 2);
		format_script(head, &line);
		bytes[at] = old;
	}
	close(fd);
}

static void loaders(void **state)
{
	assert_true(format_loader_name(SPAN_LITERAL("ld-linux-x86-64.so.2")));
	assert_true(format_loader_name(SPAN_LITERAL("ld-musl-x86_64.so.1")));
	assert_false(format_loader_name(SPAN_LITERAL("ld")));
	assert_false(format_loader_name(SPAN_LITERAL("ldd")));
}

static void joined(void **state)
{
	char out[64];
	int whole;
	static const char strings[] = "push\0a b\0\"\\\0";

	size_t n = args_join((struct span){ strings, sizeof(strings) - 1 }, out, sizeof(out), &whole);
	assert_true(whole);
	assert_int_equal(n, strlen("push a\\ b \\\"\\\\"));
	assert_memory_equal(out, "push a\\ b \\\"\\\\", n);
	args_join((struct span){ strings, sizeof(strings) - 1 }, out, 4, &whole);
	assert_false(whole);
}

/* Strings of all lengths from this process's own memory, some across pages. */
static void copied(void **state)
{
	char *big = malloc(ARGS_STRING_MAX + 1), **vector = calloc(202, sizeof(char *));
	struct args a = { 0 };
	size_t at = 0;

	memset(big, 'x', ARGS_STRING_MAX);
	big[ARGS_STRING_MAX - 1] = '\0';
	for (int i = 0; i < 200; i++)
		vector[i] = big + ARGS_STRING_MAX - 1 - (size_t)i * 37 % 9000;
	vector[200] = big;
	assert_int_equal(args_copy(getpid(), (uint64_t)(uintptr_t)vector, &a), 0);
	assert_int_equal(a.count, 201);
	for (int i = 0; i < 201; i++) {
		assert_string_equal(a.bytes + at, vector[i]);
		at += strlen(vector[i]) + 1;
	}
	assert_int_equal(at, a.len);
	args_free(&a);
	/* the first pointers read before: they count, not what stands there now */
	char *const early[3] = { vector[5], vector[0], vector[7] };
	for (uint32_t n = 0; n <= 3; n++) {
		struct span ahead = { (const char *)early, n * (uint32_t)sizeof(early[0]) };

		assert_int_equal(args_copy_on(getpid(), (uint64_t)(uintptr_t)vector, ahead, &a), 0);
		assert_int_equal(a.count, 201);
		assert_string_equal(a.bytes, n ? early[0] : vector[0]);
		args_free(&a);
	}
	big[ARGS_STRING_MAX - 1] = 'x';
	big[ARGS_STRING_MAX] = '\0';
	assert_int_equal(args_copy(getpid(), (uint64_t)(uintptr_t)vector, &a), -E2BIG);
	args_free(&a);
	vector[3] = (char *)8;
	big[ARGS_STRING_MAX - 1] = '\0';
	assert_int_equal(args_copy(getpid(), (uint64_t)(uintptr_t)vector, &a), -EFAULT);
	args_free(&a);
	assert_int_equal(args_copy(getpid(), 16, &a), -EFAULT);
	args_free(&a);
	free(big);
	free(vector);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(script_lines), cmocka_unit_test(script_long),
		cmocka_unit_test(binfmt_entries), cmocka_unit_test(elf_interpreter_found),
		cmocka_unit_test(elf_libraries), cmocka_unit_test(elf_damaged), cmocka_unit_test(loaders), cmocka_unit_test(joined), cmocka_unit_test(copied),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
