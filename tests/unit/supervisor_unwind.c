/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks of real processes, and of one whose unwind tables lie: it waits inside a made-up module whose
 * tables the test changes under it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "supervisor/unwind.h"
#include "supervisor/unwind_code.h"
#include "supervisor/unwind_image.h"
#include "supervisor/unwind_python.h"

static char text[RECORD_MAX];
static struct image_files *files; /* NULL: all from memory */

/* A child that ends with the test, also where an assertion fails first. */
static pid_t fork_child(void)
{
	pid_t pid = fork();

	if (!pid)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	return pid;
}

static const char *stack_of(pid_t tid)
{
	struct record r;

	record_begin(&r, text, sizeof(text), "call");
	struct unwound *u = unwind_thread(files, tid, NULL);
	assert_non_null(u);
	unwound_record(u, &r);
	free(u);
	assert_false(r.broken);
	text[r.len < sizeof(text) ? r.len : sizeof(text) - 1] = '\0';
	return text;
}

/* Until PID waits in call NR; -1: in any, but it has no other one on its way there. */
static void wait_in(pid_t pid, long nr)
{
	char path[64], line[64];

	snprintf(path, sizeof(path), "/proc/%d/syscall", pid);
	for (int i = 0; i < 5000; i++) {
		FILE *f = fopen(path, "r");
		bool blocked = f && fgets(line, sizeof(line), f) && strncmp(line, "running", 7) != 0 && (nr < 0 || strtol(line, NULL, 10) == nr);

		if (f)
			fclose(f);
		if (blocked)
			return;
		usleep(1000);
	}
	fail_msg("the child does not wait");
}

static void wait_blocked(pid_t pid)
{
	wait_in(pid, -1);
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void real_stack(void **state)
{
	pid_t pid = fork_child();

	if (!pid) {
		execl("/bin/sleep", "sleep", "1000", (char *)NULL);
		_exit(1);
	}
	wait_in(pid, SYS_clock_nanosleep);
	const char *s = stack_of(pid);
	assert_non_null(strstr(s, "clock_nanosleep"));
	assert_non_null(strstr(s, "\"unwind\":\"complete\""));
	end(pid);
	assert_non_null(strstr(stack_of(pid), "\"unwind\":\"none\""));
}

static __attribute__((noinline)) void waits_below(void)
{
	for (;;)
		pause();
}

/* Functions that no dynamic linker knows are named by the file's own table; a file that is replaced names nothing. */
static void names_from_files(void **state)
{
	struct image_files cache;
	pid_t pid = fork_child();

	if (!pid)
		waits_below();
	usleep(20000);
	wait_blocked(pid);
	unwind_init(&cache, NULL);
	assert_null(strstr(stack_of(pid), "waits_below"));
	files = &cache;
	/* From the file when it is read first, and then from what was kept; on a busy machine either may take all the time there is. */
	for (int i = 0; i < 3; i++) {
		for (int tries = 0; tries < 100 && !strstr(stack_of(pid), "\"function\":\"waits_below\""); tries++)
			usleep(10000);
		assert_non_null(strstr(text, "\"function\":\"waits_below\""));
		assert_non_null(strstr(text, "\"build_id\":\""));
	}
	files = NULL;
	end(pid);
	unwind_clear(&cache);
}

/* Nested, side by side, at one address, and before and behind all. */
static void functions_by_address(void **state)
{
	struct image_symbol list[] = {
		{ .value = 0x100, .size = 0x100, .name = 1, .reach = 0x200 }, { .value = 0x120, .size = 0x10, .name = 2, .reach = 0x200 },
		{ .value = 0x140, .size = 0, .name = 3, .reach = 0x200 },     { .value = 0x300, .size = 0x10, .name = 4, .reach = 0x310 },
		{ .value = 0x300, .size = 0x10, .name = 5, .reach = 0x310 },
	};
	const struct image_file f = { .symbol = list, .n_symbols = 5 };
	const struct {
		uint64_t addr;
		uint32_t name;
	} expect[] = { { 0xff, 0 },  { 0x100, 1 }, { 0x11f, 1 }, { 0x120, 2 }, { 0x12f, 2 }, { 0x130, 1 }, { 0x145, 1 },
		       { 0x1ff, 1 }, { 0x200, 0 }, { 0x2ff, 0 }, { 0x300, 5 }, { 0x30f, 5 }, { 0x310, 0 }, { UINT64_MAX, 0 } };

	for (size_t i = 0; i < sizeof(expect) / sizeof(expect[0]); i++) {
		const struct image_symbol *found = image_file_symbol(&f, expect[i].addr);

		assert_int_equal(found ? found->name : 0, expect[i].name);
	}
}

static void python_lines(void **state)
{
	/* Two short entries of two code units, one with a line delta of 2, a long one back by 3, none, and an end in the middle. */
	static const uint8_t table[] = { 0x81, 0x10, 0xe1, 0, 0, 0xf0, 0x07, 1, 1, 1, 0xf8, 0xf0, 0x40 };

	assert_int_equal(python_line(table, sizeof(table), 10, 0), 10);
	assert_int_equal(python_line(table, sizeof(table), 10, 3), 10);
	assert_int_equal(python_line(table, sizeof(table), 10, 4), 12);
	assert_int_equal(python_line(table, sizeof(table), 10, 8), 9);
	assert_int_equal(python_line(table, sizeof(table), 10, 10), 0);
	assert_int_equal(python_line(table, sizeof(table), 10, 12), 0);
	assert_int_equal(python_line(table, 0, 10, 0), 0);
	assert_int_equal(python_line((const uint8_t *)"\x10", 1, 10, 0), 0);
	/* 64 steps of 2^58 lines each: no line, though their sum is none in 64 bits. */
	uint8_t far[64][11];
	for (size_t i = 0; i < 64; i++)
		memcpy(far[i], "\xe8\x40\x40\x40\x40\x40\x40\x40\x40\x40\x20", 11);
	assert_int_equal(python_line(far[0], sizeof(far), 10, 127), 0);
}

/* Files that are not what they seem: every one is refused, or read as far as it makes sense. */
static void hostile_files(void **state)
{
	char name[] = "/tmp/usher-unwind-XXXXXX";
	static char bytes[65536];
	struct image_files cache;
	struct image_file *f;
	struct stat st;
	uint64_t took;
	unsigned seed = 3;
	int in = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), fd = mkstemp(name);

	assert_true(fd >= 0 && in >= 0);
	size_t n = (size_t)read(in, bytes, sizeof(bytes));
	image_files_init(&cache);
	for (int i = 0; i < 2000; i++) {
		for (int k = 0; k < 8; k++)
			bytes[(unsigned)rand_r(&seed) % (i % 2 ? 64 : 1024)] = (char)rand_r(&seed);
		memcpy(bytes, "\177ELF\2", 5);
		assert_int_equal(pwrite(fd, bytes, n, 0), n);
		assert_int_equal(ftruncate(fd, (off_t)(n - (unsigned)i % 5 * 9000)), 0);
		assert_int_equal(fstat(fd, &st), 0);
		if (image_file_get(&cache, name, st.st_ino, &took, &f) == 0)
			image_file_put(&cache, f);
	}
	assert_int_equal(image_file_get(&cache, name, st.st_ino + 1, &took, &f), -ENOENT);
	assert_int_not_equal(image_file_get(&cache, "/dev/null", 1, &took, &f), 0);
	assert_true(cache.bytes < (64u << 20));
	image_files_clear(&cache);
	unlink(name);
	close(fd);
	close(in);
}

