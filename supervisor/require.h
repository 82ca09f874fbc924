/* SPDX-License-Identifier: Apache-2.0 */
/* What a session insists on (--require): without it, it does not start. */
#ifndef USHER_SUPERVISOR_REQUIRE_H
#define USHER_SUPERVISOR_REQUIRE_H

#include <stdbool.h>
#include <stddef.h>

#include "supervisor/spaces.h"

/* The words LIST may hold, separated by commas. */
#define REQUIRE_WORDS "landlock, truncate, tcp, ioctl, scopes, unix, udp, net, pid, ipc, uts, cgroup, mount (tmp and shm), tmp, shm, ptrace, memory"

/* What is in force in a session. */
struct in_force {
	int abi;              /* of the Landlock domain; 0: there is none */
	struct spaces spaces;
	bool sees_all;        /* usher may read every process, of whatever user */
	bool memory;          /* a limit on memory, held by the kernel */
};

/*
 * Whether all that LIST names is in force. Returns 0; -EOPNOTSUPP with the first word that is missing in WORD, and what it takes in *takes (static);
 * -EINVAL with the first that is not known. HAS may be NULL: are all words known?
 */
int require_check(const char *list, const struct in_force *has, char *word, size_t size, const char **takes);

#endif
