/* SPDX-License-Identifier: Apache-2.0 */
/* Relative names while working directories move: by the caller, by other threads and processes, and under it. */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>

#include "tests/e2e/places.h"

static void find(const char *name)
{
	static const char *const places[] = { "one", "two", "three", "." };

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		char path[64];
		snprintf(path, sizeof(path), "%s/%s", places[i], name);
		if (access(path, F_OK) == 0)
			printf("%s is in %s\n", name, places[i]);
	}
}

static void make(const char *name)
{
	char what[64];

	snprintf(what, sizeof(what), "make %s", name);
	say(what, mkdir(name, 0755));
}

static void go(const char *where)
{
	char what[64];

	snprintf(what, sizeof(what), "go to %s", where);
	say(what, chdir(where));
}

static int child(int (*work)(void))
{
	int status = -1;

	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0)
		_exit(work());
	waitpid(pid, &status, 0);
	return status;
}

static void by_descriptor(void)
{
	int one = open("one", O_RDONLY | O_DIRECTORY), path = open("two", O_PATH), file = open("file", O_RDONLY | O_CREAT, 0600);

	make("d1");
	say("fchdir", fchdir(one));
	make("d2");
	say("rename", rename("d2", "d3"));
	say("fchdir of a path descriptor", fchdir(path));
	make("d4");
	say("create", open_close("d5", O_CREAT | O_WRONLY, 0600));
	say("unlink", unlink("d5"));
	say("fchdir of a file", fchdir(file));
	say("fchdir of nothing", fchdir(99));
	say("fchdir with bits above", syscall(SYS_fchdir, 0xffffffff00000000ul | (unsigned)one));
	make("d6");
	say("chdir nowhere", chdir("nowhere"));
	say("chdir to a bad address", syscall(SYS_chdir, 1));
	make("d7");
	go("../..");
	for (int i = 1; i <= 7; i++) {
		char name[8];
		snprintf(name, sizeof(name), "d%d", i);
		find(name);
	}
}

static void *moves(void *arg)
{
	go(arg);
	return NULL;
}

static void by_thread(void)
{
	pthread_t t;

	make("t1");
	pthread_create(&t, NULL, moves, "one");
	pthread_join(t, NULL);
	make("t2");
	pthread_create(&t, NULL, moves, "../two");
	pthread_join(t, NULL);
	make("t3");
	go("..");
	find("t1");
	find("t2");
	find("t3");
}

static int turn;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;

static void my_turn(int n)
{
	pthread_mutex_lock(&lock);
	while (turn != n)
		pthread_cond_wait(&turned, &lock);
	pthread_mutex_unlock(&lock);
}

static void next_turn(void)
{
	pthread_mutex_lock(&lock);
	turn++;
	pthread_cond_broadcast(&turned);
	pthread_mutex_unlock(&lock);
}

/* A thread with a working directory of its own execs: what comes after it stands where the thread stood. */
static void *apart(void *arg)
{
	my_turn(1);
	say("unshare", unshare(CLONE_FS));
	go("two");
	make("u2");
	next_turn();
	my_turn(3);
	make("u4");
	fflush(stdout);
	execl(arg, arg, "--make", "u5", NULL);
	return NULL;
}

static char self[4096];

static int with_threads(void)
{
	pthread_t t;

	make("u1");
	pthread_create(&t, NULL, apart, self);
	next_turn();
	my_turn(2);
	make("u3");
	next_turn();
	pthread_join(t, NULL);
	return 1;
}

static void by_exec(void)
{
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[n > 0 ? n : 0] = '\0';
	printf("it ended with %d\n", child(with_threads));
	for (int i = 1; i <= 5; i++) {
		char name[8];
		snprintf(name, sizeof(name), "u%d", i);
		find(name);
	}
}

static int rename_it(void)
{
	return rename("../one", "../three");
}

static int remove_it(void)
{
	return rmdir("../three");
}

