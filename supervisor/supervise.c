/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signals: what a terminal sends reaches the command by itself (it shares usher's
 * process group, or has a terminal of its own), so only what a process sent is
 * passed on. A command that stops under job control stops usher too, so that the shell sees it.
 */
#include "supervisor/supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "audit/journal.h"
#include "policy/wait_for.h"
#include "rules/cleanup.h"
#include "rules/clock.h"
#include "supervisor/guardian.h"
#include "supervisor/launch.h"
#include "supervisor/limits.h"
#include "supervisor/lives.h"
#include "supervisor/outside.h"
#include "supervisor/patience.h"
#include "supervisor/pool.h"
#include "supervisor/relay.h"
#include "supervisor/stand_in.h"
#include "supervisor/watch.h"
#include "supervisor/watchdog.h"

#define LEFT_MS 5000

static const int forwarded[] = { SIGINT,  SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGURG,
				 SIGIO,   SIGPWR,  SIGCONT, SIGTSTP, SIGTTIN, SIGTTOU, SIGWINCH };

int supervise_block(sigset_t *before, int *signals)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(forwarded) / sizeof(forwarded[0]); i++)
		sigaddset(&set, forwarded[i]);
	for (int sig = SIGRTMIN; sig <= SIGRTMAX; sig++) /* which would end usher, and the tree with it */
		sigaddset(&set, sig);
	if (getpid() == 1) /* which gets the orphans of all in its namespace */
		sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGPIPE);
	if (sigprocmask(SIG_BLOCK, &set, before) < 0)
		return -errno;
	sigdelset(&set, SIGPIPE);
	*signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return *signals < 0 ? -errno : 0;
}

bool supervise_stop(int sig, bool group)
{
	sigset_t set, pending;

	sigemptyset(&set);
	sigaddset(&set, sig);
	(void)kill(group ? 0 : getpid(), sig);
	(void)pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	(void)pthread_sigmask(SIG_BLOCK, &set, NULL);
	/* A stop signal takes back any SIGCONT that came before it: one that is there now is later, and ended the stop. */
	return sigpending(&pending) == 0 && sigismember(&pending, SIGCONT);
}

/* The limits hold while usher is stopped; where nobody can see to that it is not stopped. Whether it was. */
static bool stop_measured(const struct session *s, int sig, bool group)
{
	pid_t stand_in = stand_in_start(s);

	if (stand_in < 0)
		return false;
	bool stopped = supervise_stop(sig, group);
	stand_in_end(stand_in);
	return stopped;
}

static void stop_self(const struct session *s, struct relay *relay, int sig)
{
	/* Which the kernel does not do where no shell is there that could let it go on, as it does SIGSTOP. */
	int as = sig == SIGSTOP ? SIGTSTP : sig;

	/* Of a key that usher has read the kernel tells nobody: the rest of the pipeline, or a script that waits for usher, would keep the shell waiting. */
	bool group = relay && relay_suspend(relay) && sig == SIGTSTP;
	bool stopped = s->outside >= 0 ? outside_stop(s->outside, as, group, s->limits) : stop_measured(s, as, group);
	/* Where no shell is above, a key's stop ends at once, as the kernel takes it for nothing there; who was ordered to stop waits for who lets him go on. */
	if (relay)
		relay_resume(relay, stopped || sig != SIGSTOP);
}

/* The controlling one: others say ENOTTY. */
static bool at_terminal(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (tcgetpgrp(fd) >= 0)
			return true;
	}
	int tty CLEANUP_FD = open("/dev/tty", O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	return tty >= 0;
}

/*
 * Whether usher stops as the command did. Without a terminal no shell would see it, nobody would let it go on, and who has started usher to
 * watch the command would wait for ever. SIGSTOP is somebody's direct order to the command; only a person in front of it needs to see usher stop for that.
 * In front is usher's group, or that which the command made for itself, as a shell that was told to suspend: nobody else has the keys then.
 */
static bool job_control(pid_t command, int sig)
{
	const pid_t front = tcgetpgrp(STDIN_FILENO);

	return at_terminal() && (sig != SIGSTOP || (front > 0 && (front == getpgrp() || front == getpgid(command))));
}

void supervise_pass_on(pid_t to, const struct signalfd_siginfo *si)
{
	if (si->ssi_code == SI_QUEUE)
		(void)sigqueue(to, (int)si->ssi_signo, (union sigval){ .sival_ptr = (void *)(uintptr_t)si->ssi_ptr });
	else
		(void)kill(to, (int)si->ssi_signo);
}

