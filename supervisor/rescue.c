/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/rescue.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rules/cleanup.h"

#define LEAVE_MS 20
#define LEAVE_TRIES 100 /* two seconds */
#define FLAGS_FIELD 9
#define PF_EXITING 0x4UL /* include/linux/sched.h */

struct rescue *rescue_new(int tty)
{
	struct rescue *r = mmap(NULL, sizeof(*r), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (r == MAP_FAILED)
		return NULL;
	r->usher = getpid();
	r->tty = tty;
	return r;
}

void rescue_free(struct rescue *r)
{
	if (r)
		(void)munmap(r, sizeof(*r));
}

/* The descriptor does not block: while another writes to the terminal, or nobody reads what was written, it takes nothing. */
static void leave_screen(int tty)
{
	static const char leave[] = "\033[0m\033[?1049l\033[?25h";
	size_t at = 0;

	for (unsigned tries = 0; at < sizeof(leave) - 1 && tries < LEAVE_TRIES; tries++) {
		ssize_t n = write(tty, leave + at, sizeof(leave) - 1 - at);
		if (n > 0)
			at += (size_t)n;
		else if (n < 0 && errno != EAGAIN)
			return; /* hung up: there is nobody to see it */
		else
			(void)poll(NULL, 0, LEAVE_MS);
	}
}

void rescue_terminal(const struct rescue *r)
{
	if (r->raw)
		(void)tcsetattr(r->tty, TCSANOW, &r->modes);
	if (r->asking)
		leave_screen(r->tty);
}

/* Fields of /proc/PID/stat behind the name: state, five numbers, and the kernel's flags of the task. */
static bool exiting(pid_t pid)
{
	char path[32], text[512];

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	int fd CLEANUP_FD = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return true;
	text[n] = '\0';
	const char *at = strrchr(text, ')');
	for (int field = 2; at && field < FLAGS_FIELD; field++)
		at = strchr(at + 1, ' ');
	return !at || (strtoul(at, NULL, 10) & PF_EXITING);
}

bool rescue_overdue(const struct rescue *r)
{
	return (r->raw || r->asking) && exiting(r->usher);
}
