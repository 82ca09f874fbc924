/* SPDX-License-Identifier: Apache-2.0 */
/* show=asked: what a connect that was led elsewhere leaves for getpeername. */
#ifndef USHER_SUPERVISOR_NET_PEER_H
#define USHER_SUPERVISOR_NET_PEER_H

#include "supervisor/job.h"

/* Before a connect on job->sock: 0, or -ENOBUFS when it cannot be remembered what was asked for. */
int net_peer_before(struct job *j);

/* After it: RC is what the connect said; for the caller the socket is of DOMAIN. */
void net_peer_after(struct job *j, int domain, long rc);

#endif
