/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/rescue.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "supervisor/proc_text.h"

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

bool rescue_terminal(const struct rescue *r, struct rescued *so_far)
{
	static const char leave[] = "\033[0m\033[?1049l\033[?25h";

	/* Once: whoever has the terminal next may set its own. */
	if (!so_far->begun && r->raw)
		(void)tcsetattr(r->tty, TCSANOW, &r->modes);
	so_far->begun = true;
	if (!r->asking)
		return true;
	ssize_t n = write(r->tty, leave + so_far->written, sizeof(leave) - 1 - so_far->written);
	if (n < 0) {
		/* Hung up: there is nobody to see it. Else its output was stopped. By the terminal and not by errno, which the keeper shares. */
		struct pollfd hung = { r->tty, 0, 0 };
		return poll(&hung, 1, 0) > 0;
	}
	so_far->written += (size_t)n;
	return so_far->written == sizeof(leave) - 1;
}

/* Fields of /proc/PID/stat behind the name: state, five numbers, and the kernel's flags of the task. */
static bool exiting(pid_t pid)
{
	char text[PROC_STAT];
	const char *at = proc_stat(pid, text);

	for (int field = 2; at && field < FLAGS_FIELD; field++)
		at = strchr(at + 1, ' ');
	return !at || (strtoul(at, NULL, 10) & PF_EXITING);
}

bool rescue_overdue(const struct rescue *r)
{
	return (r->raw || r->asking) && exiting(r->usher);
}
