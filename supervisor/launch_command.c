/* SPDX-License-Identifier: Apache-2.0 */
/* The command's process, until its exec. */
#include "supervisor/launch_child.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rules/pages.h"
#include "supervisor/addressed.h"
#include "supervisor/ahead.h"
#include "supervisor/cover.h"
#include "supervisor/filter.h"
#include "supervisor/floor.h"
#include "supervisor/harden.h"
#include "supervisor/isolate.h"
#include "supervisor/limits.h"
#include "supervisor/outlets.h"
#include "supervisor/path_search.h"
#include "supervisor/privileges.h"
#include "supervisor/sock_diag.h"

/* For its names and paths; execvpe(3) of a script without a first line copies the arguments there as well. */
#define STACK ((size_t)1024 * 1024)

_Noreturn void launch_fail(int status, const char *step)
{
	(void)report_send(status, REPORT_FAILED, errno, step);
	_exit(125);
}

static int by_number(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

int launch_keep_only(int *keep, size_t n)
{
	unsigned from = 3;

	qsort(keep, n, sizeof(keep[0]), by_number);
	/* The call that unshares is not one that the filter stops: nobody receives yet. */
	if (close_range(~0U, ~0U, CLOSE_RANGE_UNSHARE) < 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		if ((unsigned)keep[i] > from && close_range(from, (unsigned)keep[i] - 1, 0) < 0)
			return -1;
		from = (unsigned)keep[i] + 1;
	}
	return close_range(from, ~0U, 0);
}

/* Handlers end with the exec; what usher itself was started to ignore stays ignored. */
static void restore_signals(const struct launch_options *o)
{
	if (o->ignore_children)
		(void)signal(SIGCHLD, SIG_IGN);
	sigprocmask(SIG_SETMASK, &o->mask, NULL);
}

static void restore_limits(const struct launch_options *o)
{
	own_limits_back(&o->limits_before);
	/* A core dump is a file written by the kernel, past every rule. */
	(void)harden_cores();
}

/* Last, since what usher has open is in the same table until then; by the call that no filter stops: nobody receives yet. */
static int restore_files(const struct launch_options *o)
{
	struct rlimit files = o->limits_before.before[OWN_LIMIT_FILES];

	limits_lower_files(o->limits, &files);
	return (int)syscall(SYS_setrlimit, RLIMIT_NOFILE, &files);
}

static bool is_device(int fd, unsigned device)
{
	unsigned dev = 0;

	return device && ioctl(fd, TIOCGDEV, &dev) == 0 && dev == device;
}

/* What is a terminal is the command's own, and what it was told to keep where that is the real one; what leads to another program is held while a question is up. */
static int take_terminal(const struct launch_options *o)
{
	if (setpgid(0, 0) < 0 || tcsetpgrp(o->terminal, getpgrp()) < 0)
		return -1;
	for (int fd = 0; fd < 3; fd++) {
		int to = isatty(fd) ? o->terminal : outlets_given(o->outlets, fd);
		if (to >= 0 && dup2(to, fd) < 0)
			return -1;
	}
	for (size_t i = 0; i < o->n_keep; i++) {
		if (is_device(o->keep[i], o->device) && dup2(o->terminal, o->keep[i]) < 0)
			return -1;
	}
	return 0;
}

/*
 * Returns only when that failed. The program's own PATH counts, as with env(1); where rules leave access(2) alone directories without it are
 * passed over, as each would be an exec to answer. execvpe() searches the PATH of environ, which is not what the program gets. Not from
 * the heap: a thread of usher may have held its lock when this process was forked.
 */
static void run_program(const struct launch_options *o)
{
	struct addressed addressed;

	environ = (char **)(uintptr_t)o->envp;
	addressed_take(&addressed, environ, o->managed);
	const char *all = getenv("PATH"), *path = o->filter.trap_stat ? all : path_search(all, o->argv[0]);
	const size_t len = path ? strlen(path) : 0;
	char *search = path != all ? pages_new(len + sizeof("PATH=")) : NULL;
	char *only[] = { search, NULL };

	if (search) {
		memcpy(mempcpy(search, "PATH=", 5), path, len + 1);
		environ = only;
	}
	own_limits_back_last(&o->limits_before);
	errno = ENOENT; /* of a PATH in which nothing is short enough to be tried execvpe() says nothing */
	execvpe(o->argv[0], o->argv, (char *const *)(uintptr_t)o->envp);
}

static void tie(pid_t guardian, int status)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != guardian)
		launch_fail(status, "tie the command to its guardian");
}

