/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that a signal ended before usher had received them.
 *
 * Until its receipt the kernel lets any signal end the caller's wait: a handler without SA_RESTART makes the call fail with
 * EINTR, which natively no mkdir ever does. Nothing has happened then, and usher is not told. So the handler's return
 * (rt_sigreturn) is: where the frame it goes back to says "system call, EINTR" and the call is one that usher mediates, the call is put back.
 * That is what the program would have seen had the signal come an instant earlier.
 *
 * MUST: an EINTR that usher itself answered stays; nothing else of the caller's memory is written, and no decision rests on what is read here.
 */
#ifndef USHER_SUPERVISOR_INTERRUPTED_H
#define USHER_SUPERVISOR_INTERRUPTED_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define INTERRUPTION_SETS 2048 /* a power of two */
#define INTERRUPTION_WAYS 4

struct interruption {
	pid_t tid;     /* 0: free */
	uint64_t ip;   /* behind the call's instruction */
	uint64_t seen; /* CLOCK_MONOTONIC, nanoseconds: when its handler first returned; 0: not yet */
};

/* Those of threads whose numbers agree in their low bits. */
struct interruption_set {
	struct interruption at[INTERRUPTION_WAYS];
	unsigned next; /* to be given up */
};

/* Where usher answered with EINTR: of thousands of threads at once. Zeroed but for the lock, it holds none. Threads: any. */
struct interruptions {
	pthread_mutex_t lock;
	struct interruption_set *sets; /* made with the first of them */
	bool unknown;                  /* there was no memory: usher may have answered any */
};

/* Frees what ALL holds. */
void interruptions_free(struct interruptions *all);

/* Thread TID gets EINTR from usher for the call whose instruction ends at IP. */
void interrupted_by_usher(struct interruptions *all, pid_t tid, uint64_t ip);

/* Whether that was so for the handler that returns to IP now. */
bool interrupted_keeps(struct interruptions *all, pid_t tid, uint64_t ip);

/* The call at IP is made again instead: what ends a later one there is not usher's. */
void interrupted_restarts(struct interruptions *all, pid_t tid, uint64_t ip);

#ifdef __x86_64__
/* Bytes before the end of a call's instruction that interrupted_number() wants to see. */
#define CALL_CODE 24

/*
 * The number of the call that CODE (LEN bytes) ends with: a syscall instruction whose number was put into eax as a constant just before, as C
 * libraries do. -1 when it cannot be told.
 */
int interrupted_number(const uint8_t *code, size_t len);
#endif

#endif
