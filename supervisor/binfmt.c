/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/binfmt.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rules/cleanup.h"

#define PLACE "/proc/sys/fs/binfmt_misc"
#define ENTRY_MAX 2048 /* what the kernel takes in one registration, and its words */
#define ENTRIES_MAX 256

/* The rest of the line that begins with KEY; absent when there is none. */
static struct span field(const char *text, const char *key)
{
	size_t len = strlen(key);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, key, len) == 0)
			return (struct span){ line + len, (uint32_t)strcspn(line + len, "\n") };
		if (!*line)
			break;
	}
	return (struct span){ NULL, 0 };
}

static int nibble(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int byte_at(struct span hex, uint32_t i)
{
	int high = 2 * i + 1 < hex.len ? nibble(hex.bytes[2 * i]) : -1;
	int low = high >= 0 ? nibble(hex.bytes[2 * i + 1]) : -1;

	return low < 0 ? -1 : high * 16 + low;
}

static bool magic_matches(const char *text, const char head[FORMAT_HEAD])
{
	struct span magic = field(text, "magic "), mask = field(text, "mask "), offset = field(text, "offset ");
	unsigned long from = offset.bytes ? strtoul(offset.bytes, NULL, 10) : 0;

	if (!magic.len)
		return false;
	for (uint32_t i = 0; i < magic.len / 2; i++) {
		int want = byte_at(magic, i), bits = mask.bytes ? byte_at(mask, i) : 0xff;

		if (want < 0 || bits < 0 || from + i >= FORMAT_HEAD)
			return false;
		if (((unsigned char)head[from + i] ^ want) & bits)
			return false;
	}
	return true;
}

static bool extension_matches(const char *text, struct span filename)
{
	struct span want = field(text, "extension .");
	const char *dot = filename.len ? memrchr(filename.bytes, '.', filename.len) : NULL;
	size_t len = dot ? (size_t)(filename.bytes + filename.len - dot - 1) : 0;

	/* An entry for beginnings has no such line, and "prog." an empty ending. */
	return want.bytes && dot && want.len == len && memcmp(dot + 1, want.bytes, len) == 0;
}

bool binfmt_takes(const char *text, const char head[FORMAT_HEAD], struct span filename, struct binfmt *out)
{
	struct span interpreter = field(text, "interpreter "), flags = field(text, "flags: ");

	if (strncmp(text, "enabled\n", 8) != 0 || !interpreter.len || interpreter.len >= sizeof(out->interpreter))
		return false;
	if (!magic_matches(text, head) && !extension_matches(text, filename))
		return false;
	memcpy(out->interpreter, interpreter.bytes, interpreter.len);
	out->interpreter[interpreter.len] = '\0';
	out->keeps_name = flags.len && memchr(flags.bytes, 'P', flags.len);
	return true;
}

static bool read_entry(int dir, const char *name, char text[ENTRY_MAX])
{
	CLEANUP_FD int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	ssize_t n = fd < 0 ? -1 : read(fd, text, ENTRY_MAX - 1);

	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

bool binfmt_find(const char head[FORMAT_HEAD], struct span filename, struct binfmt *out)
{
	char text[ENTRY_MAX];
	DIR *d = opendir(PLACE);
	const struct dirent *e;
	bool found = false;

	if (!d)
		return false;
	bool on = read_entry(dirfd(d), "status", text) && strncmp(text, "enabled", 7) == 0;
	for (unsigned i = 0; on && !found && i < ENTRIES_MAX && (e = readdir(d)); i++) {
		if (e->d_name[0] == '.' || !strcmp(e->d_name, "status") || !strcmp(e->d_name, "register"))
			continue;
		found = read_entry(dirfd(d), e->d_name, text) && binfmt_takes(text, head, filename, out);
	}
	closedir(d);
	return found;
}
