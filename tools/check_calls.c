// SPDX-License-Identifier: Apache-2.0
/* usher check --calls: what each mediated call needs, and what the verdicts mean for it; docs/calls.md is this. */
#include "supervisor/table.h"
#include "tools/rule_files.h"

static const char *allowed(const struct sysrow *row)
{
	switch ((enum reply_class)row->class) {
	case CLASS_INJECT:
		return "usher opens it, the caller gets the descriptor";
	case CLASS_PERFORMED:
		return "usher does it, the caller gets the result";
	case CLASS_EXEC:
		return "the kernel does it, verified before its first instruction";
	case CLASS_REGISTERS:
		return "the kernel does it, on register values alone";
	}
	return "";
}

static void put_operations(op_set ops, FILE *to)
{
	const char *between = "";
	if (!ops)
		fputs("none: own rules of the supervisor", to);
	for (unsigned bit = 0; bit < OP_COUNT; bit++) {
		if (!(ops >> bit & 1))
			continue;
		fprintf(to, "%s%s", between, op_name(bit));
		between = ", ";
	}
}

void check_calls(FILE *to)
{
	fputs("# What each mediated call needs\n\n"
	      "Written by `usher check --calls` from the table that decides; `make calls-table` renews it.\n"
	      "An operation is needed where the arguments make it so: an `open` for reading needs `read` alone. Each\n"
	      "operation on each object is decided by itself, and the strictest verdict wins. **deny** is an errno, **kill**\n"
	      "ends the tree, **ask** waits for an answer that is one of the others: for every call alike. **allow** and\n"
	      "**rewrite** are told here.\n\n"
	      "| call | operations | allow | rewrite |\n| --- | --- | --- | --- |\n",
	      to);
	for (int nr = 0; nr < table_end(); nr++) {
		const struct sysrow *row = table_row(nr);
		if (!row)
			continue;
		fprintf(to, "| %s | ", row->name);
		put_operations(row->ops, to);
		fprintf(to, " | %s | %s |\n", allowed(row), row->redirect ? "the other object" : "EPERM");
	}
}
