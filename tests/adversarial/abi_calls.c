/* SPDX-License-Identifier: Apache-2.0 */
/* Rows 26 to 28 and 47 to 53 of the escapes: the rest of the kernel's surface. */
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/kd.h>
#include <linux/keyctl.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <sched.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "probe.h"

#define JUNK 0x7ead000000000000ULL

static int userns(void)
{
	return verdict(unshare(CLONE_NEWUSER));
}

/* A child made with FLAGS; the caller's own exit code tells whether there was one. */
static int cloned(unsigned long flags)
{
	long pid = syscall(__NR_clone, flags | SIGCHLD, 0UL, 0UL, 0UL, 0UL);

	if (pid == 0)
		_exit(0);
	if (pid > 0)
		waitpid((pid_t)pid, NULL, 0);
	return verdict(pid);
}

static int clone_userns(void)
{
	return cloned(CLONE_NEWUSER | JUNK);
}

/* A child that no tracer follows is bound all the same: the filter is inherited, usher follows nobody. */
static int clone_untraced(void)
{
	int status;
	long pid = syscall(__NR_clone, (unsigned long)CLONE_UNTRACED | SIGCHLD, 0UL, 0UL, 0UL, 0UL);

	if (pid == 0)
		_exit(userns());
	if (pid < 0 || waitpid((pid_t)pid, &status, 0) != pid)
		return REFUSED;
	return WEXITSTATUS(status);
}

static int clone3_userns(void)
{
	struct clone_args a = { .flags = CLONE_NEWUSER, .exit_signal = SIGCHLD };
	long pid = syscall(__NR_clone3, &a, sizeof(a));

	if (pid == 0)
		_exit(0);
	if (pid > 0)
		waitpid((pid_t)pid, NULL, 0);
	return verdict(pid);
}

static int new_mounts(void)
{
	return verdict(unshare(CLONE_NEWNS));
}

static int enter_namespace(void)
{
	int fd = open("/proc/self/ns/uts", O_RDONLY);

	return fd < 0 ? REFUSED : verdict(setns(fd, 0));
}

static int mount_tmpfs(void)
{
	if (unshare(CLONE_NEWNS) == 0)
		mount("", "/", NULL, MS_PRIVATE | MS_REC, NULL);
	else if (!getenv("SUPERVISED"))
		return REFUSED;
	return verdict(mount("tmpfs", "/mnt", "tmpfs", 0, NULL));
}

static int fs_open(void)
{
	return verdict(syscall(__NR_fsopen, "tmpfs", 0));
}

static int tree_open(void)
{
	return verdict(syscall(__NR_open_tree, AT_FDCWD, ".", 0x1 /* OPEN_TREE_CLONE */));
}

static int by_handle(void)
{
	struct {
		struct file_handle h;
		char room[128];
	} handle = { .h.handle_bytes = 128 };
	int mount_id;

	if (name_to_handle_at(AT_FDCWD, ".", &handle.h, &mount_id, 0) < 0)
		return IMPOSSIBLE;
	return verdict(open_by_handle_at(AT_FDCWD, &handle.h, O_RDONLY));
}

#ifdef __x86_64__
/* int 0x80 where the kernel has no 32-bit calls, a guest of a host that runs 64-bit code only, for one. */
static void no_gate(int sig)
{
	(void)sig;
	_exit(IMPOSSIBLE);
}
#endif

static int int80(void)
{
#ifdef __x86_64__
	long rc;

	signal(SIGSEGV, no_gate);
	__asm__ volatile("int $0x80" : "=a"(rc) : "0"(20L) : "memory", "r8", "r9", "r10", "r11");
	return rc == getpid() ? WORKED : REFUSED;
#else
	return IMPOSSIBLE;
#endif
}

static int x32(void)
{
#ifdef __x86_64__
	return verdict(syscall(0x40000000 | __NR_getpid));
#else
	return IMPOSSIBLE;
#endif
}

static int junk_packet(void)
{
	return verdict(syscall(__NR_socket, JUNK | AF_PACKET, JUNK | SOCK_RAW, 0));
}

static int uring(void)
{
	char params[120] = { 0 };

	return verdict(syscall(__NR_io_uring_setup, 4, params));
}

static int secret_memory(void)
{
	return verdict(syscall(__NR_memfd_secret, 0));
}

static int use_bpf(void)
{
	union bpf_attr a = { .map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 1 };

	return verdict(syscall(__NR_bpf, BPF_MAP_CREATE, &a, sizeof(a)));
}

static int perf(void)
{
	struct perf_event_attr a = { .type = PERF_TYPE_SOFTWARE, .size = sizeof(a), .config = PERF_COUNT_SW_TASK_CLOCK, .exclude_kernel = 1 };

	return verdict(syscall(__NR_perf_event_open, &a, 0, -1, -1, 0UL));
}

static int faults(void)
{
	return verdict(syscall(__NR_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY));
}

static int add_key(void)
{
	return verdict(syscall(__NR_add_key, "user", "usher-probe", "x", 1UL, KEY_SPEC_PROCESS_KEYRING));
}

static int key_ring(void)
{
	return verdict(syscall(__NR_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 1));
}

static int load_module(void)
{
	/* Nothing is loaded: EFAULT says that the caller may. */
	return syscall(__NR_init_module, NULL, 4096UL, NULL) < 0 && (errno == EFAULT || errno == ENOEXEC) ? WORKED : REFUSED;
}

static int read_log(void)
{
	return verdict(syscall(__NR_syslog, 10 /* SYSLOG_ACTION_SIZE_BUFFER */, NULL, 0));
}

static int all_executable(void)
{
	return verdict(personality(READ_IMPLIES_EXEC));
}

