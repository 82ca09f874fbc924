/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Program files and argument vectors from any bytes. Properties: a script's interpreter and argument lie inside its
 * head; what joins whole splits back into the same strings.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "supervisor/exec_args.h"
#include "supervisor/exec_format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool inside(const char head[FORMAT_HEAD], struct span s)
{
	return s.bytes >= head && s.bytes + s.len <= head + FORMAT_HEAD;
}

static void formats(const uint8_t *data, size_t size)
{
	char head[FORMAT_HEAD];
	struct script_line line;
	struct elf_facts facts;
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	int kind = format_kind(fd, head);
	if (kind == FORMAT_SCRIPT) {
		if (!format_script(head, &line) || !inside(head, line.interpreter))
			abort();
		if (line.arg.bytes && !inside(head, line.arg))
			abort();
	}
	if (kind == FORMAT_ELF && format_elf(fd, head, &facts) == 0 && strnlen(facts.interpreter, PATH_MAX) == PATH_MAX)
		abort();
	close(fd);
}

/* Takes back what args_join() did. */
static size_t split(const char *joined, size_t n, char *out)
{
	size_t len = 0;

	for (size_t i = 0; i < n; i++) {
		if (joined[i] == '\\')
			out[len++] = joined[++i];
		else
			out[len++] = joined[i] == ' ' ? '\0' : joined[i];
	}
	out[len++] = '\0';
	return len;
}

static void arguments(const uint8_t *data, size_t size)
{
	char *strings = malloc(size + 1), *joined = malloc(2 * size + 2), *back = malloc(2 * size + 2);
	int whole;

	if (!strings || !joined || !back)
		abort();
	memcpy(strings, data, size);
	strings[size] = '\0';
	struct span all = { strings, (uint32_t)size + 1 };
	size_t n = args_join(all, joined, 2 * size + 2, &whole);
	if (!whole || split(joined, n, back) != size + 1 || memcmp(back, strings, size + 1))
		abort();
	args_join(all, joined, size / 2, &whole);
	free(strings);
	free(joined);
	free(back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	formats(data, size);
	arguments(data, size);
	return 0;
}
