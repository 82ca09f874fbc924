/* SPDX-License-Identifier: Apache-2.0 */
/* utime, utimes, futimesat, utimensat: four ways to say two times. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>
#include <utime.h>

#include "supervisor/file.h"
#include "supervisor/memory.h"
#include "supervisor/resolve.h"
#include "supervisor/rows_file.h"

enum times_form { TIMES_UTIME, TIMES_TIMEVAL, TIMES_TIMESPEC };

static int convert(enum times_form form, const void *from, struct timespec out[2])
{
	struct utimbuf whole;
	struct timeval micro[2];

	switch (form) {
	case TIMES_UTIME:
		memcpy(&whole, from, sizeof(whole));
		out[0] = (struct timespec){ whole.actime, 0 };
		out[1] = (struct timespec){ whole.modtime, 0 };
		return 0;
	case TIMES_TIMEVAL:
		memcpy(micro, from, sizeof(micro));
		for (int i = 0; i < 2; i++) {
			if (micro[i].tv_usec < 0 || micro[i].tv_usec >= 1000000)
				return -EINVAL;
			out[i] = (struct timespec){ micro[i].tv_sec, micro[i].tv_usec * 1000 };
		}
		return 0;
	case TIMES_TIMESPEC:
		memcpy(out, from, 2 * sizeof(*out));
		return 0;
	}
	return -EINVAL;
}

/* Copies the times into data[0], as timespecs; absent means now. Once: a call may be resolved again. */
static int copy_times(struct job *j, uint64_t addr, enum times_form form)
{
	struct timespec times[2];
	char raw[sizeof(times)];
	size_t len = form == TIMES_UTIME ? sizeof(struct utimbuf) : sizeof(times);

	if (!addr || j->data[0].off)
		return 0;
	int rc = memory_read((pid_t)j->notif.pid, addr, raw, len);
	if (rc == 0)
		rc = convert(form, raw, times);
	if (rc < 0)
		return rc;
	j->data[0] = job_copy(j, times, sizeof(times));
	return j->data[0].off ? 0 : -ENOMEM;
}

/* The arena has no alignment to rely on. */
static const struct timespec *times_of(struct job *j, struct timespec out[2])
{
	if (!j->data[0].off)
		return NULL;
	memcpy(out, job_text(j, j->data[0]), 2 * sizeof(*out));
	return out;
}

int utime_check(struct job *j)
{
	return copy_times(j, j->arg[1], TIMES_UTIME);
}

int utimes_check(struct job *j)
{
	return copy_times(j, j->arg[1], TIMES_TIMEVAL);
}

int futimesat_check(struct job *j)
{
	return copy_times(j, j->arg[2], TIMES_TIMEVAL);
}

/* Both times are to stay: the kernel looks at nothing else of the call then, not even at its path. */
static bool nothing_to_do(struct job *j)
{
	struct timespec times[2];

	return times_of(j, times) && times[0].tv_nsec == UTIME_OMIT && times[1].tv_nsec == UTIME_OMIT;
}

int utimensat_check(struct job *j)
{
	int rc = copy_times(j, j->arg[2], TIMES_TIMESPEC);

	if (rc < 0)
		return rc;
	if (nothing_to_do(j)) {
		j->arg[1] = 0;
		return 0;
	}
	return j->arg[3] & ~(uint64_t)(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) ? -EINVAL : 0;
}

int utime_resolve(struct job *j)
{
	struct target *t;

	return file_object(j, AT_FDCWD, 0, 0, OP_ATTR, &t);
}

static int object_or_descriptor(struct job *j, unsigned look)
{
	struct target *t;

	if (j->path[0].off)
		return file_object(j, (int)j->arg[0], 0, look, OP_ATTR, &t);
	/* Without a path the descriptor is meant. */
	if ((int)j->arg[0] == AT_FDCWD)
		return -EFAULT;
	return look ? -EINVAL : file_opened(j, (int)j->arg[0], OP_ATTR, &t);
}

int futimesat_resolve(struct job *j)
{
	return object_or_descriptor(j, 0);
}

int utimensat_resolve(struct job *j)
{
	unsigned at = (unsigned)j->arg[3];

	if (nothing_to_do(j))
		return 0;
	j->said = at;
	return object_or_descriptor(j, (at & AT_SYMLINK_NOFOLLOW ? LOOK_NOFOLLOW : 0u) |
					       (at & AT_EMPTY_PATH ? LOOK_EMPTY : 0u));
}

static long do_times(struct job *j)
{
	struct timespec times[2];

	if (j->sock >= 0)
		return syscall(SYS_utimensat, j->sock, NULL, times_of(j, times), 0);
	return syscall(SYS_utimensat, j->target[0].fd, "", times_of(j, times), AT_EMPTY_PATH);
}

int times_perform(struct job *j)
{
	if (!j->n_targets)
		return job_value(j, 0);
	return file_act(j, false, do_times);
}
