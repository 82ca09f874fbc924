/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Row 74: surroundings that give usher less than it wants. It works and says what is weaker, or refuses to start; with
 * --require it refuses. The control is that the same command line works in full surroundings.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/syscall.h>

#include "probe.h"

#ifndef __NR_landlock_create_ruleset
#define __NR_landlock_create_ruleset 444
#endif

static int install(struct sock_filter *code, unsigned short n, unsigned flags)
{
	struct sock_fprog program = { n, code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
}

static int no_landlock(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_landlock_create_ruleset, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EOPNOTSUPP),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};

	return install(code, 4, 0);
}

/* As where user.max_user_namespaces is 0. */
static int no_user_namespaces(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_unshare, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 0x10000000 /* CLONE_NEWUSER */, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSPC),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};

	return install(code, 6, 0);
}

/* An ordinary user has it not anyway. */
static int no_sight(void)
{
	return geteuid() == 0 ? prctl(PR_CAPBSET_DROP, 19 /* CAP_SYS_PTRACE */, 0, 0, 0) : 0;
}

static int a_listener(void)
{
	struct sock_filter code[] = { BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
	int fd = install(code, 1, SECCOMP_FILTER_FLAG_NEW_LISTENER);

	return fd < 0 ? -1 : fcntl(fd, F_SETFD, 0);
}

static int no_home(void)
{
	return setenv("HOME", "/proc", 1) | setenv("XDG_STATE_HOME", "/proc/none", 1);
}

static int everything(void)
{
	return 0;
}

static const struct {
	const char *name;
	int (*spoil)(void);
	const char *option;  /* NULL: none */
	bool journal;        /* one is named */
	int status;
	const char *says;    /* NULL: anything */
	bool user;           /* for an ordinary user: root lacks nothing then */
} cases[] = {
	{ "row 74: control: all is there", everything, "--require=landlock", true, 0, NULL, false },
	{ "row 74: no Landlock: it works and says so", no_landlock, NULL, true, 0, "no Landlock", false },
	{ "row 74: no Landlock, but required", no_landlock, "--require=tcp,landlock", true, 125, "--require=tcp", false },
	{ "row 74: what is required has no such name", everything, "--require=landlock,", true, 125, "--require", false },
	{ "row 74: control: a namespace is required, and there", everything, "--isolate=ipc", true, 0, NULL, false },
	{ "row 74: no user namespaces: without --isolate nothing is missing", no_user_namespaces, NULL, true, 0, NULL, false },
	{ "row 74: no user namespaces, but an ordinary user wants them", no_user_namespaces, "--isolate=pid", true, 125, "user namespace", true },
	{ "row 74: no user namespaces, net", no_user_namespaces, "--isolate=net", true, 125, "No space", true },
	{ "row 74: a namespace is required, but was not asked for", everything, "--require=pid", true, 125, "it takes --isolate=pid", false },
	{ "row 74: nobody holds memory, but it is required", everything, "--require=memory", true, 125, "it takes a rule 'limit memory", false },
	{ "row 74: no CAP_SYS_PTRACE, but required", no_sight, "--require=ptrace", true, 125, "it takes CAP_SYS_PTRACE", false },
	{ "row 74: a listener is there already", a_listener, NULL, true, 125, "listener", false },
	{ "row 74: no home for the journal: it says where it goes", no_home, NULL, false, 0, "the journal goes below", false },
	{ "row 74: no home, but a journal", no_home, NULL, true, 0, NULL, false },
};

static int run_case(struct stage *s, unsigned i, char text[4096])
{
	char journal[96];
	const char *argv[16];
	int status, n = 0, p[2];
	size_t got = 0;
	ssize_t more;

	snprintf(journal, sizeof(journal), "--journal=%s/p%u", s->work, i);
	argv[n++] = s->usher;
	argv[n++] = "run";
	argv[n++] = "-p";
	argv[n++] = s->rules;
	argv[n++] = "--ask=deny";
	if (cases[i].option)
		argv[n++] = cases[i].option;
	if (cases[i].journal)
		argv[n++] = journal;
	argv[n++] = "--";
	argv[n++] = "/bin/true";
	argv[n] = NULL;
	if (pipe(p) < 0)
		return -1;
	int pid = fork();
	if (pid == 0) {
		probe_drop(s->uid);
		dup2(p[1], STDERR_FILENO);
		close(p[0]);
		close(p[1]);
		setenv("HOME", s->work, 1);
		alarm(60);
		if (chdir(s->work) == 0 && cases[i].spoil() >= 0)
			execv(s->usher, (char *const *)argv);
		_exit(99);
	}
	close(p[1]);
	while (got < 4095 && (more = read(p[0], text + got, 4095 - got)) > 0)
		got += (size_t)more;
	text[got] = '\0';
	close(p[0]);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(void)
{
	int failed = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (syscall(__NR_landlock_create_ruleset, NULL, 0UL, 1U) < 4) {
		puts("skip poor surroundings: this kernel has no Landlock to take away");
		return IMPOSSIBLE;
	}
	for (int round = 0; round < 2; round++) {
		struct stage stage = { .uid = 0 };
		if (round == 1 && geteuid() != 0)
			break;
		if (probe_stage(&stage, round == 1 || geteuid() != 0 ? PROBE_UID : 0) < 0)
			return 1;
		/* In a user namespace root's files are nobody's. */
		if (stage.uid && geteuid() == 0 && chown(stage.rules, PROBE_UID, PROBE_UID) < 0)
			return 1;
		for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
			char text[4096];
			int rc = run_case(&stage, i, text);
			bool lacks = !cases[i].user || stage.uid;
			bool good = lacks ? rc == cases[i].status && (!cases[i].says || strstr(text, cases[i].says)) : rc == 0;
			printf("%s %s (%s)\n", good ? "ok" : "not ok", cases[i].name, stage.uid ? "user" : "root");
			if (!good || getenv("V"))
				printf("# status %d: %s\n", rc, text);
			failed += !good;
		}
		probe_clean(&stage);
	}
	return failed ? 1 : 0;
}
