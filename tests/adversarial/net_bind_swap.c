/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Escapes row 15 for unix sockets: a directory on the way changes between the decision and the bind.
 *
 * DIR/way is a link that the tester flips between DIR/ok and DIR/no; rules deny to create or bind in DIR/no. The
 * attacker binds DIR/way/N again and again. Natively sockets appear in DIR/no; under usher none may, and in DIR/ok they must.
 */
#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "race.h"

static char dir[64];

static int attacker(const char *where, int tries)
{
	for (int i = 0; race_on(i, tries); i++) {
		struct sockaddr_un un = { .sun_family = AF_UNIX };
		int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

		snprintf(un.sun_path, sizeof(un.sun_path), "%s/way/%d", where, i);
		(void)!bind(s, (struct sockaddr *)&un, sizeof(un));
		close(s);
	}
	return 0;
}

static void *swap(void *arg)
{
	atomic_bool *stop = arg;
	char next[128], way[128];

	snprintf(next, sizeof(next), "%s/next", dir);
	snprintf(way, sizeof(way), "%s/way", dir);
	for (unsigned i = 0; !atomic_load(stop); i++) {
		if (symlink(i & 1 ? "no" : "ok", next) == 0 && rename(next, way) < 0)
			unlink(next);
		for (volatile unsigned spin = 0; spin < i % 3000; spin++)
			;
	}
	return NULL;
}

/* Counts the sockets in DIR/NAME and removes them. */
static int sweep(const char *name)
{
	char path[512];
	int n = 0;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	DIR *d = opendir(path);
	for (struct dirent *e; d && (e = readdir(d));) {
		if (e->d_name[0] == '.')
			continue;
		n++;
		snprintf(path, sizeof(path), "%s/%s/%s", dir, name, e->d_name);
		unlink(path);
	}
	if (d)
		closedir(d);
	return n;
}

static void run(const char *usher, const char *rules, int tries)
{
	char count[16], self[512] = { 0 };
	atomic_bool stop = false;
	pthread_t swapper;

	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0 || pthread_create(&swapper, NULL, swap, &stop))
		exit(1);
	snprintf(count, sizeof(count), "%d", tries);
	pid_t pid = fork();
	if (!pid) {
		char *const native[] = { self, count, dir, NULL };
		char *const under[] = { (char *)(uintptr_t)usher, "run", "-p", (char *)(uintptr_t)rules, "--ask=deny", "--",
					self, count, dir, NULL };
		execv(rules ? usher : self, rules ? under : native);
		_exit(127);
	}
	if (pid > 0)
		waitpid(pid, NULL, 0);
	atomic_store(&stop, true);
	pthread_join(swapper, NULL);
}

int main(int argc, char **argv)
{
	const char *usher = getenv("USHER");
	int tries = getenv("QUICK") ? 2000 : 30000;
	char ok[128], no[128], rules[128];

	if (argc == 3)
		return attacker(argv[2], atoi(argv[1]));
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!usher) {
		printf("skip net_bind_swap: USHER is not set\n");
		return 77;
	}
	strcpy(dir, "/tmp/net-bind.XXXXXX");
	if (!mkdtemp(dir))
		return 1;
	snprintf(ok, sizeof(ok), "%s/ok", dir);
	snprintf(no, sizeof(no), "%s/no", dir);
	snprintf(rules, sizeof(rules), "%s/rules", dir);
	FILE *f = fopen(rules, "w");
	if (!f || mkdir(ok, 0755) < 0 || mkdir(no, 0755) < 0)
		return 1;
	fprintf(f, "default allow\ndeny create %s/**\ndeny bind unix:%s/**\n", no, no);
	fclose(f);

	int there = 0;
	for (int round = 0; round < 20 && !there; round++) {
		run(usher, NULL, tries);
		there = sweep("no");
		sweep("ok");
	}
	printf("%s control: sockets appear in the denied directory natively\n", there ? "ok" : "not ok");
	run(usher, rules, tries);
	int bad = sweep("no"), good = sweep("ok");
	printf("%s bind: %d in the allowed directory, %d in the denied one, of %d tries\n", good && !bad ? "ok" : "not ok",
	       good, bad, tries);
	static const char *const left[] = { "way", "next", "rules" };
	for (size_t i = 0; i < sizeof(left) / sizeof(left[0]); i++) {
		char path[128];
		snprintf(path, sizeof(path), "%s/%s", dir, left[i]);
		unlink(path);
	}
	rmdir(ok);
	rmdir(no);
	rmdir(dir);
	return there && good && !bad ? 0 : 1;
}
