/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack COUNT NAME [frames]: removes NAME, which does not exist or is refused, COUNT times from below ten frames, and prints nanoseconds
 * for each. With "frames" every frame is found by the frame pointer only.
 */
#include <alloca.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define DEPTH 7 /* with main, its two callers and unlink: about ten */

static long count;
static const char *name;
static volatile char sink;

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static __attribute__((noinline)) void innermost(void)
{
	for (long i = 0; i < count; i++)
		sink = (char)unlink(name);
}

static __attribute__((noinline)) void plain(int depth)
{
	if (depth)
		plain(depth - 1);
	else
		innermost();
	sink = 0;
}

/* What alloca() moves only a frame pointer finds again. */
static __attribute__((noinline)) void framed(int depth)
{
	char *room = alloca((size_t)depth * 16 + 16);

	room[0] = (char)depth;
	if (depth)
		framed(depth - 1);
	for (long i = 0; !depth && i < count; i++)
		sink = (char)unlink(name);
	sink = room[0];
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	count = atol(argv[1]);
	name = argv[2];
	uint64_t begin = now();
	if (argc > 3)
		framed(DEPTH);
	else
		plain(DEPTH - 1);
	printf("%.1f\n", (double)(now() - begin) / (double)count);
	return 0;
}
