/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Escapes row 6: shaking off one's ancestors. A rule denies DIR/secret to whatever descends from DIR/bad (a copy of
 * this program); each attack has a descendant of it, DIR/reader, read the file after the processes in between have gone. Natively every one reads it.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define READ_IT 'r'
#define REFUSED 'n'

static char dir[256];
static int answer[2]; /* the reader's word comes through here */

/* Becomes the reader, WAIT ms from now: by then its parents are gone. */
static void become_reader(int wait)
{
	char path[300], fd[16];

	snprintf(path, sizeof(path), "%s/reader", dir);
	snprintf(fd, sizeof(fd), "%d", answer[1]);
	poll(NULL, 0, wait);
	execl(path, "reader", dir, fd, (char *)NULL);
	_exit(1);
}

static void child(void)
{
	pid_t pid = fork();

	if (!pid)
		become_reader(0);
	waitpid(pid, NULL, 0);
}

static void orphan(void)
{
	if (!fork())
		become_reader(150);
}

static void orphan_of_killed(void)
{
	if (!fork())
		become_reader(150);
	kill(getpid(), SIGKILL);
}

static void orphan_of_vfork(void)
{
	pid_t pid = vfork();

	if (!pid) {
		if (!fork())
			become_reader(150);
		_exit(0);
	}
}

static void sibling(void)
{
	if (!syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0))
		become_reader(150);
}

static void silent_child(void)
{
	if (!syscall(SYS_clone, 0, 0, 0, 0, 0))
		become_reader(150);
}

static void untraced(void)
{
	long pid = syscall(SYS_clone, CLONE_UNTRACED | SIGCHLD, 0, 0, 0, 0);

	if (!pid)
		become_reader(150);
	if (pid < 0 && write(answer[1], "n", 1) != 1)
		_exit(1);
}

/* More generations than a record of ancestors has room for. */
static void generations(void)
{
	for (int i = 0; i < 80; i++) {
		if (fork())
			_exit(0);
	}
	become_reader(20);
}

static const struct attack {
	const char *name;
	void (*run)(void);
} attacks[] = {
	{ "row 6: a child reads", child },
	{ "row 6: an orphan reads", orphan },
	{ "row 6: an orphan of a killed parent reads", orphan_of_killed },
	{ "row 6: an orphan of a vforked parent reads", orphan_of_vfork },
	{ "row 6: a sibling made by CLONE_PARENT reads", sibling },
	{ "row 6: a child without exit signal reads", silent_child },
	{ "row 6: a child hidden from tracers reads", untraced },
	{ "row 6: the eightieth generation reads", generations },
};

#define ATTACKS (sizeof(attacks) / sizeof(attacks[0]))

static int reader(const char *where, int fd)
{
	char path[300];

	snprintf(path, sizeof(path), "%s/secret", where);
	int got = open(path, O_RDONLY);
	return write(fd, got >= 0 ? "r" : "n", 1) == 1 ? 0 : 1;
}

/* DIR/bad: makes the attack and leaves; then, in the starter, the reader's word, '?' when there is none. */
static char attempt(size_t i)
{
	char path[300], number[16], fd[16], word = '?';
	pid_t pid = fork();

	if (!pid) {
		snprintf(path, sizeof(path), "%s/bad", dir);
		snprintf(number, sizeof(number), "%zu", i);
		snprintf(fd, sizeof(fd), "%d", answer[1]);
		execl(path, "bad", dir, number, fd, (char *)NULL);
		_exit(1);
	}
	struct pollfd p = { answer[0], POLLIN, 0 };
	if (poll(&p, 1, 10000) != 1 || read(answer[0], &word, 1) != 1)
		word = '?';
	waitpid(pid, NULL, 0);
	return word;
}

/* The watched program: a line with a letter for each attack. */
static int starter(void)
{
	if (pipe(answer) < 0)
		return 1;
	for (size_t i = 0; i < ATTACKS; i++)
		putchar(attempt(i));
	putchar('\n');
	return 0;
}

static int run(const char *prefix, char *words)
{
	char line[1200];

	snprintf(line, sizeof(line), "%s %s/starter %s", prefix, dir, dir);
	FILE *f = popen(line, "r");
	if (!f || !fgets(words, ATTACKS + 1, f))
		words[0] = '\0';
	return f ? pclose(f) : -1;
}

static int prepare(void)
{
	char line[3000], self[512];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[n < 0 ? 0 : n] = '\0';
	snprintf(line, sizeof(line),
		 "cd %s && cp %s bad && cp bad reader && cp bad starter && echo x >secret && "
		 "printf 'deny read %s/secret tree=%s/bad\\ndefault allow\\n' >rules && chmod 600 rules", dir, self, dir, dir);
	return system(line);
}

int main(int argc, char **argv)
{
	char made[] = "/tmp/usher-descent-XXXXXX", prefix[600], native[ATTACKS + 2] = "", watched[ATTACKS + 2] = "";
	const char *usher = getenv("USHER"), *leaf = strrchr(argv[0], '/');
	int bad = 0;

	leaf = leaf ? leaf + 1 : argv[0];
	if (argc > 1)
		snprintf(dir, sizeof(dir), "%s", argv[1]);
	if (argc == 3 && !strcmp(leaf, "reader"))
		return reader(argv[1], atoi(argv[2]));
	if (argc == 4 && !strcmp(leaf, "bad")) {
		answer[1] = atoi(argv[3]);
		attacks[atoi(argv[2])].run();
		return 0;
	}
	if (argc == 2)
		return starter();
	if (!usher || access(usher, X_OK) < 0) {
		printf("skip exec_descent: USHER is not set\n");
		return 77;
	}
	if (!mkdtemp(made))
		return 1;
	snprintf(dir, sizeof(dir), "%s", made);
	if (prepare())
		return 1;
	run("", native);
	snprintf(prefix, sizeof(prefix), "%s run -p %s/rules --journal %s/journal --ask=deny --", usher, dir, dir);
	run(prefix, watched);
	for (size_t i = 0; i < ATTACKS; i++) {
		bool good = native[i] == READ_IT && watched[i] == REFUSED;

		bad |= !good;
		printf("%s %s: native %c, supervised %c\n", good ? "ok" : "not ok", attacks[i].name, native[i] ? native[i] : '?',
		       watched[i] ? watched[i] : '?');
	}
	snprintf(prefix, sizeof(prefix), "rm -rf %s", dir);
	return system(prefix) || bad;
}