/* The made-up module. Its code is of one architecture. */
#ifdef __x86_64__

#define MODULE_LEN 8192
#define HDR_AT 0x200
#define FRAME_AT 0x300
#define CODE_AT 0x1000

struct fixed_header {
	uint8_t version, frame_enc, count_enc, table_enc;
	int32_t frame;
	uint32_t count;
	int32_t from, fde;
};

static void module_build(char *m, const uint8_t *cfa, size_t len)
{
	Elf64_Ehdr eh = { .e_type = ET_DYN, .e_phoff = sizeof(eh), .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 2 };
	Elf64_Phdr ph[2] = {
		{ .p_type = PT_LOAD, .p_filesz = MODULE_LEN, .p_memsz = MODULE_LEN },
		{ .p_type = PT_GNU_EH_FRAME, .p_vaddr = HDR_AT, .p_memsz = 64 },
	};
	struct fixed_header hdr = { 1, 0x1b, 0x03, 0x3b, FRAME_AT - HDR_AT - 4, 1, CODE_AT - HDR_AT, FRAME_AT + 24 - HDR_AT };
	/* CIE: length 20, id 0, version 1, augmentation "zR", code 1, data -8, return address 16, pcrel sdata4. */
	static const uint8_t cie[24] = { 20, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1, 0, 0 };
	int32_t fde[4] = { 60, 28, CODE_AT - (FRAME_AT + 24 + 8), 64 };

	memset(m, 0, MODULE_LEN);
	memcpy(eh.e_ident, ELFMAG, SELFMAG);
	memcpy(m, &eh, sizeof(eh));
	memcpy(m + sizeof(eh), ph, sizeof(ph));
	memcpy(m + HDR_AT, &hdr, sizeof(hdr));
	memcpy(m + FRAME_AT, cie, sizeof(cie));
	memcpy(m + FRAME_AT + 24, fde, sizeof(fde));
	m[FRAME_AT + 24 + 16] = 0; /* augmentation data: none */
	memcpy(m + FRAME_AT + 24 + 17, cfa, len);
	/* mov $34,%eax (pause); syscall; jmp back */
	memcpy(m + CODE_AT, "\xb8\x22\x00\x00\x00\x0f\x05\xeb\xf7", 9);
}

