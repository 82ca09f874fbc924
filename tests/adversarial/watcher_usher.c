/* SPDX-License-Identifier: Apache-2.0 */
/* Rows 58 to 60: usher's own files, its listener, and what happens when it dies. */
#include <dirent.h>
#include <limits.h>

#include "probe.h"

/* Any descriptor of a seccomp listener among the command's own would let it answer for usher. */
static int find_listener(void)
{
	DIR *d = opendir("/proc/self/fd");
	struct dirent *e;

	while (d && (e = readdir(d))) {
		char name[300], to[PATH_MAX];
		snprintf(name, sizeof(name), "/proc/self/fd/%s", e->d_name);
		ssize_t n = readlink(name, to, sizeof(to) - 1);
		if (n > 0 && (to[n] = '\0', strstr(to, "seccomp")))
			return WORKED;
	}
	return REFUSED;
}

/* AIM at every file of this run's journal, then at the directory's name. */
static int journal_files(int (*aim)(const char *path))
{
	const char *dir = getenv("JOURNAL");
	char path[600], renamed[300];
	DIR *d = opendir(dir);
	struct dirent *e;

	while (d && (e = readdir(d))) {
		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		if (e->d_name[0] != '.' && aim(path) >= 0)
			return WORKED;
	}
	/* Names are easy to guess when the directory cannot be listed. */
	snprintf(path, sizeof(path), "%s/journal-000001.jsonl", dir);
	if (aim(path) >= 0)
		return WORKED;
	snprintf(renamed, sizeof(renamed), "%.200s.x", dir);
	return verdict(rename(dir, renamed));
}

static int open_write(const char *path)
{
	return open(path, O_WRONLY | O_APPEND);
}

static int append_to_journal(void)
{
	return journal_files(open_write);
}

static int remove_file(const char *path)
{
	return unlink(path);
}

static int remove_journal(void)
{
	return journal_files(remove_file);
}

static int open_read(const char *path)
{
	return open(path, O_RDONLY);
}

static int read_journal(void)
{
	return journal_files(open_read);
}

static int read_rules(void)
{
	return verdict(open("../allow.rules", O_RDONLY));
}

/* The program usher itself was started from, and its rules, both beside the probe. */
static int change_rules(void)
{
	return verdict(open("../allow.rules", O_WRONLY));
}

static int change_usher(void)
{
	return verdict(chmod("../usher", 0777));
}

static const struct attack attacks[] = {
	{ "row 59: a listener among the descriptors", find_listener, true },
	{ "row 58: append to the journal", append_to_journal, true },
	{ "row 58: read the journal", read_journal, true },
	{ "row 58: remove the journal", remove_journal, true },
	{ "row 58: read the rules", read_rules, true },
	{ "row 58: change the rules", change_rules, true },
	{ "row 58: change usher", change_usher, true },
};

/*
 * Row 60: kill -9 of usher; processes of the tree hold the other end of a pipe, one of them in a session of its own, and only their end closes it.
 * The first end of file that is awaited is the proof; an alarm ends the wait for a tree that lives on.
 */
static int usher_dies(const struct stage *s)
{
	int hold[2];
	char byte;
	char journal[96];
	char *argv[] = { (char *)s->usher, (char *)"run", (char *)"-p", (char *)s->rules, (char *)"--journal", journal, (char *)"--",
			 (char *)"/bin/sh", (char *)"-c", (char *)"(setsid sh -c 'echo started; exec sleep 1000' &) ; exec sleep 1000", NULL };

	snprintf(journal, sizeof(journal), "%s/j", s->work);
	if (pipe(hold) < 0)
		return 1;
	int pid = fork();
	if (pid == 0) {
		dup2(hold[1], 1);
		close(hold[0]);
		close(hold[1]);
		execv(s->usher, argv);
		_exit(99);
	}
	close(hold[1]);
	if (read(hold[0], &byte, 1) != 1)
		return 1;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	alarm(20);
	while (read(hold[0], &byte, 1) == 1)
		;
	alarm(0);
	return 0;
}

int main(int argc, char **argv)
{
	int failed = probe_main(argc, argv, attacks, sizeof(attacks) / sizeof(attacks[0]));

	if (argc == 3)
		return failed;
	struct stage stage = { .uid = 0 };
	int alive = probe_stage(&stage, 0) < 0 || usher_dies(&stage);
	probe_clean(&stage);
	printf("%s row 60: the tree ends with usher\n", alive ? "not ok" : "ok");
	return failed || alive;
}
