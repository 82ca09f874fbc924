/* SPDX-License-Identifier: Apache-2.0 */
/* What the rows of supervisor/rows_net.inc name. Contracts: struct sysrow. */
#ifndef USHER_SUPERVISOR_ROWS_NET_H
#define USHER_SUPERVISOR_ROWS_NET_H

#include "supervisor/job.h"

int net_make_resolve(struct job *j);
int net_make_perform(struct job *j);

int net_connect_resolve(struct job *j);
int net_connect_perform(struct job *j);
int net_bind_resolve(struct job *j);
int net_bind_perform(struct job *j);
/* connect leads elsewhere: another address, another unix socket, another family. */
int net_connect_redirect(struct job *j, uint32_t index, const struct object *to);
/* ECONNREFUSED where nobody listens: a connect that does not wait is told later, as natively. */
int net_connect_refused(struct job *j, int error);
int net_listen_resolve(struct job *j);
int net_listen_perform(struct job *j);
/* SO_REUSEPORT */
int net_share_resolve(struct job *j);
int net_share_perform(struct job *j);
/* bind leads elsewhere: another address, another name. */
int net_bind_redirect(struct job *j, uint32_t index, const struct object *to);

int net_getpeername_resolve(struct job *j);
int net_getpeername_perform(struct job *j);

int net_sendto_resolve(struct job *j);
int net_sendmsg_resolve(struct job *j);
int net_sendmmsg_resolve(struct job *j);
int net_send_perform(struct job *j);
/* Each address of the call that led to target INDEX leads to the new one. */
int net_send_redirect(struct job *j, uint32_t index, const struct object *to);

#endif
