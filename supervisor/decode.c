/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/decode.h"

#include <string.h>

#include "supervisor/memory.h"
#include "supervisor/table.h"

/*
 * The registers as the kernel takes them: int arguments from the low half, as what is above it is junk. Which of them are paths goes into
 * WHERE; returns how many.
 */
static unsigned take_registers(struct job *j, unsigned where[2])
{
	unsigned paths = 0;

	memcpy(j->arg, j->notif.data.args, sizeof(j->arg));
	for (unsigned i = 0; i < 6; i++) {
		switch ((enum arg_kind)j->row->arg[i]) {
		case ARG_INT:
		case ARG_FD:
		case ARG_DIRFD:
			j->arg[i] = (uint64_t)(int64_t)(int32_t)j->arg[i];
			break;
		case ARG_UINT:
			j->arg[i] = (uint32_t)j->arg[i];
			break;
		case ARG_PATH:
		case ARG_PATH_NULL:
			if (paths < 2)
				where[paths++] = i;
			break;
		case ARG_NONE:
		case ARG_LONG:
		case ARG_POINTER:
			break;
		}
	}
	return paths;
}

static bool wanted(const struct job *j, unsigned i)
{
	return j->row->arg[i] == ARG_PATH || j->arg[i];
}

int decode(struct job *j)
{
	unsigned where[2];
	unsigned paths = take_registers(j, where);

	/* which may say that there is no path to read */
	int rc = j->row->check ? j->row->check(j) : 0;
	if (rc == 0 && paths == 2 && wanted(j, where[0]) && wanted(j, where[1]))
		return memory_two_paths(j, (const uint64_t[]){ j->arg[where[0]], j->arg[where[1]] }, j->path, &j->late);
	if (rc == 0 && paths == 1 && j->row->class == CLASS_EXEC) {
		unsigned behind = where[0] + 1;
		return memory_path_ahead(j, j->arg[where[0]], behind < 6 ? j->arg[behind] : 0, &j->path[0], &j->data[0]);
	}
	for (unsigned i = 0; i < paths && rc == 0; i++) {
		if (wanted(j, where[i]))
			rc = memory_path(j, j->arg[where[i]], &j->path[i]);
	}
	return rc;
}
