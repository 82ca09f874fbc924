/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Row 9: what usher gives a caller to go on by, while another thread looks. The directory closed may be stood in (a rule
 * leads to it from there) and not be listed.
 */
#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>

#include "probe.h"
#include "race.h"

#define NUMBERS 16

static atomic_bool stop, got;

/* Whether the directory FD can be read, and has what is in closed. Closes FD. */
static bool lists(int fd)
{
	char text[4096];
	long n = fd < 0 ? -1 : syscall(SYS_getdents64, fd, text, sizeof(text));

	if (fd >= 0)
		close(fd);
	return n > 0 && memmem(text, (size_t)n, "within", 6);
}

static void *list_all(void *arg)
{
	while (!atomic_load(&stop)) {
		for (int number = 3; number < NUMBERS; number++) {
			if (lists(dup(number)))
				atomic_store(&got, true);
		}
	}
	return arg;
}

/* Makes MOVE again and again while BODY runs beside. */
static int beside(void *(*body)(void *), void (*move)(void))
{
	double end = race_clock() + race_seconds(getenv("QUICK") ? 0.3 : 2);
	pthread_t t;

	if (pthread_create(&t, NULL, body, NULL) != 0)
		return IMPOSSIBLE;
	while (!atomic_load(&got) && race_clock() < end)
		move();
	atomic_store(&stop, true);
	pthread_join(t, NULL);
	return atomic_load(&got) ? WORKED : REFUSED;
}

static char work[128];

static void go(void)
{
	(void)!chdir("there");
	(void)!chdir(work);
}

static int listed_on_the_way(void)
{
	if (!getcwd(work, sizeof(work)))
		return IMPOSSIBLE;
	return lists(open("closed", O_RDONLY | O_DIRECTORY)) ? WORKED : beside(list_all, go);
}

static const struct attack attacks[] = {
	{ "row 9: a directory is listed while its caller goes there", listed_on_the_way, false },
};

static bool make_files(const struct stage *s)
{
	char command[512];

	snprintf(command, sizeof(command), "cd '%s' && mkdir closed && touch closed/within", s->work);
	return system(command) == 0;
}

static bool make_rules(const struct stage *s)
{
	const char *w = s->work;
	FILE *f = fopen(s->rules, "we");

	return f && fprintf(f, "rewrite stat %s/there -> %s/closed\ndeny read %s/closed/**\ndefault allow\n", w, w, w) > 0 &&
	       fclose(f) == 0;
}

static int round_as(int uid)
{
	struct stage s = { .uid = 0 };
	int failed = 0;

	if (probe_stage(&s, uid) < 0 || !make_files(&s) || !make_rules(&s)) {
		printf("not ok stage: %s\n", strerror(errno));
		return 1;
	}
	for (unsigned i = 0; i < sizeof(attacks) / sizeof(attacks[0]); i++)
		failed += probe_one(&s, &attacks[i], i);
	probe_clean(&s);
	return failed;
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "--attack") == 0)
		return attacks[atoi(argv[2])].run();
	setvbuf(stdout, NULL, _IOLBF, 0);
	int failed = round_as(geteuid() == 0 ? 0 : PROBE_UID);
	if (geteuid() == 0)
		failed += round_as(PROBE_UID);
	return failed ? 1 : 0;
}
