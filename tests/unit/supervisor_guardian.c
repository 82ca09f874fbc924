/* SPDX-License-Identifier: Apache-2.0 */
/* Whom the guardian gives the terminal back for: each order in which usher, the command and their pipes can end, held still. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "supervisor/guardian.h"
#include "supervisor/rescue.h"

static const char screen_left[] = "\033[0m\033[?1049l\033[?25h";

struct stand {
	struct rescue *rescue;
	int master, tty;
	int control[2]; /* [1] is usher's end */
	int status[2];  /* [0] is usher's end */
	int command[2]; /* the command ends with [1] */
};

static void stand_up(struct stand *s)
{
	assert_int_equal(openpty(&s->master, &s->tty, NULL, NULL, NULL), 0);
	assert_int_equal(pipe2(s->control, O_CLOEXEC), 0);
	assert_int_equal(pipe2(s->command, O_CLOEXEC), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, s->status), 0);
	s->rescue = rescue_new(s->tty);
	assert_non_null(s->rescue);
	assert_int_equal(tcgetattr(s->tty, &s->rescue->modes), 0);
	struct termios raw = s->rescue->modes;
	cfmakeraw(&raw);
	assert_int_equal(tcsetattr(s->tty, TCSANOW, &raw), 0);
	s->rescue->raw = s->rescue->asking = true;
}

static void shut(int *fd)
{
	if (*fd >= 0)
		assert_int_equal(close(*fd), 0);
	*fd = -1;
}

static void take_down(struct stand *s)
{
	rescue_free(s->rescue);
	shut(&s->master), shut(&s->tty);
	for (int i = 0; i < 2; i++)
		shut(&s->control[i]), shut(&s->status[i]), shut(&s->command[i]);
}

/* What the command is: it waits for the end of its pipe. */
static _Noreturn void command_main(struct stand *s)
{
	char byte;

	(void)close(s->command[1]);
	(void)close(s->control[1]);
	(void)!read(s->command[0], &byte, 1);
	_exit(0);
}

static pid_t guardian_start(struct stand *s)
{
	pid_t keeper = getpid(), pid = fork();

	if (pid)
		return pid;
	pid_t command = fork();
	if (command == 0)
		command_main(s);
	(void)close(s->command[1]);
	(void)close(s->control[1]);
	(void)close(s->status[0]);
	guardian_main(&(struct guardian){ command, keeper, s->control[0], s->status[1], s->rescue, NULL, NULL });
}

static void guardian_ends(pid_t guardian)
{
	int status;

	assert_int_equal(waitpid(guardian, &status, 0), guardian);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* A process that has ended and is still to be reaped: what usher is while the kernel takes it down, for as long as the test needs. */
static pid_t ended_process(void)
{
	siginfo_t end;
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &end, WEXITED | WNOWAIT), 0);
	return pid;
}

static bool given_back(struct stand *s)
{
	struct termios now;
	struct pollfd out = { s->master, POLLIN, 0 };
	char text[64] = "";

	assert_int_equal(tcgetattr(s->tty, &now), 0);
	bool cooked = now.c_lflag & ICANON;
	if (poll(&out, 1, 0) > 0)
		assert_true(read(s->master, text, sizeof(text) - 1) > 0);
	bool left = strcmp(text, screen_left) == 0;
	assert_int_equal(cooked, left);
	assert_true(left || !*text);
	return left;
}

static void usher_lives(void **state)
{
	struct stand s;

	stand_up(&s);
	pid_t guardian = guardian_start(&s);
	shut(&s.command[1]);
	guardian_ends(guardian);
	assert_false(given_back(&s)); /* usher does it itself */
	take_down(&s);
}

/* Killed, but its descriptors are still open: the report is taken, the control pipe has its other end. */
static void usher_is_going(void **state)
{
	struct stand s;

	stand_up(&s);
	s.rescue->usher = ended_process();
	pid_t guardian = guardian_start(&s);
	shut(&s.command[1]);
	guardian_ends(guardian);
	assert_true(given_back(&s));
	assert_int_equal(waitpid(s.rescue->usher, NULL, 0), s.rescue->usher);
	take_down(&s);
}

static void usher_is_reaped(void **state)
{
	struct stand s;

	stand_up(&s);
	s.rescue->usher = ended_process();
	assert_int_equal(waitpid(s.rescue->usher, NULL, 0), s.rescue->usher);
	pid_t guardian = guardian_start(&s);
	shut(&s.command[1]);
	guardian_ends(guardian);
	assert_true(given_back(&s));
	take_down(&s);
}

/* The end of the orders alone, before the command's: it is killed, too. */
static void usher_goes_first(void **state)
{
	struct stand s;

	stand_up(&s);
	pid_t guardian = guardian_start(&s);
	shut(&s.control[1]);
	guardian_ends(guardian);
	assert_true(given_back(&s));
	take_down(&s);
}

static void nobody_takes_the_report(void **state)
{
	struct stand s;

	stand_up(&s);
	pid_t guardian = guardian_start(&s);
	shut(&s.status[0]);
	shut(&s.command[1]);
	guardian_ends(guardian);
	assert_true(given_back(&s));
	take_down(&s);
}

/* Usher gave it back by itself before it ended: the terminal is somebody else's by now. */
static void nothing_to_give_back(void **state)
{
	struct stand s;

	stand_up(&s);
	s.rescue->raw = s.rescue->asking = false;
	s.rescue->usher = ended_process();
	pid_t guardian = guardian_start(&s);
	shut(&s.control[1]);
	guardian_ends(guardian);
	assert_false(given_back(&s));
	assert_int_equal(waitpid(s.rescue->usher, NULL, 0), s.rescue->usher);
	take_down(&s);
}

/* Without a pause at first; who is still there much later waits in the kernel, and is not hurried by whoever asks all the time. */
static void pauses_grow(void **state)
{
	(void)state;
	assert_int_equal(guardian_kill_round(KILLER_GUARDIAN, 1), 0);
	assert_int_equal(guardian_kill_round(KILLER_GUARDIAN, 49999), 0);
	assert_int_equal(guardian_kill_round(KILLER_GUARDIAN, 50001), 2);
	assert_int_equal(guardian_kill_round(KILLER_GUARDIAN, 55001), 50);
	assert_int_equal(guardian_kill_round(KILLER_GUARDIAN, 4000000001U), 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pauses_grow),
		cmocka_unit_test(usher_lives),
		cmocka_unit_test(usher_is_going),
		cmocka_unit_test(usher_is_reaped),
		cmocka_unit_test(usher_goes_first),
		cmocka_unit_test(nobody_takes_the_report),
		cmocka_unit_test(nothing_to_give_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
