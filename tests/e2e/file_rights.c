/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What file calls say and do where the answer depends on modes, owners, lists and attributes of files, and on the credentials of the caller.
 */
#include <grp.h>
#include <linux/capability.h>
#include <linux/fs.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/fsuid.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/xattr.h>

#include "tests/e2e/places.h"

static void directories(void)
{
	umask(027);
	mkdir("setgid", 0777);
	(void)!chown("setgid", (uid_t)-1, getgroups(0, NULL) > 0 || geteuid() == 0 ? 1000 : (gid_t)-1);
	say("chmod setgid", chmod("setgid", 02770));
	say("file below setgid", open_close("setgid/f", O_CREAT | O_WRONLY, 02777));
	say("dir below setgid", mkdir("setgid/d", 0777));
	say("fifo below setgid", mkfifo("setgid/p", 0666));
	look("setgid/f", "setgid/f");
	look("setgid/d", "setgid/d");
	look("setgid/p", "setgid/p");
	umask(0);
	mkdir("sticky", 0777);
	chmod("sticky", 01777);
	put("sticky/f", 0666);
	mkdir("sticky/d", 0777);
	look("sticky", "sticky");
}

/* A default ACL as the kernel keeps it: version, then (tag, permissions, id). */
struct acl_entry {
	uint16_t tag, perm;
	uint32_t id;
};

static void acls(void)
{
	struct {
		uint32_t version;
		struct acl_entry entry[5];
	} acl = { 2, { { 1, 7, ~0u }, { 2, 6, 1234 }, { 4, 5, ~0u }, { 16, 7, ~0u }, { 32, 0, ~0u } } };

	umask(077);
	mkdir("acl", 0755);
	say("set a default ACL", setxattr("acl", "system.posix_acl_default", &acl, 4 + 5 * 8, 0));
	say("create below it", open_close("acl/f", O_CREAT | O_WRONLY, 0666));
	say("mkdir below it", mkdir("acl/d", 0777));
	say("mknod below it", mknod("acl/n", S_IFREG | 0666, 0));
	look("acl/f", "acl/f");
	look("acl/d", "acl/d");
	look("acl/n", "acl/n");
	char buf[200];
	say("access ACL of the file", getxattr("acl/f", "system.posix_acl_access", buf, sizeof(buf)));
	say("default ACL of the directory", getxattr("acl/d", "system.posix_acl_default", buf, sizeof(buf)));
	say("tmpfile below it", open_close("acl", O_TMPFILE | O_RDWR, 0666));
	say("a bad ACL", setxattr("acl", "system.posix_acl_default", &acl, 11, 0));
	say("remove it", removexattr("acl", "system.posix_acl_default"));
}

static void immutable(void)
{
	put("immutable", 0644);
	int attr = 0, fd = open("immutable", O_RDONLY | O_CLOEXEC);
	say("get flags", ioctl(fd, FS_IOC_GETFLAGS, &attr));
	int was = attr;
	attr |= FS_IMMUTABLE_FL;
	say("set immutable", ioctl(fd, FS_IOC_SETFLAGS, &attr));
	say("write", open_close("immutable", O_WRONLY, 0));
	say("truncate", truncate("immutable", 0));
	say("chmod", chmod("immutable", 0600));
	say("unlink", unlink("immutable"));
	say("rename", rename("immutable", "mutable"));
	say("rename over", (put("over", 0644), rename("over", "immutable")));
	say("link", link("immutable", "hardlink"));
	say("utime", utimes("immutable", NULL));
	say("setxattr", setxattr("immutable", "user.a", "b", 1, 0));
	attr = was | FS_APPEND_FL;
	say("set append", ioctl(fd, FS_IOC_SETFLAGS, &attr));
	say("write at will", open_close("immutable", O_WRONLY, 0));
	say("append", open_close("immutable", O_WRONLY | O_APPEND, 0));
	say("append and truncate", open_close("immutable", O_WRONLY | O_APPEND | O_TRUNC, 0));
	ioctl(fd, FS_IOC_SETFLAGS, &was);
	look("immutable", "immutable");
	fd = open("immutable", O_PATH | O_CLOEXEC);
	say("set flags of a path", ioctl(fd, FS_IOC_SETFLAGS, &was));
	say("from nowhere", syscall(SYS_ioctl, fd, FS_IOC_SETFLAGS, NULL));
}

