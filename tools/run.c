/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/run.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "policy/channels.h"
#include "rules/cleanup.h"
#include "supervisor/require.h"
#include "supervisor/spaces.h"
#include "tools/rule_files.h"
#include "tools/tool.h"

#define MAX_LIST 64
#define SHORTS "+:p:h"

enum { OPT_ASK = 256, OPT_JOURNAL, OPT_SYNC, OPT_ANCHOR, OPT_KEEP, OPT_WAIT, OPT_FLOOR, OPT_REQUIRE, OPT_ISOLATE, OPT_PROFILE };

static const struct option options[] = {
	{ "policy", required_argument, NULL, 'p' },
	{ "ask", required_argument, NULL, OPT_ASK },
	{ "journal", required_argument, NULL, OPT_JOURNAL },
	{ "sync", required_argument, NULL, OPT_SYNC },
	{ "anchor", required_argument, NULL, OPT_ANCHOR },
	{ "keep-fd", required_argument, NULL, OPT_KEEP },
	{ "wait", no_argument, NULL, OPT_WAIT },
	{ "floor", required_argument, NULL, OPT_FLOOR },
	{ "require", required_argument, NULL, OPT_REQUIRE },
	{ "isolate", required_argument, NULL, OPT_ISOLATE },
	{ "profile", no_argument, NULL, OPT_PROFILE },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static void usage(FILE *to)
{
	fprintf(to,
		"usage: usher run [OPTION]... [--] CMD [ARG...]\n"
		"\n"
		"  -p, --policy=FILE    a rule file or builtin:NAME; may be given again, each is a layer\n"
		"                       (default: builtin:agent)\n"
		"      --ask=CHANNEL    who answers questions: tty, desk, deny, exec:CMD, chain:A,B (B when A\n"
		"                       is silent) or any:A,B (the first answer counts); exec:CMD stands last,\n"
		"                       CMD is all that follows (default: any:desk,tty with a terminal, else deny)\n"
		"      --journal=DIR    write the journal to DIR, which is made (default: a new one\n"
		"                       below $XDG_STATE_HOME/usher)\n"
		"      --sync=WHEN      each, batch or none: when records are forced to the disk\n"
		"                       (default none: safe against kill -9, not against a power cut)\n"
		"      --anchor=WHERE   file:PATH or exec:CMD gets the journal's first key and heads\n"
		"      --keep-fd=N      let the command inherit descriptor N\n"
		"      --wait           wait for processes the command leaves behind\n"
		"      --floor=off      without the Landlock floor\n"
		"      --require=LIST   do not start without these: landlock, truncate, tcp, ioctl, scopes,\n"
		"                       unix, udp, the namespaces of --isolate, ptrace, memory\n"
		"      --isolate=HOW    a list of namespaces: net (nothing but loopback), pid, ipc, uts,\n"
		"                       cgroup, tmp and shm (private /tmp, /dev/shm), mount (both);\n"
		"                       auto (default): as root, where no rule can allow the network; none\n"
		"      --profile        say at the end where usher's time went, for each call\n"
		"\n"
		"The exit status is CMD's; 124 when a limit was reached, 125 when usher itself failed, 126 when\n"
		"CMD cannot be executed or may not be, 127 when it is not found.\n");
}

struct lists {
	const char *files[MAX_LIST];
	int keep[MAX_LIST];
};

static int wrong(const char *option, const char *value, const char *expected)
{
	CLEANUP_FREE char *shown = shown_name(value);

	fprintf(stderr, "usher: --%s=%s: expected %s\n'usher run --help' lists the options\n", option, shown ? shown : "", expected);
	return -1;
}

static bool one_of(const char *value, const char *const *words)
{
	for (; *words; words++) {
		if (strcmp(value, *words) == 0)
			return true;
	}
	return false;
}

static int keep_fd(struct run_options *o, struct lists *l, const char *value)
{
	char *end;
	long n = strtol(value, &end, 10);

	/* One that is not open yet would be one of usher's own. */
	if (*end || end == value || n < 3 || n > 1 << 20 || fcntl((int)n, F_GETFD) < 0)
		return wrong("keep-fd", value, "the number of an open descriptor above 2");
	if (o->n_keep == MAX_LIST)
		return wrong("keep-fd", value, "at most 64 of them");
	l->keep[o->n_keep++] = (int)n;
	return 0;
}

static int add_file(struct run_options *o, struct lists *l, const char *value)
{
	if (o->n_files == MAX_LIST)
		return wrong("policy", value, "at most 64 of them");
	l->files[o->n_files++] = value;
	return 0;
}

static int known_requirements(const char *list)
{
	const char *takes;
	char word[64];

	return require_check(list, NULL, word, sizeof(word), &takes) == 0 ? 0 : wrong("require", list, "a list of " REQUIRE_WORDS);
}

/* Here, and not when it is opened: there is a journal by then, which would be the newest session's. */
static int known_channel(const char *word)
{
	const char *why;

	if (channels_check(word, &why) == 0)
		return 0;
	CLEANUP_FREE char *shown = shown_name(word);
	fprintf(stderr, "usher: --ask=%s: %s\n'usher run --help' lists the options\n", shown ? shown : "", why);
	return -1;
}

static bool anchor_form(const char *where)
{
	return (strncmp(where, "file:", 5) == 0 || strncmp(where, "exec:", 5) == 0) && where[5];
}

/* Returns 0, 1 for help, or -1 (told). */
static int take(struct run_options *o, struct lists *l, int c, char **argv)
{
	static const char *const syncs[] = { "each", "batch", "none", NULL };
	static const char *const floors[] = { "auto", "off", NULL };
	struct spaces spaces;

	switch (c) {
	case 'p':
		return add_file(o, l, optarg);
	case OPT_ASK:
		o->ask = optarg;
		return known_channel(optarg);
	case OPT_JOURNAL:
		o->journal = optarg;
		return 0;
	case OPT_SYNC:
		o->sync = optarg;
		return one_of(optarg, syncs) ? 0 : wrong("sync", optarg, "each, batch or none");
	case OPT_ANCHOR:
		o->anchor = optarg;
		return anchor_form(optarg) ? 0 : wrong("anchor", optarg, "file:PATH or exec:CMD");
	case OPT_KEEP:
		return keep_fd(o, l, optarg);
	case OPT_WAIT:
		o->wait = true;
		return 0;
	case OPT_FLOOR:
		o->no_floor = strcmp(optarg, "off") == 0;
		return one_of(optarg, floors) ? 0 : wrong("floor", optarg, "auto or off");
	case OPT_REQUIRE:
		o->require = optarg;
		return known_requirements(optarg);
	case OPT_ISOLATE:
		o->isolate = optarg;
		return spaces_parse(optarg, &spaces) == 0 ? 0 : wrong("isolate", optarg, SPACES_WORDS);
	case OPT_PROFILE:
		o->profile = true;
		return 0;
	case 'h':
		return 1;
	default:
		tool_wrong_option("run", argv, c, SHORTS, options);
		return -1;
	}
}

/* Ends as the command did, so that a shell sees the same. */
static int end_by_signal(int sig, int status)
{
	sigset_t set;

	signal(sig, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, sig);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	(void)raise(sig);
	return status;
}

static int run_main(int argc, char **argv)
{
	struct run_options o = { 0 };
	struct lists l;
	int c, by_signal;

	o.files = l.files;
	o.keep = l.keep;
	optind = 1;
	while ((c = getopt_long(argc, argv, SHORTS, options, NULL)) != -1) {
		int rc = take(&o, &l, c, argv);
		if (rc == 1)
			usage(stdout);
		if (rc)
			return rc == 1 ? 0 : RUN_FAILED;
	}
	if (optind == argc) {
		fprintf(stderr, "usher: run: which command? usage: usher run [OPTION]... -- CMD [ARG...]\n");
		return RUN_FAILED;
	}
	o.argv = argv + optind;
	int status = run_session(&o, &by_signal);
	fflush(NULL);
	if (by_signal)
		status = end_by_signal(by_signal, status);
	/* Not exit(): a worker may still be in the kernel, and must not meet destructors. */
	_exit(status);
}

const struct tool tool_run = {
	.name = "run",
	.usage = "[OPTION]... [--] CMD [ARG...]",
	.summary = "start a command under rules",
	.main = run_main,
};
