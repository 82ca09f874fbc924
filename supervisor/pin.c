/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MUST: whoever is traced is never stopped: a tracer lets go of a process that runs by ending, and only so. Hence a thread of its own.
 */
#include "supervisor/pin.h"

#include <errno.h>
#include <sys/ptrace.h>

static void wait_for(sem_t *s)
{
	while (sem_wait(s) < 0 && errno == EINTR)
		continue;
}

static void *hold(void *context)
{
	struct pin *p = context;

	while ((p->rc = ptrace(PTRACE_SEIZE, p->pid, 0, 0) < 0 ? -errno : 0) == -EINTR)
		continue;
	sem_post(&p->held);
	wait_for(&p->done);
	return NULL;
}

int pin_begin(struct pin *p, pid_t pid)
{
	p->pid = pid;
	sem_init(&p->held, 0, 0);
	sem_init(&p->done, 0, 0);
	if (pthread_create(&p->thread, NULL, hold, p))
		return -EAGAIN;
	wait_for(&p->held);
	int rc = p->rc;
	if (rc < 0)
		pin_end(p);
	return rc;
}

void pin_end(struct pin *p)
{
	sem_post(&p->done);
	pthread_join(p->thread, NULL);
	sem_destroy(&p->held);
	sem_destroy(&p->done);
}
