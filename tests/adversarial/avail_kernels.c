/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Row 74: kernels with an older Landlock, or none. A tracer answers usher's question for the ABI as such a kernel would. Each time the session
 * starts, the journal's first record says what the floor covers, no signal leaves the tree, and what --require names and
 * the kernel has not is refused with a reason. The control is the kernel's own answer.
 */
#include "probe.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>

#ifdef __x86_64__

#define OWN_ANSWER (-1)
#define NEWEST 7

static int ask_tracer_for_abi(void)
{
	const struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 444 /* landlock_create_ruleset */, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 1 /* the version is asked for */, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { sizeof(code) / sizeof(code[0]), (struct sock_filter *)(uintptr_t)code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	return (int)syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}

/* Answers with ABI until PID has ended; returns its status. */
static int serve(int pid, int abi)
{
	int status;

	while (waitpid(pid, &status, __WALL) == pid && WIFSTOPPED(status)) {
		struct user_regs_struct r;
		int sig = status >> 16 ? 0 : WSTOPSIG(status);
		if (status >> 16 == PTRACE_EVENT_SECCOMP && ptrace(PTRACE_GETREGS, pid, 0, &r) == 0) {
			r.orig_rax = (unsigned long)-1;
			r.rax = abi ? (unsigned long)abi : (unsigned long)-EOPNOTSUPP;
			ptrace(PTRACE_SETREGS, pid, 0, &r);
		}
		ptrace(PTRACE_CONT, pid, 0, (long)sig);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* usher with ARGV on such a kernel; what it says is in FILE. */
static int run_on(const struct stage *s, int abi, char *const *argv, const char *file)
{
	int go[2];
	char byte = 0;

	if (pipe2(go, O_CLOEXEC) < 0)
		return -1;
	int pid = fork();
	if (pid == 0) {
		probe_drop(s->uid);
		setenv("HOME", s->work, 1);
		int out = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		if (chdir(s->work) < 0 || out < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0 || read(go[0], &byte, 1) != 1 ||
		    (abi != OWN_ANSWER && ask_tracer_for_abi() < 0))
			_exit(99);
		execv(argv[0], argv);
		_exit(99);
	}
	if (pid < 0 || ptrace(PTRACE_SEIZE, pid, 0, PTRACE_O_TRACESECCOMP | PTRACE_O_EXITKILL) < 0 || write(go[1], "", 1) != 1)
		return -1;
	close(go[0]);
	close(go[1]);
	return serve(pid, abi);
}

static bool holds(const char *file, const char *words)
{
	static char text[65536];
	FILE *f = fopen(file, "re");
	size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;

	if (f)
		fclose(f);
	text[n] = '\0';
	return strstr(text, words) != NULL;
}

static int failed;

static void tell(bool good, const char *what, int abi, const struct stage *s, int status)
{
	char kernel[32];

	snprintf(kernel, sizeof(kernel), abi == OWN_ANSWER ? "the kernel's own" : "%d", abi);
	printf("%s row 74: Landlock ABI %s: %s (%s)", good ? "ok" : "not ok", kernel, what, s->uid == 0 ? "root" : "user");
	if (!good)
		printf(": status %d", status);
	puts("");
	failed += !good;
}

/* It starts, says what it has, and keeps signals in. */
static void session(const struct stage *s, int abi)
{
	char journal[128], out[128], first[200], wants[64], script[64];
	int victim = probe_victim(s->uid);

	snprintf(journal, sizeof(journal), "%s/j%d", s->work, abi);
	snprintf(out, sizeof(out), "%s/out", s->work);
	snprintf(first, sizeof(first), "%s/journal-000001.jsonl", journal);
	snprintf(script, sizeof(script), "kill -9 %d; exit 5", victim);
	char *argv[] = { (char *)s->usher, (char *)"run", (char *)"-p", (char *)s->rules, (char *)"--ask=deny", (char *)"--journal", journal, (char *)"--",
			 (char *)"/bin/sh", (char *)"-c", script, NULL };
	int status = run_on(s, abi, argv, out);
	tell(status == 5, "a session", abi, s, status);
	tell(probe_unharmed(victim), "no signal leaves the tree", abi, s, status);
	snprintf(wants, sizeof(wants), abi ? "\"floor\":\"Landlock ABI %d: " : "\"floor\":\"none", abi == OWN_ANSWER ? NEWEST : abi);
	if (abi == OWN_ANSWER)
		*strchr(wants, '7') = '\0';
	tell(holds(first, wants), "the journal's first record says what the floor is", abi, s, status);
	if (abi == 0)
		tell(holds(out, "no Landlock"), "usher says that there is none", abi, s, status);
}

static void required(const struct stage *s, int abi)
{
	static const struct {
		const char *word;
		int abi;
	} words[] = { { "landlock", 1 }, { "truncate", 3 }, { "tcp", 4 }, { "ioctl", 5 }, { "scopes", 6 }, { "unix", 9 }, { "udp", 10 } };
	char journal[128], out[128], option[64], says[128];

	snprintf(out, sizeof(out), "%s/out", s->work);
	for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		snprintf(journal, sizeof(journal), "%s/r%d.%u", s->work, abi, i);
		snprintf(option, sizeof(option), "--require=%s", words[i].word);
		snprintf(says, sizeof(says), "%s: not in force here", option);
		char *argv[] = { (char *)s->usher, (char *)"run", (char *)"-p", (char *)s->rules, (char *)"--ask=deny", option, (char *)"--journal", journal,
				 (char *)"--", (char *)"/bin/true", NULL };
		int status = run_on(s, abi, argv, out);
		bool has = abi >= words[i].abi;
		tell(has ? status == 0 : status == 125 && holds(out, says), option, abi, s, status);
	}
}

static void round_as(int uid)
{
	struct stage stage = { .uid = 0 };

	if (probe_stage(&stage, uid) < 0) {
		printf("not ok row 74: stage: %s\n", strerror(errno));
		failed++;
		return;
	}
	if (syscall(444, NULL, 0, 1) >= NEWEST - 1)
		session(&stage, OWN_ANSWER);
	for (int abi = 0; abi <= 6; abi++) {
		session(&stage, abi);
		required(&stage, abi);
	}
	probe_clean(&stage);
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (syscall(444, NULL, 0, 1) < 6) {
		puts("skip row 74: older kernels: this one is older itself");
		return 77;
	}
	if (geteuid() == 0)
		round_as(0);
	round_as(PROBE_UID);
	return failed ? 1 : 0;
}

#else

int main(void)
{
	puts("skip row 74: older kernels: the tracer knows x86-64 only");
	return 77;
}

#endif
