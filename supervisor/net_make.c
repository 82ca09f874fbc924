/* SPDX-License-Identifier: Apache-2.0 */
/*
 * socket: a kind that the filter does not list, decided on by its name. The kernel makes it, for the caller, from the very
 * registers that were decided on; nothing can change them any more.
 */
#include <errno.h>
#include <string.h>

#include "rules/socket_kinds.h"
#include "supervisor/rows_net.h"

int net_make_resolve(struct job *j)
{
	char name[SOCKET_NAME_MAX];

	if (!socket_name((int)j->arg[0], (int)j->arg[1], (int)j->arg[2], name))
		return 0; /* the filter sends none of these here; whom they reach is decided later */
	struct target *t = job_target(j, OBJECT_SOCKET, OP_SOCKET);
	if (!t)
		return -ENOSPC;
	t->of_type = socket_of_type((int)j->arg[0], (int)j->arg[1]);
	t->name = job_copy(j, name, strlen(name));
	return t->name.off ? 0 : -ENOMEM;
}

int net_make_perform(struct job *j)
{
	return job_continue(j);
}
