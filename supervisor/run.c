/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/run.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "audit/journal.h"
#include "policy/constant.h"
#include "policy/policy.h"
#include "policy/question.h"
#include "rules/cleanup.h"
#include "supervisor/ask.h"
#include "supervisor/compat.h"
#include "supervisor/cover.h"
#include "supervisor/environment.h"
#include "supervisor/filter.h"
#include "supervisor/floor.h"
#include "supervisor/harden.h"
#include "supervisor/isolate.h"
#include "supervisor/kernel.h"
#include "supervisor/launch.h"
#include "supervisor/limits.h"
#include "supervisor/likeness.h"
#include "supervisor/net_shown.h"
#include "supervisor/lives.h"
#include "supervisor/net_reach.h"
#include "supervisor/outside.h"
#include "supervisor/policy_setup.h"
#include "supervisor/privileges.h"
#include "supervisor/pool.h"
#include "supervisor/procs.h"
#include "supervisor/records.h"
#include "supervisor/relay.h"
#include "supervisor/require.h"
#include "supervisor/session.h"
#include "supervisor/spaces.h"
#include "supervisor/supervise.h"
#include "supervisor/terminals.h"
#include "supervisor/unattended.h"
#include "supervisor/victim.h"

/* All that a session holds while it runs. Its memory and descriptors go with the process. */
struct run {
	struct session s;
	struct sock_fprog filter;
	struct floor *floor;
	const char *limited; /* the limit that has ended the tree */
	bool unclosed;       /* the journal is without its end */
	struct isolation isolation;
	struct cover *cover;
	struct environment environment;
	struct relay *relay;
	struct launch_options launch;
	struct launch_ends ends;
	struct supervise_result result;
	struct victim victim;
	int signals;
	bool network_restricted; /* by some rule or default */
	int number;          /* usher's process number for others, 0: its own */
	bool working;        /* there may be calls */
	char journal[PATH_MAX];
};

static int complain(const char *what, int rc, const char *why)
{
	fprintf(stderr, "usher: %s: %s%s%s\n", what, strerror(-rc), why ? ": " : "", why ? why : "");
	return rc;
}

/* As many descriptors as allowed: each process of the tree costs one or two. The command gets the old limit back. */
static void raise_files(struct rlimit *before)
{
	if (getrlimit(RLIMIT_NOFILE, before) < 0)
		return;
	struct rlimit more = { before->rlim_max, before->rlim_max };
	(void)setrlimit(RLIMIT_NOFILE, &more);
}

static int open_proc(struct session *s)
{
	struct stat st;

	s->self_proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (s->self_proc < 0 || fstat(s->self_proc, &st) < 0)
		return complain("open /proc (usher needs it mounted)", -errno, NULL);
	s->proc_dev = st.st_dev;
	s->self_fds = openat(s->self_proc, "self/fd", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (s->self_fds < 0)
		return complain("open /proc/self/fd (usher needs /proc mounted)", -errno, NULL);
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
			return complain("make a directory for the journal; name one with --journal DIR", rc, NULL);
	}
	if (strlen(dir) >= PATH_MAX)
		return complain("make the journal", -ENAMETOOLONG, dir);
	strcpy(parent, dir);
	strcpy(copy, dir);
	if (!realpath(dirname(parent), real)) {
		fprintf(stderr, "usher: make the journal %s: its parent directory: %s\n", dir, strerror(errno));
		return -errno;
	}
	int n = snprintf(run->journal, sizeof(run->journal), "%s/%s", strcmp(real, "/") == 0 ? "" : real,
			 basename(copy));
	return n < (int)sizeof(run->journal) ? 0 : complain("make the journal", -ENAMETOOLONG, dir);
}

static int open_journal(struct run *run, const struct run_options *o)
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
		fprintf(stderr, "usher: make the journal %s: %s: %s\n", jo.dir, why ? why : "failed", strerror(-rc));
		return rc;
	}
	return 0;
}

static void choose_filter(const struct run *run, struct filter_options *out)
{
	struct net_reach can;

	net_reach(run->s.policy, &can);
	*out = (struct filter_options){
		.policy = run->s.policy,
		.privileged = run->s.privileged,
		.sighted = privileges_read_any(),
		.trap_stat = run->s.mediates_stat,
		.sockets = { .udp = can.udp, .others = can.others },
		.domain = run->floor != NULL,
		.reads = run->cover != NULL,
		.scoped = run->floor && floor_scopes_signals(run->floor),
	};
}

