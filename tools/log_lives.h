/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processes of a journal. A number is given again when its process has ended: which of those that had it a record is of tells its time, beside the
 * times in the notes of their ends.
 */
#ifndef USHER_TOOLS_LOG_LIVES_H
#define USHER_TOOLS_LOG_LIVES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rules/op.h"

#define LOG_REFUSED_MAX 8

struct log_process {
	int64_t pid;
	int64_t ppid;   /* 0: not known */
	uint64_t began; /* ns since 1970; of one without a note of its end the time of its first record */
	uint64_t ended; /* the same; UINT64_MAX: not known */
	char *exe;      /* escaped; log_lives_note() gives that of its beginning */
	char *argv;
	char *end;      /* "exit 0", "signal 9"; NULL: not known */
	uint64_t records, denied;
	uint64_t did[OP_COUNT];         /* allowed, by operation */
	char *refused[LOG_REFUSED_MAX]; /* the first different ones */
	size_t n_refused;
	struct log_process *parent; /* after log_lives_join() */
	bool shown, printed;
};

struct log_lives {
	struct log_process **all;
	size_t n, cap;
	size_t n_ended; /* of them, sorted by pid and began, from the first on: after log_lives_sort() */
	void *open;     /* the others, the latest of each number: tsearch(3) */
	bool failed;    /* out of memory */
};

/* A log_fn with the lives as its context: takes the notes of ends in. */
void log_lives_note(void *lives, const char *text, size_t len);

/* When all notes are in, before the first log_lives_find(). */
void log_lives_sort(struct log_lives *l);

/* Whose a record of PID at TIME (ns since 1970) is; NULL: out of memory. */
struct log_process *log_lives_find(struct log_lives *l, int64_t pid, uint64_t time);

/* Finds all parents, and sorts all by when they began: no log_lives_find() after that. */
void log_lives_join(struct log_lives *l);

/* Who began first, as for qsort(3). */
int log_process_order(const struct log_process *a, const struct log_process *b);

void log_lives_clear(struct log_lives *l);

#endif
