/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts itself in many places, the ways programs do: posix_spawn, vfork and clone, before and after a change of directory by itself, by the child, by a
 * thread of its own and by one that shares its directory, in directories that are renamed and removed. Each start says where it is: "PID PLACE".
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static const char *self;
static const char *top;

static void must(int rc, const char *what)
{
	if (rc < 0) {
		perror(what);
		exit(1);
	}
}

static int say(void)
{
	char place[PATH_MAX], line[PATH_MAX + 32];
	ssize_t n = readlink("/proc/self/cwd", place, sizeof(place) - 1);

	must((int)n, "readlink");
	place[n] = '\0';
	int len = snprintf(line, sizeof(line), "%d %s\n", (int)getpid(), place);
	return write(1, line, (size_t)len) == len ? 0 : 1;
}

static void collect(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, __WALL) < 0 && errno == EINTR)
		;
	if (!WIFEXITED(status) || WEXITSTATUS(status)) {
		fprintf(stderr, "a start failed: %#x\n", (unsigned)status);
		exit(1);
	}
}

static void start(const char *program, const char *dir, const char *how)
{
	char *argv[] = { (char *)"place", (char *)how, (char *)top, NULL };
	posix_spawn_file_actions_t actions;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	if (dir)
		posix_spawn_file_actions_addchdir_np(&actions, dir);
	errno = posix_spawn(&pid, program, &actions, NULL, argv, environ);
	must(-errno, "posix_spawn");
	posix_spawn_file_actions_destroy(&actions);
	collect(pid);
}

static void spawn_in(const char *dir, const char *how)
{
	start(self, dir, how);
}

static void spawn(void)
{
	spawn_in(NULL, "say");
}

/* By a name that begins where it stands. */
static void relative(void)
{
	must(symlink(self, "here"), "symlink");
	start("./here", NULL, "say");
	spawn();
	start("./here", NULL, "say");
	start("../three/here", NULL, "say");
}

static void *exec_from_here(void *arg)
{
	char *argv[] = { (char *)"place", (char *)"say", (char *)top, NULL };

	execve(self, argv, environ);
	return arg;
}

/* The thread that execs is not the first one; it gets that one's number. */
static void from_thread(void)
{
	pthread_t thread;
	pid_t pid = fork();

	must(pid, "fork");
	if (!pid) {
		if (!pthread_create(&thread, NULL, exec_from_here, NULL))
			pthread_join(thread, NULL);
		_exit(1);
	}
	collect(pid);
	spawn();
}

static void twice(void)
{
	spawn();
	spawn();
}

static void go(const char *name)
{
	must(chdir(top), "chdir");
	(void)mkdir(name, 0755);
	must(chdir(name), "chdir");
}

static void *apart(void *arg)
{
	must(unshare(CLONE_FS), "unshare");
	spawn();
	go("apart");
	twice();
	return arg;
}

/* A thread with a directory of its own, and its process, which stays where it is. */
static void threads(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, apart, NULL) || pthread_join(thread, NULL))
		exit(1);
	twice();
}

static int sharing(void *arg)
{
	char *argv[] = { (char *)"place", (char *)"say", (char *)top, NULL };

	go(arg);
	execve(self, argv, environ);
	_exit(1);
}

/* A child that moves its parent, too. */
static void shared(int flags)
{
	const size_t size = 256 * 1024;
	char *stack = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (stack == MAP_FAILED)
		exit(1);
	pid_t pid = clone(sharing, stack + size, flags | SIGCHLD, (void *)"shared");
	must(pid, "clone");
	collect(pid);
	twice();
	munmap(stack, size);
}

/* Forked before its parent moves and execs, and heard of only then. */
static void late(void)
{
	char *argv[] = { (char *)"place", (char *)"say", (char *)top, NULL };
	int ends[2];
	char c, text[16];
	char *again[] = { (char *)"place", (char *)"tell", (char *)top, text, NULL };

	must(pipe(ends), "pipe");
	pid_t pid = fork();
	must(pid, "fork");
	if (!pid) {
		must((int)read(ends[0], &c, 1), "read");
		execve(self, argv, environ);
		_exit(1);
	}
	go("late");
	snprintf(text, sizeof(text), "%d", ends[1]);
	execve(self, again, environ);
	_exit(1);
}

static void tell(int fd)
{
	spawn();
	must((int)write(fd, "x", 1), "write");
	while (wait(NULL) > 0)
		;
	spawn();
}

static void names(void)
{
	go("old");
	twice();
	must(rename("../old", "../new"), "rename");
	twice();
	go("gone");
	must(rmdir("../gone"), "rmdir");
	twice();
	go("a");
	(void)mkdir("b", 0755);
	must(chdir("b"), "chdir");
	spawn();
	must(rename("../../a", "../../z"), "rename");
	spawn();
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	char exe[PATH_MAX];
	top = argv[2];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	must((int)n, "readlink");
	exe[n] = '\0';
	self = exe;
	if (strcmp(argv[1], "say") == 0)
		return say();
	if (strcmp(argv[1], "tell") == 0)
		return tell(atoi(argv[3])), 0;
	if (strcmp(argv[1], "moves") == 0) {
		go("deeper");
		return twice(), 0;
	}
	must(chdir(top), "chdir");
	twice();
	go("one");
	twice();
	spawn_in("..", "say");
	twice();
	spawn_in(NULL, "moves");
	twice();
	int fd = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	go("two");
	twice();
	must(fchdir(fd), "fchdir");
	twice();
	go("three");
	relative();
	from_thread();
	threads();
	shared(CLONE_FS | CLONE_VM | CLONE_VFORK);
	shared(CLONE_FS);
	names();
	must(chdir(top), "chdir");
	late();
	return 0;
}
