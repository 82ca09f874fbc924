/* SPDX-License-Identifier: Apache-2.0 */
/*
 * poor old CMD...: runs CMD where threads have no pidfds and kcmp(2) is refused: a container's filter on a kernel before 6.9.
 * poor docker CMD..., poor docker-ptrace CMD...: under the part that matters of Docker's own filter, without and with --cap-add=SYS_PTRACE;
 * poor docker-20 CMD...: without it, as Docker 20.10's is.
 * poor CALL CMD..., CALL being ptrace, openat2, pidfd_open, close_range or setrlimit: where a filter refuses that call alone.
 * poor threads FILE OTHER: a thread changes the mode of OTHER and connects through descriptors of its leader's, then one with a descriptor table of its own
 * changes FILE's, which has the number there. Prints what came of it.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

struct refusal {
	int call, error;
	unsigned flags; /* with one of these in the second argument; 0: always */
};

static const struct refusal old[] = { { SYS_kcmp, EPERM, 0 }, { SYS_pidfd_open, EINVAL, O_EXCL /* PIDFD_THREAD */ } };

static const struct refusal docker[] = {
	{ SYS_unshare, EPERM, 0 }, { SYS_setns, EPERM, 0 },	   { SYS_mount, EPERM, 0 }, { SYS_clone3, ENOSYS, 0 },
	{ SYS_bpf, EPERM, 0 },	   { SYS_perf_event_open, EPERM, 0 }, { SYS_kcmp, EPERM, 0 },  { SYS_pidfd_getfd, EPERM, 0 },
	{ SYS_process_vm_readv, EPERM, 0 },
};
#define OF_20 1	    /* the last is 20.10's alone */
#define OF_PTRACE 3 /* the last of them are allowed with SYS_PTRACE */

static int refuse_one(const struct refusal *r)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)r->call, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
		BPF_JUMP(BPF_JMP | (r->flags ? BPF_JSET : BPF_JGE) | BPF_K, r->flags, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)r->error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}

static const struct {
	const char *name;
	struct refusal r;
} one[] = {
	{ "ptrace", { SYS_ptrace, EPERM, 0 } },
	{ "openat2", { SYS_openat2, EPERM, 0 } },
	{ "pidfd_open", { SYS_pidfd_open, EPERM, 0 } },
	{ "close_range", { SYS_close_range, EPERM, 0 } },
	{ "setrlimit", { SYS_setrlimit, EPERM, 0 } },
};

static int refuse(const char *where)
{
	const bool is_old = strcmp(where, "old") == 0;
	const size_t allowed = strcmp(where, "docker-20") == 0 ? 0 : strcmp(where, "docker") == 0 ? OF_20 : OF_PTRACE;
	const struct refusal *r = is_old ? old : docker;
	size_t n = is_old ? sizeof(old) / sizeof(*old) : sizeof(docker) / sizeof(*docker) - allowed;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	for (size_t i = 0; i < sizeof(one) / sizeof(*one); i++)
		if (strcmp(where, one[i].name) == 0)
			return refuse_one(&one[i].r);
	for (size_t i = 0; i < n; i++)
		if (refuse_one(&r[i]) < 0)
			return -1;
	return 0;
}

static void tell(const char *what, int ret)
{
	printf("%s: %s\n", what, ret < 0 ? strerror(errno) : "done");
}

/* A server that listens, and a client's socket that another thread connects. */
static int connect_by_thread_to(struct sockaddr_in *at)
{
	socklen_t len = sizeof(*at);
	int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	*at = (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	if (bind(server, (struct sockaddr *)at, len) < 0 || listen(server, 4) < 0 || getsockname(server, (struct sockaddr *)at, &len) < 0)
		return -1;
	return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

struct shared {
	int file, client;
	struct sockaddr_in at;
	const char *mine, *leaders;
	pthread_barrier_t met;
};

static void *other(void *arg)
{
	struct shared *s = arg;

	tell("fchmod by another thread", fchmod(s->file, 0640));
	tell("connect by another thread", connect(s->client, (struct sockaddr *)&s->at, sizeof(s->at)));
	tell("fchmod of no descriptor", fchmod(9999, 0640));
	return NULL;
}

/* Its number N is the file MINE; the leader's is LEADERS. */
static void *apart(void *arg)
{
	struct shared *s = arg;

	if (unshare(CLONE_FILES) < 0)
		return NULL;
	close(s->file);
	int own = open(s->mine, O_RDONLY | O_CLOEXEC);
	if (own != s->file)
		puts("another number");
	fchmod(own, 0604);
	return NULL;
}

static int threads(const char *mine, const char *leaders)
{
	struct shared s = { .file = open(leaders, O_RDONLY | O_CLOEXEC), .mine = mine, .leaders = leaders };
	struct stat st;
	pthread_t t;

	s.client = connect_by_thread_to(&s.at);
	if (s.file < 0 || s.client < 0)
		return 1;
	if (pthread_create(&t, NULL, other, &s) == 0)
		pthread_join(t, NULL);
	if (pthread_create(&t, NULL, apart, &s) == 0)
		pthread_join(t, NULL);
	/* Its own file was changed, or none. */
	printf("the leader's file: %o\n", stat(leaders, &st) < 0 ? 0 : st.st_mode & 0777);
	return 0;
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc == 4 && strcmp(argv[1], "threads") == 0)
		return threads(argv[2], argv[3]);
	if (argc < 3 || refuse(argv[1]) < 0)
		return 99;
	execvp(argv[2], argv + 2);
	return 98;
}
