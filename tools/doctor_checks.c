/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/doctor_checks.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rules/cleanup.h"
#include "supervisor/bound_names.h"
#include "supervisor/sock_diag.h"
#include "supervisor/cgroup.h"
#include "supervisor/filter.h"
#include "supervisor/floor.h"
#include "supervisor/kernel.h"
#include "supervisor/own_fs.h"
#include "supervisor/privileges.h"
#include "supervisor/proc_text.h"
#include "supervisor/selftest.h"
#include "supervisor/spaces.h"

#define PROC_MAGIC 0x9fa0
#define FILES_WANTED 1024

struct report {
	struct finding *out;
	size_t n;
};

static struct finding *add(struct report *r, const char *name, bool required, const char *meaning)
{
	struct finding *f = &r->out[r->n++];

	*f = (struct finding){ .name = name, .required = required, .meaning = meaning };
	return f;
}

/* ERROR as selftest gives it; WORKS is said when there is none. */
static void tried(struct finding *f, int error, const char *works)
{
	f->health = error == 0 ? HEALTH_GOOD : f->required ? HEALTH_MISSING : HEALTH_WEAKER;
	if (error == ECANCELED)
		snprintf(f->detail, sizeof(f->detail), "not tried: an earlier step failed");
	else
		snprintf(f->detail, sizeof(f->detail), "%s", error ? strerror(error) : works);
}

/* The kernel's answer to a signal that meets a very fast reply: mended in 6.18, and in these stable series since. */
static bool race_mended(void)
{
	static const unsigned mended[][3] = { { 6, 17, 3 }, { 6, 12, 53 } };
	struct utsname u;
	unsigned a = 0, b = 0, c = 0;

	if (uname(&u) < 0 || sscanf(u.release, "%u.%u.%u", &a, &b, &c) < 2)
		return false;
	for (size_t i = 0; i < sizeof(mended) / sizeof(mended[0]); i++) {
		if (a == mended[i][0] && b == mended[i][1])
			return c >= mended[i][2];
	}
	return a > 6 || (a == 6 && b >= 18);
}

static void check_notifications(struct report *r, const struct selftest *t)
{
	bool killable = filter_flags_known(SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV);
	struct finding *f;

	tried(add(r, "outside", true, "this is inside a session of usher, whose rules are what the rest speaks of: ask outside of it"), filter_inside() ? EBUSY : 0,
	      "not in a session of usher already");
	tried(add(r, "wait-killable", true, "Linux 5.19 or newer is needed: without it a signal repeats calls that have taken effect"),
	      killable ? 0 : EINVAL, "a signal does not repeat a call (Linux 5.19)");
	tried(add(r, "filter", true, "seccomp is off, or another supervisor holds this process already"), t->filter,
	      "seccomp filter with a notification listener");
	tried(add(r, "pidfd-getfd", false,
		  "usher cannot act on the caller's own sockets and descriptors: connect, bind, send, names and changes by a descriptor (mv, rm -r) are refused "
		  "(Linux 5.6; in a container: docker run --cap-add=SYS_PTRACE)"),
	      t->getfd, "descriptors of the command can be duplicated (Linux 5.6)");
	tried(add(r, "notify", true, "calls cannot be received"), t->receive, "a call was received");
	tried(add(r, "addfd", true, "descriptors cannot be handed to the command (Linux 5.9)"), t->addfd, "a descriptor was put into the caller");
	tried(add(r, "answer", true, "calls cannot be answered"), t->answer, "the caller got the answer");
	tried(add(r, "sync-wake-up", false, "answers are slower, about 45 instead of 10 us a call (Linux 6.6)"), t->sync_wake,
	      "answers wake the caller on the same core (Linux 6.6)");
	f = add(r, "wait-killable-race", false,
		"before Linux 6.18, 6.17.3 and 6.12.53, unless the fix was backported: a signal that arrives with a very fast answer "
		"can still interrupt the caller's wait, and the call is made twice");
	tried(f, race_mended() ? 0 : EINTR, "no known race between a fast answer and a signal (Linux 6.18)");
	if (f->health != HEALTH_GOOD)
		snprintf(f->detail, sizeof(f->detail), "this version may have a race between a fast answer and a signal");
}

static int try_proc(const struct selftest *t)
{
	struct statfs fs;
	int proc CLEANUP_FD = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (proc < 0 || fstatfs(proc, &fs) < 0)
		return errno;
	if (fs.f_type != PROC_MAGIC)
		return ENOTDIR;
	if (!proc_is_own(proc))
		return ESRCH;
	return t->read_proc == ECANCELED ? 0 : t->read_proc;
}

