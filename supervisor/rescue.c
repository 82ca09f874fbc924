/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/rescue.h"

#include <sys/mman.h>
#include <unistd.h>

struct rescue *rescue_new(int tty)
{
	struct rescue *r = mmap(NULL, sizeof(*r), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (r == MAP_FAILED)
		return NULL;
	r->tty = tty;
	return r;
}

void rescue_free(struct rescue *r)
{
	if (r)
		(void)munmap(r, sizeof(*r));
}

void rescue_terminal(const struct rescue *r)
{
	static const char leave[] = "\033[0m\033[?1049l\033[?25h";

	if (r->asking && write(r->tty, leave, sizeof(leave) - 1) < 0)
		return; /* hung up: there is nobody to see it */
	if (r->raw)
		(void)tcsetattr(r->tty, TCSANOW, &r->modes);
}
