/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What file calls say and do at limits: of size, of descriptors, of depth; flags and bits that mean nothing; leases; controlling terminals.
 */
#include <mqueue.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "tests/e2e/old_calls.h"
#include "tests/e2e/places.h"

/* Beyond what the output of this program takes: it may go to a file. */
#define MEGA 1048576
#define HIGH 0xdeadbeef00000000ul

static volatile sig_atomic_t seen_signal;

static void on_signal(int sig)
{
	seen_signal = sig;
}

static void limits(void)
{
	struct rlimit small = { MEGA, MEGA };

	put("limited", 0644);
	signal(SIGXFSZ, on_signal);
	setrlimit(RLIMIT_FSIZE, &small);
	say("truncate of a closed file above the limit", (put("limited0", 0), geteuid() == 0 ? 0 : truncate("limited0", 2 * MEGA)));
	say("truncate below the limit", truncate("limited", 50));
	say("truncate above the limit", truncate("limited", 2 * MEGA));
	printf("signal %d\n", (int)seen_signal);
	seen_signal = 0;
	say("open with O_TRUNC", open_close("limited", O_WRONLY | O_TRUNC, 0));
	int fd = open("limited", O_RDWR | O_CLOEXEC);
	say("ftruncate above the limit", ftruncate(fd, 2 * MEGA));
	printf("signal %d\n", (int)seen_signal);
	look("limited", "limited");
	say("a directory above the limit", truncate(".", 2 * MEGA));
	printf("signal %d\n", (int)seen_signal);
}

static void limits_default(void)
{
	struct rlimit small = { MEGA, MEGA };

	put("limited2", 0644);
	setrlimit(RLIMIT_FSIZE, &small);
	say("truncate above the limit, no handler", truncate("limited2", 2 * MEGA));
}

static void high_bits(void)
{
	put("hb", 0644);
	say("openat", syscall(SYS_openat, HIGH | (uint32_t)AT_FDCWD, "hb", HIGH | O_RDONLY, HIGH));
	say("mkdirat", syscall(SYS_mkdirat, HIGH | (uint32_t)AT_FDCWD, "hbd", HIGH | 0700));
	say("unlinkat", syscall(SYS_unlinkat, HIGH | (uint32_t)AT_FDCWD, "hbd", HIGH | AT_REMOVEDIR));
	say("fchmodat", syscall(SYS_fchmodat, HIGH | (uint32_t)AT_FDCWD, "hb", HIGH | 0640));
	say("fchownat", syscall(SYS_fchownat, HIGH | (uint32_t)AT_FDCWD, "hb", HIGH | (uint32_t)-1, HIGH | (uint32_t)-1, HIGH));
	say("linkat", syscall(SYS_linkat, HIGH | (uint32_t)AT_FDCWD, "hb", HIGH | (uint32_t)AT_FDCWD, "hb2", HIGH));
	say("renameat2", syscall(SYS_renameat2, HIGH | (uint32_t)AT_FDCWD, "hb2", HIGH | (uint32_t)AT_FDCWD, "hb3", HIGH));
	say("symlinkat", syscall(SYS_symlinkat, "x", HIGH | (uint32_t)AT_FDCWD, "hbl"));
	say("mknodat", syscall(SYS_mknodat, HIGH | (uint32_t)AT_FDCWD, "hbn", HIGH | S_IFIFO | 0600, 0));
	say("utimensat", syscall(SYS_utimensat, HIGH | (uint32_t)AT_FDCWD, "hb", NULL, HIGH));
	say("fchmod", syscall(SYS_fchmod, HIGH | 99, HIGH | 0640));
	say("setxattr", syscall(SYS_setxattr, "hb", "user.k", "v", 1, HIGH));
	look("hb", "hb");
	look("hbn", "hbn");
}