static void other_user(void)
{
	const gid_t groups[] = { 2000, 2001 };

	say("root's file for noatime", open_close("/etc/hostname", O_RDONLY | O_NOATIME, 0));
	put("mine", 0640);
	mkdir("other", 0755);
	say("chown to others", chown("mine", 0, 0));
	say("chgrp to others", chown("mine", (uid_t)-1, 2001));
	say("setuid bit", chmod("mine", 06755));
	look("mine", "mine");
	say("chown clears it", chown("mine", (uid_t)-1, getegid()));
	look("mine", "mine");
	if (geteuid() != 0)
		return;
	put("group", 0060);
	say("give it to a group", chown("group", 0, 2001));
	say("give a directory away", chown("other", 1000, 1000));
	mkdir("stick", 0777);
	chmod("stick", 01777);
	put("stick/f", 0666);
	chmod(".", 0777);
	/* make(1) begins so; what changes nothing must not keep what comes next from being seen */
	say("the group it has", setresgid((gid_t)-1, 0, (gid_t)-1));
	say("the user it has", setresuid((uid_t)-1, 0, (uid_t)-1));
	if (setgroups(2, groups) < 0 || setresgid(1000, 1000, 1000) < 0 || setresuid(1000, 1000, 1000) < 0)
		_exit(2);
	say("by a further group", open_close("group", O_RDWR, 0));
	say("sticky: unlink", unlink("stick/f"));
	say("sticky: rename", rename("stick/f", "stick/g"));
	say("sticky: write", open_close("stick/f", O_WRONLY, 0));
	say("chmod of another's", chmod("group", 0777));
	say("utime of another's, now", utimes("stick/f", NULL));
	struct timeval tv[2] = { { 1, 0 }, { 2, 0 } };
	say("utime of another's, then", utimes("stick/f", tv));
	say("own directory", open_close("other/f", O_CREAT | O_WRONLY, 0666));
	say("chgrp to a further group", chown("other/f", (uid_t)-1, 2000));
	say("chgrp to another group", chown("other/f", (uid_t)-1, 3000));
	say("trusted xattr", setxattr("other/f", "trusted.a", "b", 1, 0));
	say("security xattr", setxattr("other/f", "security.capability", "b", 1, 0));
	say("device", mknod("other/dev", S_IFCHR | 0600, makedev(1, 3)));
	say("link of another's (protected)", link("mine", "other/hl"));
	look("other/f", "other/f");
}

static void *with_fsuid(void *arg)
{
	(void)arg;
	syscall(SYS_setfsgid, 1000);
	syscall(SYS_setfsuid, 1000);
	say("fsuid: create", open_close("fs/f", O_CREAT | O_EXCL | O_WRONLY, 0666));
	say("fsuid: another's", open_close("closed", O_RDONLY, 0));
	say("fsuid: chown", chown("fs/f", 0, 0));
	return NULL;
}

static void capabilities(void)
{
	pthread_t t;

	if (geteuid() != 0)
		return;
	mkdir("fs", 0777);
	chmod("fs", 0777);
	put("closed", 0);
	pthread_create(&t, NULL, with_fsuid, NULL);
	pthread_join(t, NULL);
	look("fs/f", "fs/f");
	say("main: the closed file", open_close("closed", O_RDONLY, 0));
	struct __user_cap_header_struct h = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct d[2];
	syscall(SYS_capget, &h, d);
	d[0].effective &= ~(1u << CAP_DAC_OVERRIDE | 1u << CAP_DAC_READ_SEARCH | 1u << CAP_CHOWN | 1u << CAP_FOWNER | 1u << CAP_MKNOD);
	say("capset", syscall(SYS_capset, &h, d));
	put("fs/g", 0600);
	say("no override", open_close("fs/g", O_RDWR, 0));
	(void)!chmod("fs/g", 0);
	say("own file without rights", open_close("fs/g", O_RDWR, 0));
	say("another's file", chmod("fs/f", 0600));
	say("chown", chown("fs/g", 1000, 1000));
	say("device", mknod("fs/dev", S_IFCHR | 0600, makedev(1, 3)));
	say("setgid of another group", (chmod("fs/g", 02755)));
	look("fs/g", "fs/g");
}

