/* SPDX-License-Identifier: Apache-2.0 */
/* Rows 18, 54 to 58 and 63: processes outside the tree, usher among them, cannot be touched. */
#include <sched.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>

#include "probe.h"

static long send_kill(int pid)
{
	return kill(pid, SIGKILL);
}

static int by_kill(void)
{
	return at_victims(send_kill);
}

static long send_tkill(int pid)
{
	return syscall(__NR_tkill, pid, SIGKILL);
}

static int by_tkill(void)
{
	return at_victims(send_tkill);
}

static long send_tgkill(int pid)
{
	return syscall(__NR_tgkill, pid, pid, SIGKILL);
}

static int by_tgkill(void)
{
	return at_victims(send_tgkill);
}

static long send_queue(int pid)
{
	return sigqueue(pid, SIGKILL, (union sigval){ 0 });
}

static int by_sigqueue(void)
{
	return at_victims(send_queue);
}

static long send_pidfd(int pid)
{
	int fd = (int)syscall(__NR_pidfd_open, pid, 0);

	return fd < 0 ? -1 : syscall(__NR_pidfd_send_signal, fd, SIGKILL, NULL, 0);
}

static int by_pidfd(void)
{
	return at_victims(send_pidfd);
}

static long send_group(int pid)
{
	int group = getpgid(pid);

	/* The command may share usher's group: a signal that does nothing is enough to see. */
	return group <= 0 || group == getpgrp() ? -1 : kill(-group, 0);
}

static int by_group(void)
{
	return at_victims(send_group);
}

/* The kernel says success whomever it reached; the victim ends itself on this signal, which others ignore. */
static int to_everyone(void)
{
	signal(SIGWINCH, SIG_IGN);
	kill(-1, SIGWINCH);
	return REFUSED;
}

/* Worked when the victim is dead: the call that sets the owner succeeds in any case. */
static int by_owner(void)
{
	int pair[2], pid = atoi(getenv("VICTIM"));

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
		return IMPOSSIBLE;
	if (fcntl(pair[0], F_SETOWN, pid) < 0 || fcntl(pair[0], F_SETSIG, SIGKILL) < 0 || fcntl(pair[0], F_SETFL, O_ASYNC) < 0)
		return REFUSED;
	if (write(pair[1], "x", 1) != 1)
		return IMPOSSIBLE;
	for (int i = 0; i < 100; i++) {
		char name[64], text[256] = "";
		snprintf(name, sizeof(name), "/proc/%d/stat", pid);
		FILE *f = fopen(name, "r");
		if (!f || !fgets(text, sizeof(text), f) || strstr(text, ") Z"))
			return WORKED;
		fclose(f);
		usleep(5000);
	}
	return REFUSED;
}

static long limit_files(int pid)
{
	struct rlimit l = { 0, 0 };

	return syscall(__NR_prlimit64, pid, RLIMIT_FSIZE, &l, NULL);
}

static int limits(void)
{
	return at_victims(limit_files);
}

static long renice(int pid)
{
	return setpriority(PRIO_PROCESS, (id_t)pid, 10);
}

static int priority(void)
{
	return at_victims(renice);
}

static long pin(int pid)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	return sched_setaffinity(pid, sizeof(set), &set);
}

static int affinity(void)
{
	return at_victims(pin);
}

static long idle(int pid)
{
	struct sched_param p = { 0 };

	return sched_setscheduler(pid, SCHED_IDLE, &p);
}

static int scheduler(void)
{
	return at_victims(idle);
}

static long disk_idle(int pid)
{
	return syscall(__NR_ioprio_set, 1, pid, 3 << 13);
}

static int disk_priority(void)
{
	return at_victims(disk_idle);
}

/* To say what memory is not needed makes its owner slow. */
static long advise(int pid)
{
	struct iovec none = { NULL, 0 };
	int fd = (int)syscall(__NR_pidfd_open, pid, 0);

	return fd < 0 ? -1 : syscall(__NR_process_madvise, fd, &none, 1, MADV_COLD, 0);
}

static int memory_advice(void)
{
	return at_victims(advise);
}

static long proc_open(int pid, const char *what, int flags)
{
	char name[64];

	snprintf(name, sizeof(name), "/proc/%d/%s", pid, what);
	int fd = open(name, flags);
	if (fd >= 0)
		close(fd);
	return fd;
}

static long open_memory(int pid)
{
	return proc_open(pid, "mem", O_RDWR);
}

static int memory_file(void)
{
	return at_victims(open_memory);
}

static long open_environment(int pid)
{
	char byte, name[64];

	snprintf(name, sizeof(name), "/proc/%d/environ", pid);
	int fd = open(name, O_RDONLY);
	return fd < 0 ? -1 : read(fd, &byte, 1);
}

static int environment(void)
{
	return at_victims(open_environment);
}

static long open_descriptor(int pid)
{
	for (int fd = 0; fd < 32; fd++) {
		char what[16];
		snprintf(what, sizeof(what), "fd/%d", fd);
		if (proc_open(pid, what, O_RDONLY | O_NONBLOCK) >= 0)
			return 0;
	}
	return -1;
}

static int descriptors(void)
{
	return at_victims(open_descriptor);
}

