/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows 9 and 34: what usher gives a caller to go on by, while another thread looks. The directory closed may be stood in (a rule
 * leads to it from there) and not be listed; file2 may not be looked at. And row 14: the calls that usher has the caller make are handed to
 * its own handler meanwhile, so that it runs its own code where usher waits for a result.
 */
#include <dirent.h>
#include <linux/openat2.h>
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

static volatile char name[] = "file1";
static ino_t hidden;

static void *exchange(void *arg)
{
	while (!atomic_load(&stop)) {
		name[4] ^= '1' ^ '2';
		for (volatile int i = 0; i < 1000; i++)
			;
	}
	return arg;
}

static void look(void)
{
	struct stat st;
	int fd = open((const char *)(uintptr_t)name, O_PATH | O_CLOEXEC);

	/* the call itself: the C library makes a name of the descriptor */
	if (fd >= 0 && syscall(SYS_fstat, fd, &st) == 0 && st.st_ino == hidden)
		atomic_store(&got, true);
	if (fd >= 0)
		close(fd);
}

static int looked_at_by_path(void)
{
	const char *number = getenv("HIDDEN");

	hidden = number ? strtoul(number, NULL, 10) : 0;
	return beside(exchange, look);
}

static volatile char handed_over; /* what the kernel looks at, at each call */
static atomic_int turn;

static void take_back(int sig)
{
	(void)sig;
	handed_over = SYSCALL_DISPATCH_FILTER_ALLOW;
}

static void *hand_over(void *arg)
{
	for (unsigned i = 0; !atomic_load(&stop); i++) {
		int one = 1;
		for (volatile unsigned k = 0; k < i * 131 % 60000; k++)
			;
		if (atomic_compare_exchange_strong(&turn, &one, 2))
			handed_over = SYSCALL_DISPATCH_FILTER_BLOCK;
	}
	return arg;
}

/* A call of its own that is handed over gives its number. */
static void open_nothing(void)
{
	struct open_how how = { .flags = O_PATH };
	struct stat st;

	atomic_store(&turn, 1);
	long fd = syscall(SYS_openat2, AT_FDCWD, "file1", &how, sizeof(how));
	atomic_store(&turn, 0);
	handed_over = SYSCALL_DISPATCH_FILTER_ALLOW;
	if (fd < 0 || fd == SYS_openat2)
		return;
	if (syscall(SYS_fstat, (int)fd, &st) < 0)
		atomic_store(&got, true);
	close((int)fd);
}

/* Without a control: natively there are no such calls. */
static int opened_without_descriptor(void)
{
	signal(SIGSYS, take_back);
	if (prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, 0, 0, &handed_over) < 0)
		return IMPOSSIBLE;
	return beside(hand_over, open_nothing);
}

static const struct attack attacks[] = {
	{ "row 9: a directory is listed while its caller goes there", listed_on_the_way, false },
	{ "row 34: a hidden file is looked at by a path descriptor", looked_at_by_path, false },
	{ "row 14: an open gives a descriptor that is not there", opened_without_descriptor, true },
};

static bool make_files(const struct stage *s)
{
	char command[512], number[24], path[128];
	struct stat st;

	snprintf(command, sizeof(command), "cd '%s' && mkdir closed && touch closed/within file1 file2", s->work);
	snprintf(path, sizeof(path), "%s/file2", s->work);
	if (system(command) != 0 || stat(path, &st) < 0)
		return false;
	snprintf(number, sizeof(number), "%lu", (unsigned long)st.st_ino);
	return setenv("HIDDEN", number, 1) == 0;
}

static bool make_rules(const struct stage *s)
{
	const char *w = s->work;
	FILE *f = fopen(s->rules, "we");

	return f && fprintf(f, "rewrite stat %s/there -> %s/closed\ndeny read %s/closed/**\ndeny stat %s/file2\ndefault allow\n", w, w, w, w) > 0 &&
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
