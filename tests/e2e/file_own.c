/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What /proc lets a process do with what is its own, also where it has changed its user or laid down powers.
 */
#include <linux/capability.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include "tests/e2e/places.h"

/* The names by which a process reaches its own descriptors: FMT with a number, or with a number and LEAF. */
static void own_name(char out[128], const char *where, int fd, const char *leaf)
{
	snprintf(out, 128, "/proc/%s/%d%s%s", where, fd, *leaf ? "/" : "", leaf);
}

static void own_calls(const char *where, int file, int dir)
{
	char a[128], b[128];

	own_name(a, where, file, "");
	say("read", open_close(a, O_RDONLY, 0));
	say("write", open_close(a, O_WRONLY, 0));
	own_name(a, where, dir, "");
	say("directory", open_close(a, O_RDONLY | O_DIRECTORY, 0));
	say("chdir", chdir(a));
	(void)!chdir(getenv("WORK"));
	own_name(a, where, dir, "n");
	own_name(b, where, dir, "o");
	say("missing", open_close(a, O_RDWR, 0));
	say("create", open_close(a, O_RDWR | O_CREAT, 0600));
	say("again", open_close(a, O_RDWR, 0));
	say("chmod", chmod(a, 0640));
	say("utimes", utimes(a, NULL));
	say("rename", rename(a, b));
	say("link", link(b, a));
	say("truncate", truncate(a, 1));
	say("unlink", unlink(b));
	say("mkdir", mkdir(b, 0700));
	say("rmdir", rmdir(b));
	say("unlink", unlink(a));
}

static void own_files(void)
{
	static const char *const files[] = { "/proc/self/fd", "/proc/thread-self/fd", "/proc/self/fdinfo", "/proc/self/maps", "/proc/self/smaps",
		"/proc/self/environ", "/proc/self/mem", "/proc/self/status", "/proc/self/exe", "/proc/self/cwd", "/proc/self/fdinfo/0",
		"/proc/self/auxv", "/proc/self/task", "/proc/self/mountinfo", "/proc/self/io", "/proc/self/pagemap", "/proc/self/cwd/cu/.",
		"/proc/self/comm", "/proc/thread-self/comm", "/proc/self/map_files", "/proc/self/stack", "/proc/self/clear_refs" };

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		printf("%s\n", files[i]);
		say("read", open_close(files[i], O_RDONLY, 0));
		say("write", open_close(files[i], O_WRONLY, 0));
		say("may read", access(files[i], R_OK));
		say("may write", access(files[i], W_OK));
		say("may search, in effect", faccessat(AT_FDCWD, files[i], X_OK, AT_EACCESS));
	}
}

/* What a page of its own lies in tells who may administer the machine: the first word of pagemap, without its flags. */
static void own_page(void)
{
	uint64_t word = 0;
	int pages = open("/proc/self/pagemap", O_RDONLY);
	off_t at = (off_t)((uintptr_t)&word / (uintptr_t)getpagesize() * sizeof(word));

	ssize_t n = pages < 0 ? -1 : pread(pages, &word, sizeof(word), at);
	printf("page %s\n", n != (ssize_t)sizeof(word) ? "unread" : word & ((UINT64_C(1) << 55) - 1) ? "told" : "kept");
	close(pages);
}

/* A process that has laid down powers, all or some, but is root and may take them again: it remains itself to /proc. */
static void without_powers(void)
{
	static const uint32_t kept[] = { ~UINT32_C(0), ~(UINT32_C(1) << CAP_SYS_PTRACE), UINT32_C(1) << CAP_DAC_OVERRIDE, 0 };
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct all[2], some[2];

	if (geteuid() != 0 || syscall(SYS_capget, &head, all) < 0)
		return;
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
		memcpy(some, all, sizeof(some));
		some[0].effective &= kept[i];
		some[1].effective &= kept[i] ? ~UINT32_C(0) : 0;
		if (syscall(SYS_capset, &head, some) < 0)
			_exit(2);
		printf("powers %x\n", kept[i]);
		own_files();
		own_page();
	}
	if (syscall(SYS_capset, &head, all) < 0)
		_exit(2);
}

/* A process that has changed its user without an exec: /proc shows it to itself alone. */
static void changed_user(void)
{
	if (geteuid() != 0)
		return;
	mkdir("cu", 0777);
	chmod("cu", 0777);
	put("cuf", 0644);
	int file = open("cuf", O_RDONLY), dir = open("cu", O_RDONLY | O_DIRECTORY);
	if (setresgid(1000, 1000, 0) < 0 || setresuid(1000, 1000, 0) < 0)
		_exit(2);
	own_files();
	own_calls("self/fd", file, dir);
	own_calls("thread-self/fd", file, dir);
}

int main(int argc, char **argv)
{
	static void (*const parts[])(void) = { without_powers, changed_user };

	return run_all(argc, argv, parts, sizeof(parts) / sizeof(parts[0]));
}