static long open_root(int pid)
{
	return proc_open(pid, "root/etc/passwd", O_RDONLY);
}

static int through_root(void)
{
	return at_victims(open_root);
}

/* It holds for the whole session, which usher and the victims are in, too. */
static int session_weight(void)
{
	int fd = open("/proc/self/autogroup", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return errno == ENOENT ? IMPOSSIBLE : REFUSED;
	close(fd);
	return WORKED;
}

static long raise_oom(int pid)
{
	char name[64];

	snprintf(name, sizeof(name), "/proc/%d/oom_score_adj", pid);
	int fd = open(name, O_WRONLY);
	return fd < 0 ? -1 : write(fd, "1000", 4);
}

static int oom_score(void)
{
	return at_victims(raise_oom);
}

/* Where control groups of version 2 are, in OUT. */
static bool groups_at(char out[200])
{
	char line[512], type[32];
	FILE *f = fopen("/proc/self/mounts", "r");
	bool found = false;

	while (f && !found && fgets(line, sizeof(line), f))
		found = sscanf(line, "%*s %199s %31s", out, type) == 2 && strcmp(type, "cgroup2") == 0;
	if (f)
		fclose(f);
	return found;
}

static long put_into(const char *dir, const char *file, int value)
{
	char name[300];

	snprintf(name, sizeof(name), "%s/%s", dir, file);
	FILE *f = fopen(name, "we");
	bool good = f && fprintf(f, "%d", value) > 0;
	return f && fclose(f) == 0 && good ? 0 : -1;
}

static long kill_by_group(int pid)
{
	char at[200], dir[256];
	long rc;

	if (!groups_at(at))
		return -1;
	snprintf(dir, sizeof(dir), "%s/usher-probe-%d", at, (int)getpid());
	if (mkdir(dir, 0755) < 0)
		return -1;
	rc = put_into(dir, "cgroup.procs", pid);
	if (rc == 0)
		rc = put_into(dir, "cgroup.kill", 1);
	for (int i = 0; i < 200 && rmdir(dir) < 0; i++)
		usleep(10000); /* who dies is in it for a moment longer */
	return rc;
}

static int group_kill(void)
{
	return at_victims(kill_by_group);
}

/* The top group is there for whoever may write it: to leave a limit behind. */
static int leave_group(void)
{
	char at[200];

	return groups_at(at) && put_into(at, "cgroup.procs", (int)getpid()) == 0 ? WORKED : REFUSED;
}

/* Opened, not written: what the kernel would do is not for a test. */
static int kernel_files(void)
{
	static const char *const names[] = { "/proc/sysrq-trigger", "/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe",
					     "/proc/sys/fs/binfmt_misc/register", "/sys/power/state" };
	bool got = false;

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		int fd = open(names[i], O_WRONLY | O_CLOEXEC);
		got |= fd >= 0;
		close(fd);
	}
	return got ? WORKED : REFUSED;
}

/* Where memory runs out. */
static int spared(void)
{
	int pid[MAX_VICTIMS], n = victims(pid), score[MAX_VICTIMS] = { 0 }, own = 0;
	char name[64];

	for (int i = -1; i < n; i++) {
		snprintf(name, sizeof(name), i < 0 ? "/proc/self/oom_score_adj" : "/proc/%d/oom_score_adj", i < 0 ? 0 : pid[i]);
		FILE *f = fopen(name, "re");
		if (f && fscanf(f, "%d", i < 0 ? &own : &score[i]) != 1)
			own = -1000;
		if (f)
			fclose(f);
	}
	/* The last is usher itself. */
	return score[n - 1] >= own ? WORKED : REFUSED;
}

static const struct attack attacks[] = {
	{ "row 54: kill", by_kill, false },
	{ "row 54: tkill", by_tkill, false },
	{ "row 54: tgkill", by_tgkill, false },
	{ "row 54: sigqueue", by_sigqueue, false },
	{ "row 54: pidfd_send_signal", by_pidfd, false },
	{ "row 54: another process group", by_group, false },
	{ "row 54: kill(-1)", to_everyone, true },
	{ "row 55: F_SETOWN and F_SETSIG", by_owner, false },
	{ "row 56: prlimit", limits, false },
	{ "row 56: setpriority", priority, false },
	{ "row 56: sched_setaffinity", affinity, false },
	{ "row 56: sched_setscheduler", scheduler, false },
	{ "row 56: ioprio_set", disk_priority, false },
	{ "row 56: process_madvise", memory_advice, false },
	{ "row 56: the weight of the session", session_weight, false },
	{ "row 57: oom_score_adj", oom_score, false },
	{ "row 57: no likelier victim than others", spared, false },
	{ "row 57: files that the kernel acts on", kernel_files, false },
	{ "row 57: cgroup.kill", group_kill, false },
	{ "row 57: leaving a control group", leave_group, false },
	{ "row 18: /proc/PID/mem", memory_file, false },
	{ "row 18: /proc/PID/environ", environment, false },
	{ "row 17: /proc/PID/fd/N", descriptors, false },
	{ "row 17: /proc/PID/root", through_root, false },
};

int main(int argc, char **argv)
{
	return probe_main(argc, argv, attacks, sizeof(attacks) / sizeof(attacks[0]));
}
