/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/run_internal.h"

#include <errno.h>
#include <fcntl.h>
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
#include "rules/pages.h"
#include "supervisor/addressed.h"
#include "supervisor/ahead.h"
#include "supervisor/ask.h"
#include "supervisor/emptied.h"
#include "supervisor/environment.h"
#include "supervisor/filter.h"
#include "supervisor/floor.h"
#include "supervisor/harden.h"
#include "supervisor/isolate.h"
#include "supervisor/kernel.h"
#include "supervisor/kernel_calls.h"
#include "supervisor/launch.h"
#include "supervisor/limits.h"
#include "supervisor/likeness.h"
#include "supervisor/lives.h"
#include "supervisor/net_reach.h"
#include "supervisor/outlets.h"
#include "supervisor/outside.h"
#include "supervisor/outside_peer.h"
#include "supervisor/privileges.h"
#include "supervisor/pool.h"
#include "supervisor/procs.h"
#include "supervisor/records.h"
#include "supervisor/relay.h"
#include "supervisor/session.h"
#include "supervisor/spaces.h"
#include "supervisor/supervise.h"
#include "supervisor/unattended.h"
#include "supervisor/victim.h"
#include "supervisor/voice.h"

/* What is used of the stack and of the heap once the command was started; see run_prepare.c. */
#define STACK_THEN (32 * 1024)
#define HEAP_THEN (100 * 1024)

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
		.groups = can.groups,
		.anywhere = can.anywhere,
		.changes = policy_allows(run->s.policy, OP_MODIFY, false, NULL),
		.scoped = run->floor && floor_scopes_signals(run->floor),
		.lacks = kernel_lacks,
	};
}

static int build_filter(struct run *run)
{
	const char *why = NULL;
	int rc = filter_build(&run->launch.filter, &run->filter, &why);

	run->launch.program = &run->filter;
	return rc < 0 ? run_complain("build the seccomp filter", rc, why) : 0;
}

/* Without --ask: a person at the terminal, when there is one. */
static const char *channel_of(const struct run *run, const struct run_options *o)
{
	return o->ask ? o->ask : run->relay ? "any:desk,tty" : "deny";
}

static int peer_outside(void *context, int fd, pid_t *pid, uid_t *uid)
{
	const struct session *s = context;

	return outside_peer_ask(s->peers, fd, pid, uid);
}

/* Of a word that is wrong the error says no more than WHY does. */
static int no_questions(const char *channel, int rc, const char *why)
{
	if (!why || rc != -EINVAL)
		return run_complain("--ask", rc, why);
	fprintf(stderr, "usher: --ask=%s: %s\n", channel, why);
	return rc;
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
		.peer = run->s.peers >= 0 ? peer_outside : NULL,
		.screen = run->relay ? relay_screen(run->relay) : NULL,
	};
	int rc = questions_start(&qo, &run->s.questions, &why);

	if (rc < 0 && !o->ask && run->relay) { /* no place for a desk: the terminal alone */
		qo.channel = "tty";
		rc = questions_start(&qo, &run->s.questions, &why);
	}
	if (rc < 0)
		return no_questions(qo.channel, rc, why);
	if (policy_may_ask(run->s.policy) && strcmp(qo.channel, "deny") == 0)
		unattended_start(run->s.policy, o->ask != NULL, stderr);
	return 0;
}

/* What is not told, or not by values, has to be there before the fork. */
static bool told_ahead(struct run *run)
{
	bool told = !run->relay && !run->s.limits && !run->cover && ahead_tell(run->ahead, &run->launch) == 0;

	if (told)
		run->launch.ahead = NULL;
	return told;
}

static int drop_ahead(struct run *run)
{
	int rc = launch_drop(&run->s, run->ahead, &run->ends);

	ahead_free(steal_pointer(&run->ahead));
	run->launch.ahead = NULL;
	return rc;
}

