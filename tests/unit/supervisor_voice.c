/* SPDX-License-Identifier: Apache-2.0 */
/* What usher says: in order, whole, and never at the cost of who says it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <limits.h>
#include <pty.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "supervisor/voice.h"

#define LONG_MS 60000
#define SHORT_MS 1

/* Until the pipe takes no byte more. */
static size_t fill(int fd)
{
	char junk[PIPE_BUF];
	size_t n = 0;

	memset(junk, '.', sizeof(junk));
	assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	for (size_t piece = sizeof(junk); piece; piece /= 2) {
		for (ssize_t done; (done = write(fd, junk, piece)) > 0;)
			n += (size_t)done;
	}
	assert_int_equal(fcntl(fd, F_SETFL, 0), 0);
	return n;
}

static void expect_next(int fd, const char *text)
{
	char got[256] = "";
	size_t n = 0;

	while (n < strlen(text)) {
		ssize_t more = read(fd, got + n, strlen(text) - n);
		assert_true(more > 0);
		n += (size_t)more;
	}
	assert_string_equal(got, text);
}

static void drain(int fd, size_t n)
{
	char junk[PIPE_BUF];

	while (n > 0) {
		ssize_t got = read(fd, junk, n < sizeof(junk) ? n : sizeof(junk));
		assert_true(got > 0);
		n -= (size_t)got;
	}
}

static void says_in_order(void **state)
{
	int p[2];

	assert_int_equal(pipe(p), 0);
	struct voice *v = voice_new(p[1]);
	voice_say(v, "one %d\n", 1);
	voice_say(v, "two\n");
	assert_true(voice_finish(v, LONG_MS));
	voice_say(v, "three\n");
	assert_true(voice_finish(v, LONG_MS));
	expect_next(p[0], "one 1\ntwo\nthree\n");
}

static void nobody_waits_for_a_full_pipe(void **state)
{
	int p[2];

	assert_int_equal(pipe(p), 0);
	size_t n = fill(p[1]);
	struct voice *v = voice_new(p[1]);
	for (int i = 0; i < 10000; i++) /* more than is kept */
		voice_say(v, "%d: nobody reads this, or perhaps later\n", i);
	assert_false(voice_finish(v, SHORT_MS));
	drain(p[0], n);
	expect_next(p[0], "0: nobody reads this, or perhaps later\n1: nobody");
}

static void more_than_a_pipe_holds_comes_whole(void **state)
{
	const size_t size = 300000;
	char *text = malloc(size + 1);
	int p[2];

	assert_int_equal(pipe(p), 0);
	assert_non_null(text);
	memset(text, 'x', size);
	text[size] = '\0';
	struct voice *v = voice_new(p[1]);
	voice_say(v, "%s", text);
	pid_t reader = fork();
	if (reader == 0) {
		close(p[1]);
		drain(p[0], size);
		_exit(0);
	}
	assert_true(voice_finish(v, LONG_MS));
	int st;
	assert_int_equal(waitpid(reader, &st, 0), reader);
	assert_int_equal(st, 0);
	free(text);
}

static void nobody_waits_for_a_stopped_terminal(void **state)
{
	int ours, tty;
	struct termios raw;

	assert_int_equal(openpty(&ours, &tty, NULL, NULL, NULL), 0);
	assert_int_equal(tcgetattr(tty, &raw), 0);
	cfmakeraw(&raw);
	assert_int_equal(tcsetattr(tty, TCSANOW, &raw), 0);
	assert_int_equal(tcflow(tty, TCOOFF), 0);
	struct voice *v = voice_new(tty);
	voice_say(v, "later");
	assert_false(voice_finish(v, SHORT_MS));
	assert_int_equal(tcflow(tty, TCOON), 0);
	assert_true(voice_finish(v, LONG_MS));
	expect_next(ours, "later");
}

static void says_nothing_to_nobody(void **state)
{
	int p[2];

	voice_say(NULL, "nothing");
	assert_true(voice_finish(NULL, SHORT_MS));
	assert_int_equal(pipe(p), 0);
	close(p[0]);
	struct voice *v = voice_new(p[1]); /* SIGPIPE is blocked in its thread */
	voice_say(v, "gone");
	assert_true(voice_finish(v, LONG_MS));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(says_in_order),
		cmocka_unit_test(nobody_waits_for_a_full_pipe),
		cmocka_unit_test(more_than_a_pipe_holds_comes_whole),
		cmocka_unit_test(nobody_waits_for_a_stopped_terminal),
		cmocka_unit_test(says_nothing_to_nobody),
	};

	return cmocka_run_group_tests_name("supervisor_voice", tests, NULL, NULL);
}
