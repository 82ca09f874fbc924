/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/run_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/journal.h"
#include "policy/constant.h"
#include "policy/policy.h"
#include "policy/question.h"
#include "policy/show.h"
#include "rules/cleanup.h"
#include "rules/pages.h"
#include "supervisor/ahead.h"
#include "supervisor/bound_names.h"
#include "supervisor/compat.h"
#include "supervisor/cover.h"
#include "supervisor/emptied.h"
#include "supervisor/environment.h"
#include "supervisor/filter.h"
#include "supervisor/floor.h"
#include "supervisor/harden.h"
#include "supervisor/isolate.h"
#include "supervisor/launch.h"
#include "supervisor/limits.h"
#include "supervisor/likeness.h"
#include "supervisor/listeners.h"
#include "supervisor/loopback.h"
#include "supervisor/net_shown.h"
#include "supervisor/net_reach.h"
#include "supervisor/outlets.h"
#include "supervisor/outside.h"
#include "supervisor/own_limits.h"
#include "supervisor/policy_setup.h"
#include "supervisor/privileges.h"
#include "supervisor/proc_text.h"
#include "supervisor/procs.h"
#include "supervisor/records.h"
#include "supervisor/relay.h"
#include "supervisor/require.h"
#include "supervisor/session.h"
#include "supervisor/sock_diag.h"
#include "supervisor/spaces.h"
#include "supervisor/terminals.h"
#include "supervisor/unattended.h"
#include "supervisor/victim.h"

/* What is used of the stack and of the heap until the command is started. */
#define STACK_FIRST (96 * 1024)
#define HEAP_FIRST (120 * 1024)
#define HEAP_BUILTIN (800 * 1024) /* with rules that come with usher, which are long */

/* NAME may be anybody's, of whoever starts usher in a script. NULL without memory. */
char *run_shown(const char *name)
{
	struct span given = { name, (uint32_t)strlen(name) };
	size_t cap = show_escape(given, NULL, 0) + 1;
	char *shown = malloc(cap);

	if (shown)
		show_escape(given, shown, cap);
	return shown;
}

int run_complain(const char *what, int rc, const char *why)
{
	if (rc == -EMFILE && !why)
		why = "usher itself needs more descriptors: raise the hard limit on open files (ulimit -Hn)";
	CLEANUP_FREE char *shown = why ? run_shown(why) : NULL;
	fprintf(stderr, "usher: %s: %s%s%s\n", what, strerror(-rc), shown ? ": " : "", shown ? shown : "");
	return rc;
}

