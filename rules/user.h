/* SPDX-License-Identifier: Apache-2.0 */
#ifndef USHER_RULES_USER_H
#define USHER_RULES_USER_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#define USER_NAME 1024

struct user {
	char name[USER_NAME];
	char home[PATH_MAX];
};

/*
 * The user of number UID: from /etc/passwd, whatever nsswitch.conf(5) says of that, else from the name services, which getent(1) is asked
 * for: usher is linked statically, and a service's library is made for the C library of the system. False when there is none. One thread at a time.
 */
bool user_find(uid_t uid, struct user *out);

/* The same, from /etc/passwd alone. Any thread but those in user_find(). */
bool user_find_local(uid_t uid, struct user *out);

#endif
