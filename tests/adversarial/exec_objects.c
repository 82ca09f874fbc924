/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Escapes rows 38 to 41: the ways around a name. A rule denies DIR/evil (a copy of this program); each attack runs it, or its bytes,
 * by another way. Natively every one succeeds; under usher none may.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define RAN_EVIL 42
#define NOT_RUN 44
#define CANNOT 45

static char evil[512], dir_name[256];
static char *none[] = { "evil", NULL };

static int copy_to(int out)
{
	int in = open(evil, O_RDONLY);
	struct stat st;

	if (in < 0 || out < 0 || fstat(in, &st) < 0 || sendfile(out, in, NULL, (size_t)st.st_size) != st.st_size)
		return -1;
	close(in);
	return 0;
}

static void fd_exec(int fd)
{
	syscall(SYS_execveat, fd, "", none, environ, AT_EMPTY_PATH);
}

static void proc_exec(int fd)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	execv(path, none);
}

static void by_name(void)
{
	execv(evil, none);
}

static void by_link(void)
{
	char path[600];

	snprintf(path, sizeof(path), "%s/link-%d", dir_name, getpid());
	if (symlink(evil, path) == 0)
		execv(path, none);
}

static void by_descriptor(void)
{
	fd_exec(open(evil, O_RDONLY | O_CLOEXEC));
}

static void by_path_descriptor(void)
{
	fd_exec(open(evil, O_PATH | O_CLOEXEC));
}

static void by_proc(void)
{
	proc_exec(open(evil, O_RDONLY));
}

static void by_directory(void)
{
	syscall(SYS_execveat, open(dir_name, O_PATH), "evil", none, environ, 0);
}

static void by_chdir(void)
{
	if (chdir(dir_name) == 0)
		execv("./../../tmp/../proc/self/cwd/evil", none);
}

static void by_root(void)
{
	char path[600];

	snprintf(path, sizeof(path), "/proc/self/root%s", evil);
	execv(path, none);
}

static void by_memfd(void)
{
	int fd = memfd_create("x", MFD_CLOEXEC);

	if (copy_to(fd) == 0)
		fd_exec(fd);
}

static void by_memfd_proc(void)
{
	int fd = memfd_create("x", 0);

	if (copy_to(fd) == 0)
		proc_exec(fd);
}

/* Written, then opened again for reading alone: a program open for writing does not run. */
static void by_tmpfile(void)
{
	char path[64];
	int fd = open(dir_name, O_TMPFILE | O_RDWR, 0755);

	if (copy_to(fd))
		return;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	int again = open(path, O_RDONLY);
	close(fd);
	proc_exec(again);
}

static void by_deleted(void)
{
	char path[600];

	snprintf(path, sizeof(path), "%s/deleted-%d", dir_name, getpid());
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0755);
	if (copy_to(fd))
		return;
	close(fd);
	fd = open(path, O_RDONLY);
	unlink(path);
	proc_exec(fd);
}

static const char *loader(void)
{
	static const char *const known[] = { "/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1" };

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (access(known[i], X_OK) == 0)
			return known[i];
	}
	return "/nonexistent";
}

static void by_loader(void)
{
	execl(loader(), "ld.so", evil, (char *)NULL);
}

static void by_loader_options(void)
{
	execl(loader(), "ld.so", "--inhibit-cache", "--library-path", "/lib", "--argv0", "x", evil, (char *)NULL);
}

static void by_loader_copy(void)
{
	char path[600], line[1400];

	snprintf(path, sizeof(path), "%s/innocent-%d", dir_name, getpid());
	snprintf(line, sizeof(line), "cp %s %s", loader(), path);
	if (system(line) == 0)
		execl(path, "innocent", evil, (char *)NULL);
}

static void by_script(void)
{
	char path[600];

	snprintf(path, sizeof(path), "%s/script-%d", dir_name, getpid());
	FILE *f = fopen(path, "w");
	if (!f)
		return;
	fprintf(f, "#!%s\n", evil);
	fclose(f);
	chmod(path, 0755);
	execv(path, none);
}

static void by_script_script(void)
{
	char one[600], two[600];

	snprintf(one, sizeof(one), "%s/one-%d", dir_name, getpid());
	snprintf(two, sizeof(two), "%s/two-%d", dir_name, getpid());
	FILE *f = fopen(one, "w"), *g = fopen(two, "w");
	if (!f || !g)
		return;
	fprintf(f, "#! %s\t\n", evil);
	fprintf(g, "#!%s -x", one);
	fclose(f);
	fclose(g);
	chmod(one, 0755);
	chmod(two, 0755);
	execv(two, none);
}