static int all_executable_and_more(void)
{
	return verdict(personality(1u << 31 | READ_IMPLIES_EXEC));
}

static int type_on_terminal(void)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY);
	const char *name = master < 0 || grantpt(master) < 0 || unlockpt(master) < 0 ? NULL : ptsname(master);
	int slave = name ? open(name, O_RDWR | O_NOCTTY) : -1;

	if (slave < 0)
		return IMPOSSIBLE;
	return verdict(syscall(__NR_ioctl, slave, JUNK | TIOCSTI, "x"));
}

/* A key types what root says it does, on every console. Here it goes on doing what it does. */
static int keys_of_consoles(void)
{
	struct kbentry key = { 0 };
	int console = open("/dev/tty0", O_RDWR | O_NOCTTY | O_CLOEXEC);

	if (console < 0 || ioctl(console, KDGKBENT, &key) < 0)
		return IMPOSSIBLE;
	return verdict(syscall(__NR_ioctl, console, JUNK | KDSKBENT, &key));
}

static int words_of_keys(void)
{
	struct kbsentry words = { 0 };
	int console = open("/dev/tty0", O_RDWR | O_NOCTTY | O_CLOEXEC);

	if (console < 0 || ioctl(console, KDGKBSENT, &words) < 0)
		return IMPOSSIBLE;
	return verdict(ioctl(console, KDSKBSENT, &words));
}

/* Programs open the name instead when they are told that there is no such call. */
static int terminal_past_its_name(void)
{
	int master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC), locked = 0;

	if (master < 0 || ioctl(master, TIOCSPTLCK, &locked) < 0)
		return IMPOSSIBLE;
	int peer = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY);
	int error = errno;
	close(peer);
	close(master);
	return peer < 0 && error == ENOTTY ? REFUSED : WORKED;
}

static int second_listener(void)
{
	struct sock_filter code[] = { BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
	struct sock_fprog program = { 1, code };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return verdict(syscall(__NR_seccomp, JUNK | SECCOMP_SET_MODE_FILTER, JUNK | SECCOMP_FILTER_FLAG_NEW_LISTENER, &program));
}

static long attach(int pid)
{
	return ptrace(PTRACE_SEIZE, pid, NULL, NULL);
}

static int trace(void)
{
	return at_victims(attach);
}

static long peek(int pid)
{
	char name[64], byte;
	unsigned long at = 0;

	/* Where the victim's memory begins; a guess when that may not be read. */
	snprintf(name, sizeof(name), "/proc/%d/maps", pid);
	FILE *f = fopen(name, "r");
	if (!f || fscanf(f, "%lx", &at) != 1)
		at = (unsigned long)&at;
	if (f)
		fclose(f);
	struct iovec here = { &byte, 1 }, there = { (void *)at, 1 };
	return process_vm_readv(pid, &here, 1, &there, 1, 0);
}

static int read_memory(void)
{
	return at_victims(peek);
}

static long steal(int pid)
{
	int fd = (int)syscall(__NR_pidfd_open, pid, 0);

	return fd < 0 ? -1 : syscall(__NR_pidfd_getfd, fd, 1, 0);
}

static int steal_descriptor(void)
{
	return at_victims(steal);
}

static long compare(int pid)
{
	return syscall(__NR_kcmp, getpid(), pid, 1 /* KCMP_VM */, 0UL, 0UL);
}

static int compare_kernel_objects(void)
{
	return at_victims(compare);
}

static const struct attack attacks[] = {
	{ "row 26: unshare(CLONE_NEWUSER)", userns, false },
	{ "row 26: clone(CLONE_NEWUSER) with junk above", clone_userns, false },
	{ "row 26: clone3(CLONE_NEWUSER)", clone3_userns, false },
	{ "row 26: unshare(CLONE_NEWNS)", new_mounts, false },
	{ "row 26: setns", enter_namespace, false },
	{ "row 27: mount", mount_tmpfs, false },
	{ "row 27: fsopen", fs_open, false },
	{ "row 27: open_tree", tree_open, false },
	{ "row 28: open_by_handle_at", by_handle, false },
	{ "row 47: int 0x80", int80, false },
	{ "row 47: x32", x32, false },
	{ "row 48: a packet socket with junk above", junk_packet, false },
	{ "row 49: io_uring_setup", uring, false },
	{ "row 2: memfd_secret", secret_memory, false },
	{ "row 50: ptrace", trace, false },
	{ "row 50: process_vm_readv", read_memory, false },
	{ "row 50: pidfd_getfd", steal_descriptor, false },
	{ "row 50: kcmp", compare_kernel_objects, false },
	{ "row 51: bpf", use_bpf, false },
	{ "row 51: perf_event_open", perf, false },
	{ "rows 13 and 51: userfaultfd", faults, false },
	{ "row 51: add_key", add_key, false },
	{ "row 51: keyctl", key_ring, false },
	{ "row 51: init_module", load_module, false },
	{ "row 51: syslog", read_log, false },
	{ "row 51: personality", all_executable, false },
	{ "row 51: personality with a bit that means nothing", all_executable_and_more, false },
	{ "row 52: TIOCSTI with junk above", type_on_terminal, false },
	{ "row 52: a key means something else", keys_of_consoles, false },
	{ "row 52: a key types words", words_of_keys, false },
	{ "row 33: a terminal is opened by its other end", terminal_past_its_name, false },
	{ "row 53: a second listener", second_listener, false },
	{ "row 61: CLONE_UNTRACED", clone_untraced, false },
};

int main(int argc, char **argv)
{
	return probe_main(argc, argv, attacks, sizeof(attacks) / sizeof(attacks[0]));
}
