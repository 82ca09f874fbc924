/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frame of the probes. A probe is a list of attacks; each is run natively first (the positive control: it must
 * work, as this user on this kernel, or it is skipped), then under usher with a policy that allows everything, and must fail there.
 * As root each runs as root and as uid 1000.
 *
 * An attack returns 0 when it worked, 1 when it was refused, 77 when it is not possible here. VICTIM is a process of the same user
 * outside the sandbox; under usher victims() also gives usher, its keeper and its guardian.
 */
#ifndef USHER_TESTS_PROBE_H
#define USHER_TESTS_PROBE_H

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORKED 0
#define REFUSED 1
#define IMPOSSIBLE 77
#define PROBE_UID 1000
#define MAX_VICTIMS 4

struct attack {
	const char *name; /* "row 49: io_uring_setup" */
	int (*run)(void);
	bool no_control;  /* natively it would reach beyond the test */
};

static inline int verdict(long rc)
{
	return rc < 0 ? REFUSED : WORKED;
}

static inline int parent_of(int pid)
{
	char name[64], text[512];
	int ppid = 0;

	snprintf(name, sizeof(name), "/proc/%d/stat", pid);
	FILE *f = fopen(name, "r");
	char *paren = f && fgets(text, sizeof(text), f) ? strrchr(text, ')') : NULL;
	if (paren)
		sscanf(paren + 1, " %*c %d", &ppid);
	if (f)
		fclose(f);
	return ppid;
}

/* The processes an attack aims at; returns how many. */
static inline int victims(int pid[MAX_VICTIMS])
{
	int n = 0;

	pid[n++] = atoi(getenv("VICTIM"));
	if (!getenv("SUPERVISED"))
		return n;
	for (int above = getppid(); above > 1 && n < MAX_VICTIMS; above = parent_of(above)) /* guardian, keeper, usher */
		pid[n++] = above;
	return n;
}

/* Runs AIM at every victim: worked as soon as it works on one. */
static inline int at_victims(long (*aim)(int pid))
{
	int pid[MAX_VICTIMS];
	int n = victims(pid);

	for (int i = 0; i < n; i++) {
		if (aim(pid[i]) >= 0)
			return WORKED;
	}
	return REFUSED;
}

static inline void probe_drop(int uid)
{
	if (uid <= 0 || geteuid() != 0)
		return;
	if (setgroups(0, NULL) < 0 || setresgid((gid_t)uid, (gid_t)uid, (gid_t)uid) < 0 || setresuid((uid_t)uid, (uid_t)uid, (uid_t)uid) < 0)
		_exit(99);
	prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
}

static inline void probe_end(int sig)
{
	(void)sig;
	_exit(0);
}

