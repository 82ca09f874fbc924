/* SPDX-License-Identifier: Apache-2.0 */
#ifndef USHER_SUPERVISOR_OWN_LIMITS_H
#define USHER_SUPERVISOR_OWN_LIMITS_H

/*
 * The limits usher was started under are meant for the programs it starts: what each of them may use for itself, usher
 * would use once for all. It raises its own as far as it may, and the command gets the old ones back.
 */

#include <stdbool.h>
#include <sys/resource.h>

#define OWN_LIMITS 7
#define OWN_LIMIT_FILES 0 /* the place of RLIMIT_NOFILE, which is lowered further for the command */

struct own_limits {
	struct rlimit before[OWN_LIMITS];
	bool raised[OWN_LIMITS];
};

/* Raises them; says on standard error what a hard limit leaves too little of, or will end usher by. Negative: usher cannot work so. */
int own_limits_raise(struct own_limits *l);

/* In the command: those that a process can live under before its exec. */
void own_limits_back(const struct own_limits *l);

/* Those of memory, whose smallness would keep what usher still has to do from being done. Makes no call that the filter stops. */
void own_limits_back_last(const struct own_limits *l);

#endif
