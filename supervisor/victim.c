/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/victim.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MORE 50 /* thousandths of the memory there is */
#define MOST 1000

static void put(int fd, int score)
{
	char text[16];
	int n = snprintf(text, sizeof(text), "%d", score);

	(void)!pwrite(fd, text, (size_t)n, 0);
}

void victim_raise(struct victim *v)
{
	char text[16] = "";

	v->fd = open("/proc/self/oom_score_adj", O_RDWR | O_CLOEXEC);
	if (v->fd >= 0 && pread(v->fd, text, sizeof(text) - 1, 0) <= 0) {
		close(v->fd);
		v->fd = -1;
	}
	if (v->fd < 0)
		return;
	v->was = atoi(text);
	put(v->fd, v->was > MOST - MORE ? MOST : v->was + MORE);
}

void victim_lower(struct victim *v)
{
	if (v->fd < 0)
		return;
	put(v->fd, v->was);
	close(v->fd);
	v->fd = -1;
}