/* Those that are kept stay open over the exec: harden_start() has marked all that was inherited. */
static int leave_descriptors(const struct launch_options *o, int status)
{
	int keep[LAUNCH_KEEP + 4] = { status };
	size_t n = 1;

	if (o->n_keep > LAUNCH_KEEP) {
		errno = E2BIG;
		return -1;
	}
	if (o->terminal >= 0)
		keep[n++] = o->terminal;
	for (int fd = 1; fd < 3; fd++) {
		int given = outlets_given(o->outlets, fd);
		if (given >= 0 && given != keep[n - 1])
			keep[n++] = given;
	}
	for (size_t i = 0; i < o->n_keep; i++)
		keep[n++] = o->keep[i];
	if (launch_keep_only(keep, n) < 0)
		return -1;
	for (size_t i = 0; i < o->n_keep; i++)
		(void)fcntl(o->keep[i], F_SETFD, 0);
	return 0;
}

static _Noreturn void command_main(const struct launch_options *o, pid_t guardian, int status)
{
	int listener = -1;

	int rc = isolate_enter(o->isolation);
	if (rc < 0) {
		errno = -rc;
		launch_fail(status, "enter the network namespace");
	}
	int asker = o->sockets_asked && isolate_describe(o->isolation) ? sock_diag_asker() : -1;
	if (asker >= 0 && report_send(status, REPORT_ASKER, asker, NULL) < 0)
		_exit(125);
	rc = cover_enter(o->cover);
	if (rc < 0) {
		errno = -rc;
		launch_fail(status, "enter the mount namespace");
	}
	tie(guardian, status); /* again: a change of credentials has ended it */
	restore_limits(o);
	rc = limits_enter(o->limits);
	if (rc < 0) {
		errno = -rc;
		launch_fail(status, "limit the command");
	}
	rc = o->network_stays ? privileges_leave_network() : 0;
	if (rc < 0) {
		errno = -rc;
		launch_fail(status, "lay down CAP_NET_ADMIN");
	}
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		launch_fail(status, "set no_new_privs");
	if (o->floor >= 0 && floor_enter(o->floor) < 0)
		launch_fail(status, "enter the Landlock domain");
	if (filter_install(o->program, &listener) < 0)
		launch_fail(status, "install the seccomp filter");
	if (leave_descriptors(o, status) < 0)
		launch_fail(status, "close inherited descriptors");
	if (report_send(status, REPORT_LISTENER, listener, NULL) < 0)
		_exit(125); /* usher sees the end of all three */
	if (o->terminal >= 0 && take_terminal(o) < 0)
		launch_fail(status, "take the terminal");
	if (o->terminal >= 3)
		close(o->terminal);
	if (restore_files(o) < 0)
		launch_fail(status, "limit the command's open files");
	restore_signals(o);
	run_program(o);
	int error = errno;
	(void)report_send(status, REPORT_EXEC_FAILED, error, NULL);
	_exit(error == ENOENT ? 127 : 126);
}

static int command_begin(void *arg)
{
	const struct command *c = arg;
	struct launch_options o = *c->given;

	tie(c->guardian, c->status);
	if (o.ahead && !ahead_await(o.ahead, &o))
		_exit(125);
	command_main(&o, c->guardian, c->status);
}

pid_t command_start(struct command *c)
{
	size_t arguments = 0;

	while (c->given->argv[arguments])
		arguments++;
	return beside_start(&c->place, STACK + arguments * sizeof(char *), command_begin, c);
}