static pid_t waits_in(const char *name, char **map)
{
	int fd = memfd_create(name, MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, MODULE_LEN), 0);
	*map = mmap(NULL, MODULE_LEN, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(*map, MAP_FAILED);
	static const uint8_t nothing[1] = { 0 };
	module_build(*map, nothing, 1);
	pid_t pid = fork_child();
	if (!pid) {
		char *code = mmap(NULL, MODULE_LEN, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);

		((void (*)(void))(void *)(code + CODE_AT))();
		_exit(1);
	}
	close(fd);
	usleep(20000);
	wait_blocked(pid);
	return pid;
}

#endif

static void hostile_tables(void **state)
{
#ifdef __x86_64__
	/* CFA expressions that never end: skip back; branch back on 1; push for ever. */
	static const uint8_t loops[][8] = {
		{ 0x0f, 3, 0x2f, 0xfd, 0xff },
		{ 0x0f, 4, 0x31, 0x28, 0xfc, 0xff },
		{ 0x0f, 4, 0x31, 0x2f, 0xfc, 0xff },
		{ 0x16, 7, 3, 0x2f, 0xfd, 0xff },
		{ 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a },
	};
	char *map;
	unsigned seed = 7;
	pid_t pid = waits_in("made-up", &map);

	assert_non_null(strstr(stack_of(pid), "made-up"));
	for (size_t i = 0; i < sizeof(loops) / sizeof(loops[0]); i++) {
		module_build(map, loops[i], sizeof(loops[i]));
		assert_non_null(strstr(stack_of(pid), "\"unwind\":"));
	}
	for (int i = 0; i < 3000; i++) {
		module_build(map, loops[(unsigned)i % 5], 8);
		for (int k = 0; k < 1 + i % 4; k++)
			map[(unsigned)rand_r(&seed) % 0x400] = (char)rand_r(&seed);
		memcpy(map + CODE_AT, "\xb8\x22\x00\x00\x00\x0f\x05\xeb\xf7", 9);
		assert_non_null(strstr(stack_of(pid), "\"unwind\":"));
	}
	end(pid);
	munmap(map, MODULE_LEN);
#else
	skip();
#endif
}

/* A CIE names the column of the return address by a number of any length. Those that there are not led libunwind out of its own tables. */
static void columns_that_are_none(void **state)
{
#ifdef __x86_64__
	static const uint8_t nothing[1] = { 0 };
	/* Version 3: a ULEB128. 17, 100, 2^20, 2^40, 2^63. */
	static const uint8_t column[][10] = {
		{ 0x91, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0 },    { 0xe4, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0 },
		{ 0x80, 0x80, 0xc0, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0 },    { 0x80, 0x80, 0x80, 0x80, 0x80, 0xa0, 0x80, 0x80, 0x80, 0 },
		{ 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01 },
	};
	char *map;
	pid_t pid = waits_in("made-up", &map);

	for (size_t i = 0; i < sizeof(column) / sizeof(column[0]); i++) {
		/* Length 28, id 0, version 3, augmentation "zR", code 1, data -8, the column, pcrel sdata4, CFA: rsp + 8. */
		uint8_t cie[32] = { 28, 0, 0, 0, 0, 0, 0, 0, 3, 'z', 'R', 0, 1, 0x78 };
		struct fixed_header hdr = { 1, 0x1b, 0x03, 0x3b, FRAME_AT - HDR_AT - 4, 1, CODE_AT - HDR_AT, FRAME_AT + 32 - HDR_AT };
		int32_t fde[4] = { 60, 36, CODE_AT - (FRAME_AT + 32 + 8), 64 };

		memcpy(cie + 14, column[i], 10);
		memcpy(cie + 24, (const uint8_t[]){ 1, 0x1b, 0x0c, 7, 8 }, 5);
		module_build(map, nothing, 1);
		memset(map + FRAME_AT, 0, 128);
		memcpy(map + HDR_AT, &hdr, sizeof(hdr));
		memcpy(map + FRAME_AT, cie, sizeof(cie));
		memcpy(map + FRAME_AT + 32, fde, sizeof(fde));
		assert_non_null(strstr(stack_of(pid), "\"unwind\":"));
	}
	end(pid);
	munmap(map, MODULE_LEN);
#else
	skip();
#endif
}