static bool ends(int sig)
{
	return sig == SIGHUP || sig == SIGINT || sig == SIGQUIT || sig == SIGTERM;
}

/* The command's number may be another process's when it has ENDED: what it left behind is ended then by what would have ended it. */
static void tell_command(struct session *s, bool ended, const struct signalfd_siginfo *si)
{
	if (!ended)
		supervise_pass_on(s->command, si);
	else if (ends((int)si->ssi_signo))
		session_kill(s);
}

/*
 * The session's leader is told alone, which natively the command were in usher's place; else the group in front. A terminal of the command's own may
 * be gone by now, with the real one: the command began there as the leader of that group.
 */
static void tell_hang_up(struct session *s, struct relay *relay, bool ended)
{
	bool leader = getsid(0) == getpid();

	if (!leader && (!relay || relay_signal(relay, SIGHUP)))
		return;
	if (!ended && (leader || kill(-s->command, SIGHUP) < 0))
		(void)kill(s->command, SIGHUP);
}

static void on_signal(struct session *s, struct relay *relay, bool ended, const struct signalfd_siginfo *si)
{
	int sig = (int)si->ssi_signo;
	bool timer = sig == SIGALRM || sig == SIGVTALRM || sig == SIGPROF; /* set before usher was started: exec leaves them running */
	bool by_terminal = si->ssi_code == SI_KERNEL && !timer;

	if (sig == SIGWINCH && relay) {
		relay_resize(relay);
		return;
	}
	if (sig == SIGCONT) {
		if (!ended)
			(void)kill(s->command, SIGCONT);
		return;
	}
	if (by_terminal && sig == SIGHUP) {
		tell_hang_up(s, relay, ended);
		return;
	}
	if (by_terminal && !relay)
		return;
	if (by_terminal) { /* keys of a terminal that is not relayed: they are for the group in the foreground */
		(void)relay_signal(relay, sig);
		return;
	}
	tell_command(s, ended, si);
}

void supervise_reap(pid_t but)
{
	siginfo_t ended;

	for (;;) {
		ended.si_pid = 0;
		if (waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT | __WNOTHREAD) < 0 || !ended.si_pid || ended.si_pid == but)
			return;
		(void)waitpid(ended.si_pid, NULL, WNOHANG);
	}
}

static void read_signals(struct session *s, int signals, struct relay *relay, bool ended)
{
	struct signalfd_siginfo si;

	while (read(signals, &si, sizeof(si)) == (ssize_t)sizeof(si)) {
		if (si.ssi_signo == SIGCHLD)
			supervise_reap(s->keeper);
		else
			on_signal(s, relay, ended, &si);
	}
}

/* Returns false when there is no more to come: the tree is gone, or the guardian. */
static bool on_report(struct session *s, struct relay *relay, bool wait, struct supervise_result *out)
{
	struct report r;

	if (launch_report(s, &r) <= 0)
		return false;
	if (r.kind == REPORT_STOPPED && job_control(s->command, r.value))
		stop_self(s, relay, r.value);
	if (r.kind == REPORT_FAILED)
		voice_say(s->voice, "usher: %s: %s\n", r.step, strerror(r.value));
	if (r.kind == REPORT_EXEC_FAILED)
		out->exec_error = r.value;
	if (r.kind == REPORT_EMPTY) {
		out->empty = true;
		out->lost = r.value != 0;
		return false;
	}
	if (r.kind == REPORT_EXITED) {
		out->exited = true;
		out->wait_status = r.value;
		out->user_ms = r.user_ms;
		out->system_ms = r.system_ms;
		out->peak_kb = r.peak_kb;
		if (WIFSIGNALED(r.value) && WTERMSIG(r.value) == SIGXFSZ)
			limits_met(s->limits, LIMIT_FILESIZE, 0);
		if (!wait)
			session_end(s);
	}
	return true;
}

/* Somebody killed guardian or keeper: their children are ours now (subreaper), and they end. */
static void kill_orphans(void)
{
	int st;

	for (unsigned round = 0; round < 4000; round++) {
		pid_t pid;
		do
			pid = waitpid(-1, &st, WNOHANG);
		while (pid > 0);
		if (pid < 0 && errno == ECHILD)
			return;
		poll(NULL, 0, guardian_kill_round(KILLER_USHER, round));
	}
}

enum { STATUS, SIGNALS, LIVES, WATCH, WAKERS };

/* What is looked at in rounds: not again before the pause is over. */
struct rounds {
	bool lives, watch, dog, patience;
	bool help; /* the journal's helper is to be started */
	bool held; /* usher, keeper and guardian are on the core that they began on */
	bool left; /* the command has ended, and what it left behind was killed: it has not ended for LEFT_MS yet */
	uint64_t dog_due_ms, help_due_ms, left_due_ms;
};

