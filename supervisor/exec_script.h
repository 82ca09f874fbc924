/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an interpreter was told to run, from the arguments that were verified at its start. A program cannot forge it later, and what it does
 * with other arguments than these three languages' is not guessed at.
 */
#ifndef USHER_SUPERVISOR_EXEC_SCRIPT_H
#define USHER_SUPERVISOR_EXEC_SCRIPT_H

#include <limits.h>
#include <stddef.h>

#include "audit/record.h"
#include "rules/call.h"

#define SCRIPT_TEXT (PATH_MAX + 16)

enum script_language { SCRIPT_NONE = 0, SCRIPT_PYTHON, SCRIPT_NODE, SCRIPT_SHELL };

/* Of the program at PATH, by its file's name. */
enum script_language script_language(struct span path);

/*
 * The script among STRINGS (argv, NUL-ended; the interpreter's own options in front): its name as an absolute one below CWD, "-c", "-e", "-m NAME", or "" where
 * it reads its standard input, into OUT (SCRIPT_TEXT bytes). *rest is what follows it.
 */
void script_find(enum script_language language, struct span strings, const char *cwd, char *out, struct span *rest);

/* Kept for a process and those that it forks: counted, does not change. NAME and ARGS (joined) are copied; NULL without memory. */
struct script;
struct script *script_new(enum script_language language, struct span name, struct span args);
struct script *script_hold(struct script *s); /* NULL stays NULL */
void script_put(struct script *s);            /* safe on NULL */

/* Writes the object `script`: language, name, argv. Nothing when S is NULL. */
void script_record(const struct script *s, struct record *r);

#endif
