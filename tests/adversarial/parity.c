/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows 11, 31, 32, 45, 64: harm that a supervisor would bring along and that the kernel alone does not do. The control shows natively what the harm
 * would rest on (signals come, an open blocks, a terminal is taken, a busy file is refused, root may); the trial must then find no harm, natively and
 * under usher.
 */
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/types.h>

#include "probe.h"

#define CALLS 600
#define PATIENCE 30 /* seconds, for what must not block */

static atomic_int hits;

static void on_alarm(int sig)
{
	(void)sig;
	atomic_fetch_add(&hits, 1);
}

/* Makes CALLS directories under a storm of signals; returns how many were there already, or were interrupted. */
static int storm(void)
{
	struct sigaction sa = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };
	struct itimerval often = { { 0, 150 }, { 0, 150 } }, never = { 0 };
	char name[32];
	int harm = 0;

	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < CALLS || (atomic_load(&hits) < 20 && i < 1000 * CALLS); i++) {
		snprintf(name, sizeof(name), "d%d", i);
		harm += mkdir(name, 0700) < 0;
		harm += rmdir(name) < 0;
	}
	setitimer(ITIMER_REAL, &never, NULL);
	return harm;
}

static int signals_come(void)
{
	(void)storm();
	return atomic_load(&hits) >= 20 ? WORKED : REFUSED;
}

static int call_twice(void)
{
	return storm() ? WORKED : REFUSED;
}

static int fifo_opener(void)
{
	int pid;

	unlink("fifo");
	if (mkfifo("fifo", 0600) < 0 || (pid = fork()) < 0)
		return -1;
	if (pid == 0) {
		alarm(2 * PATIENCE);
		_exit(open("fifo", O_RDONLY | O_CLOEXEC) < 0);
	}
	usleep(100000);
	return pid;
}

static bool fifo_waits(int pid)
{
	return pid > 0 && waitpid(pid, NULL, WNOHANG) == 0;
}

static int open_blocks(void)
{
	int pid = fifo_opener();
	bool waits = fifo_waits(pid);

	if (pid > 0)
		kill(pid, SIGKILL);
	return waits ? WORKED : REFUSED;
}

/* Several opens block; others must not. A block ends by the alarm, which is no refusal. */
static int open_blocks_others(void)
{
	int pid[8], status;
	bool harm = false;

	alarm(PATIENCE);
	for (int i = 0; i < 8; i++)
		pid[i] = fifo_opener();
	for (int i = 0; i < CALLS; i++) {
		int fd = open("/etc/passwd", O_RDONLY | O_CLOEXEC);
		harm |= fd < 0;
		close(fd);
	}
	for (int i = 0; i < 8; i++)
		harm |= !fifo_waits(pid[i]);
	for (int i = 0; i < 7; i++) /* their FIFO was replaced by the next one's */
		if (pid[i] > 0)
			kill(pid[i], SIGKILL);
	int fd = open("fifo", O_WRONLY | O_CLOEXEC);
	harm |= fd < 0 || waitpid(pid[7], &status, 0) != pid[7] || status != 0;
	return harm ? WORKED : REFUSED;
}

/* In a session of its own: opens a new terminal; whether the caller has one then. *OUT: its device. */
static int terminal(int flags, dev_t *out)
{
	struct stat st;
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);

	if (setsid() < 0 || master < 0 || grantpt(master) < 0 || unlockpt(master) < 0)
		return -1;
	int slave = open(ptsname(master), O_RDWR | O_CLOEXEC | flags);
	if (slave < 0 || fstat(slave, &st) < 0)
		return -1;
	*out = st.st_rdev;
	int own = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
	if (own >= 0)
		close(own);
	return own >= 0;
}

static bool has_terminal(int pid, dev_t dev)
{
	char name[64], text[512];
	int tty = 0;

	snprintf(name, sizeof(name), "/proc/%d/stat", pid);
	FILE *f = fopen(name, "re");
	char *paren = f && fgets(text, sizeof(text), f) ? strrchr(text, ')') : NULL;
	if (paren)
		sscanf(paren + 1, " %*c %*d %*d %*d %d", &tty);
	if (f)
		fclose(f);
	return tty && makedev((unsigned)tty >> 8 & 0xfff, ((unsigned)tty & 0xff) | ((unsigned)tty >> 12 & 0xfff00)) == dev;
}

static int in_child(int (*what)(void))
{
	int status, pid = fork();

	if (pid == 0)
		_exit(what());
	return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}

static int takes_terminal(void)
{
	dev_t dev;

	return terminal(0, &dev) == 1 ? WORKED : REFUSED;
}

static int keeps_away(void)
{
	dev_t dev;

	return terminal(O_NOCTTY, &dev) == 0 ? REFUSED : WORKED;
}

