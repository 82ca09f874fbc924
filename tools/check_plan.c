// SPDX-License-Identifier: Apache-2.0
/*
 * usher check --plan: where each system call is decided under these rules, and why.
 *
 * MUST: read from the tables that the filter is built from.
 */
#include <string.h>
#include <unistd.h>

#include "supervisor/disposition.h"
#include "supervisor/privileges.h"
#include "supervisor/table.h"
#include "tools/rule_files.h"

struct where {
	const char *place; /* filter, kernel, supervisor */
	const char *why;
};

static op_set named_ops(const struct check *c)
{
	op_set ops = 0;
	for (size_t i = 0; i < c->n_files; i++)
		ops |= ruleset_ops(c->layer[i]);
	return ops;
}

/* Whether an entry holds in a session like this; what depends on the kernel is taken as on a recent one. */
static bool holds(uint8_t when, op_set ops)
{
	bool root = geteuid() == 0;
	if ((when & WHEN_STAT) && !(ops & OP_STAT))
		return false;
	if ((when & WHEN_PRIVILEGED) && !root)
		return false;
	if (when & WHEN_UNSCOPED)
		return false;
	return !(when & WHEN_BLIND) || !privileges_read_any();
}

static void put_ops(op_set ops, FILE *to)
{
	for (unsigned bit = 0, first = 1; bit < OP_COUNT; bit++) {
		if (!(ops >> bit & 1))
			continue;
		fprintf(to, "%s%s", first ? "" : " ", op_name(bit));
		first = 0;
	}
}

static struct where place_of(int nr, const struct disposition *d, op_set ops)
{
	bool on = holds(d->when, ops);
	switch ((enum call_kind)d->kind) {
	case CALL_UNKNOWN:
		return (struct where){ "filter", "unknown: ENOSYS" };
	case CALL_REFUSED:
		return on ? (struct where){ "filter", d->reason } : (struct where){ "kernel", "not refused in this session" };
	case CALL_DECIDED:
		return (struct where){ "filter", d->reason };
	case CALL_ALLOWED:
		return (struct where){ "kernel", d->reason };
	case CALL_MEDIATED:
		break;
	}
	if (!on)
		return (struct where){ "kernel", d->when & WHEN_STAT ? "no rule names stat" : "not mediated in this session" };
	return (struct where){ "supervisor", table_row(nr) ? "" : d->reason };
}

static void print_call(const struct check *c, int nr, op_set ops, bool first)
{
	const struct disposition *d = disposition_of(nr);
	const struct sysrow *row = table_row(nr);
	struct where w = place_of(nr, d, ops);
	bool mediated = strcmp(w.place, "supervisor") == 0;
	if (c->json) {
		printf("%s\n  {\"call\":\"%s\",\"decided\":\"%s\",\"why\":", first ? "" : ",", d->name, w.place);
		put_json(w.why ? w.why : "", w.why ? strlen(w.why) : 0, stdout);
		fputs(",\"operations\":\"", stdout);
		put_ops(mediated && row ? row->ops : 0, stdout);
		fputs("\"}", stdout);
		return;
	}
	printf("%-24s %-10s ", d->name, w.place);
	put_ops(mediated && row ? row->ops : 0, stdout);
	puts(w.why ? w.why : "");
}

static void print_constants(const struct check *c)
{
	for (size_t i = 0; i < c->n_files; i++) {
		const char *where;
		enum verdict_kind kind = ruleset_default(c->layer[i], &where);
		printf("# %s: default %s%s%s; objects are %sidentified before they are decided on\n", c->files[i],
		       kind == VERDICT_NONE ? "none" : verdict_name(kind), where ? " by " : "", where ? where : "",
		       ruleset_pins(c->layer[i]) ? "" : "not ");
	}
}

int check_plan(struct check *c)
{
	op_set ops = named_ops(c);
	bool first = true;
	if (c->json)
		fputs("[", stdout);
	else
		print_constants(c);
	for (int nr = 0; nr < disposition_end(); nr++) {
		if (!disposition_of(nr)->name)
			continue;
		print_call(c, nr, ops, first);
		first = false;
	}
	if (c->json)
		puts("\n]");
	return 0;
}