static int open_proc(struct session *s)
{
	struct stat st;

	s->self_proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (s->self_proc < 0 || fstat(s->self_proc, &st) < 0)
		return run_complain("open /proc (usher needs it mounted)", -errno, NULL);
	if (!proc_is_own(s->self_proc))
		return run_complain("look into /proc", -ESRCH, "it is none, or another pid namespace's: mount this one's there (unshare --mount-proc)");
	s->proc_dev = st.st_dev;
	s->proc_block = st.st_blksize;
	s->self_fds = openat(s->self_proc, "self/fd", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (s->self_fds < 0)
		return run_complain("open /proc/self/fd (usher needs /proc mounted)", -errno, NULL);
	return 0;
}

/* The journal's directory, before it is made: the guard layer has to know it, and broken rules should leave nothing behind. */
static int name_journal(struct run *run, const struct run_options *o)
{
	char parent[PATH_MAX], real[PATH_MAX], copy[PATH_MAX];
	const char *dir = o->journal ? o->journal : run->journal;

	if (!o->journal) {
		int rc = journal_default_dir(run->journal, sizeof(run->journal));
		if (rc < 0)
			return run_complain("make a directory for the journal; name one with --journal DIR", rc, NULL);
		if (emptied_journal(o, run->journal) < 0)
			return -1;
	}
	if (!*dir)
		return run_complain("make the journal: --journal takes the name of a directory", -EINVAL, NULL);
	if (strlen(dir) >= PATH_MAX)
		return run_complain("make the journal", -ENAMETOOLONG, dir);
	strcpy(parent, dir);
	strcpy(copy, dir);
	const char *last = basename(copy);
	if (strcmp(last, ".") == 0 || strcmp(last, "..") == 0) /* it is there, then, and has a name of its own */
		return realpath(dir, run->journal) ? 0 : run_complain("make the journal", -errno, dir);
	if (!realpath(dirname(parent), real)) {
		int rc = -errno;
		CLEANUP_FREE char *shown = run_shown(dir);
		fprintf(stderr, "usher: make the journal %s: its parent directory: %s\n", shown ? shown : "", strerror(-rc));
		return rc;
	}
	int n = snprintf(run->journal, sizeof(run->journal), "%s/%s", strcmp(real, "/") == 0 ? "" : real,
			 last);
	return n < (int)sizeof(run->journal) ? 0 : run_complain("make the journal", -ENAMETOOLONG, dir);
}

int run_open_journal(struct run *run, const struct run_options *o)
{
	if (run->s.journal)
		return 0;
	const char *why = NULL;
	struct journal_options jo = { .dir = run->journal, .anchor = o->anchor, .helper_later = true };

	if (o->sync && strcmp(o->sync, "each") == 0)
		jo.sync = SYNC_EACH;
	else if (o->sync && strcmp(o->sync, "batch") == 0)
		jo.sync = SYNC_BATCH;
	int rc = journal_create(&jo, &run->s.journal, &why);
	if (rc < 0) {
		CLEANUP_FREE char *shown = run_shown(jo.dir);
		fprintf(stderr, "usher: make the journal %s: %s: %s\n", shown ? shown : "", why ? why : "failed", strerror(-rc));
		return rc;
	}
	return 0;
}

/* The file of salts is usher's own as well. */
static int make_salts(const struct run *run)
{
	char salts[PATH_MAX + 8];

	journal_salts(salts, sizeof(salts), run->journal);
	CLEANUP_FD int fd = journal_salts_open(salts);
	return fd < 0 ? fd : 0;
}

/* Opens for reading are left to the kernel where rules and system let them. */
static int free_reads(struct run *run, const struct run_options *o)
{
	struct session *s = &run->s;
	struct cover_options co = { s->policy, run->floor != NULL, o->keep, o->n_keep };
	const char *why;

	if ((o->isolate && strcmp(o->isolate, "none") == 0) || !run->floor || !policy_allows(s->policy, OP_READ, true, NULL))
		return 0;
	/* What is covered must be there. */
	if (run_open_journal(run, o) < 0)
		return -1;
	if (make_salts(run) < 0 || cover_make(&co, &run->cover, &why) != 0)
		return 0;
	s->cover = run->cover;
	s->loaders_free = policy_allows(s->policy, OP_EXEC, false, NULL);
	int rc = floor_open_reads(run->floor);
	return rc < 0 ? run_complain("let the Landlock domain read", rc, NULL) : 0;
}

/* No default speaks of stat. */
static bool allows_looks(const struct policy *p)
{
	return !(policy_ops(p) & OP_STAT) || policy_allows(p, OP_STAT, false, NULL);
}

/* Whether every file may be read and changed, and every socket that is one be reached: the guard closes what is usher's to moves, too. */
static bool allows_uses(const struct policy *p)
{
	return policy_allows(p, OP_CREATE, false, NULL) && policy_allows(p, OP_READ, false, NULL) && policy_allows(p, OP_MODIFY, false, NULL) &&
	       policy_allows(p, OP_DELETE, false, NULL) && policy_allows(p, OP_ATTR, false, NULL) &&
	       policy_allows(p, OP_CONNECT, false, NULL) && policy_allows(p, OP_SEND, false, NULL);
}

static bool names_tty(const char *channel)
{
	if (strncmp(channel, "chain:", 6) == 0 || strncmp(channel, "any:", 4) == 0)
		return strstr(channel, "tty") != NULL;
	return strcmp(channel, "tty") == 0;
}

/* Whether the command may get a terminal of its own: the guardian has to have that before it makes the command. */
static bool may_relay(const struct run_options *o)
{
	int fd CLEANUP_FD = o->ask ? -1 : open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);

	return o->ask ? names_tty(o->ask) : fd >= 0;
}