static inline int probe_victim(int uid)
{
	int ready[2];
	char byte;

	int pid = pipe(ready) < 0 ? -1 : fork();
	if (pid < 0) { /* -1 would be everybody */
		perror("start the victim");
		exit(2);
	}
	if (pid == 0) {
		probe_drop(uid);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		setpgid(0, 0);
		signal(SIGWINCH, probe_end);
		if (write(ready[1], "", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		pid = -1;
	close(ready[0]);
	return pid;
}

/* Runs ARGV as UID; returns its exit status, 128 + signal, or -1. */
static inline int probe_spawn(char *const *argv, int uid, const char *dir, int victim, bool supervised)
{
	char text[16];
	int status;
	int pid = fork();

	if (pid == 0) {
		probe_drop(uid);
		setenv("HOME", dir, 1);
		snprintf(text, sizeof(text), "%d", victim);
		setenv("VICTIM", text, 1);
		if (supervised)
			setenv("SUPERVISED", "1", 1);
		if (chdir(dir) < 0)
			_exit(99);
		execv(argv[0], argv);
		_exit(99);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

struct stage {
	char dir[64], self[80], usher[80], rules[80], work[80];
	int uid;
};

static inline int probe_copy(const char *from, const char *to, mode_t mode)
{
	char buf[65536];
	int in = open(from, O_RDONLY | O_CLOEXEC), out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
	ssize_t n = 0;

	while (in >= 0 && out >= 0 && (n = read(in, buf, sizeof(buf))) > 0) {
		if (write(out, buf, (size_t)n) != n)
			return -1;
	}
	close(in);
	close(out);
	return n;
}

static inline int probe_stage(struct stage *s, int uid)
{
	const char *usher = getenv("USHER");

	s->uid = uid;
	snprintf(s->dir, sizeof(s->dir), "/tmp/usher-probe.XXXXXX");
	if (!usher || !mkdtemp(s->dir) || chmod(s->dir, 0755) < 0)
		return -1;
	snprintf(s->self, sizeof(s->self), "%s/probe", s->dir);
	snprintf(s->usher, sizeof(s->usher), "%s/usher", s->dir);
	snprintf(s->rules, sizeof(s->rules), "%s/allow.rules", s->dir);
	snprintf(s->work, sizeof(s->work), "%s/work", s->dir);
	if (mkdir(s->work, 0755) < 0 || probe_copy("/proc/self/exe", s->self, 0755) < 0 || probe_copy(usher, s->usher, 0755) < 0)
		return -1;
	FILE *f = fopen(s->rules, "w");
	if (!f || fputs("default allow\n", f) < 0 || fclose(f) != 0)
		return -1;
	chmod(s->rules, 0644);
	return uid > 0 && geteuid() == 0 ? chown(s->work, (uid_t)uid, (gid_t)uid) : 0;
}

static inline void probe_clean(struct stage *s)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", s->dir);
	if (system(command) != 0)
		fprintf(stderr, "could not remove %s\n", s->dir);
}

static inline int probe_native(struct stage *s, const struct attack *a, char *number)
{
	char *argv[] = { s->self, (char *)"--attack", number, NULL };
	int victim = probe_victim(s->uid);
	int rc = probe_spawn(argv, s->uid, s->work, victim, false);

	(void)a;
	kill(victim, SIGKILL);
	waitpid(victim, NULL, 0);
	return rc;
}

/* Whether the victim lives on; then it is ended. */
static inline bool probe_unharmed(int victim)
{
	bool lives = waitpid(victim, NULL, WNOHANG) == 0;

	if (lives) {
		kill(victim, SIGKILL);
		waitpid(victim, NULL, 0);
	}
	return lives;
}

/* Under usher, with the kernel's floor or (FLOOR "off") by mediation alone. Returns 1 when the attack got through. */
static inline int probe_supervised(struct stage *s, const struct attack *a, char *number, const char *floor)
{
	char journal[96], option[32];

	snprintf(journal, sizeof(journal), "%s/j%s.%s", s->work, number, floor);
	snprintf(option, sizeof(option), "--floor=%s", floor);
	char *argv[] = { s->usher, (char *)"run", (char *)"-p", s->rules, (char *)"--ask=deny", option, (char *)"--journal", journal,
			 (char *)"--", s->self, (char *)"--attack", number, NULL };
	setenv("JOURNAL", journal, 1);
	int victim = probe_victim(s->uid);
	int rc = probe_spawn(argv, s->uid, s->work, victim, true);
	bool unharmed = probe_unharmed(victim);
	bool good = rc == REFUSED && unharmed;
	printf("%s %s (%s, floor %s)", good ? "ok" : "not ok", a->name, s->uid == 0 ? "root" : "user", floor);
	if (!good)
		printf(": status %d%s", rc, unharmed ? "" : ", the victim is dead");
	puts("");
	return good ? 0 : 1;
}

static inline int probe_one(struct stage *s, const struct attack *a, unsigned index)
{
	char number[16];

	snprintf(number, sizeof(number), "%u", index);
	if (!a->no_control) {
		int native = probe_native(s, a, number);
		if (native != WORKED) {
			bool fine = native == REFUSED || native == IMPOSSIBLE;
			printf("%s %s (%s): natively %s\n", fine ? "# left out" : "not ok", a->name, s->uid == 0 ? "root" : "user",
			       native == REFUSED ? "refused as well" : fine ? "not possible here" : "it failed");
			return fine ? 0 : 1;
		}
	}
	return probe_supervised(s, a, number, "auto") + probe_supervised(s, a, number, "off");
}

static inline int probe_main(int argc, char **argv, const struct attack *attacks, unsigned n)
{
	int failed = 0;

	if (argc == 3 && strcmp(argv[1], "--attack") == 0)
		return attacks[atoi(argv[2])].run();
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (int round = 0; round < 2; round++) {
		struct stage stage = { .uid = 0 };
		if (round == 1 && geteuid() != 0)
			break;
		if (probe_stage(&stage, round == 1 || geteuid() != 0 ? PROBE_UID : 0) < 0) {
			printf("not ok stage: %s\n", strerror(errno));
			return 1;
		}
		for (unsigned i = 0; i < n; i++)
			failed += probe_one(&stage, &attacks[i], i);
		probe_clean(&stage);
	}
	return failed ? 1 : 0;
}

#endif
