/* SPDX-License-Identifier: Apache-2.0 */
/* The few registers an exec needs, for each architecture. Unsupported ones do not compile. */
#ifndef USHER_SUPERVISOR_EXEC_REGS_H
#define USHER_SUPERVISOR_EXEC_REGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/user.h>

#if defined(__x86_64__)

typedef struct user_regs_struct exec_regs;

#define REGS_RESULT(r) ((int64_t)(r)->rax)
#define REGS_SET_RESULT(r, v) ((r)->rax = (unsigned long long)(v))
#define REGS_SP(r) ((uint64_t)(r)->rsp)
#define REGS_IP(r) ((uint64_t)(r)->rip)
#define REGS_RED_ZONE 128

/* The call as it is restarted: execve of PATH with the vectors it had. */
static inline void regs_exec_path(exec_regs *r, uint64_t path, int at)
{
	if (at)
		r->rsi = path;
	else
		r->rdi = path;
}

/* After regs_exec_path(): with the vector at ARGV. */
static inline void regs_exec_argv(exec_regs *r, uint64_t argv, int at)
{
	if (at)
		r->rdx = argv;
	else
		r->rsi = argv;
}

/* The failed call's registers as the caller left them. */
static inline void regs_exec_restore(exec_regs *r, const uint64_t arg[6], int at)
{
	regs_exec_path(r, at ? arg[1] : arg[0], at);
	regs_exec_argv(r, at ? arg[2] : arg[1], at);
}

/* The value of register NUMBER as unwind tables count; false when it is none of these. */
static inline bool regs_unwind(const exec_regs *r, int number, uint64_t *value)
{
	const unsigned long long order[] = { r->rax, r->rdx, r->rcx, r->rbx, r->rsi, r->rdi, r->rbp, r->rsp, r->r8,
					     r->r9,  r->r10, r->r11, r->r12, r->r13, r->r14, r->r15, r->rip };

	if (number < 0 || (size_t)number >= sizeof(order) / sizeof(order[0]))
		return false;
	*value = order[number];
	return true;
}

#define REGS_CAN_CALL 1

/* Makes the thread, stopped behind a system call, make call NR with the arguments it has in its registers. */
static inline void regs_again(exec_regs *r, long nr)
{
	r->rip -= 2;
	r->rax = (unsigned long long)nr;
	r->orig_rax = -1ULL; /* no call that the kernel could restart */
}

static inline void regs_arguments(exec_regs *r, const uint64_t arg[6])
{
	r->rdi = arg[0];
	r->rsi = arg[1];
	r->rdx = arg[2];
	r->r10 = arg[3];
	r->r8 = arg[4];
	r->r9 = arg[5];
}

static inline void regs_call(exec_regs *r, long nr, const uint64_t arg[6])
{
	regs_again(r, nr);
	regs_arguments(r, arg);
}

/* The thread, stopped on its way into a call, makes call NR instead. */
static inline void regs_exchange(exec_regs *r, long nr, const uint64_t arg[6])
{
	r->orig_rax = (unsigned long long)nr;
	regs_arguments(r, arg);
}

/* The number of the call that the thread is in. */
static inline long regs_number(const exec_regs *r)
{
	return (long)r->orig_rax;
}

#elif defined(__aarch64__)

typedef struct user_regs_struct exec_regs;

#define REGS_RESULT(r) ((int64_t)(r)->regs[0])
#define REGS_SET_RESULT(r, v) ((r)->regs[0] = (unsigned long long)(v))
#define REGS_SP(r) ((uint64_t)(r)->sp)
#define REGS_IP(r) ((uint64_t)(r)->pc)
#define REGS_RED_ZONE 0

/* x0 is put back by the kernel when it restarts a call, so execve becomes execveat: an absolute path makes x0 irrelevant. */
static inline void regs_exec_path(exec_regs *r, uint64_t path, int at)
{
	if (!at) {
		r->regs[3] = r->regs[2];
		r->regs[2] = r->regs[1];
		r->regs[4] = 0;
		r->regs[8] = __NR_execveat;
	}
	r->regs[1] = path;
}

/* As above: the call is execveat by now. */
static inline void regs_exec_argv(exec_regs *r, uint64_t argv, int at)
{
	(void)at;
	r->regs[2] = argv;
}

/* Whether a call is to be restarted the kernel has decided before the stop: another one cannot be put in its place. */
#define REGS_CAN_CALL 0

/* As above. */
static inline bool regs_unwind(const exec_regs *r, int number, uint64_t *value)
{
	if (number < 0 || number > 30)
		return false;
	*value = r->regs[number];
	return true;
}

static inline void regs_again(exec_regs *r, long nr)
{
	(void)r;
	(void)nr;
}

static inline void regs_call(exec_regs *r, long nr, const uint64_t arg[6])
{
	(void)r;
	(void)nr;
	(void)arg;
}

static inline void regs_exchange(exec_regs *r, long nr, const uint64_t arg[6])
{
	regs_call(r, nr, arg);
}

static inline long regs_number(const exec_regs *r)
{
	return (long)r->regs[8];
}

static inline void regs_exec_restore(exec_regs *r, const uint64_t arg[6], int at)
{
	for (int i = 1; i < 5; i++)
		r->regs[i] = arg[i];
	r->regs[8] = at ? __NR_execveat : __NR_execve;
}

#else
#error "usher knows the registers of x86-64 and aarch64"
#endif

#endif