static void under_it(void)
{
	char cwd[4096];

	go("one");
	make("m1");
	printf("renamed: %d\n", child(rename_it));
	make("m2");
	say("create", open_close("f", O_CREAT | O_WRONLY, 0600));
	say("where", getcwd(cwd, sizeof(cwd)) ? 0 : -1);
	printf("%s\n", strrchr(cwd, '/'));
	say("rmdir", rmdir("m1") | rmdir("m2") | unlink("f"));
	printf("removed: %d\n", child(remove_it));
	make("m3");
	say("create", open_close("f", O_CREAT | O_WRONLY, 0600));
	say("chmod", chmod(".", 0700));
	say("unlink", unlink("f"));
	go("..");
	make("m4");
	find("m4");
}

static int moves_away(void *arg)
{
	(void)arg;
	return chdir("two") < 0;
}

static void shared(void)
{
	static char stack[65536] __attribute__((aligned(16)));
	int status = -1;

	make("s1");
	fflush(stdout);
	pid_t pid = clone(moves_away, stack + sizeof(stack), CLONE_FS | SIGCHLD, NULL);
	waitpid(pid, &status, 0);
	printf("it ended with %d\n", status);
	make("s2");
	go("..");
	pid = clone(moves_away, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);
	waitpid(pid, &status, 0);
	make("s3");
	find("s1");
	find("s2");
	find("s3");
}

/* Those who went somewhere and are not heard of again do not stand in the way of the others. */
static void by_many(void)
{
	pid_t pid[100];
	int ready[2];
	char c;

	if (pipe(ready) < 0)
		return;
	fflush(stdout);
	for (int i = 0; i < 100; i++) {
		pid[i] = fork();
		if (pid[i] == 0) {
			_exit(chdir(i % 2 ? "one" : "two") < 0 || write(ready[1], "", 1) != 1 || pause());
		}
	}
	for (int i = 0; i < 100; i++)
		(void)!read(ready[0], &c, 1);
	make("n1");
	go("one");
	make("n2");
	make("n3");
	go("..");
	make("n4");
	for (int i = 0; i < 100; i++) {
		kill(pid[i], SIGKILL);
		waitpid(pid[i], NULL, 0);
	}
	for (int i = 1; i <= 4; i++) {
		char name[8];
		snprintf(name, sizeof(name), "n%d", i);
		find(name);
	}
}

static void elsewhere(void)
{
	char dir[] = "/dev/shm/moves-XXXXXX", cwd[4096];

	if (!getcwd(cwd, sizeof(cwd)) || !mkdtemp(dir))
		return;
	make("e1");
	go(chdir(dir) == 0 ? "." : "nowhere");
	make("e2");
	say("rename", rename("e2", "e3"));
	say("create", open_close("e4", O_CREAT | O_WRONLY, 0600));
	say("both are there", access("e3", F_OK) | access("e4", F_OK));
	say("unlink", unlink("e4"));
	say("rmdir", rmdir("e3"));
	say("back", chdir(cwd));
	make("e5");
	find("e1");
	find("e5");
	say("remove it", rmdir(dir));
}

static void closed(void)
{
	go("one");
	make("c1");
	say("close it", chmod(".", 0));
	make("c2");
	say("create", open_close("c3", O_CREAT | O_WRONLY, 0600));
	say("read", open_close("c1", O_RDONLY, 0));
	say("rename", rename("c1", "c4"));
	say("open it", chmod("../one", 0755));
	make("c5");
	go("..");
	find("c2");
	find("c5");
}

static void each(void (*part)(void))
{
	static const char *const names[] = { "one", "two" };

	for (size_t i = 0; i < 2; i++) {
		if (mkdir(names[i], 0755) < 0)
			perror(names[i]);
	}
	run(part);
	fflush(stdout);
	if (system("rm -rf one two three file ./[a-z][0-9]") != 0)
		printf("not clean\n");
}

int main(int argc, char **argv)
{
	static void (*const parts[])(void) = { by_descriptor, by_thread, by_exec, under_it, shared, by_many, elsewhere, closed };

	if (argc == 3 && strcmp(argv[1], "--make") == 0) {
		make(argv[2]);
		return 0;
	}
	if (argc != 2 || chdir(argv[1]) < 0)
		return 2;
	umask(022);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		each(parts[i]);
	return 0;
}