static void flags(void)
{
	struct timespec omit[2] = { { 0, UTIME_OMIT }, { 0, UTIME_OMIT } };

	put("fl", 0644);
	mkdir("fld", 0755);
	for (unsigned bit = 0; bit < 32; bit++) {
		unsigned f = 1u << bit;
		char what[64];
		int fds[2] = { -1, -1 };
		snprintf(what, sizeof(what), "bit %u of openat", bit);
		say(what, (fds[0] = (int)syscall(SYS_openat, AT_FDCWD, "fl", f & ~(unsigned)(O_CREAT | O_TRUNC), 0)) < 0 ? -1 : 0);
		if (fds[0] >= 0)
			printf("\t%x\n", fcntl(fds[0], F_GETFL));
		close(fds[0]);
		snprintf(what, sizeof(what), "bit %u of unlinkat", bit);
		say(what, syscall(SYS_unlinkat, AT_FDCWD, "nothing", f));
		snprintf(what, sizeof(what), "bit %u of linkat", bit);
		say(what, syscall(SYS_linkat, AT_FDCWD, "nothing", AT_FDCWD, "n", f));
		snprintf(what, sizeof(what), "bit %u of renameat2", bit);
		say(what, syscall(SYS_renameat2, AT_FDCWD, "nothing", AT_FDCWD, "n", f));
		snprintf(what, sizeof(what), "bit %u of fchownat", bit);
		say(what, syscall(SYS_fchownat, AT_FDCWD, "fl", -1, -1, f));
		snprintf(what, sizeof(what), "bit %u of fchmodat2", bit);
		say(what, syscall(452, AT_FDCWD, "fl", 0644, f));
		snprintf(what, sizeof(what), "bit %u of utimensat", bit);
		say(what, syscall(SYS_utimensat, AT_FDCWD, "fl", omit, f));
		snprintf(what, sizeof(what), "bit %u of setxattr", bit);
		say(what, syscall(SYS_setxattr, "fl", "user.k", "v", 1, f));
		snprintf(what, sizeof(what), "bit %u of statx", bit);
		char st[256];
		say(what, syscall(SYS_statx, AT_FDCWD, "fl", f, 0, st));
		snprintf(what, sizeof(what), "bit %u of mknod's mode", bit);
		say(what, old_mknod("fln", f));
		unlink("fln");
		snprintf(what, sizeof(what), "bit %u of mkdir's mode", bit);
		say(what, old_mkdir("flm", f));
		look("\tflm", "flm");
		rmdir("flm");
	}
	say("renameat2 exchange and noreplace", syscall(SYS_renameat2, AT_FDCWD, "fl", AT_FDCWD, "fld", RENAME_EXCHANGE | RENAME_NOREPLACE));
	say("renameat2 whiteout", syscall(SYS_renameat2, AT_FDCWD, "nothing", AT_FDCWD, "fld", RENAME_WHITEOUT));
	say("rename onto a full directory", (mkdir("fld/x", 0700), mkdir("fle", 0700), rename("fle", "fld")));
	say("rename into itself", rename("fld", "fld/x/y"));
	say("rename of itself", rename("fld", "fld"));
	say("rename to a link of the same", (link("fl", "fl2"), rename("fl", "fl2")));
	look("both links stay", "fl");
	say("exchange with itself", syscall(SYS_renameat2, AT_FDCWD, "fl", AT_FDCWD, "fl", RENAME_EXCHANGE));
	say("exchange parent and child", syscall(SYS_renameat2, AT_FDCWD, "fld", AT_FDCWD, "fld/x", RENAME_EXCHANGE));
	say("rmdir of .", rmdir("."));
	say("rmdir of fld/.", rmdir("fld/."));
	say("rmdir of fld/..", rmdir("fld/x/.."));
	say("unlink of a directory", unlink("fld"));
	say("link of a directory", link("fld", "flh"));
}

static void lease(void)
{
	put("leased", 0644);
	int fd = open("leased", O_RDONLY | O_CLOEXEC);
	signal(SIGIO, on_signal);
	say("lease", fcntl(fd, F_SETLEASE, F_RDLCK));
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0)
		_exit(open("leased", O_WRONLY | O_NONBLOCK | O_CLOEXEC) < 0 && errno == EWOULDBLOCK ? 0 : 1);
	int status;
	while (waitpid(pid, &status, 0) < 0)
		;
	printf("an open that would break it: %x, signal %d\n", (unsigned)status, (int)seen_signal);
	fcntl(fd, F_SETLEASE, F_UNLCK);
	say("after it", open_close("leased", O_WRONLY | O_NONBLOCK, 0));
}

static void few_numbers(void)
{
	struct rlimit few = { 6, 6 };

	for (int fd = 3; fd < 20; fd++)
		close(fd);
	dup2(0, 9);
	dup2(0, 12);
	dup2(0, 13);
	dup2(0, 14);
	setrlimit(RLIMIT_NOFILE, &few);
	for (int i = 0; i < 4; i++)
		say("create below a limit that others lie above", open("few", O_CREAT | O_RDWR, 0600));
	say("a queue without a number", mq_open("/usher-tests-few", O_CREAT | O_RDWR, 0600, NULL));
	say("none is left behind", mq_unlink("/usher-tests-few"));
	for (int i = 3; i < 6; i++)
		close(i);
	for (int i = 0; i < 4; i++)
		say("open below it", open("few", O_RDONLY));
}

/* A session leader takes the terminal that it opens. */
static void terminal(void)
{
	static const struct { const char *what; bool leads; int flags; } cases[] = {
		{ "leader", true, O_RDWR }, { "leader, reading", true, O_RDONLY }, { "leader, writing", true, O_WRONLY },
		{ "leader, O_NOCTTY", true, O_RDWR | O_NOCTTY }, { "no leader", false, O_RDWR },
	};
	char name[64];
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);

	if (!FROM_INSIDE)
		return;
	if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0 || ptsname_r(master, name, sizeof(name)) != 0) {
		say("no terminal", -1);
		return;
	}
	signal(SIGHUP, SIG_IGN);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fflush(stdout);
		pid_t pid = fork();
		if (pid > 0)
			waitpid(pid, NULL, 0);
		if (pid)
			continue;
		if (cases[i].leads || i + 1 == sizeof(cases) / sizeof(cases[0]))
			setsid();
		if (!cases[i].leads && fork() > 0) {
			wait(NULL);
			_exit(0);
		}
		say(cases[i].what, open(name, cases[i].flags));
		int own = open("/dev/tty", O_RDWR | O_CLOEXEC);
		say("its controlling terminal", own);
		printf("in front: %d\n", own >= 0 && tcgetpgrp(own) == getpid());
		fflush(stdout);
		_exit(0);
	}
	close(master);
}

static void deep(void)
{
	char name[256];
	int made = 0;

	memset(name, 'n', 250);
	name[250] = '\0';
	while (made < 20 && mkdir(name, 0700) == 0 && chdir(name) == 0)
		made++;
	printf("levels %d\n", made);
	say("create in the deep", open_close("f", O_CREAT | O_WRONLY, 0600));
	say("rename in the deep", rename("f", "g"));
	say("unlink in the deep", unlink("g"));
	while (made-- > 0 && chdir("..") == 0)
		say("rmdir upwards", rmdir(name));
}

int main(int argc, char **argv)
{
	static void (*const parts[])(void) = { limits, limits_default, high_bits, flags, lease, deep, few_numbers, terminal };

	return run_all(argc, argv, parts, sizeof(parts) / sizeof(parts[0]));
}