#ifdef __x86_64__
static void table_is_refused(const uint8_t *code, size_t len)
{
	char *map;
	pid_t pid = waits_in("made-up", &map);

	module_build(map, code, len);
	assert_non_null(strstr(stack_of(pid), "\"unwind\":\"partial\""));
	end(pid);
	munmap(map, MODULE_LEN);
}
#endif

/* DW_CFA_register says where a register was put: libunwind took any number for a place on its own stack. */
static void registers_that_are_none(void **state)
{
#ifdef __x86_64__
	static const uint8_t code[][10] = {
		{ 0x09, 16, 0x80, 0x80, 0x80, 0x10 },                         /* 2^25 */
		{ 0x09, 3, 0x80, 0x80, 0x80, 0x80, 0x80, 0x20 },              /* 2^40 */
		{ 0x09, 0, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x40 },  /* 2^55 */
		{ 0, 0, 0, 0x0e, 8, 0x09, 16, 0x80, 0x80, 0x80 },             /* and on beyond the end */
	};

	for (size_t i = 0; i < sizeof(code) / sizeof(code[0]); i++)
		table_is_refused(code[i], sizeof(code[i]));
#else
	skip();
#endif
}

/* libunwind divides what an expression says as the processor does, which traps where the quotient is no number. */
static void quotients_that_are_none(void **state)
{
#ifdef __x86_64__
	static const uint8_t code[][24] = {
		{ 0x0f, 12, 0x0e, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x31, 0x1f, 0x1b },                   /* the CFA: -2^63 / -1 */
		{ 0x10, 3, 12, 0x0e, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x31, 0x1f, 0x1b },                /* where rbx lies */
		{ 0x16, 3, 12, 0x0e, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x31, 0x1f, 0x1b },                /* what is in it */
		{ 0x0f, 16, 0x0e, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x31, 0x1f, 0x2f, 1, 0, 0x08, 0x1b }, /* the division in an operand */
	};

	for (size_t i = 0; i < sizeof(code) / sizeof(code[0]); i++)
		table_is_refused(code[i], sizeof(code[i]));
#else
	skip();
#endif
}

static void instructions_are_looked_at(void **state)
{
	static const struct {
		const char *code;
		size_t len;
		bool fits;
	} rows[] = {
		{ "", 0, true },
		{ "\x0c\x07\x08\x90\x01\x41\x0e\x10\x86\x02\x0a\xc6\x0b\0\0", 15, true },
		{ "\x0f\x04\x09\x09\x09\x7f", 6, true }, /* in an expression it is another thing */
		{ "\x0f\x0b\x77\x08\x80\0\x3f\x1a\x3b\x2a\x33\x24\x22", 13, true }, /* of a PLT */
		{ "\x0f\x02\x77\x1b", 4, true },
		{ "\x0f\x02\x30\x1b", 4, false },
		{ "\x0f\x04\x30\x28\xfc\xff", 6, false },
		{ "\x0f\x03\x2f\xfd\xff", 5, false },
		{ "\x0f\x02\x10\x1b", 4, false },
		{ "\x0f\x03\x92\0\x1b", 5, false },
		{ "\x0f\x02\x0e\x10\x10\x10\x10\x10\x10\x10\x10\x10", 12, false },
		{ "\x10\x06\x02\x76\x78\x2e\x10", 7, true },
		{ "\x09\x10\x10", 3, true },
		{ "\x09\x10\x11", 3, false },
		{ "\x09\x10\x90\0", 4, true },
		{ "\x09\x10\x80\x01", 4, false },
		{ "\x09\x10", 2, false },
		{ "\x0e\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 11, false },
		{ "\x0f\x04\x09\x09\x7f", 5, false },
		{ "\x04\x01\x02", 3, false },
		{ "\x01\0\0\0\0", 5, false },
		{ "\x3f", 1, false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(unwind_code_fits((const uint8_t *)rows[i].code, rows[i].len, 16), rows[i].fits);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(real_stack), cmocka_unit_test(names_from_files), cmocka_unit_test(functions_by_address), cmocka_unit_test(python_lines), cmocka_unit_test(hostile_files), cmocka_unit_test(hostile_tables), cmocka_unit_test(columns_that_are_none), cmocka_unit_test(registers_that_are_none), cmocka_unit_test(quotients_that_are_none), cmocka_unit_test(instructions_are_looked_at) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