/* The file of salts is usher's own as well. */
static int make_salts(const struct run *run)
{
	char salts[PATH_MAX + 8];

	journal_salts(salts, sizeof(salts), run->journal);
	int fd = open(salts, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
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
	if (open_journal(run, o) < 0)
		return -1;
	if (make_salts(run) < 0 || cover_make(&co, &run->cover, &why) != 0)
		return 0;
	s->cover = run->cover;
	s->loaders_free = policy_allows(s->policy, OP_EXEC, false, NULL);
	int rc = floor_open_reads(run->floor);
	return rc < 0 ? complain("let the Landlock domain read", rc, NULL) : 0;
}

static int build_filter(struct run *run)
{
	const char *why = NULL;
	int rc = filter_build(&run->launch.filter, &run->filter, &why);

	run->launch.program = &run->filter;
	return rc < 0 ? complain("build the seccomp filter", rc, why) : 0;
}

static bool names_tty(const char *channel)
{
	if (strncmp(channel, "chain:", 6) == 0 || strncmp(channel, "any:", 4) == 0)
		return strstr(channel, "tty") != NULL;
	return strcmp(channel, "tty") == 0;
}

/* Without --ask: a person at the terminal, when there is one. */
static const char *channel_of(const struct run *run, const struct run_options *o)
{
	return o->ask ? o->ask : run->relay ? "any:desk,tty" : "deny";
}

/* A terminal of the command's own, where a question may have to be put on the real one. */
static int open_terminal(struct run *run, const struct run_options *o)
{
	if (!policy_may_ask(run->s.policy) || (o->ask && !names_tty(o->ask)))
		return 0;
	int rc = relay_open(&run->relay);
	if (rc == -ENOTTY && !o->ask)
		return unattended_refused(run->s.policy, stderr);
	if (rc < 0)
		return complain("make a terminal for the command", rc, NULL);
	/* From here on the real terminal is a person's: the guard layer keeps the tree from opening it. */
	policy_free(run->s.policy);
	return policy_setup(o, run->journal, relay_terminal(run->relay), &run->s.policy);
}

static int start_questions(struct run *run, const struct run_options *o)
{
	const char *why = NULL;
	struct questions_options qo = {
		.channel = channel_of(run, o),
		.policy = run->s.policy,
		.answered = ask_answered,
		.note = ask_note,
		.context = &run->s,
		.session = o->argv[0],
		.number = run->number,
		.screen = run->relay ? relay_screen(run->relay) : NULL,
	};
	int rc = questions_start(&qo, &run->s.questions, &why);

	if (rc < 0 && !o->ask && run->relay) { /* no place for a desk: the terminal alone */
		qo.channel = "tty";
		rc = questions_start(&qo, &run->s.questions, &why);
	}
	if (rc < 0)
		return complain("--ask", rc, why);
	if (policy_may_ask(run->s.policy) && strcmp(qo.channel, "deny") == 0)
		unattended_start(run->s.policy, o->ask != NULL, stderr);
	return 0;
}

/* Without Landlock the session is weaker and says so; where the kernel has it, it does not start without. */
static int open_floor(struct run *run, const struct run_options *o)
{
	int rc = o->no_floor ? 0 : floor_prepare(run->s.policy, &run->floor);

	if (rc < 0 && floor_abi() > 0)
		return complain("prepare the Landlock domain", rc, NULL);
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

static int prepare(struct run *run, const struct run_options *o)
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
	if (geteuid() == 0 && !privileges_read_any())
		fputs("usher: root without CAP_SYS_PTRACE: what a process asks after it has changed its user is refused ('usher doctor' says more)\n", stderr);
	raise_files(&run->launch.files);
	victim_raise(&run->victim);
	rc = harden_start();
	if (rc < 0)
		return complain("harden usher's own process", rc, NULL);
	if (open_proc(s) < 0 || name_journal(run, o) < 0)
		return -1;
	if (policy_setup(o, run->journal, NULL, &s->policy) < 0)
		return -1;
	for (size_t i = 0; policy_layer(s->policy, i); i++)
		s->identity = s->identity || ruleset_pins(policy_layer(s->policy, i));
	s->pins_content = likeness_content(s->policy);
	s->asks_trust = likeness_trust(s->policy);
	s->asks_people = policy_may_ask(s->policy);
	s->asks_uid = likeness_uid(s->policy);
	s->uid = geteuid();
	s->mediates_stat = policy_mediates_stat(s->policy);
	s->reads_env = likeness_env(s->policy);
	s->descent = likeness_descent(s->policy);
	net_reach(s->policy, &can);
	s->other_sockets = can.others;
	run->network_restricted = can.restricted;
	rc = shown_wanted(s->policy) ? shown_new(&s->shown) : 0;
	if (rc < 0)
		return complain("make room for what getpeername shows", rc, NULL);
	if (open_floor(run, o) < 0)
		return -1;
	rc = isolate_prepare(o->isolate, s->policy, &run->isolation);
	if (rc < 0)
		return complain("--isolate=net: make a network namespace", rc, NULL);
	rc = limits_new(s, &s->limits);
	if (rc < 0)
		return complain("prepare the limits", rc, NULL);
	if (insist(run, o) < 0)
		return -1;
	if (open_terminal(run, o) < 0 || free_reads(run, o) < 0)
		return -1;
	if (likeness_own(s->policy) && (rc = terminals_new(run->relay ? relay_slave(run->relay) : -1, &s->terminals)) < 0)
		return complain("remember the terminals", rc, NULL);
	/* Last: its strings are those of the policy that stays. */
	rc = environment_make(s->policy, environ, &run->environment);
	return rc < 0 ? complain("make the command's environment", rc, NULL) : 0;
}

/* The command confines itself while usher makes the journal; it goes no further than its exec until there are workers. */
static int start_command(struct run *run, const struct run_options *o)
{
	run->launch.argv = o->argv;
	run->launch.envp = run->environment.list;
	run->launch.keep = o->keep;
	run->launch.n_keep = o->n_keep;
	choose_filter(run, &run->launch.filter);
	/* Threads for these start later, and would be held with the one that starts them. */
	if (!run->relay && !run->s.limits)
		together_begin(&run->s.together);
	run->launch.together = &run->s.together;
	/* The journal has a thread: with one more than this one the child could not allocate. On one core it would have its own copies of pages, too. */
	int rc = run->s.journal || run->s.together.held ? build_filter(run) : 0;
	if (rc < 0)
		return rc;
	run->launch.floor = run->floor;
	run->launch.network_stays = run->s.privileged && run->network_restricted;
	run->launch.isolation = &run->isolation;
	run->launch.cover = run->cover;
	run->launch.limits = run->s.limits;
	run->launch.rescue = run->relay ? relay_rescue(run->relay) : NULL;
	run->launch.terminal = run->relay ? relay_slave(run->relay) : -1;
	rc = launch(&run->s, &run->launch, &run->ends);
	victim_lower(&run->victim);
	if (rc < 0)
		return complain("start the command", rc, NULL);
	/* The first thread's, and so all others'. */
	rc = run->launch.network_stays ? privileges_leave_network() : 0;
	if (rc == 0)
		rc = harden_process();
	return rc < 0 ? complain("confine usher itself", rc, NULL) : 0;
}

static int start_workers(struct run *run)
{
	struct session *s = &run->s;
	struct report report;

	int rc = launch_await(s, &run->ends, &report);
	isolate_done(&run->isolation);
	if (rc < 0)
		return complain(report.step[0] ? report.step : "start the command", rc,
				rc == -EBUSY ? "a seccomp listener is there already, of a container or of another usher; there can be but one" : NULL);
	s->tell = run->relay ? relay_slave(run->relay) : isatty(STDERR_FILENO) ? STDERR_FILENO : -1;
	if (run->relay && (rc = relay_start(run->relay)) < 0)
		return complain("relay the terminal", rc, NULL);
	run->working = true;
	if ((rc = procs_new(s, &s->procs)) < 0 || (rc = lives_new(s, &s->lives)) < 0 || (rc = pool_start(s)) < 0)
		return complain("start the workers", rc, NULL);
	return 0;
}

/* The listener wakes receivers on the caller's core (Linux 6.6); older kernels just are slower. */
static void wake_synchronously(int listener)
{
	(void)ioctl(listener, SECCOMP_IOCTL_NOTIF_SET_FLAGS, SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP);
}

/* What loaders that unpack a program into memory fail with says nothing of why. */
static void tell_nameless(const struct session *s)
{
	unsigned n = atomic_load(&s->nameless);

	if (n && !s->quiet)
		fprintf(stderr, "usher: refused to run a program without a name (memfd, O_TMPFILE, deleted file)%s; the rule that lets it run is: allow exec memfd:NAME\n",
			n > 1 ? ", more than once" : "");
}

/* All that debuggers say is that it is not permitted. */
static void tell_traced(struct session *s)
{
	const char *why = atomic_load(&s->unverified);

	if (why && !s->quiet)
		fprintf(stderr, "usher: refused to start a program under a debugger, as nobody could verify its exec: %s; start it first, then attach (gdb -p, strace -p)\n",
			why);
}

static void run_close(struct run *run)
{
	struct session *s = &run->s;

	char *unanswered CLEANUP_FREE = unattended_rules(s->questions);
	char *unseen CLEANUP_FREE = unattended_reviews(s->questions, run->journal);
	questions_end(s->questions); /* not freed: a worker may still be about to ask */
	pool_stop(s->pool);
	pool_profile(s->pool, stderr);
	relay_close(run->relay);
	unattended_end(unanswered, stderr);
	tell_nameless(s);
	tell_traced(s);
	if (unseen)
		fputs(unseen, stderr);
	lives_round(s->lives);
	limits_settle(s->limits);
	run->limited = limits_reached(s->limits);
	limits_stop(s->limits);
	run->unclosed = true;
	if (pool_settle(s->pool))
		run->unclosed = records_end(s, &run->result) < 0;
	else
		fputs("usher: an operation for a process that has ended does not return; the journal is left as it is, not closed\n", stderr);
	s->journal = NULL;
}

static int exit_status(const struct run *run, const struct run_options *o, int *by_signal)
{
	const struct supervise_result *r = &run->result;

	*by_signal = 0;
	if (r->exec_error) {
		fprintf(stderr, "usher: run %s: %s\n", o->argv[0], strerror(r->exec_error));
		return r->exec_error == ENOENT ? 127 : 126;
	}
	if (run->limited)
		return LIMIT_STATUS;
	if (r->lost) {
		fprintf(stderr, "usher: the guardian or the keeper of %s was killed; the tree was ended\n", o->argv[0]);
		return RUN_FAILED;
	}
	if (WIFSIGNALED(r->wait_status)) {
		*by_signal = WTERMSIG(r->wait_status);
		return 128 + *by_signal;
	}
	/* Success says that the journal tells all of it. */
	return run->unclosed && !WEXITSTATUS(r->wait_status) ? RUN_FAILED : WEXITSTATUS(r->wait_status);
}

/* What is in force, for the start record; NULL: nothing. */
static const char *isolated(const struct run *run, const struct run_options *o, char out[128])
{
	const char *net = isolate_describe(&run->isolation);
	struct spaces s;

	if (spaces_parse(o->isolate, &s) < 0 || !spaces_any(&s))
		return net;
	snprintf(out, 128, "%s%s%s%s%s%s%s%s", s.pid ? ", pid" : "", s.ipc ? ", ipc" : "", s.uts ? ", uts" : "",
		 s.cgroup ? ", cgroup" : "", s.tmp ? ", tmp" : "", s.shm ? ", shm" : "", geteuid() ? ", user" : "", net ? ", " : "");
	snprintf(out + strlen(out), 128 - strlen(out), "%s", net ? net : "");
	return out + 2;
}

/* What did not start. Once there was a command the end of this process ends it, and workers may still write: the journal stays open, as after a kill. */
static void abandon(struct run *run)
{
	if (run->working) {
		session_kill(&run->s);
		relay_close(run->relay);
		return;
	}
	limits_stop(run->s.limits);
	questions_stop(run->s.questions);
	relay_close(run->relay);
	if (run->s.journal)
		journal_close(run->s.journal, NULL);
}

/* NUMBER is what others know usher by where LINK leads outside a pid namespace. */
static int run_inside(const struct run_options *o, int link, int number, int *by_signal)
{
	struct run *run = calloc(1, sizeof(*run));
	char places[128];

	*by_signal = 0;
	if (!run)
		return RUN_FAILED;
	/* Ignored, it would leave nobody to wait for: the guardian would never learn that the command has ended. */
	run->launch.ignore_children = signal(SIGCHLD, SIG_DFL) == SIG_IGN;
	run->s.outside = link;
	run->number = number;
	if (supervise_block(&run->launch.mask, &run->signals) < 0 || prepare(run, o) < 0)
		goto out;
	run->s.channel = channel_of(run, o);
	if (start_command(run, o) < 0 || open_journal(run, o) < 0)
		goto out;
	if (records_start(&run->s, o, &run->environment, isolated(run, o, places)) < 0 || start_questions(run, o) < 0)
		goto out;
	if (start_workers(run) < 0)
		goto out;
	wake_synchronously(run->s.listener);
	int rc = limits_start(run->s.limits);
	if (rc < 0) {
		complain("start to measure the limits", rc, NULL);
		goto out;
	}
	supervise(&run->s, run->signals, run->relay, o->wait, &run->result);
	run_close(run);
	if (!run->result.lost)
		supervise_collect(&run->s, &run->result);
	/* Threads may still be in the kernel on behalf of a tree that is gone: the process ends with them. */
	return exit_status(run, o, by_signal);
out:
	abandon(run);
	return RUN_FAILED;
}

int run_session(const struct run_options *o, int *by_signal)
{
	struct spaces want;
	const char *step = "";
	int link, other, status = RUN_FAILED;

	*by_signal = 0;
	if (spaces_parse(o->isolate, &want) == 0 && !spaces_any(&want))
		return run_inside(o, -1, 0, by_signal);
	int rc = spaces_enter(&want, &link, &other, &step);
	if (rc == 1)
		return outside_main(other, link, by_signal);
	if (rc < 0)
		fprintf(stderr, "usher: --isolate=%s: %s: %s\n", o->isolate, step, strerror(-rc));
	else
		status = run_inside(o, link, other, by_signal);
	outside_tell(link, status, *by_signal);
	return status;
}