static void check_reading(struct report *r, const struct selftest *t)
{
	tried(add(r, "proc", true, "usher needs /proc, with the processes of its own user and pid namespace in it (unshare --mount-proc)"),
	      try_proc(t), "mounted, and shows the command");
	tried(add(r, "read-memory", true, "usher cannot read what the command asks for (process_vm_readv is blocked: a container's own filter? docker run --cap-add=SYS_PTRACE)"),
	      t->read_memory, "the command's memory can be read");
	tried(add(r, "ptrace", true, "a new program cannot be verified before it runs, so none may start (container without ptrace, or Yama scope 3)"),
	      t->seize, "a child can be seized, so programs are verified before they run");
}

static void check_sight(struct report *r)
{
	bool blind = geteuid() == 0 && !privileges_read_any();

	tried(add(r, "read-any", false, "root without CAP_SYS_PTRACE: what a process asks after it has changed its user is refused"),
	      blind ? EPERM : 0, geteuid() == 0 ? "processes that change their user can be served" : "an ordinary user's processes stay that user's");
}

static void check_yama(struct report *r)
{
	CLEANUP_FD int fd = open("/proc/sys/kernel/yama/ptrace_scope", O_RDONLY | O_CLOEXEC);
	char scope = '0';
	struct finding *f = add(r, "yama", false, "processes that usher does not descend from it cannot be verified: it adopts orphans, so only "
						  "scope 2 (without CAP_SYS_PTRACE) and 3 matter");

	if (fd >= 0 && read(fd, &scope, 1) != 1)
		scope = '?';
	f->health = scope == '0' || scope == '1' ? HEALTH_GOOD : HEALTH_WEAKER;
	snprintf(f->detail, sizeof(f->detail), fd < 0 ? "no Yama" : "ptrace_scope %c", scope);
}

static void check_openat2(struct report *r)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS };
	CLEANUP_FD int fd = (int)syscall(__NR_openat2, AT_FDCWD, "/", &how, sizeof(how));

	tried(add(r, "openat2", true, "names cannot be opened without following links (Linux 5.6)"), fd < 0 ? errno : 0,
	      "names are opened without following links (Linux 5.6)");
}

static void check_calls(struct report *r)
{
	CLEANUP_FD int fd = (int)syscall(__NR_pidfd_open, getpid(), 0);

	tried(add(r, "pidfd-open", true, "usher cannot hold the command's processes (pidfd_open is blocked: an older container's own filter?)"),
	      fd < 0 ? errno : 0, "processes can be held by identity");
	tried(add(r, "close-range", true, "what usher was started with cannot be kept from others (close_range is blocked: an older container's own filter?)"),
	      close_range(~0U, ~0U, 0) < 0 ? errno : 0, "descriptors can be closed and marked in ranges");
}

static void check_pidfd_thread(struct report *r)
{
	CLEANUP_FD int fd = (int)syscall(__NR_pidfd_open, getpid(), PIDFD_THREAD);

	tried(add(r, "pidfd-thread", false,
		  "a thread other than the leader is held by its /proc directory; descriptors of a thread with a table of its own cannot be taken "
		  "(Linux 6.9)"),
	      fd < 0 ? errno : 0, "threads can be held by identity (Linux 6.9)");
}

static void check_landlock(struct report *r)
{
	static const struct {
		int abi;
		const char *name;
		const char *works;
		const char *meaning;
	} steps[] = {
		{ 1, "landlock-files", "the kernel refuses file accesses that were not mediated", "only mediation stands between the command and files" },
		{ 3, "landlock-truncate", "truncation too (ABI 3)", "truncate is refused by mediation alone (Linux 6.2)" },
		{ 4, "landlock-tcp", "TCP connect and bind too (ABI 4)", "TCP is refused by mediation alone (Linux 6.7)" },
		{ 5, "landlock-ioctl", "ioctls on devices too (ABI 5)", "device ioctls are decided at open alone (Linux 6.10)" },
		{ 6, "landlock-scopes", "signals and abstract sockets stay inside the tree (ABI 6)",
		  "signals go through usher, which is slower; a few signals to the own process group are refused (Linux 6.12)" },
		{ 9, "landlock-unix", "connecting to sockets with a path name too (ABI 9)", "sockets with a path name are refused by mediation alone" },
		{ 10, "landlock-udp", "UDP too (ABI 10)", "UDP is refused by mediation alone (Linux 7.2)" },
	};
	int abi = floor_abi();

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		tried(add(r, steps[i].name, false, steps[i].meaning), abi >= steps[i].abi ? 0 : EOPNOTSUPP, steps[i].works);
}

