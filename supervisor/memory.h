/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the caller's memory, once, as the kernel would have. */
#ifndef USHER_SUPERVISOR_MEMORY_H
#define USHER_SUPERVISOR_MEMORY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "supervisor/job.h"

/*
 * Copies exactly LEN bytes at ADDR of thread TID. Honours page protections (process_vm_readv). Returns
 * 0, -EFAULT when any byte is not readable, -EPERM when the process may not be read, -ESRCH when it is gone.
 */
int memory_read(pid_t tid, uint64_t addr, void *out, size_t len);

/*
 * Copies a string of at most CAP-1 bytes and its NUL. Page-wise, so that a string that ends before an unmapped page is
 * read. Returns its length, -EFAULT, -ENAMETOOLONG when no NUL is within CAP bytes, -EPERM, -ESRCH.
 */
ssize_t memory_string(pid_t tid, uint64_t addr, char *out, size_t cap);

/*
 * Writes LEN bytes (results such as a struct stat) into the memory that J's caller has while it waits: never into that of a program
 * which another thread's exec puts in its place meanwhile. Returns 0, -EFAULT, -EPERM, or -ESRCH when the caller is gone.
 */
int memory_give(const struct job *j, uint64_t addr, const void *data, size_t len);

/*
 * The memory of TID to write to, a descriptor (yours) or a negative errno. It stays the memory that TID has now, whatever TID execs: who has made
 * sure afterwards that TID still waits or is held writes to no other. Page protections do not hold.
 */
int memory_open(pid_t tid);

/* Writes LEN bytes at ADDR of such a descriptor. 0 or -EFAULT. */
int memory_put(int fd, uint64_t addr, const void *data, size_t len);

/* A path argument into the arena: 0, or the errno the kernel would give (-EFAULT, -ENAMETOOLONG, -ENOENT is left to the resolver). */
int memory_path(struct job *j, uint64_t addr, struct text *out);

/*
 * As memory_path() for each of two arguments in turn, in one read where both are short. What is wrong with the second goes into *late: the
 * kernel looks up the first before it says so.
 */
int memory_two_paths(struct job *j, const uint64_t addr[2], struct text out[2], int *late);

/*
 * As memory_path(), and in the same read the beginning of the vector of pointers at VECTOR, as many as there may be, into *ahead: nothing where
 * one of both is not read at once.
 */
int memory_path_ahead(struct job *j, uint64_t addr, uint64_t vector, struct text *path, struct text *ahead);

/* As memory_read() into the arena. */
int memory_copy(struct job *j, uint64_t addr, size_t len, struct text *out);

/* Whether the notification still waits: call after every read through a tid and before acting on it. */
bool job_alive(const struct job *j);

#endif
