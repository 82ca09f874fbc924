/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Load for tests/kills: several processes that create, rename, link, make directories, unlink v-files and chmod
 * m-files in the working directory, each name once, until they are killed. usage: churn PROCESSES
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void work(int p)
{
	char a[64], b[64];
	for (unsigned i = 0;; i++) {
		snprintf(a, sizeof a, "c%d-%u", p, i);
		snprintf(b, sizeof b, "r%d-%u", p, i);
		int fd = open(a, O_WRONLY | O_CREAT | O_EXCL, 0600);
		close(fd);
		rename(a, b);
		snprintf(a, sizeof a, "l%d-%u", p, i);
		link(b, a);
		snprintf(a, sizeof a, "d%d-%u", p, i);
		mkdir(a, 0700);
		snprintf(a, sizeof a, "v%d-%u", p, i);
		unlink(a);
		snprintf(a, sizeof a, "m%d-%u", p, i);
		chmod(a, 0640);
	}
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 3;
	for (int p = 1; p < n; p++)
		if (fork() == 0)
			work(p);
	work(0);
}
