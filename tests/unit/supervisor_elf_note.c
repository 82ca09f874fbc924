/* SPDX-License-Identifier: Apache-2.0 */
/* Build-ids among notes, whole and damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "supervisor/elf_note.h"

/* One note behind the others in BUF; returns where the next one goes. */
static size_t put_note(char *buf, size_t at, const char *name, uint32_t type, const char *desc, uint32_t len)
{
	Elf64_Nhdr nh = { .n_namesz = (uint32_t)strlen(name) + 1, .n_descsz = len, .n_type = type };

	memcpy(buf + at, &nh, sizeof(nh));
	at += sizeof(nh);
	memcpy(buf + at, name, nh.n_namesz);
	at += (nh.n_namesz + 3u) & ~3u;
	memcpy(buf + at, desc, len);
	return at + ((len + 3u) & ~3u);
}

static void found_behind_others(void **state)
{
	char notes[256] = { 0 };
	uint8_t id[20];

	(void)state;
	size_t n = put_note(notes, 0, "GNU", NT_GNU_ABI_TAG, "0123456789abcdef", 16);
	n = put_note(notes, n, "stapsdt", NT_GNU_BUILD_ID, "wrong", 5);
	n = put_note(notes, n, "GNU", NT_GNU_BUILD_ID, "identity", 8);
	assert_int_equal(elf_note_build_id(notes, n, id, sizeof(id)), 8);
	assert_memory_equal(id, "identity", 8);
	assert_int_equal(elf_note_build_id(notes, n, id, 3), 3);
	assert_int_equal(elf_note_build_id(notes, 0, id, sizeof(id)), 0);
}

/* Cut anywhere, in memory of exactly that length: a sanitizer sees each byte too many. */
static void cut(void **state)
{
	char notes[256] = { 0 };
	uint8_t id[20];

	(void)state;
	size_t n = put_note(notes, 0, "GNU", NT_GNU_BUILD_ID, "identity", 8);
	for (size_t len = 0; len < n; len++) {
		char *part = malloc(len + 1);

		memcpy(part, notes, len);
		part = realloc(part, len ? len : 1);
		assert_int_equal(elf_note_build_id(part, len, id, sizeof(id)), 0);
		free(part);
	}
}

static void lengths_that_lie(void **state)
{
	static const uint32_t lies[] = { 9, 100, 0x7fffffff, 0xfffffffc, 0xffffffff };
	char notes[64] = { 0 };
	uint8_t id[20];

	(void)state;
	size_t n = put_note(notes, 0, "GNU", NT_GNU_BUILD_ID, "identity", 8);
	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		for (size_t field = 0; field < 2; field++) {
			char lie[64];

			memcpy(lie, notes, sizeof(lie));
			memcpy(lie + field * sizeof(uint32_t), &lies[i], sizeof(lies[i]));
			assert_int_equal(elf_note_build_id(lie, n, id, sizeof(id)), 0);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(found_behind_others), cmocka_unit_test(cut), cmocka_unit_test(lengths_that_lie),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