/* The command's process, told what to do or made now. */
static int launch_command(struct run *run)
{
	bool told = run->ahead && told_ahead(run);

	int rc = run->ahead && !told ? drop_ahead(run) : 0;
	if (rc == 0 && !told)
		rc = launch(&run->s, &run->launch, &run->ends);
	/* The stack was shared by the fork, and the heap goes on. */
	pages_ahead(STACK_THEN, HEAP_THEN);
	return rc;
}

/* The command confines itself while usher makes the journal; it goes no further than its exec until there are workers. */
static int start_command(struct run *run, const struct run_options *o)
{
	run->launch.envp = run->environment.list;
	run->s.apart = run->s.unalike || !run->floor;
	choose_filter(run, &run->launch.filter);
	run_hold_start(run, o);
	int rc = build_filter(run);
	if (rc < 0)
		return rc;
	run->launch.floor = floor_ruleset(run->floor);
	run->launch.network_stays = run->s.privileged && run->network_restricted;
	run->launch.isolation = &run->isolation;
	run->launch.sockets_asked = run->s.diag;
	run->launch.cover = run->cover;
	run->launch.limits = run->s.limits;
	run->launch.rescue = run->relay ? relay_rescue(run->relay) : NULL;
	run->launch.terminal = run->relay ? relay_slave(run->relay) : -1;
	run->launch.device = run->relay ? relay_device(run->relay) : 0;
	run->launch.outlets = run->relay ? run->outlets : NULL;
	rc = launch_command(run);
	victim_lower(&run->victim);
	if (rc < 0)
		return run_complain("start the command", rc, NULL);
	/* The first thread's, and so all others'. */
	rc = run->launch.network_stays ? privileges_leave_network() : 0;
	if (rc == 0)
		rc = harden_process();
	return rc < 0 ? run_complain("confine usher itself", rc, NULL) : 0;
}

