/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of SECURITY.md, from the tables that the filter is built from. */
#include <errno.h>
#include <string.h>

#include "supervisor/disposition.h"

#ifdef __x86_64__
#define MACHINE "x86-64"
#else
#define MACHINE "aarch64"
#endif

static const char *when_text(unsigned when)
{
	switch (when) {
	case 0:
		return "always";
	case WHEN_STAT:
		return "when a rule names `stat`";
	case WHEN_PRIVILEGED:
		return "as root";
	case WHEN_BLIND:
		return "without CAP_SYS_PTRACE";
	case WHEN_UNSCOPED:
		return "without Landlock's signal scope";
	case WHEN_DESCENT:
		return "when a rule says `tree=`, `depth=` or `limit processes`";
	case WHEN_SHOWN:
		return "when a rule says `show=asked`";
	case WHEN_SOCKETS:
		return "when a rule could give one (`socket`)";
	case WHEN_KEPT:
		return "unless every file may be changed";
	case WHEN_ADDRESSED:
		return "unless UDP may be sent to every address";
	case WHEN_ROUTED:
		return "unless UDP may be sent, and TCP connected, to every address, or when a rule says `loopback`";
	case WHEN_OWN:
		return "when a rule says `own`";
	case WHEN_APART:
		return "when a rule says `by=`, `tree=`, `uid=` or `depth=`, or without the floor";
	default:
		return "see the source";
	}
}

/* The errnos that the tables use. */
static const char *error_text(int error)
{
	static const struct {
		int error;
		const char *name;
	} names[] = {
		{ EPERM, "EPERM" },   { EACCES, "EACCES" }, { EBUSY, "EBUSY" },           { EINVAL, "EINVAL" },
		{ ENOTTY, "ENOTTY" }, { ENOSYS, "ENOSYS" }, { EOPNOTSUPP, "EOPNOTSUPP" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (names[i].error == error)
			return names[i].name;
	}
	return error == 0 ? "success, but nothing happens" : "?";
}

static void print_refused(FILE *to)
{
	fputs("| call | when | answer | why |\n| --- | --- | --- | --- |\n", to);
	for (int nr = 0; nr < disposition_end(); nr++) {
		const struct disposition *d = disposition_of(nr);
		if (d->kind == CALL_REFUSED)
			fprintf(to, "| %s | %s | %s | %s |\n", d->name, when_text(d->when), error_text(d->error), d->reason);
	}
}

static void print_conditions(FILE *to)
{
	const struct condition *c;

	fputs("| call | with | when | answer | why |\n| --- | --- | --- | --- | --- |\n", to);
	for (unsigned i = 0; (c = condition_at(i)); i++)
		fprintf(to, "| %s | %s | %s | %s | %s |\n", disposition_of(c->nr)->name, c->what, when_text(c->when),
			c->error == CONDITION_TRAP ? "usher decides" : error_text(c->error), c->reason);
}

static void print_mediated(FILE *to, unsigned when, const char *title)
{
	const char *separator = "";

	fprintf(to, "%s: ", title);
	for (int nr = 0; nr < disposition_end(); nr++) {
		const struct disposition *d = disposition_of(nr);
		if (d->kind != CALL_MEDIATED || d->when != when)
			continue;
		fprintf(to, "%s%s", separator, d->name);
		separator = ", ";
	}
	fputs(".\n", to);
}

static void print_allowed(FILE *to)
{
	for (int nr = 0; nr < disposition_end(); nr++) {
		const struct disposition *d = disposition_of(nr);
		bool first = d->kind == CALL_ALLOWED;

		for (int before = 0; first && before < nr; before++)
			first = disposition_of(before)->kind != CALL_ALLOWED || strcmp(disposition_of(before)->reason, d->reason) != 0;
		if (!first)
			continue;
		fprintf(to, "- %s:", d->reason);
		for (int same = nr; same < disposition_end(); same++) {
			const struct disposition *s = disposition_of(same);
			if (s->kind == CALL_ALLOWED && strcmp(s->reason, d->reason) == 0)
				fprintf(to, " %s", s->name);
		}
		fputs("\n", to);
	}
}

void disposition_print(FILE *to)
{
	fputs("### Refused in the filter (" MACHINE ")\n\n", to);
	print_refused(to);
	fputs("\nAny other number, x32 and other architectures: ENOSYS; so is what the running kernel does not have.\n\n### Decided on register values\n\n", to);
	print_conditions(to);
	fputs("\nsocket and socketpair, where no rule could give others: TCP, unix and netlink route sockets, UDP where a rule could allow it; other families EAFNOSUPPORT, "
	      "other types ESOCKTNOSUPPORT, other protocols EPROTONOSUPPORT.\n\n### Mediated\n\n", to);
	print_mediated(to, 0, "Always");
	print_mediated(to, WHEN_STAT, "\nWhen a rule names `stat`");
	print_mediated(to, WHEN_PRIVILEGED, "\nAs root");
	print_mediated(to, WHEN_UNSCOPED, "\nWithout Landlock's signal scope");
	print_mediated(to, WHEN_DESCENT, "\nWhen a rule says `tree=`, `depth=` or `limit processes`");
	print_mediated(to, WHEN_SHOWN, "\nWhen a rule says `show=asked`");
	fputs("\n### Left to the kernel\n\n", to);
	print_allowed(to);
}
