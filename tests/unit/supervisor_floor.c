/* SPDX-License-Identifier: Apache-2.0 */
/* The floor alone, without any mediation: what usher forgot is refused by the kernel. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "policy/policy.h"
#include "supervisor/floor.h"
#include "supervisor/floor_plan.h"

static char dir[] = "/tmp/usher-floor.XXXXXX";

static void put(const char *name, const char *text)
{
	FILE *f = fopen(name, "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static int setup(void **state)
{
	if (!mkdtemp(dir) || chdir(dir) < 0)
		return -1;
	put("file", "x");
	return mkdir("dir", 0755);
}

static int teardown(void **state)
{
	unlink("file");
	rmdir("dir");
	unlink("rules");
	return chdir("/") || rmdir(dir);
}

static struct policy *load(const char *text)
{
	const char *files[] = { "rules" };
	const struct variable variables[] = { { "HOME", "/root", NULL }, { "PWD", dir, NULL }, { "TMPDIR", "/tmp", NULL }, { "USER", "x", NULL }, { "UID", "0", NULL } };
	const struct policy_options o = { .files = files, .n_files = 1, .variables = variables, .n_variables = 5 };
	struct diagnostics found = { 0 };
	struct policy *p = NULL;

	put("rules", text);
	chmod("rules", 0600);
	int rc = policy_new(&o, &found, &p);
	if (rc)
		diagnostics_print(&found, stderr, false);
	diagnostics_free(&found);
	assert_int_equal(rc, 0);
	return p;
}

static struct floor *prepare(struct policy *policy)
{
	struct floor *floor = NULL;
	int rc = floor_prepare(policy, &floor);

	if (rc == -EOPNOTSUPP)
		skip();
	assert_int_equal(rc, 0);
	return floor;
}

/* Exit status of BODY in a child inside FLOOR; 100 when the child could not enter. */
static int inside(const struct floor *floor, int (*body)(void))
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || (floor && floor_enter(floor_ruleset(floor)) < 0))
			_exit(100);
		_exit(body());
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int tcp(int (*use)(int, const struct sockaddr *, socklen_t))
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons(9) };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	return use(fd, (struct sockaddr *)&a, sizeof(a)) < 0 && errno == EACCES ? -1 : 0;
}

/* The bits of what is not refused. */
static int changes(void)
{
	int open_ = 0;

	open_ |= open("file", O_WRONLY) >= 0 ? 1 : 0;
	open_ |= open("new", O_WRONLY | O_CREAT, 0600) >= 0 ? 1 : 0;
	open_ |= truncate("file", 0) == 0 && floor_abi() >= 3 ? 2 : 0;
	open_ |= mkdir("new", 0700) == 0 || rmdir("dir") == 0 ? 4 : 0;
	open_ |= rename("file", "other") == 0 && rename("other", "file") == 0 ? 8 : 0;
	open_ |= link("file", "dir/other") == 0 || symlink("file", "link") == 0 ? 16 : 0;
	open_ |= mknod("fifo", S_IFIFO | 0600, 0) == 0 ? 32 : 0;
	open_ |= floor_abi() >= 4 && (tcp(connect) == 0 || tcp(bind) == 0) ? 64 : 0;
	return open_;
}

static void nothing_changes(void **state)
{
	struct floor *floor = prepare(NULL);

	assert_int_equal(inside(floor, changes), 0);
	floor_free(floor);
}

static int touch_others(void)
{
	if (kill(getppid(), 0) == 0)
		return 1;
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	struct sockaddr_un a = { .sun_family = AF_UNIX, .sun_path = "\0usher-floor-test" };
	return connect(fd, (struct sockaddr *)&a, offsetof(struct sockaddr_un, sun_path) + 17) == 0 ? 2 : 0;
}

static void neighbours_are_out_of_reach(void **state)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX, .sun_path = "\0usher-floor-test" };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	struct floor *floor = prepare(NULL);

	assert_int_equal(bind(fd, (struct sockaddr *)&a, offsetof(struct sockaddr_un, sun_path) + 17), 0);
	assert_int_equal(listen(fd, 5), 0);
	assert_int_equal(inside(NULL, touch_others), 1);
	if (floor_scopes_signals(floor))
		assert_int_equal(inside(floor, touch_others), 0);
	floor_free(floor);
	close(fd);
}

static struct sockaddr_un named = { .sun_family = AF_UNIX, .sun_path = "sock" };
static struct sockaddr_in port = { .sin_family = AF_INET };