/* Three forks take longer than the rules: they are made beside each other, where that can be. What fails here is done, or said, later. */
static void launch_ahead(struct run *run, const struct run_options *o)
{
	run->launch.argv = o->argv;
	run->launch.keep = o->keep;
	run->launch.n_keep = o->n_keep;
	run->launch.together = &run->s.together;
	run->launch.terminal = run->launch.floor = -1;
	together_find(&run->s.together);
	if (may_relay(o) || ahead_new(environ, &run->ahead) < 0)
		return;
	together_begin(&run->s.together);
	run->launch.ahead = run->ahead;
	if (launch(&run->s, &run->launch, &run->ends) == 0)
		return;
	run->launch.ahead = NULL;
	ahead_free(steal_pointer(&run->ahead));
}

/* Programs of the person's own, which run beside the command: a helper that answers, an anchor. */
static bool starts_helpers(const struct run_options *o)
{
	return o->anchor || (o->ask && strstr(o->ask, "exec:"));
}

/* Threads for relays, limits and helpers start later, and would be held with the one that starts them. */
void run_hold_start(struct run *run, const struct run_options *o)
{
	bool holds = !run->relay && !run->s.limits && !starts_helpers(o);

	if (!holds)
		together_end(&run->s.together);
	else if (!run->s.together.held)
		together_begin(&run->s.together);
}

/* A terminal of the command's own, where a question may have to be put on the real one. */
static int open_terminal(struct run *run, const struct run_options *o)
{
	if (!policy_may_ask(run->s.policy) || (o->ask && !names_tty(o->ask)))
		return 0;
	int rc = outlets_open(&run->outlets);
	rc = rc < 0 ? rc : relay_open(&run->relay, run->outlets);
	if (rc == -ENOTTY && !o->ask) {
		outlets_close(steal_pointer(&run->outlets));
		return unattended_refused(run->s.policy, stderr);
	}
	if (rc == -ENOTTY) {
		fprintf(stderr, "usher: --ask=%s: there is no terminal here to ask on; --ask=desk asks at another one ('usher desk'), --ask=deny nobody\n", o->ask);
		return rc;
	}
	if (rc < 0)
		return run_complain("make a terminal for the command", rc, NULL);
	/* From here on the real terminal is a person's: the guard layer keeps the tree from opening it. */
	return policy_setup(o, run->program, run->journal, relay_terminal(run->relay), &run->s.policy);
}

/* Without Landlock the session is weaker and says so; where the kernel has it, it does not start without. */
static int open_floor(struct run *run, const struct run_options *o)
{
	int rc = o->no_floor ? 0 : floor_prepare(run->s.policy, &run->floor);

	if (rc < 0 && floor_abi() > 0)
		return run_complain("prepare the Landlock domain", rc, NULL);
	if (rc < 0)
		fputs("usher: this kernel has no Landlock: what usher does not mediate is not refused by the kernel either ('usher doctor' says more)\n",
		      stderr);
	return 0;
}

static int insist(const struct run *run, const struct run_options *o)
{
	struct in_force has = { .abi = run->floor ? floor_abi() : 0, .sees_all = privileges_read_any(), .memory = limits_hold_memory(run->s.limits) };
	const char *takes;
	char word[32];

	if (!o->require)
		return 0;
	(void)spaces_parse(o->isolate, &has.spaces);
	has.spaces.net = isolate_describe(&run->isolation) != NULL;
	if (require_check(o->require, &has, word, sizeof(word), &takes) == 0)
		return 0;
	fprintf(stderr, "usher: --require=%s: not in force here: it takes %s (this session's Landlock ABI is %d)\n", word, takes, has.abi);
	return -EOPNOTSUPP;
}

static size_t heap_first(const struct run *run, const struct run_options *o)
{
	bool builtin = !o->n_files;

	for (size_t i = 0; i < o->n_files; i++)
		builtin = builtin || strncmp(o->files[i], "builtin:", 8) == 0;
	return builtin && run->ahead ? HEAP_BUILTIN : HEAP_FIRST;
}

static int insist_on_calls(void)
{
	const char *call;
	int rc = privileges_refused(&call);

	return rc < 0 ? run_complain(call, rc, "a filter around usher refuses it, and nothing works without (in a container: docker run --cap-add=SYS_PTRACE gives process_vm_readv and ptrace)") : 0;
}