static void may(const char *what, const char *path)
{
	for (int mode = 0; mode < 8; mode++) {
		printf("%s, %d:", what, mode);
		for (int at = 0; at <= AT_EACCESS; at += AT_EACCESS)
			printf(" %s", faccessat(AT_FDCWD, path, mode, at) == 0 ? "yes" : strerrorname_np(errno));
		printf("\n");
	}
}

/* What AT_EMPTY_PATH means by AT_FDCWD: no right to search is needed. */
static void closed_cwd(void)
{
	struct stat st;

	mkdir("ccwd", 0700);
	if (chdir("ccwd") < 0 || chmod(".", 0) < 0)
		_exit(2);
	say("fchownat", fchownat(AT_FDCWD, "", (uid_t)-1, (gid_t)-1, AT_EMPTY_PATH));
	say("utimensat", utimensat(AT_FDCWD, "", NULL, AT_EMPTY_PATH));
	say("fstatat", fstatat(AT_FDCWD, "", &st, AT_EMPTY_PATH));
	say("fchmodat2", syscall(452, AT_FDCWD, "", 0100, AT_EMPTY_PATH));
	say("faccessat2", syscall(SYS_faccessat2, AT_FDCWD, "", R_OK, AT_EMPTY_PATH));
	say("linkat", linkat(AT_FDCWD, "", AT_FDCWD, "x", AT_EMPTY_PATH));
	say("open of .", open_close(".", O_RDONLY, 0));
	say("open below", open_close("x", O_CREAT | O_WRONLY, 0600));
	say("chmod back", chmod("../ccwd", 0700));
	look("ccwd", "../ccwd");
}

static void rights(void)
{
	static const mode_t modes[] = { 0, 0400, 0200, 0100, 0755, 0007 };

	put("right", 0);
	mkdir("rightd", 0);
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		char what[64];
		chmod("right", modes[i]);
		chmod("rightd", modes[i]);
		snprintf(what, sizeof(what), "file %o", (unsigned)modes[i]);
		may(what, "right");
		snprintf(what, sizeof(what), "directory %o", (unsigned)modes[i]);
		may(what, "rightd");
	}
	may("/etc/shadow", "/etc/shadow");
	may("/", "/");
	if (geteuid() != 0)
		return;
	if (setreuid((uid_t)-1, 0) < 0)
		_exit(2);
	/* real and effective users differ */
	if (setresuid(1000, 0, 0) < 0)
		_exit(2);
	may("real user 1000", "/etc/shadow");
	chmod("right", 0);
	may("real user 1000, own", "right");
	if (setresuid(0, 1000, 0) < 0)
		_exit(2);
	may("effective user 1000", "/etc/shadow");
}