static int pause_ms(const struct rounds *r)
{
	if (r->help)
		return HELP_MS;
	if (r->watch)
		return WATCH_ROUND_MS;
	if (r->lives || r->patience)
		return LIVES_ROUND_MS;
	return r->dog || r->left ? WATCHDOG_LOOK_MS : -1;
}

static int wait_for_work(const struct session *s, int signals, const struct rounds *r, struct pollfd fds[WAKERS])
{
	fds[STATUS] = (struct pollfd){ s->status, POLLIN, 0 };
	fds[SIGNALS] = (struct pollfd){ signals, POLLIN, 0 };
	fds[LIVES] = (struct pollfd){ r->lives ? -1 : lives_fd(s->lives), POLLIN, 0 };
	fds[WATCH] = (struct pollfd){ r->watch ? -1 : s->pool->watch, POLLIN, 0 };
	return wait_for(fds, WAKERS, pause_ms(r));
}

static uint64_t now_ms(void)
{
	return clock_ms(CLOCK_MONOTONIC_COARSE);
}

/* What a session that ends within HELP_MS does without. */
static void grow_up(struct session *s, struct rounds *r)
{
	if (!r->help || now_ms() < r->help_due_ms)
		return;
	if (r->held) {
		together_leave(&s->together, 0);
		together_leave(&s->together, s->keeper);
		together_leave(&s->together, s->guardian);
		r->held = false;
	}
	int rc = journal_help(s->journal);
	r->help = rc == 1;
	if (rc < 0)
		session_journal_failed(s, rc);
}

/* Other wake-ups are rare enough that a pause which they cut short costs nothing. */
static void look_round(struct session *s, const struct pollfd fds[WAKERS], struct rounds *r)
{
	if (r->watch) {
		r->watch = watch_round(s->pool);
		supervise_reap(s->keeper);
	} else {
		r->watch = fds[WATCH].revents != 0;
	}
	r->patience = patience_look(s->pool);
	r->dog = r->dog || r->watch;
	if (r->dog && now_ms() >= r->dog_due_ms) {
		r->dog = watchdog_look(s->pool);
		r->dog_due_ms = now_ms() + WATCHDOG_LOOK_MS;
	}
	r->lives = fds[LIVES].revents != 0;
	if (r->lives)
		lives_round(s->lives);
}

/* Once, where it takes long: the person is told what is waited for. */
static void say_left(const struct session *s, struct rounds *r, bool killed)
{
	if (!killed)
		return;
	if (!r->left_due_ms) {
		r->left_due_ms = now_ms() + LEFT_MS;
		r->left = true;
	}
	if (!r->left || now_ms() < r->left_due_ms)
		return;
	r->left = false;
	voice_say(s->voice, "usher: the command has ended, but what it left behind was killed and has not ended for %d s: it waits in the kernel "
		  "(for a file system that does not answer), and usher waits for it\n", LEFT_MS / 1000);
}

void supervise(struct session *s, int signals, struct relay *relay, bool wait, struct supervise_result *out)
{
	struct rounds rounds = { .dog = true, .dog_due_ms = now_ms() + WATCHDOG_LOOK_MS, .help = true, .held = true, .help_due_ms = now_ms() + HELP_MS };
	struct pollfd fds[WAKERS];

	bool more = true;

	memset(out, 0, sizeof(*out));
	while (more && s->n_early)
		more = on_report(s, relay, wait, out);
	while (more) {
		if (wait_for_work(s, signals, &rounds, fds) < 0) {
			if (errno == EINTR)
				continue;
			session_kill(s);
			break;
		}
		grow_up(s, &rounds);
		look_round(s, fds, &rounds);
		/* Reports first: one may be of the command's end. */
		if (fds[STATUS].revents)
			more = on_report(s, relay, wait, out);
		else if (fds[SIGNALS].revents)
			read_signals(s, signals, relay, out->exited);
		say_left(s, &rounds, out->exited && !wait);
	}
	/* Whoever still waits for usher was killed with the tree: its worker is interrupted by pool_stop(). */
	if (!out->empty || !out->exited || out->lost)
		supervise_collect(s, out);
}

void supervise_collect(const struct session *s, struct supervise_result *out)
{
	int st = 0;

	while (waitpid(s->keeper, &st, 0) < 0 && errno == EINTR)
		;
	out->lost = out->lost || !out->exited || (!out->empty && (!WIFEXITED(st) || WEXITSTATUS(st) != 0));
	kill_orphans();
}