/* Without O_NOCTTY it is the caller that has the terminal then, not whoever opened it. */
static int usher_takes_it(void)
{
	int pid[MAX_VICTIMS];
	int n = victims(pid);
	dev_t dev;

	if (terminal(0, &dev) != 1)
		return 99;
	for (int i = 0; i < n; i++) {
		if (has_terminal(pid[i], dev))
			return WORKED;
	}
	return has_terminal(getpid(), dev) ? REFUSED : 99;
}

static int terminal_taken(void)
{
	return in_child(takes_terminal);
}

static int wrong_terminal(void)
{
	int rc = in_child(keeps_away);

	return rc == REFUSED ? in_child(usher_takes_it) : rc;
}

/* Writes a program and runs it, with a descriptor held for writing or not. Returns exec's errno. */
static int write_and_run(bool held)
{
	int status, holder = -1;

	unlink("fresh");
	if (probe_copy("/bin/true", "fresh", 0755) < 0)
		return -1;
	if (held)
		holder = open("fresh", O_WRONLY | O_CLOEXEC);
	int pid = fork();
	if (pid == 0) {
		execl("./fresh", "fresh", (char *)NULL);
		_exit(errno);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	if (holder >= 0)
		close(holder);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int busy_while_held(void)
{
	return write_and_run(true) == ETXTBSY ? WORKED : REFUSED;
}

static int busy_after_close(void)
{
	for (int i = 0; i < 100; i++) {
		if (write_and_run(false) != 0)
			return WORKED;
	}
	return REFUSED;
}

/* What only root may: read a file, list a directory, make a file there. Returns whether any of it was possible. */
static bool as_root_only(void)
{
	int in = open("closed/secret", O_RDONLY | O_CLOEXEC), out = open("closed/new", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	int made = mkdir("closed/dir", 0700), gone = rename("closed/secret", "closed/other");

	if (gone == 0)
		(void)!rename("closed/other", "closed/secret");
	return in >= 0 || out >= 0 || made == 0 || gone == 0;
}

static bool close_up(void)
{
	(void)!mkdir("closed", 0700);
	int fd = open("closed/secret", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	return geteuid() == 0 && fd >= 0;
}

static int root_may(void)
{
	return !close_up() ? IMPOSSIBLE : as_root_only() ? WORKED : REFUSED;
}

static int dropped_may(void)
{
	if (!close_up())
		return 99;
	probe_drop(PROBE_UID);
	return as_root_only() ? WORKED : REFUSED;
}

static const struct {
	struct attack trial;
	int (*control)(void);
} list[] = {
	{ { "row 11: a call that signals interrupt takes effect twice", call_twice, false }, signals_come },
	{ { "row 31: opens that block hold up others", open_blocks_others, false }, open_blocks },
	{ { "row 32: a terminal is taken that should not be, or by usher", wrong_terminal, false }, terminal_taken },
	{ { "row 45: a program is busy after its writer closed it", busy_after_close, false }, busy_while_held },
	{ { "row 64: usher's rights for a caller that gave up its own", dropped_may, false }, root_may },
};

static int native(struct stage *s, const char *how, char *number)
{
	char *argv[] = { s->self, (char *)how, number, NULL };

	return probe_spawn(argv, s->uid, s->work, (int)getpid(), false);
}

static int one(struct stage *s, unsigned i)
{
	const struct attack *a = &list[i].trial;
	const char *who = s->uid == 0 ? "root" : "user";
	char number[16];

	snprintf(number, sizeof(number), "%u", i);
	int control = native(s, "--control", number);
	if (control == IMPOSSIBLE) {
		printf("# left out %s (%s)\n", a->name, who);
		return 0;
	}
	int harm = native(s, "--attack", number);
	printf("%s control of %s (%s)\n", control == WORKED && harm == REFUSED ? "ok" : "not ok", a->name, who);
	return (control != WORKED) + (harm != REFUSED) + probe_supervised(s, a, number, "auto") + probe_supervised(s, a, number, "off");
}

int main(int argc, char **argv)
{
	int failed = 0;

	if (argc == 3)
		return (strcmp(argv[1], "--control") == 0 ? list[atoi(argv[2])].control : list[atoi(argv[2])].trial.run)();
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (int round = geteuid() == 0 ? 0 : 1; round < 2; round++) {
		struct stage stage = { .uid = 0 };
		if (probe_stage(&stage, round == 1 ? PROBE_UID : 0) < 0) {
			printf("not ok stage: %s\n", strerror(errno));
			return 1;
		}
		for (unsigned i = 0; i < sizeof(list) / sizeof(*list); i++)
			failed += one(&stage, i);
		probe_clean(&stage);
	}
	return failed ? 1 : 0;
}