static void check_userns(struct report *r)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0)
		_exit(unshare(CLONE_NEWUSER) < 0 ? errno & 0x7f : 0);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		status = EAGAIN << 8;
	tried(add(r, "user-namespaces", false, "an ordinary user has no --isolate=LIST; nothing else needs them"), WEXITSTATUS(status),
	      "available (usher refuses them to the command)");
}

static void check_spaces(struct report *r)
{
	static const char *const names[SPACES_KINDS] = { "namespace-pid", "namespace-ipc", "namespace-uts", "namespace-cgroup",
							 "namespace-net", "namespace-mount" };
	struct space_trial t[SPACES_KINDS];
	char works[96];

	size_t n = spaces_try(t);
	for (size_t i = 0; i < n; i++) {
		snprintf(works, sizeof(works), "--isolate=%s%s", t[i].name, t[i].user ? ", in a user namespace: others' files seem nobody's" : "");
		tried(add(r, names[i], false, "--isolate with it is refused; mediation and floor do not need it"), t[i].error, works);
	}
}

static void check_cgroup(struct report *r)
{
	const struct cgroup_wants wants = { .memory = (uint64_t)1 << 40, .tasks = 1 << 20 };
	struct cgroup g;
	char works[160];

	int rc = cgroup_make(&wants, &g);
	snprintf(works, sizeof(works), "a control group can be made: limit cpu counts all time; memory is %s, threads are %s",
		 g.memory ? "held by the kernel" : "measured (no memory controller)", g.tasks ? "bounded" : "not bounded (no pids controller)");
	cgroup_end(&g);
	tried(add(r, "cgroup", false, "limit cpu and memory are measured in /proc, where time of children that nobody waits for is lost"), -rc, works);
}

static void check_files(struct report *r)
{
	struct rlimit limit = { 0, 0 };
	struct finding *f = add(r, "open-files", false, "many processes or waiting questions at once will be refused: raise the hard limit (ulimit -Hn)");

	getrlimit(RLIMIT_NOFILE, &limit);
	f->health = limit.rlim_max >= FILES_WANTED ? HEALTH_GOOD : HEALTH_WEAKER;
	snprintf(f->detail, sizeof(f->detail), "hard limit %llu", (unsigned long long)limit.rlim_max);
}

static void *enter(void *error)
{
	*(int *)error = own_fs_enter() < 0 ? errno : 0;
	return NULL;
}

static void check_own_directory(struct report *r)
{
	pthread_t thread;
	int error = EAGAIN;

	if (own_fs_create(&thread, NULL, enter, &error) == 0)
		pthread_join(thread, NULL);
	tried(add(r, "own-directory", true, "unshare(2) is refused here, as in many containers: build usher without SHARED=1"), error,
	      "a thread can have a working directory of its own");
}

static int asked(int (*told)(struct sock_diag *))
{
	struct sock_diag *diag = NULL;
	int rc = sock_diag_new(&diag);

	if (rc == 0)
		rc = told(diag);
	sock_diag_free(diag);
	return -rc;
}

static void check_vacant_ports(struct report *r)
{
	tried(add(r, "vacant-ports", false, "no port is vacant to a rule, or none of TCP or of UDP: builtin:agent asks before programs connect where nobody listens yet (the kernel needs inet_diag: modprobe tcp_diag udp_diag)"),
	      asked(sock_diag_told), "the kernel tells whether somebody listens on a port");
}

static void check_unix_names(struct report *r)
{
	tried(add(r, "unix-names", false, "no unix socket with a name is own to a rule: builtin:agent asks before programs connect to their own in /tmp (the kernel needs unix_diag: modprobe unix_diag)"),
	      asked(bound_names_told), "the kernel tells which file a unix socket was bound to");
}

size_t doctor_examine(struct finding out[DOCTOR_MAX])
{
	struct report r = { .out = out };
	struct selftest t;

	(void)selftest_run(&t); /* on failure everything says "not tried" */
	check_notifications(&r, &t);
	check_own_directory(&r);
	check_reading(&r, &t);
	check_sight(&r);
	check_yama(&r);
	check_openat2(&r);
	check_calls(&r);
	check_pidfd_thread(&r);
	check_landlock(&r);
	check_unix_names(&r);
	check_vacant_ports(&r);
	check_userns(&r);
	check_spaces(&r);
	check_cgroup(&r);
	check_files(&r);
	return r.n;
}
