/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/decode.h"

#include "supervisor/memory.h"
#include "supervisor/table.h"

/* The kernel takes int arguments from the low half of a register; what is above it is junk. */
static uint64_t narrow(enum arg_kind kind, uint64_t raw)
{
	switch (kind) {
	case ARG_INT:
	case ARG_FD:
	case ARG_DIRFD:
		return (uint64_t)(int64_t)(int32_t)raw;
	case ARG_UINT:
		return (uint32_t)raw;
	case ARG_NONE:
	case ARG_LONG:
	case ARG_POINTER:
	case ARG_PATH:
	case ARG_PATH_NULL:
		break;
	}
	return raw;
}

int decode(struct job *j)
{
	uint64_t addr[2], vector = 0;
	bool wanted[2];
	unsigned paths = 0;

	for (unsigned i = 0; i < 6; i++)
		j->arg[i] = narrow((enum arg_kind)j->row->arg[i], j->notif.data.args[i]);
	/* which may say that there is no path to read */
	int rc = j->row->check ? j->row->check(j) : 0;
	for (unsigned i = 0; i < 6 && paths < 2; i++) {
		enum arg_kind kind = (enum arg_kind)j->row->arg[i];

		if (kind != ARG_PATH && kind != ARG_PATH_NULL)
			continue;
		wanted[paths] = kind == ARG_PATH || j->arg[i];
		addr[paths++] = j->arg[i];
		vector = i < 5 ? j->arg[i + 1] : 0; /* behind an exec's path */
	}
	if (rc == 0 && paths == 2 && wanted[0] && wanted[1])
		return memory_two_paths(j, addr, j->path, &j->late);
	if (rc == 0 && paths == 1 && j->row->class == CLASS_EXEC)
		return memory_path_ahead(j, addr[0], vector, &j->path[0], &j->data[0]);
	for (unsigned i = 0; i < paths && rc == 0; i++) {
		if (wanted[i])
			rc = memory_path(j, addr[i], &j->path[i]);
	}
	return rc;
}
