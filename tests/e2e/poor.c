/* SPDX-License-Identifier: Apache-2.0 */
/*
 * poor CMD...: runs CMD where threads have no pidfds and kcmp(2) is refused: a container's filter on a kernel before 6.9.
 * poor threads NAME...: each named file is opened by one thread, and its mode changed through the descriptor by another; a TCP connection is made likewise. Then the
 * same by a thread with a descriptor table of its own, whose number is another file's in the leader's. Prints what came of it.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int refuse(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_kcmp, 4, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pidfd_open, 0, 2),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_EXCL /* PIDFD_THREAD */, 2, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
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
	if (argc < 2 || refuse() < 0)
		return 99;
	execvp(argv[1], argv + 1);
	return 98;
}