/* One who may not trace a process does not get through its links, to where the process stands or what it has open. */
static void others_links(void)
{
	static const char *const below[] = { "cwd/f", "cwd/.", "cwd", "root/dev/null", "fd/9", "fd", "exe", "environ" };
	int ready[2];
	char c;

	if (geteuid() != 0 || pipe(ready) < 0 || mkdir("hidden", 0700) < 0 || mkdir("hidden/open", 0755) < 0 || chdir("hidden/open") < 0)
		return;
	chmod(".", 0777);
	put("f", 0666);
	if (dup2(open("f", O_RDONLY), 9) != 9)
		_exit(2);
	fflush(stdout);
	pid_t stands = fork();
	if (stands == 0)
		_exit(write(ready[1], "", 1) != 1 || pause());
	close(9);
	if (read(ready[0], &c, 1) != 1 || chdir("/") < 0)
		_exit(2);
	if (setgroups(0, NULL) < 0 || setresgid(1000, 1000, 0) < 0 || setresuid(1000, 1000, 0) < 0)
		_exit(2);
	printf("one who was root\n");
	for (size_t i = 0; i < sizeof(below) / sizeof(below[0]); i++) {
		char path[128];
		snprintf(path, sizeof(path), "/proc/%d/%s", (int)stands, below[i]);
		printf("%s\n", below[i]);
		say("read", open_close(path, O_RDONLY, 0));
		say("write", open_close(path, O_WRONLY, 0));
		say("path", open_close(path, O_PATH, 0));
		say("chmod", chmod(path, 0777));
		say("truncate", truncate(path, 0));
		say("link", linkat(AT_FDCWD, path, AT_FDCWD, "/tmp/file_rights_link", AT_SYMLINK_FOLLOW));
		say("rename", rename(path, "/tmp/file_rights_link"));
		say("utimes", utimes(path, NULL));
		say("go there", chdir(path));
		say("exec", execl(path, path, NULL));
	}
	if (setresuid(0, 0, 0) == 0)
		kill(stands, SIGKILL);
}

/* Links and files of others where everybody may make them: fs.protected_symlinks and its like hold however the name is said. */
static void sticky(void)
{
	static const char *const names[] = { "st/%s", "/proc/self/cwd/st/%s", "st/../st/%s", "st/d/%s", "stl/%s" };
	static const char *const entries[] = { "link", "linkdir/in", "dangling", "file", "fifo", "own" };

	if (geteuid() != 0)
		return;
	mkdir("st", 0755);
	mkdir("st/real", 0755);
	put("st/real/in", 0666);
	put("st/file", 0666);
	put("st/own", 0666);
	mkfifo("st/fifo", 0666);
	if (symlink("real/in", "st/link") < 0 || symlink("real", "st/linkdir") < 0 || symlink("real/new", "st/dangling") < 0 ||
	    symlink(".", "st/d") < 0 || symlink("st", "stl") < 0)
		_exit(2);
	static const char *const given[] = { "st/link", "st/linkdir", "st/dangling", "st/file", "st/fifo" };
	for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++) {
		if (lchown(given[i], 1000, 1000) < 0)
			_exit(2);
	}
	for (int who = 0; who < 3; who++) {
		chmod("st", 01777);
		if (who == 1 && seteuid(1000) < 0)
			_exit(2);
		if (who == 2 && (seteuid(0) < 0 || setfsuid(65534) != 0))
			_exit(2);
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
			for (size_t k = 0; k < sizeof(entries) / sizeof(entries[0]); k++) {
				char path[128], *at = stpncpy(path, names[i], sizeof(path) - 40);
				strcpy(at - 2, entries[k]);
				printf("%d %s\n", who, path);
				say("read", open_close(path, O_RDONLY | O_NONBLOCK, 0));
				say("create", open_close(path, O_RDWR | O_CREAT | O_NONBLOCK, 0600));
				say("truncate", open_close(path, O_RDWR | O_CREAT | O_TRUNC | O_NONBLOCK, 0600));
				say("exclusive", open_close(path, O_RDWR | O_CREAT | O_EXCL | O_NONBLOCK, 0600));
				say("nofollow", open_close(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0600));
				say("chmod", chmod(path, 0666));
				say("mkdir below", mkdir(path, 0700));
				unlink("st/real/new");
			}
		}
	}
}

/*
 * O_TRUNC says nothing of a file that the open makes: it keeps its setuid bit, and who watches is told of nothing that is written.
 * Before Linux 6.12 usher cannot tell where the caller has not insisted on a new one.
 */
