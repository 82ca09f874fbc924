/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel tells a socket by from all others (SO_COOKIE), and its network namespace (SO_NETNS_COOKIE). */
#ifndef USHER_SUPERVISOR_SOCK_COOKIE_H
#define USHER_SUPERVISOR_SOCK_COOKIE_H

#include <stdint.h>
#include <sys/socket.h>

#include "supervisor/compat.h"

/* WHICH of SOCK's; 0: it cannot be told. */
static inline uint64_t sock_cookie(int sock, int which)
{
	uint64_t cookie = 0;
	socklen_t len = sizeof(cookie);

	return getsockopt(sock, SOL_SOCKET, which, &cookie, &len) == 0 ? cookie : 0;
}

#endif
