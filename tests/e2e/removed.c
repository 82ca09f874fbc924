/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A directory that was somebody's working directory is gone when it is removed, and so is a file that was worked on by its name: who watches it is told at once. Run natively and supervised,
 * the lines must be the same.
 */
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define TIMES 20
#define CROWD 4
#define FILES 4000
#define NO_MORE (-2)

static char top[PATH_MAX - 16], dir[PATH_MAX], other[PATH_MAX];

static void make_file(const char *name)
{
	int fd = open(name, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

	if (fd < 0)
		exit(1);
	close(fd);
}

static int watch_new(void)
{
	int in = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);

	if (mkdir(dir, 0700) < 0 || in < 0 || inotify_add_watch(in, dir, IN_DELETE_SELF) < 0)
		exit(77);
	return in;
}

/* Within WAIT milliseconds. */
static bool is_gone(int in, int wait)
{
	struct inotify_event e;
	bool told;

	while (!(told = read(in, &e, sizeof(e)) == sizeof(e) && (e.mask & IN_DELETE_SELF)) && wait-- > 0)
		usleep(1000);
	close(in);
	return told;
}

static void work_in(void)
{
	if (chdir(dir) < 0)
		exit(1);
	make_file("file");
	unlink("file");
}

static void work_in_child(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		work_in();
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

static void work_and_leave(void)
{
	work_in();
	if (chdir(top) < 0)
		exit(1);
}

static void replace(void)
{
	if (mkdir(other, 0700) < 0 || rename(other, dir) < 0 || rmdir(dir) < 0)
		exit(1);
}

static void take(void)
{
	rmdir(dir);
}

/* While it stands there: it goes away with its leaving. */
static void take_and_leave(void)
{
	if (chdir(dir) < 0 || rmdir(dir) < 0 || access("file", F_OK) == 0 || open("file", O_RDONLY | O_CLOEXEC) >= 0 || chdir(top) < 0)
		exit(1);
}

static void try(const char *what, void (*work)(void), void (*removes)(void), int wait)
{
	unsigned told = 0;

	for (int i = 0; i < TIMES; i++) {
		int in = watch_new();
		work();
		removes();
		told += is_gone(in, wait);
	}
	printf("%s: told %u of %d\n", what, told, TIMES);
}

static void busy(int number, const atomic_bool *over)
{
	char name[32];

	alarm(60);
	snprintf(name, sizeof(name), "busy%d", number);
	while (!atomic_load(over)) {
		make_file(name);
		unlink(name);
	}
	_exit(0);
}

/* Several workers receive then. The others leave a moment later. They end by themselves: what one asked for that is killed may be done behind its end. */
static void in_a_crowd(void)
{
	atomic_bool *over = mmap(NULL, sizeof(*over), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (over == MAP_FAILED)
		exit(1);
	for (int i = 0; i < CROWD; i++) {
		if (fork() == 0)
			busy(i, over);
	}
	try("in a crowd", work_in_child, take, 2000);
	atomic_store(over, true);
	while (wait(NULL) > 0)
		;
}

/* Gone when its last descriptor is closed, which is no call of usher's, by another thread, on another core: what the call before held of it is not held any more. */
static void *close_it(void *of)
{
	atomic_int *fd = of;
	int now;

	while ((now = atomic_load(fd)) != NO_MORE) {
		if (now >= 0) {
			close(now);
			atomic_store(fd, -1);
		}
	}
	return NULL;
}

static void files(void)
{
	int in = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	atomic_int last = -1;
	unsigned told = 0;
	char events[4096], name[32];
	pthread_t closer;

	if (pthread_create(&closer, NULL, close_it, &last) != 0)
		exit(1);
	for (int i = 0; i < FILES; i++) {
		int fd = open("file", O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
		if (fd < 0 || inotify_add_watch(in, "file", IN_DELETE_SELF) < 0)
			exit(77);
		unlink("file");
		snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
		chmod(name, 0644);
		atomic_store(&last, fd);
		while (atomic_load(&last) >= 0)
			;
		told += read(in, events, sizeof(events)) > 0;
	}
	atomic_store(&last, NO_MORE);
	pthread_join(closer, NULL);
	close(in);
	printf("files: told %u of %d\n", told, FILES);
}

int main(void)
{
	if (!getcwd(top, sizeof(top)))
		return 77;
	snprintf(dir, sizeof(dir), "%s/dir", top);
	snprintf(other, sizeof(other), "%s/other", top);
	try("a child's", work_in_child, take, 0);
	try("one's own before", work_and_leave, take, 0);
	try("replaced", work_in_child, replace, 0);
	try("while one stands there", work_in_child, take_and_leave, 0);
	in_a_crowd();
	files();
	return 0;
}