/* The bits of what can be reached. */
static int reach_sockets(void)
{
	int stream = socket(AF_UNIX, SOCK_STREAM, 0), udp = socket(AF_INET, SOCK_DGRAM, 0), other = socket(AF_INET, SOCK_DGRAM, 0);
	struct sockaddr_in any = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int open_ = connect(stream, (struct sockaddr *)&named, sizeof(named)) == 0 ? 1 : 0;

	open_ |= sendto(udp, "x", 1, 0, (struct sockaddr *)&port, sizeof(port)) == 1 ? 2 : 0;
	open_ |= connect(udp, (struct sockaddr *)&port, sizeof(port)) == 0 ? 4 : 0;
	open_ |= bind(other, (struct sockaddr *)&any, sizeof(any)) == 0 ? 8 : 0;
	return open_;
}

static void sockets_of_others_are_out_of_reach(void **state)
{
	int listens = socket(AF_UNIX, SOCK_STREAM, 0), receives = socket(AF_INET, SOCK_DGRAM, 0), abi = floor_abi();
	socklen_t len = sizeof(port);
	struct floor *floor = prepare(NULL);

	port.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(bind(listens, (struct sockaddr *)&named, sizeof(named)), 0);
	assert_int_equal(listen(listens, 5), 0);
	assert_int_equal(bind(receives, (struct sockaddr *)&port, sizeof(port)), 0);
	assert_int_equal(getsockname(receives, (struct sockaddr *)&port, &len), 0);
	assert_int_equal(inside(NULL, reach_sockets), 15);
	assert_int_equal(inside(floor, reach_sockets), abi >= 10 ? 0 : abi >= 9 ? 14 : 15);
	floor_free(floor);
	unlink("sock");
	close(listens);
	close(receives);
}

/* What needs no mediation goes on working. */
static int ordinary(void)
{
	char *const argv[] = { (char *)"true", NULL };
	int fd = memfd_create("x", 0), p[2];
	int status;

	if (fd < 0 || write(fd, "x", 1) != 1 || ftruncate(fd, 0) < 0 || pipe(p) < 0)
		return 1;
	if (open(".", O_PATH) < 0 || chdir("dir") < 0)
		return 2;
	pid_t pid = fork();
	if (pid == 0) {
		execv("/bin/true", argv);
		_exit(1);
	}
	if (waitpid(pid, &status, 0) != pid || status != 0)
		return 3;
	return kill(getpid(), 0) < 0 ? 4 : 0;
}

static void ordinary_things_work(void **state)
{
	struct floor *floor = prepare(NULL);

	assert_int_equal(inside(floor, ordinary), 0);
	floor_free(floor);
}

static int reads(void)
{
	return open("file", O_RDONLY) >= 0 ? 1 : 0;
}

static void only_programs_are_read(void **state)
{
	struct policy *policy = load("allow read /**\nallow write /tmp/**\nallow exec /usr/** /bin/**\ndefault deny\n");
	struct floor *floor = prepare(policy);

	assert_int_equal(inside(NULL, reads), 1);
	assert_int_equal(inside(floor, reads), 0);
	assert_int_equal(inside(floor, ordinary), 0);
	floor_free(floor);
	policy_free(policy);
}

struct planned {
	const char *rules;
	const char *grant; /* must be there; @ stands for the test's own directory */
	bool everything;   /* "/" must be there */
};

/* A program in a directory that was removed and made again after the start. */
static int run_made_again(void)
{
	char *const argv[] = { (char *)"copy", NULL };
	char byte;
	int status;

	if (read(0, &byte, 1) != 1)
		return 1;
	pid_t pid = fork();
	if (pid == 0) {
		execv("again/copy", argv);
		_exit(126);
	}
	return waitpid(pid, &status, 0) == pid && status == 0 ? 0 : 2;
}

static int copy_program(void)
{
	return system("rm -rf again && mkdir again && cp /bin/true again/copy");
}

