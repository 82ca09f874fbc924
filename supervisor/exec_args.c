/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MUST: each pointer and each string is read once. A string that changes while it is read is what was read; the new stack is
 * compared with that.
 */
#include "supervisor/exec_args.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "supervisor/memory.h"

#define PAGE 4096
#define BATCH 16       /* strings fetched by one call */
#define SHORT_MAX 256  /* bytes of each fetched at once */
#define POINTERS 32

void args_free(struct args *a)
{
	free(a->bytes);
	*a = (struct args){ 0 };
}

static int args_room(struct args *a, size_t more)
{
	size_t cap = a->cap ? a->cap : 1024;

	if (a->len + more > ARGS_TOTAL_MAX)
		return -E2BIG;
	while (cap < a->len + more)
		cap *= 2;
	if (cap == a->cap)
		return 0;
	char *bytes = realloc(a->bytes, cap);
	if (!bytes)
		return -ENOMEM;
	a->bytes = bytes;
	a->cap = cap;
	return 0;
}

int args_add(struct args *a, struct span s)
{
	int err = args_room(a, s.len + 1);

	if (err)
		return err;
	if (s.len)
		memcpy(a->bytes + a->len, s.bytes, s.len);
	a->bytes[a->len + s.len] = '\0';
	a->len += s.len + 1;
	a->count++;
	return 0;
}

/* A string of any length, straight into A. */
static int add_long(pid_t tid, uint64_t addr, struct args *a)
{
	size_t cap = 8 * SHORT_MAX;

	for (;;) {
		int err = args_room(a, cap);
		if (err)
			return err;
		ssize_t n = memory_string(tid, addr, a->bytes + a->len, cap);
		if (n >= 0) {
			a->len += (size_t)n + 1;
			a->count++;
			return 0;
		}
		if (n != -ENAMETOOLONG)
			return (int)n;
		if (cap >= ARGS_STRING_MAX)
			return -E2BIG;
		cap = cap * 8 > ARGS_STRING_MAX ? ARGS_STRING_MAX : cap * 8;
	}
}

/* Bytes from ADDR that lie on its page, at most SHORT_MAX. */
static size_t within_page(uint64_t addr)
{
	size_t left = PAGE - (addr & (PAGE - 1));

	return left < SHORT_MAX ? left : SHORT_MAX;
}

static int add_batch(pid_t tid, const uint64_t *addr, unsigned n, struct args *a)
{
	char text[BATCH][SHORT_MAX];
	struct iovec mine[BATCH] = { 0 }, theirs[BATCH] = { 0 };

	for (unsigned i = 0; i < n; i++) {
		size_t len = within_page(addr[i]);
		mine[i] = (struct iovec){ text[i], len };
		theirs[i] = (struct iovec){ (void *)(uintptr_t)addr[i], len };
	}
	ssize_t got = process_vm_readv(tid, mine, n, theirs, n, 0);
	for (unsigned i = 0; i < n; i++) {
		size_t len = mine[i].iov_len;
		const char *end = got >= (ssize_t)len ? memchr(text[i], '\0', len) : NULL;
		int err = end ? args_add(a, (struct span){ text[i], (uint32_t)(end - text[i]) }) :
				add_long(tid, addr[i], a);
		if (err)
			return err;
		got = got >= (ssize_t)len ? got - (ssize_t)len : 0;
	}
	return 0;
}

/* The next pointers of the vector at ADDR: how many, or a negative errno. AHEAD is used up first. */
static int next_pointers(pid_t tid, uint64_t addr, struct span *ahead, uint64_t pointer[POINTERS])
{
	size_t n = ahead->len / sizeof(pointer[0]);

	if (n > 0 && n <= POINTERS) {
		memcpy(pointer, ahead->bytes, n * sizeof(pointer[0]));
		ahead->len = 0;
		return (int)n;
	}
	n = (PAGE - (addr & (PAGE - 1))) / sizeof(pointer[0]);
	if (n > POINTERS)
		n = POINTERS;
	if (!n)
		n = 1; /* a pointer across two pages */
	int err = memory_read(tid, addr, pointer, n * sizeof(pointer[0]));
	return err ? err : (int)n;
}

int args_copy_on(pid_t tid, uint64_t addr, struct span ahead, struct args *a)
{
	uint64_t pointer[POINTERS];

	while (addr) {
		int err = 0, n = next_pointers(tid, addr, &ahead, pointer), used = 0;
		if (n < 0)
			return n;
		while (used < n && pointer[used])
			used++;
		for (int i = 0; i < used && !err; i += BATCH)
			err = add_batch(tid, pointer + i, (unsigned)(used - i < BATCH ? used - i : BATCH), a);
		if (err)
			return err;
		if (used < n)
			break;
		addr += (uint64_t)n * sizeof(pointer[0]);
	}
	return 0;
}

int args_copy(pid_t tid, uint64_t addr, struct args *a)
{
	return args_copy_on(tid, addr, (struct span){ NULL, 0 }, a);
}

struct span args_after_first(const struct args *a)
{
	if (!a->len)
		return (struct span){ NULL, 0 };
	size_t first = strlen(a->bytes) + 1;
	return (struct span){ a->bytes + first, (uint32_t)(a->len - first) };
}

size_t args_join(struct span strings, char *out, size_t cap, int *whole)
{
	size_t n = 0;

	*whole = 0;
	for (uint32_t i = 0; i < strings.len; i++) {
		char c = strings.bytes[i];
		if (!c && i + 1 == strings.len)
			break;
		bool quoted = c == ' ' || c == '"' || c == '\'' || c == '\\';
		if (n + quoted + 1 > cap)
			return n;
		if (quoted)
			out[n++] = '\\';
		out[n++] = c ? c : ' ';
	}
	*whole = 1;
	return n;
}
