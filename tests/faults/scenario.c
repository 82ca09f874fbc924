/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is done under usher while its calls fail: a little of everything that usher decides on, allowed, denied, rewritten and
 * asked about. It goes on after every error, and ends with status 0. What must never be seen on its output is what lies
 * in files that the rules close, and the words of a program that they forbid. usage: scenario PORT CLOSED_PORT
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#define IMPATIENT 2

static void say(const char *what, long rc)
{
	char line[128];
	int n = snprintf(line, sizeof(line), "%s %ld %d\n", what, rc, rc < 0 ? errno : 0);

	(void)!write(1, line, (size_t)n);
}

static void show(const char *name)
{
	char text[128];
	int fd = open(name, O_RDONLY);

	say(name, fd);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text));
	if (n > 0)
		(void)!write(1, text, (size_t)n);
	if (fd >= 0)
		close(fd);
}

static void make(const char *name, int flags)
{
	int fd = open(name, O_WRONLY | flags, 0600);

	say(name, fd);
	if (fd >= 0 && write(fd, "x", 1) == 1)
		close(fd);
}

static void changes(void)
{
	const struct timespec times[2] = { { 1, 0 }, { 2, 0 } };

	make("c0", O_CREAT | O_EXCL);
	say("rename", rename("c0", "c1"));
	say("link", link("c1", "l0"));
	say("symlink", symlink("c1", "s0"));
	say("mkdir", mkdir("d0", 0700));
	say("mkfifo", mknod("f0", S_IFIFO | 0600, 0));
	say("unlink", unlink("v0"));
	say("chmod", chmod("m0", 0640));
	say("truncate", truncate("t0", 1));
	say("utimensat", utimensat(AT_FDCWD, "m1", times, 0));
	say("setxattr", setxattr("m1", "user.scenario", "x", 1, 0));
}

static void forbidden(void)
{
	show("secret");
	show("hold/secret"); /* denied by the name of a link to its directory */
	show("alias"); /* a hard link to it, made before */
	make("../rules", O_TRUNC);
	make("../j/anchor", O_TRUNC);
	say("unlink", unlink("../j/journal-000001.jsonl"));
	say("unlink", unlink("frozen/keep"));
	say("rename", rename("frozen/keep", "moved"));
	say("rename", rename("v1", "frozen/moved"));
	say("link", link("secret", "laundered"));
	show("laundered");
	say("chmod", chmod("frozen/keep", 0777));
	say("mkdir", mkdir("frozen/new", 0700));
	make("frozen/keep", O_TRUNC);
	make("frozen/made", O_CREAT);
}

static void meet(const char *port)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons((in_port_t)atoi(port)), .sin_addr = { htonl(INADDR_LOOPBACK) } };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return;
	say("connect", connect(fd, (struct sockaddr *)&to, sizeof(to)));
	close(fd);
}

static void listen_here(void)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX, .sun_path = "u0" };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), rc = bind(fd, (struct sockaddr *)&at, sizeof(at));

	say("bind", rc);
	say("listen", rc == 0 ? listen(fd, 1) : rc);
	close(fd);
}

static void run(const char *program)
{
	int st = 0;
	pid_t pid = fork();

	if (pid == 0) {
		execl(program, program, "ran", (char *)NULL);
		say("exec", -1);
		_exit(1);
	}
	if (pid > 0)
		waitpid(pid, &st, 0);
	say(program, pid < 0 ? -1 : st);
}

static void *another(void *name)
{
	for (int i = 0; i < 4; i++)
		make(name, O_CREAT);
	return NULL;
}

static void threads(void)
{
	char names[3][4] = { "x0", "x1", "x2" };
	pthread_t t[3];
	int n = 0;

	while (n < 3 && pthread_create(&t[n], NULL, another, names[n]) == 0)
		n++;
	while (n > 0)
		pthread_join(t[--n], NULL);
}

static void on_alarm(int sig)
{
	(void)sig;
}

/* An open that waits for another process. */
static void waits(void)
{
	struct sigaction sa = { .sa_handler = on_alarm };
	pid_t pid = fork();

	if (pid == 0) {
		alarm(IMPATIENT);
		_exit(open("fifo", O_WRONLY) < 0);
	}
	sigaction(SIGALRM, &sa, NULL);
	alarm(IMPATIENT);
	int fd = open("fifo", O_RDONLY);
	alarm(0);
	say("fifo", fd);
	close(fd);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

static void second(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		make("p0", O_CREAT);
		if (fork() == 0) { /* left behind: usher has to end it */
			make("p1", O_CREAT);
			for (;;)
				pause();
		}
		_exit(0);
	}
	if (pid > 0)
		waitpid(pid, NULL, 0);
	say("second", pid < 0 ? -1 : 0);
}

static void look(void)
{
	struct stat st;
	struct dirent *e;

	say("stat", stat("in", &st));
	say("hidden", stat("hidden", &st));
	DIR *d = opendir(".");
	while (d && (e = readdir(d)))
		if (strcmp(e->d_name, "hidden") == 0)
			(void)!write(1, "LISTED\n", 7);
	if (d)
		closedir(d);
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "ran") == 0)
		return (int)!printf("RAN %s\n", strrchr(argv[0], '/') + 1);
	if (argc < 3)
		return 2;
	show("in");
	look();
	changes();
	forbidden();
	show("here");
	show("asked");
	show("refused");
	meet(argv[1]);
	meet(argv[2]);
	listen_here();
	run("./tool");
	run("./forbidden");
	threads();
	waits();
	second();
	say("chdir", chdir("d0"));
	make("e0", O_CREAT);
	say("end", 0);
	return 0;
}
