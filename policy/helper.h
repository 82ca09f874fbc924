/* SPDX-License-Identifier: Apache-2.0 */
/* A helper process: gets a text, gives a line, and is ended. Not thread safe; nothing here waits. */
#ifndef USHER_POLICY_HELPER_H
#define USHER_POLICY_HELPER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define HELPER_LINE (64 * 1024)

struct helper {
	pid_t pid;       /* leads its own process group */
	int in;          /* its standard input, -1 when all is written */
	int out;         /* its standard output, -1 when a line or the end was read */
	char *question;
	size_t question_len;
	size_t written;
	bool unheard;    /* the question could not be handed over: no answer counts */
	char *line;
	size_t got;
	bool whole;      /* a newline was read */
	unsigned grace;  /* how often helper_stop() still waits for it to end by itself */
};

/* Runs COMMAND with sh; QUESTION (malloc memory) becomes the helper's in every case. Returns 0 or a negative errno. */
int helper_start(struct helper *h, const char *command, char *question, size_t len);

/* Writes what fits. A helper that does not read all of it may answer all the same; one that it could not be written to may not. SIGPIPE is blocked in the calling thread. */
void helper_write(struct helper *h);

/* Reads what is there. Returns true when a line is complete, too long, or will not come. */
bool helper_read(struct helper *h);

/* The line without its newline (a last line may lack it); NULL when there is none. */
const char *helper_line(const struct helper *h, size_t *len);

/* Ends the process group, after grace with SIGKILL, and reaps. Returns false while it has not ended: call again. */
bool helper_stop(struct helper *h);

#endif
