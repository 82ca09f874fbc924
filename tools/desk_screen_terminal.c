/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The person's terminal: the desk's alone while it is on the screen, and as it was when it is left or stopped.
 *
 * MUST: no signal that can be taken leaves the terminal exclusive: nobody but root could open it again (/dev/tty: EBUSY) while its
 * shell lives.
 */
#include <curses.h>
#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <term.h>
#include <unistd.h>

#include "tools/desk_screen.h"
#include "tools/desk_screen_state.h"

/* From now on nobody else of this user can open this terminal, to read answers or to draw questions. */
static void make_exclusive(void)
{
	ioctl(STDIN_FILENO, TIOCEXCL);
}

static void give_back(void)
{
	endwin();
	ioctl(STDIN_FILENO, TIOCNXCL);
}

/* Those that end or stop a program; one that is ignored stays so. They come by a descriptor: there is nothing to do in a handler. */
static sigset_t taken(void)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGQUIT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGTSTP);
	return set;
}

/* SIG does what it does to any program, here and now. */
static void yield_to(int sig)
{
	sigset_t one;
	signal(sig, SIG_DFL); /* curses has put in a handler of its own */
	sigemptyset(&one);
	sigaddset(&one, sig);
	raise(sig);
	sigprocmask(SIG_UNBLOCK, &one, NULL);
	sigprocmask(SIG_BLOCK, &one, NULL);
}

bool desk_screen_possible(void)
{
	int found;
	if (setupterm(NULL, STDOUT_FILENO, &found) != OK)
		return false;
	bool moves = cursor_address;
	del_curterm(cur_term);
	return moves;
}

void screen_begin(struct screen_desk *d)
{
	sigset_t set = taken();
	sigprocmask(SIG_BLOCK, &set, NULL);
	d->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (d->signals < 0)
		sigprocmask(SIG_UNBLOCK, &set, NULL); /* curses' handlers are better than none */
	setlocale(LC_ALL, "");
	initscr();
	cbreak();
	noecho();
	make_exclusive(); /* in the background the line before stops */
	keypad(stdscr, TRUE);
	set_escdelay(50);
	timeout(0);
	curs_set(0);
}

/* While it is stopped the terminal is the shell's. */
static void stop(void)
{
	give_back();
	yield_to(SIGTSTP);
	clearok(curscr, TRUE);
	refresh(); /* and stops once more where it was continued in the background */
	make_exclusive();
	flushinp();
}

void screen_signals(struct screen_desk *d)
{
	struct signalfd_siginfo s;
	while (d->signals >= 0 && read(d->signals, &s, sizeof(s)) == sizeof(s)) {
		if (s.ssi_signo == SIGTSTP)
			stop();
		else if (s.ssi_signo == SIGINT && d->line)
			d->line_left = true;
		else
			d->ended_by = (int)s.ssi_signo;
	}
}

void screen_end(struct screen_desk *d)
{
	give_back();
	if (d->signals >= 0)
		close(d->signals);
	if (d->ended_by)
		yield_to(d->ended_by);
}
