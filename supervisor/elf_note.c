/* SPDX-License-Identifier: Apache-2.0 */
/* MUST: a length from the notes is checked before it is added to anything. */
#include "supervisor/elf_note.h"

#include <elf.h>
#include <string.h>

static size_t padded(uint32_t len)
{
	return ((size_t)len + 3u) & ~(size_t)3u;
}

size_t elf_note_build_id(const char *notes, size_t n, uint8_t *out, size_t cap)
{
	Elf64_Nhdr nh;

	for (size_t off = 0; off + sizeof(nh) <= n;) {
		memcpy(&nh, notes + off, sizeof(nh));
		size_t name = off + sizeof(nh);
		if (nh.n_namesz > n || nh.n_descsz > n)
			return 0;
		size_t desc = name + padded(nh.n_namesz), end = desc + padded(nh.n_descsz);
		if (end > n)
			return 0;
		if (nh.n_type == NT_GNU_BUILD_ID && nh.n_namesz == sizeof("GNU") && !memcmp(notes + name, "GNU", sizeof("GNU"))) {
			size_t len = nh.n_descsz < cap ? nh.n_descsz : cap;

			memcpy(out, notes + desc, len);
			return len;
		}
		off = end;
	}
	return 0;
}
