/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that change files, under a timer that fires every millisecond, with and without SA_RESTART: every effect happens once or, where
 * the call says EINTR, not at all; and on x86-64 no call says EINTR that natively never does. Then readers and writers that meet at a FIFO and are interrupted while they wait.
 *
 * usage: file_signals DIRECTORY    prints the same natively and under a policy that allows everything
 *
 * Elsewhere than on x86-64 a supervised call may say EINTR without SA_RESTART where a native one never does (SECURITY.md): counted as no
 * effect, not as a fault.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS (quick ? 1000 : 3000)
#define MEETINGS 100
#define KILLS (quick ? 100 : 200)
#define KILLERS 16
#define CROWD 6
#define CROWD_ROUNDS (quick ? 500 : 1500)
#define CROWD_SECONDS 20 /* twice what they take alone; beside others who work a crowd took minutes, and the cores from them */
#define CROWD_LEAST 100
#ifdef __x86_64__
#define EINTR_HAPPENS 0
#else
#define EINTR_HAPPENS 1
#endif
#define GIVE_UP 120000 /* signals, about as many milliseconds */

static volatile sig_atomic_t hits;
static bool quick;

static void on_timer(int sig)
{
	(void)sig;
	if (++hits > GIVE_UP)
		_exit(3);
}

static void timer(bool on, bool restart)
{
	struct sigaction sa = { .sa_handler = on_timer, .sa_flags = restart ? SA_RESTART : 0 };
	struct itimerval every = { { 0, on ? 1000 : 0 }, { 0, on ? 1000 : 0 } };

	hits = 0;
	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
}

static bool there(const char *name)
{
	struct stat st;

	return lstat(name, &st) == 0;
}

static int make_directory(void)
{
	return mkdir("d", 0755);
}

static int remove_directory(void)
{
	return rmdir("d");
}

