/* SPDX-License-Identifier: Apache-2.0 */
/* A process that waits to be told what to start, and those who may leave it waiting. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <linux/filter.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "supervisor/ahead.h"
#include "supervisor/isolate.h"

static char *const before[] = { "A=1", "HOME=/home/a", NULL };

static int status_of(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

/* What the child got, as its status: 0 is what was told. */
static int as_told(struct ahead *a)
{
	struct launch_options o = { .floor = -1, .ahead = a };

	if (!ahead_await(a, &o))
		return 100;
	if (!o.envp || strcmp(o.envp[0], "B=2") || strcmp(o.envp[1], "LONG") || o.envp[2])
		return 1;
	if (o.program->len != 2 || o.program->filter[1].k != 42)
		return 2;
	if (o.floor != 5 || o.isolation->net != 6 || !o.network_stays || !o.filter.trap_stat)
		return 3;
	return o.terminal == 7 && !o.ahead && !o.filter.policy ? 0 : 4;
}

static struct launch_options told(char *const *environment)
{
	static struct sock_filter code[] = { { .k = 1 }, { .k = 42 } };
	static struct sock_fprog program = { 2, code };
	static struct isolation isolation = { .net = 6 };

	return (struct launch_options){ .envp = environment, .program = &program, .isolation = &isolation, .floor = 5, .network_stays = true,
					.terminal = 7, .filter = { .trap_stat = true } };
}

static void all_is_told(void **state)
{
	/* made after the fork, on the heap: the child has none of it */
	struct ahead *a;

	assert_int_equal(ahead_new(before, &a), 0);
	pid_t pid = fork();
	if (pid == 0)
		_exit(as_told(a));
	char **list = calloc(3, sizeof(*list));
	list[0] = strdup("B=2");
	list[1] = strdup("LONG");
	struct launch_options o = told(list);
	assert_int_equal(ahead_tell(a, &o), 0);
	assert_int_equal(status_of(pid), 0);
	ahead_free(a);
	free(list[0]);
	free(list[1]);
	free(list);
}

static void given_up(void **state)
{
	struct ahead *a;

	assert_int_equal(ahead_new(before, &a), 0);
	pid_t pid = fork();
	if (pid == 0)
		_exit(as_told(a));
	ahead_give_up(a);
	assert_int_equal(status_of(pid), 100);
	ahead_free(a);
}

/* More than there is room for is not told by half. */
static void no_room(void **state)
{
	struct ahead *a;
	char *big = malloc(1 << 20);
	char *list[] = { "B=2", big, NULL };

	memset(big, 'x', (1 << 20) - 1);
	big[(1 << 20) - 1] = 0;
	assert_int_equal(ahead_new(before, &a), 0);
	pid_t pid = fork();
	if (pid == 0)
		_exit(as_told(a));
	struct launch_options o = told(list);
	assert_int_equal(ahead_tell(a, &o), -E2BIG);
	ahead_give_up(a);
	assert_int_equal(status_of(pid), 100);
	ahead_free(a);
	/* with such an environment of usher's own there is */
	assert_int_equal(ahead_new(list, &a), 0);
	pid = fork();
	if (pid == 0) {
		struct launch_options got = { .floor = -1 };
		_exit(ahead_await(a, &got) && strlen(got.envp[1]) == (1 << 20) - 1 ? 0 : 1);
	}
	assert_int_equal(ahead_tell(a, &o), 0);
	assert_int_equal(status_of(pid), 0);
	ahead_free(a);
	free(big);
}

/* Its end of the pipe is the waiting process's as well, and tells nothing. */
static void usher_ends(void **state)
{
	int back[2];
	char how = 0;

	assert_int_equal(pipe(back), 0);
	pid_t usher = fork();
	if (usher == 0) {
		struct ahead *a;
		if (ahead_new(before, &a) || fork())
			_exit(0);
		how = (char)as_told(a);
		_exit(write(back[1], &how, 1) != 1);
	}
	assert_int_equal(status_of(usher), 0);
	close(back[1]);
	assert_int_equal(read(back[0], &how, 1), 1);
	assert_int_equal(how, 100);
	close(back[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_is_told),
		cmocka_unit_test(given_up),
		cmocka_unit_test(no_room),
		cmocka_unit_test(usher_ends),
	};

	return cmocka_run_group_tests_name("supervisor_ahead", tests, NULL, NULL);
}