static void made_to_be_emptied(void)
{
	static const int how[] = { O_CREAT, O_CREAT | O_EXCL, O_CREAT | O_TRUNC, O_CREAT | O_EXCL | O_TRUNC, O_TMPFILE | O_TRUNC };
	const int created_query = 1024 + 4; /* F_CREATED_QUERY */
	int in = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	struct stat st = { 0 };
	char events[4096];

	for (size_t i = 0; i < sizeof(how) / sizeof(how[0]); i++) {
		int watch = inotify_add_watch(in, ".", IN_CREATE | IN_MODIFY);
		int fd = open(how[i] & O_CREAT ? "made" : ".", O_WRONLY | how[i], 06755);
		ssize_t n = read(in, events, sizeof(events));
		if (fd < 0 || watch < 0 || fstat(fd, &st) < 0)
			_exit(2);
		if (how[i] != (O_CREAT | O_TRUNC) || fcntl(fd, created_query) == 1)
			printf("made by %o: %o, events %zd\n", (unsigned)how[i], (unsigned)st.st_mode, n);
		inotify_rm_watch(in, watch);
		while (read(in, events, sizeof(events)) > 0)
			;
		close(fd);
		unlink("made");
	}
	close(in);
}

/* What is emptied keeps its setuid and setgid bits and its capabilities for root alone, and these not even for root. */
static void emptied(void)
{
	static const struct { const char *what; int flags; } opens[] = {
		{ "O_TRUNC", O_WRONLY | O_TRUNC }, { "O_TRUNC and O_CREAT", O_RDWR | O_TRUNC | O_CREAT }, { "O_TRUNC to read", O_RDONLY | O_TRUNC },
		{ "O_TRUNC for neither", O_ACCMODE | O_TRUNC },
	};
	static const unsigned char cap[20] = { 1, 0, 0, 2, 0, 4 };
	char got[64];

	if (geteuid() != 0 || symlink("em", "eml") < 0)
		return;
	for (int n = 0; n < 20; n++) {
		const char *path = n & 1 ? "eml" : "em";
		put("em", 0666);
		if (chmod("em", 06777) < 0 || setxattr("em", "security.capability", cap, sizeof(cap), 0) < 0 || seteuid(n & 2 ? 1000 : 0) < 0)
			_exit(2);
		if (n < 16)
			say(opens[n / 4].what, open_close(path, opens[n / 4].flags, 0600));
		else
			say("truncate", truncate(path, 1));
		if (seteuid(0) < 0)
			_exit(2);
		look("em", "em");
		say("capabilities", getxattr("em", "security.capability", got, sizeof(got)));
		unlink("em");
	}
}

/* access(2) walks by the real ids and what they may, too, not by those in effect. */
static void real_ids(void)
{
	static const uid_t ids[][2] = { { 0, 0 }, { 1000, 0 }, { 0, 1000 }, { 1000, 1000 } };
	static const char *const names[] = { "shut", "shut/x", "shut/none", "shut/../sx" };

	if (geteuid() != 0)
		return;
	mkdir("shut", 0755);
	put("shut/x", 0644);
	put("sx", 0644);
	chmod("shut", 0);
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		if (setresuid(ids[i][0], ids[i][1], 0) < 0)
			_exit(2);
		printf("real %u, effective %u\n", ids[i][0], ids[i][1]);
		for (size_t n = 0; n < sizeof(names) / sizeof(names[0]); n++) {
			say(names[n], access(names[n], F_OK));
			say("in effect", faccessat(AT_FDCWD, names[n], F_OK, AT_EACCESS));
		}
		if (setresuid(0, 0, 0) < 0)
			_exit(2);
	}
	chmod("shut", 0755);
}

int main(int argc, char **argv)
{
	static void (*const parts[])(void) = { directories, acls, immutable, rights, closed_cwd, capabilities, other_user, others_links, sticky,
		made_to_be_emptied, emptied, real_ids };

	return run_all(argc, argv, parts, sizeof(parts) / sizeof(parts[0]));
}
