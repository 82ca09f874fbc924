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

void rescue_leave(struct rescue *r, const char *text, size_t len)
{
	if (!r)
		return;
	unsigned last = atomic_load(&r->last);
	const struct leave *old = &r->leave[last];
	struct leave *new = &r->leave[!last];

	if (old->len == len && !memcmp(old->text, text, len))
		return;
	memcpy(new->text, text, len);
	new->len = len;
	atomic_store(&r->last, !last);
}

/* What is to be written: a question's own screen goes first. */
static size_t put_together(const struct rescue *r, char text[RESCUE_LEAVE + 32])
{
	static const char screen[] = "\033[0m\033[?1049l\033[?25h";
	const struct leave *leave = &r->leave[atomic_load(&r->last)];
	size_t first = r->asking ? sizeof(screen) - 1 : 0;

	memcpy(text, screen, first);
	if (r->raw)
		memcpy(text + first, leave->text, leave->len);
	return first + (r->raw ? leave->len : 0);
}

bool rescue_terminal(const struct rescue *r, struct rescued *so_far)
{
	char text[RESCUE_LEAVE + 32];

	/* Once: whoever has the terminal next may set its own. */
	if (!so_far->begun && r->raw)
		(void)tcsetattr(r->tty, TCSANOW, &r->modes);
	so_far->begun = true;
	size_t len = put_together(r, text);
	if (!len)
		return true;
	ssize_t n = write(r->tty, text + so_far->written, len - so_far->written);
	if (n < 0) {
		/* Hung up: there is nobody to see it. Else its output was stopped. By the terminal and not by errno, which the keeper shares. */
		struct pollfd hung = { r->tty, 0, 0 };
		return poll(&hung, 1, 0) > 0;
	}
	so_far->written += (size_t)n;
	return so_far->written == len;
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