static void what_is_made_again_can_run(void **state)
{
	char text[256];
	int go[2], status;

	snprintf(text, sizeof(text), "allow write,exec %s/again/** /usr/** /bin/**\ndefault deny\n", dir);
	assert_int_equal(copy_program(), 0);
	struct policy *policy = load(text);
	struct floor *floor = prepare(policy);
	assert_int_equal(pipe(go), 0);
	pid_t pid = fork();
	if (pid == 0) {
		dup2(go[0], 0);
		_exit(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || floor_enter(floor_ruleset(floor)) < 0 ? 100 : run_made_again());
	}
	assert_int_equal(copy_program(), 0);
	assert_int_equal(write(go[1], "", 1), 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(system("rm -rf again"), 0);
	assert_int_equal(WEXITSTATUS(status), 0);
	close(go[0]);
	close(go[1]);
	floor_free(floor);
	policy_free(policy);
}

static bool is_grant(const char *name, const char *grant)
{
	if (grant[0] != '@')
		return strcmp(name, grant) == 0;
	return strncmp(name, dir, strlen(dir)) == 0 && strcmp(name + strlen(dir), grant + 1) == 0;
}

static void plan_follows_the_rules(void **state)
{
	static const struct planned cases[] = {
		{ "default allow\n", "/", true },
		{ "default ask\n", "/", true },
		{ "allow read /**\ndefault deny\n", "/usr/lib", false },
		{ "allow exec /opt/tools/** /usr/bin/git\ndefault deny\n", "/opt/tools", false },
		{ "allow exec /opt/tools/** /usr/bin/git\ndefault deny\n", "/usr/bin/git", false },
		{ "allow exec /usr/{bin,sbin}/*\ndefault deny\n", "/usr/sbin", false },
		{ "set base = /srv/x\nallow exec $base/bin/**\ndefault deny\n", "/srv/x/bin", false },
		{ "set base = \"/srv/x y\"\nallow exec $base/bin/**\ndefault deny\n", "/srv/x y/bin", false },
		{ "set base = \"/srv/x # y\"\nset bin = \"$base/b n\"\nallow exec \"$bin/**\"\ndefault deny\n", "/srv/x # y/b n", false },
		{ "set base = \"/srv/\\*x\"\nallow exec ${base}y/**\ndefault deny\n", "/srv/*xy", false },
		{ "set base = \\\n  /srv/x\nallow exec \\\n  $base/*/y\ndefault deny\n", "/srv/x", false },
		{ "set base = /srv/x\nallow exec $base/**\nset base = /srv/y\nallow exec $base/**\ndefault deny\n", "/srv/x", false },
		{ "set base = \"/srv/x y\"\nrewrite exec /srv/old -> $base/new\ndefault deny\n", "/srv/x y/new", false },
		{ "rewrite exec /srv/old/** -> /srv/new/**\ndefault deny\n", "/srv/new", false },
		{ "allow exec $HOME/bin/*\ndefault deny\n", "/root/bin", false },
		{ "allow exec \"/srv/with blank/**\" by=/usr/bin/make\ndefault deny\n", "/srv/with blank", false },
		{ "allow exec /** by=/usr/bin/make\ndefault deny\n", "/", true },
		{ "ask exec /usr/bin/git argv=\"push **\"\ndefault deny\n", "/usr/bin/git", false },
		{ "allow write,exec $PWD/x/y/**\ndefault deny\n", "@/x", false },
		{ "allow write $PWD/a.out\nallow exec $PWD/a.out\ndefault deny\n", "@", false },
		{ "allow write $PWD/x/y/**\nallow exec $PWD/x/**\ndefault deny\n", "@/x", false },
		{ "deny exec /srv/**\nallow exec /opt/x\ndefault deny\n", "/opt/x", false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct policy *policy = load(cases[i].rules);
		struct floor_plan plan;
		bool found = !cases[i].grant, everything = false;

		assert_int_equal(floor_plan_make(policy, &plan), 0);
		for (const char *name = NULL; (name = floor_plan_next(&plan, name));) {
			found |= cases[i].grant && is_grant(name, cases[i].grant);
			everything |= strcmp(name, "/") == 0;
		}
		if (!found || everything != cases[i].everything)
			print_error("case %zu: %s", i, cases[i].rules);
		assert_true(found);
		assert_int_equal(everything, cases[i].everything);
		floor_plan_done(&plan);
		policy_free(policy);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_changes),
		cmocka_unit_test(neighbours_are_out_of_reach),
		cmocka_unit_test(sockets_of_others_are_out_of_reach),
		cmocka_unit_test(ordinary_things_work),
		cmocka_unit_test(only_programs_are_read),
		cmocka_unit_test(what_is_made_again_can_run),
		cmocka_unit_test(plan_follows_the_rules),
	};

	return cmocka_run_group_tests_name("supervisor_floor", tests, setup, teardown);
}
