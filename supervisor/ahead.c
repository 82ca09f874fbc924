/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/ahead.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rules/cleanup.h"
#include "supervisor/isolate.h"

#define MORE (64 * 1024) /* beyond usher's own environment, for the filter and what rules set */

#define GO 'g'
#define GIVE_UP 'x'

/* Mapped at one place in both. */
struct ahead {
	size_t size;     /* of the mapping */
	size_t used;     /* of bytes[] */
	int go[2];       /* the byte's pipe */
	int usher;       /* a pidfd: readable when usher has ended */
	struct launch_options told;
	struct isolation isolation;
	struct sock_fprog program;
	char bytes[] __attribute__((aligned(16)));
};

static size_t size_of(char *const *list)
{
	size_t n = sizeof(char *);

	for (; *list; list++)
		n += sizeof(char *) + strlen(*list) + 1;
	return n;
}

static int open_ends(struct ahead *a)
{
	if (pipe2(a->go, O_CLOEXEC) < 0)
		return -errno;
	a->usher = (int)syscall(SYS_pidfd_open, getpid(), 0);
	return a->usher < 0 ? -errno : 0;
}

int ahead_new(char *const *environment, struct ahead **out)
{
	size_t size = sizeof(struct ahead) + size_of(environment) + MORE;
	struct ahead *a = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (a == MAP_FAILED)
		return -errno;
	a->size = size;
	a->go[0] = a->go[1] = a->usher = -1;
	int rc = open_ends(a);
	if (rc < 0) {
		ahead_free(a);
		return rc;
	}
	*out = a;
	return 0;
}

void ahead_forget(struct ahead *a)
{
	if (a)
		(void)munmap(a, a->size);
}

void ahead_free(struct ahead *a)
{
	if (!a)
		return;
	cleanup_fd(&a->go[0]);
	cleanup_fd(&a->go[1]);
	cleanup_fd(&a->usher);
	ahead_forget(a);
}

/* N bytes for what is no smaller than a pointer or has no alignment; NULL: no room. */
static void *take(struct ahead *a, size_t n)
{
	size_t room = a->size - sizeof(*a);
	void *at = a->bytes + a->used;

	n = (n + sizeof(void *) - 1) & ~(sizeof(void *) - 1);
	if (n > room - a->used)
		return NULL;
	a->used += n;
	return at;
}

static void *put(struct ahead *a, const void *bytes, size_t n)
{
	void *at = take(a, n);

	return at ? memcpy(at, bytes, n) : NULL;
}

static char **put_list(struct ahead *a, char *const *list)
{
	size_t n = 0;

	while (list[n])
		n++;
	char **copy = take(a, (n + 1) * sizeof(*copy));
	for (size_t i = 0; copy && i < n; i++) {
		copy[i] = put(a, list[i], strlen(list[i]) + 1);
		if (!copy[i])
			return NULL;
	}
	if (copy)
		copy[n] = NULL;
	return copy;
}

static int say(const struct ahead *a, char what)
{
	ssize_t n;

	do
		n = write(a->go[1], &what, 1);
	while (n < 0 && errno == EINTR);
	return n == 1 ? 0 : -errno;
}

int ahead_tell(struct ahead *a, const struct launch_options *o)
{
	a->told = *o;
	a->told.ahead = NULL;
	a->told.filter.policy = NULL; /* usher's alone */
	a->isolation = *o->isolation;
	a->told.isolation = &a->isolation;
	a->program = *o->program;
	a->told.program = &a->program;
	a->program.filter = put(a, o->program->filter, o->program->len * sizeof(*o->program->filter));
	a->told.envp = put_list(a, o->envp);
	return a->program.filter && a->told.envp ? say(a, GO) : -E2BIG;
}

void ahead_give_up(struct ahead *a)
{
	(void)say(a, GIVE_UP);
	close(steal_fd(&a->go[1])); /* should that have failed: in the one table that they share */
}

bool ahead_await(struct ahead *a, struct launch_options *o)
{
	struct pollfd fds[] = { { a->go[0], POLLIN, 0 }, { a->usher, POLLIN, 0 } };
	char what = GIVE_UP;

	while (poll(fds, 2, -1) < 0) {
		if (errno != EINTR)
			return false;
	}
	if (!fds[0].revents || read(a->go[0], &what, 1) != 1 || what != GO)
		return false;
	*o = a->told;
	return true;
}