/* What stands behind "#!" is one argument to the interpreter: a loader's program. */
static void by_loader_script(void)
{
	char path[600];

	snprintf(path, sizeof(path), "%s/loads-%d", dir_name, getpid());
	FILE *f = fopen(path, "w");
	if (!f)
		return;
	fprintf(f, "#!%s %s\n", loader(), evil);
	fclose(f);
	chmod(path, 0755);
	execv(path, none);
}

static void *thread_exec(void *arg)
{
	by_name();
	*(int *)arg = errno;
	return NULL;
}

static void by_thread(void)
{
	pthread_t t;
	int error = 0;

	if (pthread_create(&t, NULL, thread_exec, &error) == 0)
		pthread_join(t, NULL);
	errno = error;
}

static void by_hard_link(void)
{
	char path[600];

	snprintf(path, sizeof(path), "%s/hard", dir_name); /* made before usher starts */
	execv(path, none);
}

static const struct attack {
	const char *name;
	void (*run)(void);
} attacks[] = {
	{ "name", by_name }, { "symbolic link", by_link }, { "hard link", by_hard_link }, { "descriptor", by_descriptor },
	{ "O_PATH descriptor", by_path_descriptor }, { "/proc/self/fd", by_proc }, { "directory descriptor", by_directory },
	{ "/proc/self/cwd", by_chdir }, { "/proc/self/root", by_root }, { "memfd", by_memfd },
	{ "memfd through /proc", by_memfd_proc }, { "O_TMPFILE", by_tmpfile }, { "deleted file", by_deleted },
	{ "ld.so", by_loader }, { "ld.so with options", by_loader_options }, { "a copy of ld.so", by_loader_copy },
	{ "script", by_script }, { "script of a script", by_script_script }, { "script of ld.so", by_loader_script },
	{ "another thread", by_thread },
};

#define ATTACKS (sizeof(attacks) / sizeof(attacks[0]))

/* Runs as the watched program: one line for each attack. */
static int attacker(void)
{
	for (size_t i = 0; i < ATTACKS; i++) {
		int status = 0;
		pid_t pid = fork();

		if (!pid) {
			attacks[i].run();
			_exit(errno == EACCES ? NOT_RUN : CANNOT);
		}
		waitpid(pid, &status, 0);
		printf("%d ", WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
	}
	putchar('\n');
	return 0;
}

static int run(const char *prefix, const char *self, int *result)
{
	char line[4096];

	snprintf(line, sizeof(line), "%s %s attack %s", prefix, self, dir_name);
	FILE *f = popen(line, "r");
	for (size_t i = 0; f && i < ATTACKS; i++) {
		if (fscanf(f, "%d", &result[i]) != 1)
			result[i] = -1000;
	}
	return f ? pclose(f) : -1;
}

static int prepare(const char *self)
{
	char line[4096];

	snprintf(line, sizeof(line), "chmod 755 %s && cp %s %s && ln %s %s/hard && printf 'deny exec %s\\ndefault allow\\n' >%s/rules && chmod 600 %s/rules",
		 dir_name, self, evil, evil, dir_name, evil, dir_name, dir_name);
	return system(line);
}

int main(int argc, char **argv)
{
	char self[512], prefix[1024], dir[] = "/tmp/usher-objects-XXXXXX";
	const char *usher = getenv("USHER");
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	int native[ATTACKS], watched[ATTACKS], bad = 0;

	if (argc < 2 || strcmp(argv[1], "attack") != 0) {
		/* Whatever it is called now: a run with these names is a run of evil. */
		if (strstr(argv[0], "evil") || strchr(argv[0], 'x') == argv[0] || (argc > 0 && strstr(argv[0], "usher-objects")))
			return RAN_EVIL;
	}
	self[n < 0 ? 0 : n] = '\0';
	if (argc > 2) {
		snprintf(dir_name, sizeof(dir_name), "%s", argv[2]);
		snprintf(evil, sizeof(evil), "%s/evil", dir_name);
		return attacker();
	}
	if (!usher || access(usher, X_OK) < 0) {
		printf("skip exec_objects: USHER is not set\n");
		return 77;
	}
	if (!mkdtemp(dir))
		return 1;
	snprintf(dir_name, sizeof(dir_name), "%s", dir);
	snprintf(evil, sizeof(evil), "%s/evil", dir);
	if (prepare(self))
		return 1;
	snprintf(prefix, sizeof(prefix), "%s run -p %s/rules --journal %s/journal --ask=deny --", usher, dir, dir);
	run("", self, native);
	run(prefix, self, watched);
	for (size_t i = 0; i < ATTACKS; i++) {
		bool control = native[i] == RAN_EVIL, held = watched[i] == NOT_RUN;

		bad |= !control || !held;
		printf("%s %s: native %d, supervised %d\n", control && held ? "ok" : "not ok", attacks[i].name, native[i], watched[i]);
	}
	snprintf(prefix, sizeof(prefix), "rm -rf %s", dir);
	return system(prefix) || bad;
}
