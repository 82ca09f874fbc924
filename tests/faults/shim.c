/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Linked into the usher that `make faults` builds, and into no other: calls that usher makes of the functions in calls.inc come
 * here first, and fail where the environment says so.
 *
 *   USHER_FAULT_LEDGER=FILE  counts the calls of each place in the program; a file of sizeof(struct ledger), zeroed
 *   USHER_FAULT=PLACE:N:ERRNO:MODE  the Nth call from PLACE (an offset in the program in hex; 0: from anywhere) fails with
 *                            ERRNO; MODE is once, or on: every later one fails as well, or late: it does not fail but takes long
 *
 *   USHER_UNMEDIATED=NUMBER  usher forgets system call NUMBER: the filter does not stop it, and the kernel's floor is alone
 *
 * usher, its keeper, its guardian and the command until its exec share the ledger. MUST: no system call and no lock here: it runs
 * in forks, in signal handlers and under usher's own filters.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "supervisor/disposition.h"

#define PLACES 4096
#define LATE_MS 100

enum {
#define ROW(name, kind, ...) ROW_##name,
#include "tests/faults/calls.inc"
#undef ROW
	ROW_asprintf,
#define LOCK(name) ROW_##name,
#include "tests/faults/locks.inc"
#undef LOCK
	ROWS,
};

struct place {
	uint64_t offset;
	uint32_t row;
	uint32_t calls;
};

struct ledger {
	uint64_t calls;
	uint64_t failed;
	struct place place[PLACES];
};

struct plan {
	uint64_t offset;
	uint64_t n;
	int error;
	bool on;
	bool late;
};

extern const char __ehdr_start[] __attribute__((visibility("hidden")));

static struct ledger *ledger;
static struct plan plan;

#define DECLARE(name)                                        \
	long __real_##name(long, long, long, long, long, long, long, long); \
	long __wrap_##name(long, long, long, long, long, long, long, long);
#define ROW(name, kind, ...) DECLARE(name)
#include "tests/faults/calls.inc"
#undef ROW
#define LOCK(name) DECLARE(name)
#include "tests/faults/locks.inc"
#undef LOCK
int __wrap_asprintf(char **out, const char *format, ...);
const struct disposition *__real_disposition_of(int nr);
const struct disposition *__wrap_disposition_of(int nr);

__attribute__((constructor)) static void begin(void)
{
	const char *file = getenv("USHER_FAULT_LEDGER"), *spec = getenv("USHER_FAULT");
	char mode[8] = "";

	int fd = file ? (int)__real_open((long)file, O_RDWR | O_CLOEXEC, 0, 0, 0, 0, 0, 0) : -1;
	if (fd < 0)
		return;
	void *at = (void *)__real_mmap(0, sizeof(struct ledger), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0, 0, 0);
	(void)__real_close(fd, 0, 0, 0, 0, 0, 0, 0);
	if (at == MAP_FAILED)
		_exit(99);
	if (spec && sscanf(spec, "%lx:%lu:%d:%7s", &plan.offset, &plan.n, &plan.error, mode) != 4)
		_exit(99);
	plan.on = strcmp(mode, "on") == 0;
	plan.late = strcmp(mode, "late") == 0;
	ledger = at;
}

static struct place *find(uint64_t offset, uint32_t row)
{
	for (uint64_t i = offset * 2654435761u % PLACES;; i = (i + 1) % PLACES) {
		struct place *p = &ledger->place[i];
		uint64_t none = 0;
		if (__atomic_load_n(&p->offset, __ATOMIC_RELAXED) == offset)
			return p;
		if (__atomic_compare_exchange_n(&p->offset, &none, offset, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
			p->row = row;
			return p;
		}
		if (none == offset)
			return p;
	}
}

static uint64_t now_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t); /* the vDSO's: no call of the system */
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* As a thread that has lost its processor to others: the rest of usher goes on meanwhile. */
static void take_long(void)
{
	for (uint64_t end = now_ms() + LATE_MS; now_ms() < end;)
		continue;
}

static uint64_t offset_of(const void *back)
{
	return (uint64_t)((const char *)back - __ehdr_start);
}

/* Another call from OFFSET. Returns how many that makes. */
static uint64_t count(uint32_t row, uint64_t offset)
{
	return __atomic_add_fetch(&find(offset, row)->calls, 1, __ATOMIC_RELAXED);
}

/* Returns the error that this call from BACK has to fail with, or 0. */
static int fails(uint32_t row, const void *back)
{
	if (!ledger)
		return 0;
	uint64_t offset = offset_of(back);
	uint64_t all = __atomic_add_fetch(&ledger->calls, 1, __ATOMIC_RELAXED);
	uint64_t here = count(row, offset);
	if (!plan.n || (plan.offset && plan.offset != offset))
		return 0;
	uint64_t n = plan.offset ? here : all;
	if (n < plan.n || (n > plan.n && !plan.on))
		return 0;
	__atomic_add_fetch(&ledger->failed, 1, __ATOMIC_RELAXED);
	if (plan.late)
		take_long();
	return plan.late ? 0 : plan.error;
}

/* Arguments that were not passed are handed on as they happen to be: nobody looks at them. */
#define WRAP(name, failure)                                                          \
	long __wrap_##name(long a, long b, long c, long d, long e, long f, long g, long h) \
	{                                                                            \
		int error = fails(ROW_##name, __builtin_return_address(0));          \
		if (error) {                                                         \
			errno = error;                                               \
			return (failure);                                            \
		}                                                                    \
		return __real_##name(a, b, c, d, e, f, g, h);                        \
	}
#define WRAP_MINUS(name) WRAP(name, -1)
#define WRAP_NULLS(name) WRAP(name, 0)
#define WRAP_ZERO(name) WRAP(name, 0)
#define WRAP_CODE(name) WRAP(name, error)
#define WRAP_NEGATIVE(name) WRAP(name, -error)
#define WRAP_AFTER(name)                                                             \
	long __wrap_##name(long a, long b, long c, long d, long e, long f, long g, long h) \
	{                                                                            \
		long rc = __real_##name(a, b, c, d, e, f, g, h);                     \
		int error = fails(ROW_##name, __builtin_return_address(0));          \
		if (!error)                                                          \
			return rc;                                                   \
		errno = error;                                                       \
		return -1;                                                           \
	}
#define ROW(name, kind, ...) WRAP_##kind(name)
#include "tests/faults/calls.inc"
#undef ROW

#define LOCK(name)                                                                   \
	long __wrap_##name(long a, long b, long c, long d, long e, long f, long g, long h) \
	{                                                                            \
		if (ledger)                                                          \
			(void)count(ROW_##name, offset_of(__builtin_return_address(0))); \
		return __real_##name(a, b, c, d, e, f, g, h);                        \
	}
#include "tests/faults/locks.inc"
#undef LOCK

int __wrap_asprintf(char **out, const char *format, ...)
{
	va_list ap;

	errno = fails(ROW_asprintf, __builtin_return_address(0));
	if (errno)
		return -1;
	va_start(ap, format);
	int n = vasprintf(out, format, ap);
	va_end(ap);
	return n;
}

const struct disposition *__wrap_disposition_of(int nr)
{
	static const struct disposition allowed = { "forgotten", CALL_ALLOWED, 0, 0, "" };
	const char *forgotten = getenv("USHER_UNMEDIATED");

	return forgotten && atoi(forgotten) == nr ? &allowed : __real_disposition_of(nr);
}