/* What rules on own and vacant sockets and terminals go by. */
static int prepare_own(const struct run *run, struct session *s)
{
	const bool own = likeness_own(s->policy);

	s->asks_vacant = likeness_vacant(s->policy);
	int rc = likeness_loopback(s->policy) ? loopback_new(&s->loopback) : 0;
	if (rc == 0 && (own || s->asks_vacant))
		rc = sock_diag_new(&s->diag);
	if (rc < 0 || !own)
		return rc;
	rc = terminals_new(run->relay ? relay_slave(run->relay) : -1, &s->terminals);
	if (rc == 0)
		rc = listeners_new(&s->listeners);
	return rc < 0 ? rc : bound_names_new(s->diag, &s->bound_names);
}

int run_prepare(struct run *run, const struct run_options *o)
{
	struct session *s = &run->s;
	struct net_reach can;
	int rc;

	s->usher = getpid();
	s->profile = o->profile;
	s->listener = -1;
	s->status = -1;
	s->control = -1;
	s->tell = -1;
	s->privileged = privileges_held();
	rc = insist_on_calls();
	if (rc < 0)
		return rc;
	if (geteuid() == 0 && !privileges_read_any())
		fputs("usher: root without CAP_SYS_PTRACE: what a process asks after it has changed its user is refused ('usher doctor' says more)\n", stderr);
	if (!privileges_take_descriptors())
		fputs("usher: the command's descriptors cannot be had here: connect, bind, send, and names and changes by a descriptor (mv, rm -r) are refused "
		      "(in a container: docker run --cap-add=SYS_PTRACE)\n",
		      stderr);
	if (own_limits_raise(&run->launch.limits_before) < 0)
		return -1;
	victim_raise(&run->victim);
	rc = harden_start();
	if (rc < 0)
		return run_complain("harden usher's own process", rc, "a filter around usher may refuse close_range, setrlimit or prctl");
	launch_ahead(run, o);
	pages_ahead(STACK_FIRST, heap_first(run, o)); /* behind a fork, which would have it copied */
	if (open_proc(s) < 0 || name_journal(run, o) < 0)
		return -1;
	if (policy_setup(o, run->program, run->journal, NULL, &s->policy) < 0)
		return -1;
	s->identity = policy_pins(s->policy);
	s->parting = s->identity && policy_parts(s->policy);
	s->unalike = !likeness_holds(s->policy);
	s->pins_content = likeness_content(s->policy);
	s->asks_trust = likeness_trust(s->policy);
	s->asks_people = policy_may_ask(s->policy);
	s->asks_uid = likeness_uid(s->policy);
	s->uid = geteuid();
	s->mediates_stat = policy_mediates_stat(s->policy);
	s->makes_free = policy_allows(s->policy, OP_CREATE, false, NULL);
	s->removes_free = policy_allows(s->policy, OP_DELETE, false, NULL);
	s->mover = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	/* On many cores somebody makes a name all the time: a rename that waits goes before those who come later. */
	s->makers = (pthread_rwlock_t)PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
	s->uses_free = allows_uses(s->policy);
	s->files_free = s->uses_free && allows_looks(s->policy);
	s->tells_argv = likeness_argv(s->policy) || s->asks_people;
	s->reads_env = likeness_env(s->policy);
	s->counts_sends = policy_limits(s->policy, OP_SEND);
	s->descent = likeness_descent(s->policy);
	net_reach(s->policy, &can);
	s->other_sockets = can.others;
	s->anywhere = can.anywhere;
	run->network_restricted = can.restricted;
	rc = shown_wanted(s->policy) ? shown_new(&s->shown) : 0;
	if (rc < 0)
		return run_complain("make room for what getpeername shows", rc, NULL);
	if (open_floor(run, o) < 0)
		return -1;
	rc = isolate_prepare(o->isolate, s->policy, &run->isolation);
	if (rc < 0)
		return run_complain("--isolate=net: make a network namespace", rc, NULL);
	rc = limits_new(s, &s->limits);
	if (rc < 0)
		return run_complain("prepare the limits", rc, NULL);
	if (insist(run, o) < 0)
		return -1;
	if (open_terminal(run, o) < 0 || free_reads(run, o) < 0)
		return -1;
	rc = prepare_own(run, s);
	if (rc < 0)
		return run_complain("remember what is the command's own", rc, NULL);
	/* Last: its strings are those of the policy that stays. */
	rc = environment_make(s->policy, environ, &run->environment);
	return rc < 0 ? run_complain("make the command's environment", rc, NULL) : 0;
}

