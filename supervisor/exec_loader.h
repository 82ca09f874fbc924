/* SPDX-License-Identifier: Apache-2.0 */
/* What a dynamic loader that is run as a program makes of its arguments: those that it will get, whoever gives them. */
#ifndef USHER_SUPERVISOR_EXEC_LOADER_H
#define USHER_SUPERVISOR_EXEC_LOADER_H

#include "supervisor/exec_plan.h"

/* The program among P's arguments, absent when there is none, and which of those behind argv[0] it is, from 1 on. Pointing into P. */
struct span loader_program(const struct exec_plan *p, uint32_t *nth);

/* To a rule that refuses a variable an option that does the same is that variable: adds them to J's. 0 or a negative errno. */
int loader_variables(struct job *j);

#endif
