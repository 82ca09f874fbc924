/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MUST: every offset and length that comes from the file is checked before it is used, and every loop has a bound
 * that the file cannot set.
 */
#include "supervisor/exec_format.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#ifdef __aarch64__
#define MACHINE EM_AARCH64
#else
#define MACHINE EM_X86_64
#endif

#define PHDRS_MAX 128
#define DYNAMIC_MAX 256

static bool blank(char c)
{
	return c == ' ' || c == '\t';
}

/* First position in [from, last] that is no blank, or NULL. */
static const char *next_text(const char *from, const char *last)
{
	for (; from <= last; from++) {
		if (!blank(*from))
			return from;
	}
	return NULL;
}

/* First position in [from, last] that ends a word, or NULL. */
static const char *next_end(const char *from, const char *last)
{
	for (; from <= last; from++) {
		if (blank(*from) || !*from)
			return from;
	}
	return NULL;
}

/* A newline before the first NUL, as strnchr() of the kernel finds it. */
static const char *line_end(const char head[FORMAT_HEAD])
{
	size_t n = strnlen(head, FORMAT_HEAD);

	return memchr(head, '\n', n);
}

static struct span cstring(const char *from, const char *end)
{
	return (struct span){ from, (uint32_t)strnlen(from, (size_t)(end - from)) };
}

bool format_script(const char head[FORMAT_HEAD], struct script_line *out)
{
	const char *last = head + FORMAT_HEAD - 1;

	*out = (struct script_line){ 0 };
	if (head[0] != '#' || head[1] != '!')
		return false;
	const char *end = line_end(head);
	if (!end) {
		const char *text = next_text(head + 2, last);
		if (!text || !next_end(text, last))
			return false; /* blank, or a name that may be cut */
		end = last;
	}
	while (blank(end[-1]))
		end--;
	const char *name = next_text(head + 2, end);
	if (!name || name == end)
		return false;
	const char *sep = next_end(name, end);
	const char *arg = sep && *sep ? next_text(sep, end) : NULL;
	if (arg == end)
		arg = NULL;
	out->interpreter = cstring(name, sep && sep < end ? sep : end);
	if (arg)
		out->arg = cstring(arg, end);
	return true;
}

/* Other machines' programs, and those for 32 bits, are binfmt_misc's, if anybody's: usher's filter leaves them no call. */
static bool native_elf(const char head[FORMAT_HEAD])
{
	Elf64_Ehdr eh;

	memcpy(&eh, head, sizeof(eh));
	return memcmp(eh.e_ident, ELFMAG, SELFMAG) == 0 && eh.e_ident[EI_CLASS] == ELFCLASS64 && eh.e_machine == MACHINE;
}

int format_kind(int fd, char head[FORMAT_HEAD])
{
	struct script_line line;

	memset(head, 0, FORMAT_HEAD);
	if (pread(fd, head, FORMAT_HEAD, 0) < 0)
		return -errno;
	if (format_script(head, &line))
		return FORMAT_SCRIPT;
	return native_elf(head) ? FORMAT_ELF : FORMAT_OTHER;
}

static bool read_at(int fd, void *out, size_t len, uint64_t offset)
{
	return offset <= INT64_MAX - len && pread(fd, out, len, (off_t)offset) == (ssize_t)len;
}

/* PT_INTERP as the kernel reads it: must be NUL-terminated, at most PATH_MAX bytes with it. */
static int elf_interpreter(int fd, const Elf64_Phdr *ph, struct elf_facts *out)
{
	if (ph->p_filesz < 2 || ph->p_filesz > PATH_MAX)
		return -ENOEXEC;
	if (!read_at(fd, out->interpreter, ph->p_filesz, ph->p_offset))
		return -ENOEXEC;
	if (out->interpreter[ph->p_filesz - 1])
		return -ENOEXEC;
	return 0;
}

/* Whether the dynamic section has an entry TAG. */
static bool elf_has(int fd, const Elf64_Phdr *ph, Elf64_Sxword tag)
{
	Elf64_Dyn dyn[DYNAMIC_MAX];
	size_t n = ph->p_filesz / sizeof(dyn[0]);

	if (n > DYNAMIC_MAX)
		n = DYNAMIC_MAX;
	if (!read_at(fd, dyn, n * sizeof(dyn[0]), ph->p_offset))
		return false;
	for (size_t i = 0; i < n && dyn[i].d_tag != DT_NULL; i++) {
		if (dyn[i].d_tag == tag)
			return true;
	}
	return false;
}

/* The first of TYPE, as the kernel takes it, or NULL. */
static const Elf64_Phdr *header_of(const Elf64_Phdr *ph, unsigned n, Elf64_Word type)
{
	for (unsigned i = 0; i < n; i++) {
		if (ph[i].p_type == type)
			return &ph[i];
	}
	return NULL;
}

/* Whether what the file has at PH's offset is what is mapped at its address, where the loader looks. */
static bool mapped_as_told(const Elf64_Phdr *all, unsigned n, const Elf64_Phdr *ph)
{
	for (unsigned i = 0; i < n; i++) {
		uint64_t in = ph->p_vaddr - all[i].p_vaddr;

		if (all[i].p_type == PT_LOAD && ph->p_vaddr >= all[i].p_vaddr && in < all[i].p_filesz)
			return ph->p_offset - all[i].p_offset == in && ph->p_filesz <= all[i].p_filesz - in;
	}
	return false;
}

int format_elf(int fd, const char head[FORMAT_HEAD], struct elf_facts *out)
{
	Elf64_Phdr ph[PHDRS_MAX];
	Elf64_Ehdr eh;

	out->library = false;
	out->needs = false;
	out->interpreter[0] = '\0';
	memcpy(&eh, head, sizeof(eh));
	if (eh.e_phentsize != sizeof(ph[0]) || eh.e_phnum < 1 || eh.e_phnum > PHDRS_MAX)
		return -ENOEXEC;
	if (!read_at(fd, ph, eh.e_phnum * sizeof(ph[0]), eh.e_phoff))
		return -ENOEXEC;
	const Elf64_Phdr *interpreter = header_of(ph, eh.e_phnum, PT_INTERP);
	const Elf64_Phdr *dynamic = header_of(ph, eh.e_phnum, PT_DYNAMIC);
	if (interpreter) {
		out->needs = dynamic && mapped_as_told(ph, eh.e_phnum, dynamic) && elf_has(fd, dynamic, DT_NEEDED);
		return elf_interpreter(fd, interpreter, out);
	}
	out->library = eh.e_type == ET_DYN && dynamic && elf_has(fd, dynamic, DT_SONAME);
	return 0;
}

static bool starts(struct span s, const char *with)
{
	size_t n = strlen(with);

	return s.len >= n && !memcmp(s.bytes, with, n);
}

bool format_loader_name(struct span leaf)
{
	static const char *const names[] = { "ld-linux", "ld-musl-", "ld.so", "ld64.so", "ld-2.", "ld-uClibc" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (starts(leaf, names[i]))
			return true;
	}
	return false;
}