static int make_file(void)
{
	int fd = open("f", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	return fd < 0 ? -1 : close(fd);
}

static int make_link(void)
{
	return link("f", "d");
}

static int rename_file(void)
{
	return rename("f", "d");
}

static int make_symlink(void)
{
	return symlink("nowhere", "d");
}

static int remove_file(void)
{
	return unlink("d");
}

static int remove_f(void)
{
	return unlink("f");
}

static int make_fifo(void)
{
	return mkfifo("d", 0600);
}

/* Makes or removes NAME by ACT until it is done. Returns what was wrong: an effect that is there twice, or not at all. */
static int once(int (*act)(void), const char *name, bool want, bool restart)
{
	for (;;) {
		int rc = act();
		int error = errno;
		bool is = there(name);
		if (rc == 0)
			return is != want;
		if (!EINTR_HAPPENS || error != EINTR || restart || is == want)
			return 1;
	}
}

static void changes(bool restart)
{
	int wrong = 0;

	timer(true, restart);
	for (int i = 0; i < ROUNDS && !wrong; i++) {
		wrong += once(make_directory, "d", true, restart) + once(remove_directory, "d", false, restart);
		wrong += once(make_file, "f", true, restart);
		wrong += once(make_link, "d", true, restart) + once(remove_file, "d", false, restart);
		wrong += once(rename_file, "d", true, restart) + once(remove_file, "d", false, restart);
		wrong += once(make_symlink, "d", true, restart) + once(remove_file, "d", false, restart);
		wrong += once(make_fifo, "d", true, restart) + once(remove_file, "d", false, restart);
	}
	bool signals = hits > 0;
	timer(false, true);
	printf("changes, %s: %s, %d wrong\n", restart ? "SA_RESTART" : "no SA_RESTART", signals ? "signals came" : "no signal", wrong);
	(void)remove_f();
	(void)remove_file();
	(void)remove_directory();
}

static int open_again(const char *name, int flags, bool restart)
{
	for (;;) {
		int fd = open(name, flags | O_CLOEXEC);
		if (fd >= 0 || errno != EINTR || restart)
			return fd;
	}
}

static int write_once(bool restart)
{
	timer(true, restart);
	usleep((useconds_t)(getpid() % 7) * 1000);
	int fd = open_again("p", O_WRONLY, restart);
	ssize_t n = fd < 0 ? -1 : write(fd, "x", 1);
	return n == 1 ? 0 : 1;
}

static int read_once(bool restart)
{
	char c = 0;
	ssize_t n;
	int fd = open_again("p", O_RDONLY, restart);

	if (fd < 0)
		return 1;
	do
		n = read(fd, &c, 1);
	while (n < 0 && errno == EINTR);
	close(fd);
	return n == 1 && c == 'x' ? 0 : 1;
}

static void meetings(bool restart)
{
	int wrong = 0, status;

	if (mkfifo("p", 0600) < 0)
		exit(2);
	signal(SIGPIPE, SIG_IGN);
	timer(true, restart);
	for (int i = 0; i < MEETINGS; i++) {
		pid_t child = fork();
		if (child == 0)
			_exit(write_once(restart));
		wrong += read_once(restart);
		while (waitpid(child, &status, 0) < 0 && errno == EINTR)
			;
		wrong += !WIFEXITED(status) || WEXITSTATUS(status);
	}
	timer(false, true);
	printf("meetings at a FIFO, %s: %d wrong\n", restart ? "SA_RESTART" : "no SA_RESTART", wrong);
	unlink("p");
}

static void on_second(int sig)
{
	int error = errno;

	(void)sig;
	hits++;
	close(open("/dev/null", O_RDONLY | O_CLOEXEC));
	errno = error;
}

/* Two timers whose handlers interrupt each other and themselves make a call, on a stack of their own. */
static void two_timers(bool on)
{
	static char own[65536];
	stack_t stack = { .ss_sp = own, .ss_size = sizeof(own) };
	struct sigaction sa = { .sa_handler = on_second, .sa_flags = SA_ONSTACK };
	struct itimerval every = { { 0, on ? 1000 : 0 }, { 0, on ? 1000 : 0 } };
	struct sigevent ev = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	struct itimerspec second = { { 0, on ? 1300000 : 0 }, { 0, on ? 1300000 : 0 } };
	static timer_t other;

	if (on) {
		sigaltstack(&stack, NULL);
		sigaction(SIGALRM, &sa, NULL);
		sigaction(SIGUSR1, &sa, NULL);
		if (timer_create(CLOCK_MONOTONIC, &ev, &other) < 0)
			_exit(2);
	}
	setitimer(ITIMER_REAL, &every, NULL);
	timer_settime(other, 0, &second, NULL);
}

static time_t seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

static int one_of_many(int number)
{
	char name[16];
	int wrong = 0;

	snprintf(name, sizeof(name), "n%d", number);
	time_t end = seconds() + CROWD_SECONDS;
	two_timers(true);
	for (int i = 0; i < CROWD_ROUNDS && (i < CROWD_LEAST || seconds() < end); i++) {
		wrong += mkdir(name, 0700) < 0 && (!EINTR_HAPPENS || errno != EINTR);
		wrong += rmdir(name) < 0 && (!EINTR_HAPPENS || errno != EINTR);
	}
	two_timers(false);
	return wrong ? 1 : 0;
}

/* N processes at once, each with its number. */
static void crowd(const char *what, int n, int (*one)(int number))
{
	int wrong = 0, status;

	for (int i = 0; i < n; i++) {
		if (fork() == 0)
			_exit(one(i));
	}
	while (wait(&status) > 0)
		wrong += !WIFEXITED(status) || WEXITSTATUS(status);
	printf("%s: %d wrong\n", what, wrong);
}

/* Opens a FIFO to which nobody writes. The timer ends that: with its next signal, where one comes before the open does. */
static int open_until_timer(const char *fifo, int us)
{
	const struct itimerval every = { { 0, us }, { 0, us } }, none = { { 0, 0 }, { 0, 0 } };

	setitimer(ITIMER_REAL, &every, NULL);
	int fd = open(fifo, O_RDONLY | O_CLOEXEC), error = errno;
	setitimer(ITIMER_REAL, &none, NULL);
	errno = error;
	return fd;
}

/* Here EINTR is what the program asked for. */
static void interrupted_wait(void)
{
	struct sigaction sa = { .sa_handler = on_timer };
	int wrong = 0;

	if (mkfifo("p", 0600) < 0)
		exit(2);
	sigaction(SIGALRM, &sa, NULL);
	for (int i = 0; i < 10; i++)
		wrong += open_until_timer("p", 30000) >= 0 || errno != EINTR;
	printf("an open of a FIFO ends with EINTR: %d wrong\n", wrong);
	unlink("p");
}

/* An open of a FIFO that goes on after each signal leaves nothing behind: a later one at the same place in the code, which does not wait, knows no EINTR. */
static void after_a_wait(void)
{
	int wrong = 0;

	if (mkfifo("p", 0600) < 0)
		exit(2);
	for (int i = 0; i < 10; i++) {
		pid_t child = fork();
		if (child == 0) {
			usleep(100000);
			_exit(open("p", O_WRONLY | O_CLOEXEC) < 0);
		}
		timer(true, true);
		int fd = open("p", O_RDONLY | O_CLOEXEC);
		wrong += fd < 0;
		close(fd);
		timer(true, false);
		for (int n = 0; n < 400; n++) {
			fd = open("p", O_RDWR | O_CLOEXEC);
			wrong += fd < 0 && (!EINTR_HAPPENS || errno != EINTR);
			close(fd);
		}
		timer(false, true);
		waitpid(child, NULL, 0);
	}
	printf("opens behind one that waited: %d wrong\n", wrong);
	unlink("p");
}

/* Who was killed while it waited at a FIFO, and collected, is not there for the other end. */
static void kill_at_fifo(const char *fifo, int flags, int after_us)
{
	pid_t child = fork();

	if (child == 0)
		_exit(open(fifo, flags | O_CLOEXEC) < 0);
	usleep((useconds_t)after_us);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static void killed_readers(void)
{
	int wrong = 0;

	for (int i = 0; i < KILLS; i++) {
		kill_at_fifo("p", O_RDONLY, (i % 20) * 250);
		int fd = open("p", O_WRONLY | O_NONBLOCK | O_CLOEXEC);
		wrong += fd >= 0 || errno != ENXIO;
		if (fd >= 0)
			close(fd);
	}
	printf("readers killed at a FIFO: %d wrong\n", wrong);
}

/* A reader that waits, as there is no writer, is ended by the timer. */
static void killed_writers(void)
{
	struct sigaction sa = { .sa_handler = on_timer };
	int wrong = 0;

	sigaction(SIGALRM, &sa, NULL);
	for (int i = 0; i < KILLS / 10; i++) {
		kill_at_fifo("p", O_WRONLY, (i % 10) * 500);
		int fd = open_until_timer("p", 20000);
		wrong += fd >= 0 || errno != EINTR;
		if (fd >= 0)
			close(fd);
	}
	printf("writers killed at a FIFO: %d wrong\n", wrong);
}

/* Beside fifteen others, so that usher comes to the killed one's open late. */
static int one_of_killers(int number)
{
	char fifo[8];
	int wrong = 0;

	snprintf(fifo, sizeof(fifo), "p%d", number);
	if (mkfifo(fifo, 0600) < 0)
		return 1;
	for (int i = 0; i < KILLS; i++) {
		kill_at_fifo(fifo, O_WRONLY, (i % 10) * 30);
		int fd = open_until_timer(fifo, 5000);
		wrong += fd >= 0 || errno != EINTR;
		if (fd >= 0)
			close(fd);
	}
	unlink(fifo);
	return wrong != 0;
}

static void killed_at_a_fifo(void)
{
	if (mkfifo("p", 0600) < 0)
		exit(2);
	killed_readers();
	killed_writers();
	unlink("p");
	crowd("a crowd whose writers are killed", KILLERS, one_of_killers);
}

int main(int argc, char **argv)
{
	if (argc != 2 || chdir(argv[1]) < 0)
		return 2;
	quick = getenv("QUICK") != NULL;
	setvbuf(stdout, NULL, _IOLBF, 0);
	changes(true);
	changes(false);
	meetings(true);
	meetings(false);
	/* Many callers wait long for usher: nearly every signal comes before it has taken the call. */
	crowd("a crowd under two timers", CROWD, one_of_many);
	interrupted_wait();
	after_a_wait();
	killed_at_a_fifo();
	return 0;
}
