// SPDX-License-Identifier: Apache-2.0
/*
 * usher check --plan: where each system call is decided under these rules, and why.
 *
 * MUST: read from the tables that the filter is built from.
 */
#include <inttypes.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "policy/constant.h"
#include "supervisor/cgroup.h"
#include "supervisor/compiled_down.h"
#include "supervisor/cover.h"
#include "supervisor/disposition.h"
#include "supervisor/floor.h"
#include "supervisor/likeness.h"
#include "supervisor/limits_plan.h"
#include "supervisor/net_reach.h"
#include "supervisor/privileges.h"
#include "supervisor/table.h"
#include "tools/rule_files.h"

struct plan {
	const struct policy *policy;
	bool reads;        /* opens for reading are left to the kernel */
	const char *stuck; /* why not, where the rules would let them; NULL: they would not */
	bool sockets;      /* some kind of socket that is not listed may be given */
};

struct where {
	const char *place; /* filter, kernel, supervisor */
	const char *why;
};

/* Whether an entry holds in a session like this; what depends on the kernel is taken as on a recent one. */
static bool holds(unsigned when, const struct policy *p)
{
	if ((when & WHEN_STAT) && !policy_mediates_stat(p))
		return false;
	if ((when & WHEN_PRIVILEGED) && !privileges_held())
		return false;
	if (when & WHEN_UNSCOPED)
		return floor_abi() < 6;
	if ((when & WHEN_APART) && floor_abi() > 0 && likeness_holds(p))
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

static bool opens_by_register(int nr)
{
#ifdef __NR_open
	if (nr == __NR_open)
		return true;
#endif
	return nr == __NR_openat;
}

static const char *why_not_sooner(int nr, const struct plan *plan)
{
	const struct sysrow *row = table_row(nr);
	if (plan->stuck && opens_by_register(nr))
		return plan->stuck;
	if (!row || !row->ops)
		return "own rules of the supervisor";
	if (row->ops & (OP_CONNECT | OP_BIND | OP_SEND))
		return "the address lies in memory";
	if (row->class == CLASS_EXEC)
		return "the name lies in memory; verified before its first instruction";
	return "the name lies in memory";
}

static struct where place_of(int nr, const struct disposition *d, const struct plan *plan)
{
	const struct policy *p = plan->policy;
	bool on = holds(d->when, p);
	op_set op;
	switch ((enum call_kind)d->kind) {
	case CALL_UNKNOWN:
		return (struct where){ "filter", "unknown: ENOSYS" };
	case CALL_REFUSED:
		return on ? (struct where){ "filter", d->reason } : (struct where){ "kernel", "not refused in this session" };
	case CALL_DECIDED:
		if (nr == __NR_socket && plan->sockets)
			return (struct where){ "supervisor", "kinds that rules name, by family, type and protocol; tcp, udp, unix and netlink route by the filter" };
		return (struct where){ "filter", d->reason };
	case CALL_ALLOWED:
		return (struct where){ "kernel", d->reason };
	case CALL_MEDIATED:
		break;
	}
	if (!on && (d->when & WHEN_STAT) && (policy_ops(p) & OP_STAT))
		return (struct where){ "kernel", "the rules on stat do no more than allow it unrecorded" };
	if (!on)
		return (struct where){ "kernel", d->when & WHEN_STAT ? "no rule names stat" : "not mediated in this session" };
	if (compiled_down(p, nr, &op))
		return (struct where){ "filter", "refused whatever it names, and no record is wanted" };
	if (plan->reads && opens_by_register(nr))
		return (struct where){ "filter", "for reading alone, by its flags: allowed whatever it names, and no record is wanted; all else by the supervisor" };
	return (struct where){ "supervisor", why_not_sooner(nr, plan) };
}

static void print_call(const struct check *c, const struct plan *p, int nr, bool first)
{
	const struct disposition *d = disposition_of(nr);
	const struct sysrow *row = table_row(nr);
	struct where w = place_of(nr, d, p);
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
	printf("%s%s\n", mediated && row && row->ops ? ": " : "", w.why ? w.why : "");
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

/* What the kernel itself refuses should usher forget it: all but this. */
static void print_floor(const struct policy *p)
{
	struct floor *floor = NULL;
	char covers[200] = "";
	if (floor_prepare(p, &floor) < 0) {
		puts("# kernel floor: none (no Landlock here)");
		return;
	}
	floor_describe(covers, sizeof(covers));
	printf("# kernel floor: %s; below usher's own decisions the command itself can only read and run what lies in", covers);
	for (const char *name = floor_grant(floor, NULL); name; name = floor_grant(floor, name))
		printf(" %s", name);
	puts("");
	floor_free(floor);
}

/* Tried, as a session would. */
static void print_limits(const struct policy *p)
{
	static const char *const held[][2] = {
		{ "cgroup", "by a control group" }, { "rlimit", "by the kernel for each process (setrlimit)" }, { "measurement", "by measurement in /proc" }
	};
	uint64_t limit[LIMIT_KINDS] = { 0 };
	struct cgroup g;
	if (!limits_collect(p, limit))
		return;
	limits_group(limit, &g);
	for (int k = 0; k < LIMIT_KINDS; k++) {
		for (size_t i = 0; limit[k] && i < sizeof(held) / sizeof(held[0]); i++) {
			if (strcmp(limits_means((enum limit_kind)k, &g), held[i][0]) == 0)
				printf("# limit %s: held %s%s\n", limit_name((enum limit_kind)k), k == LIMIT_WALL ? "by usher's clock" : held[i][1],
				       k == LIMIT_PROCESSES ? ", each fork counted before it happens" : "");
		}
	}
	if (g.tasks)
		printf("# processes and threads together: at most %" PRIu64 ", by a control group\n", limits_tasks(limit));
	cgroup_end(&g);
}

static void print_calls(const struct check *c, const struct plan *p)
{
	bool first = true;
	for (int nr = 0; nr < disposition_end(); nr++) {
		if (!disposition_of(nr)->name[0])
			continue;
		print_call(c, p, nr, first);
		first = false;
	}
}

/* The rules decide first; then whether usher's own files can be covered here. */
static struct plan plan_of(const struct policy *p)
{
	struct plan plan = { .policy = p };
	const char *why;
	struct net_reach can;
	net_reach(p, &can);
	plan.sockets = can.others;
	plan.reads = cover_possible(p, floor_abi() > 0, &why);
	if (!plan.reads && policy_allows(p, OP_READ, true, NULL))
		plan.stuck = why;
	return plan;
}

int check_plan(struct check *c)
{
	struct policy *p = NULL;
	struct policy_options options = { .files = c->files, .n_files = c->n_files, .variables = c->variables.item,
					  .n_variables = c->variables.n };
	if (policy_new(&options, &c->found, &p)) {
		fprintf(stderr, "usher check: the rules do not load a second time\n");
		return 1;
	}
	struct plan plan = plan_of(p);
	if (c->json) {
		fputs("[", stdout);
		print_calls(c, &plan);
		puts("\n]");
	} else {
		print_constants(c);
		print_floor(p);
		print_limits(p);
		print_calls(c, &plan);
	}
	policy_free(p);
	return 0;
}
