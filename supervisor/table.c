/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/table.h"

#include <sys/syscall.h>

#include "supervisor/compat.h"
#include "supervisor/rows.h"

static const struct sysrow rows[] = {
#include "supervisor/rows_file.inc"
#include "supervisor/rows_net.inc"
#include "supervisor/rows_exec.inc"
#include "supervisor/rows_guard.inc"
};

int table_end(void)
{
	return (int)(sizeof(rows) / sizeof(rows[0]));
}

const struct sysrow *table_row(int nr)
{
	if (nr < 0 || nr >= table_end() || !rows[nr].name)
		return NULL;
	return &rows[nr];
}