/* Opened anew: the description that the command has must not become non-blocking, and the command may stop its output at any time. */
static int open_tell(const struct run *run)
{
	int fd = run->relay ? relay_slave(run->relay) : STDERR_FILENO;
	char name[32];

	if (!isatty(fd))
		return -1;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	return open(name, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
}

static int start_workers(struct run *run)
{
	struct session *s = &run->s;
	struct report report;
	int rc;

	/* The first gets ready while the command still confines itself. */
	if ((rc = procs_new(s, &s->procs)) < 0 || (rc = lives_new(s, &s->lives)) < 0 || (rc = pool_start(s)) < 0)
		return run_complain("start the workers", rc, NULL);
	rc = launch_await(s, &run->ends, &report);
	ahead_free(steal_pointer(&run->ahead));
	isolate_done(&run->isolation);
	if (rc < 0)
		return run_complain(report.step[0] ? report.step : "start the command", rc,
				rc == -EBUSY ? "a seccomp listener is there already, of a container or of another usher; there can be but one" : NULL);
	s->tell = open_tell(run);
	s->tell_aloud = s->tell < 0 && !run->relay && isatty(STDERR_FILENO);
	if (run->relay && ((rc = relay_start(run->relay, s->command)) < 0 || (rc = outlets_start(run->outlets)) < 0))
		return run_complain("relay the terminal", rc, NULL);
	run->working = true;
	pool_open(s->pool);
	return 0;
}

/* The listener wakes receivers on the caller's core (Linux 6.6); older kernels just are slower. */
static void wake_synchronously(int listener)
{
	(void)ioctl(listener, SECCOMP_IOCTL_NOTIF_SET_FLAGS, SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP);
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

/* From before the namespaces: NUMBER is what others know usher by where LINK leads outside one of pids. */
struct before {
	int link, peers, number;
	pid_t managed; /* launch_options.managed */
	struct root_loaders loaders;
	/*
	 * usher's own program, NULL: its file has no name any more. A namespace of mounts that nothing else is in ends when usher leaves it: the
	 * name that /proc/self/exe says is then counted from its mount, and another file's, or none.
	 */
	char *program;
};

static int run_inside(const struct run_options *o, const struct before *b, int *by_signal)
{
	struct run *run = calloc(1, sizeof(*run));
	char places[128];

	*by_signal = 0;
	if (!run)
		return RUN_FAILED;
	/* Ignored, it would leave nobody to wait for: the guardian would never learn that the command has ended. */
	run->launch.ignore_children = signal(SIGCHLD, SIG_DFL) == SIG_IGN;
	run->s.outside = b->link;
	run->s.peers = b->peers;
	run->s.root_loaders = b->loaders;
	run->s.voice = voice_new(STDERR_FILENO);
	run->number = b->number;
	run->program = b->program;
	run->launch.managed = b->managed;
	int rc = supervise_block(&run->launch.mask, &run->signals);
	if (rc < 0) {
		(void)run_complain("take the signals that are passed on", rc, NULL);
		goto out;
	}
	if (run_prepare(run, o) < 0)
		goto out;
	run->s.channel = channel_of(run, o);
	if (start_command(run, o) < 0 || run_open_journal(run, o) < 0)
		goto out;
	if (records_start(&run->s, o, &run->environment, isolated(run, o, places)) < 0)
		goto out;
	run->begun = true;
	if (start_questions(run, o) < 0)
		goto out;
	if (start_workers(run) < 0)
		goto out;
	wake_synchronously(run->s.listener);
	rc = limits_start(run->s.limits);
	if (rc < 0) {
		voice_say(run->s.voice, "usher: start to measure the limits: %s\n", strerror(-rc));
		goto out;
	}
	supervise(&run->s, run->signals, run->relay, o->wait, &run->result);
	run_close(run);
	if (!run->result.lost)
		supervise_collect(&run->s, &run->result);
	/* Threads may still be in the kernel on behalf of a tree that is gone: the process ends with them. */
	int status = run_exit_status(run, o, by_signal);
	(void)voice_finish(run->s.voice, VOICE_PATIENCE_MS);
	outlets_close(run->outlets);
	/* By a key that usher has read: the rest of the job (a script) learns of it now that the terminal is as it was, and before the shell sees any of it end. */
	if (*by_signal && *by_signal == run->interrupted)
		(void)kill(0, *by_signal);
	return status;
out:
	run_abandon(run);
	(void)voice_finish(run->s.voice, VOICE_PATIENCE_MS);
	return RUN_FAILED;
}

/* A service that gets no sockets makes some of its own, or ends, and says nothing of these. */
static void tell_left_out(const struct run_options *o)
{
	int fd = addressed_left_out(o->keep, o->n_keep);

	if (fd >= 0)
		fprintf(stderr, "usher: LISTEN_FDS: the command is not given descriptor %d, and does not take those that were passed for its own; --keep-fd=%d lets it have it\n", fd, fd);
}

int run_session(const struct run_options *o, int *by_signal)
{
	struct spaces want;
	const char *step = "";
	struct before b = { .link = -1, .peers = -1, .managed = getpid() };
	int status = RUN_FAILED;

	*by_signal = 0;
	if (filter_inside()) {
		fputs("usher: this is inside a session of usher already, and there can be but one: start the command as it is, the rules of that session hold for it\n",
		      stderr);
		return RUN_FAILED;
	}
	tell_left_out(o);
	b.program = realpath("/proc/self/exe", NULL);
	if (!b.program && errno != ENOENT) {
		(void)run_complain("find usher's own program", -errno, NULL);
		return RUN_FAILED;
	}
	if (spaces_parse(o->isolate, &want) == 0 && !spaces_any(&want))
		return run_inside(o, &b, by_signal);
	if (emptied_names(o) < 0)
		return RUN_FAILED;
	root_loaders_note(&b.loaders);
	int rc = spaces_enter(&want, &b.link, &b.peers, &b.number, &step);
	if (rc == 1)
		return outside_main(b.number, b.link, b.peers, by_signal);
	if (rc < 0)
		fprintf(stderr, "usher: --isolate=%s: %s: %s\n", o->isolate, step, strerror(-rc));
	else
		status = run_inside(o, &b, by_signal);
	outside_tell(b.link, status, *by_signal);
	return status;
}
