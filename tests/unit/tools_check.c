// SPDX-License-Identifier: Apache-2.0
/* usher check, fmt and rules, as commands: exit status and what they say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "policy/policy.h"
#include "tools/tool.h"

static char dir[PATH_MAX];
static char said[256 * 1024];

static const char *file(const char *name, const char *text)
{
	static char path[4][PATH_MAX + 64];
	static unsigned turn;
	char *out = path[turn++ % 4];
	snprintf(out, sizeof(path[0]), "%s/%s", dir, name);
	FILE *to = fopen(out, "w");
	assert_non_null(to);
	fputs(text, to);
	fclose(to);
	assert_int_equal(chmod(out, 0644), 0);
	return out;
}

static void in_child(const struct tool *tool, char **argv, int fd)
{
	int argc = 0;
	while (argv[argc])
		argc++;
	dup2(fd, 1);
	dup2(fd, 2);
	int status = tool->main(argc, argv);
	fflush(stdout);
	_exit(status);
}

/* Runs the tool, keeps what it said, returns its status. */
static int run(const struct tool *tool, ...)
{
	char *argv[16] = { (char *)(uintptr_t)tool->name };
	int fd[2], status;
	size_t len = 0;
	ssize_t n;
	va_list args;
	va_start(args, tool);
	for (int i = 1; i < 15 && (argv[i] = va_arg(args, char *)); i++)
		;
	va_end(args);
	assert_int_equal(pipe(fd), 0);
	fflush(NULL);
	pid_t pid = fork();
	if (pid == 0)
		in_child(tool, argv, fd[1]);
	close(fd[1]);
	while ((n = read(fd[0], said + len, sizeof(said) - 1 - len)) > 0)
		len += (size_t)n;
	said[len] = 0;
	close(fd[0]);
	waitpid(pid, &status, 0);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void says(const char *words)
{
	if (!strstr(said, words))
		fail_msg("expected \"%s\" in:\n%s", words, said);
}

static void silent_about(const char *words)
{
	if (strstr(said, words))
		fail_msg("did not expect \"%s\" in:\n%s", words, said);
}

static void test_status(void **state)
{
	assert_int_equal(run(&tool_check, NULL), 0);
	assert_int_equal(run(&tool_check, file("ok", "allow read /usr/**\ndefault deny\n"), NULL), 0);
	says("1 rule, 0 expectations: 0 errors, 0 warnings");
	assert_int_equal(run(&tool_check, file("bad", "alow read /usr/**\n"), NULL), 1);
	says("/bad:1:1: error: ");
	assert_int_equal(run(&tool_check, "/nowhere", NULL), 1);
	assert_int_equal(run(&tool_check, "--nonsense", NULL), 2);
	assert_int_equal(run(&tool_check, "--explain", "nonsense", file("ok", "default deny\n"), NULL), 2);
	assert_int_equal(run(&tool_check, "--explain", "read /x\n", file("ok", "default deny\n"), NULL), 0);
	assert_int_equal(run(&tool_check, "--explain", "read /x\nread /y", file("ok", "default deny\n"), NULL), 2);
	const char *warned = file("warned", "allow read /nowhere/at/all\n");
	assert_int_equal(run(&tool_check, warned, NULL), 0);
	says("warning: /nowhere/at/all does not exist");
	assert_int_equal(run(&tool_check, "--strict", warned, NULL), 1);
}

/* A message has not room for every name. */
static void test_long_missing(void **state)
{
	char rules[1700], name[801];

	for (size_t i = 0; i < sizeof(name) - 1; i++)
		name[i] = i % 8 ? 'n' : '/';
	name[sizeof(name) - 1] = '\0';
	snprintf(rules, sizeof(rules), "deny read %s\n", name);
	assert_int_equal(run(&tool_check, file("long", rules), NULL), 0);
	says("1:11: warning: what it names does not exist\n");
	snprintf(rules, sizeof(rules), "deny read %s /nowhere/at/all\n", name);
	assert_int_equal(run(&tool_check, file("long", rules), NULL), 0);
	says("warning: /nowhere/at/all, ... do not exist\n");
}

/* They are the caller's, so that the one who loads the rules must not take them for its own. */
static void test_own_process(void **state)
{
	static const char *const says_so[] = { "allow read /proc/self/environ\n", "allow read /usr/** /proc/self/**\n", "allow read /proc/thread-self\n" };
	for (size_t i = 0; i < sizeof(says_so) / sizeof(says_so[0]); i++) {
		assert_int_equal(run(&tool_check, "--strict", file("w", says_so[i]), NULL), 1);
		says("warning: no object is called so, since /proc/self is a link");
	}
	assert_int_equal(run(&tool_check, "--strict", file("w", "deny read /proc/[0-9]*/environ /proc/selfish/** /proc/1/**\n"), NULL), 1);
	says("1:32: warning: /proc/selfish does not exist");
	says("0 errors, 1 warning\n");
	static const char each[] = "deny read /proc/self/environ\nkill read /proc/thread-self/mem\nask read /proc/self\ndefault allow\n";
	static const char strict[] = "deny read /proc/self/environ\nkill read /proc/thread-self/mem\ndefault allow\n";
	static const struct {
		const char *what, *said;
	} now[] = { { "read /proc/1/environ", "deny by " }, { "read /proc/23/task/45/mem", "kill by " }, { "read /proc/1", "ask by " },
		    { "read /proc/sys/environ", "allow by " }, { "read /proc/1/task/1/environ", "allow by " } };
	assert_int_equal(run(&tool_check, "--strict", file("w", strict), NULL), 0);
	for (size_t i = 0; i < sizeof(now) / sizeof(now[0]); i++) {
		assert_int_equal(run(&tool_check, "--explain", now[i].what, file("w", each), NULL), 0);
		says(now[i].said);
	}
	assert_int_equal(run(&tool_check, "--explain", "read /proc/self/status", file("w", "default deny\nallow read /proc/self/**\n"), NULL), 0);
	says("deny by ");
}

static void test_warnings(void **state)
{
	run(&tool_check, file("w", "allow read /usr/**\ndeny read /usr/bin/**\n"), NULL);
	says("/w:2:1: warning: this rule can never match: ");
	says("/w:1 (allow) decides first, and contradicts it");
	run(&tool_check, file("w", "allow read /usr/bin/**\ndeny read /usr/**\n"), NULL);
	silent_about("warning:");
	/* What stands behind blanks: the column is the file's, and the caret stands below the word. */
	static const char *const indented[] = { "\n   allow read /nowhere/at/all\n", "\n \t\tallow read /nowhere/at/all # none\n" };
	for (size_t i = 0; i < sizeof(indented) / sizeof(indented[0]); i++) {
		run(&tool_check, file("w", indented[i]), NULL);
		says("/w:2:15: warning: /nowhere/at/all does not exist\n    allow read /nowhere/at/all\n               ^\n");
	}
	run(&tool_check, file("w", "   allow read /usr/** \\\n /nowhere/at/all\n"), NULL);
	says("/w:1:4: warning: /nowhere/at/all does not exist\n    allow read /usr/** /nowhere/at/all\n    ^\n");
	run(&tool_check, file("w", "default deny\n   expect allow read /usr\n"), NULL);
	says("/w:2:4: error: expected allow, but it is deny by /");
	says("\n    expect allow read /usr\n    ^\n");
	/* Who hears what listens is as much as whether it listens. */
	run(&tool_check, file("w", "allow bind tcp:*:* loopback\nallow bind tcp:0.0.0.0:80\n"), NULL);
	says("/w:1 (allow, loopback) decides first, and contradicts it");
	run(&tool_check, file("w", "allow bind tcp:0.0.0.0:80\nallow bind tcp:0.0.0.0:80 loopback\n"), NULL);
	says("/w:1 (allow) decides first, and contradicts it");
	run(&tool_check, file("w", "allow bind tcp:*:* loopback\nallow bind tcp:0.0.0.0:80 loopback\n"), NULL);
	says("/w:1 (allow, loopback) decides first\n");
	run(&tool_check, file("w", "allow read /usr/** by=/usr/bin/make\ndeny read /usr/bin/**\n"), NULL);
	silent_about("warning:");
	run(&tool_check, file("w", "allow read /usr/**\nallow open /usr/bin/**\n"), NULL);
	silent_about("warning:");
	run(&tool_check, file("w", "allow read /usr/**\nallow read /etc/** /usr/bin/**\n"), NULL);
	says("/w:2:20: warning: this pattern can never match");
	/* A refusal by the one name of a file holds for hard links to it: nothing before it decides on those. */
	run(&tool_check, file("w", "deny read /etc/**\ndeny read /etc/passwd\n"), NULL);
	silent_about("warning:");
	run(&tool_check, file("w", "allow read /etc/**\ndeny read /etc/passwd\n"), NULL);
	says("/w:2:11: warning: this matches hard links to the file alone: ");
	run(&tool_check, file("w", "deny read /etc/passwd\ndeny read /etc/passwd\n"), NULL);
	says("/w:2:1: warning: this rule can never match");
	run(&tool_check, file("w", "deny read /etc/**\nallow read /etc/passwd\n"), NULL);
	says("/w:2:1: warning: this rule can never match");
	run(&tool_check, file("w", "allow connect tcp:10.0.0.0/8:*\ndeny connect tcp:10.1.0.0/16:443\n"), NULL);
	says("can never match");
	/* One address may have been meant. */
	run(&tool_check, file("w", "allow connect tcp:10.1.2.3/24:443 udp:[fe80::1]/10:*\n"), NULL);
	says("/w:1:15: warning: this is every address of 10.1.2.0/24: the bits behind the prefix do not count");
	says("/w:1:35: warning: this is every address of [fe80::]/10: ");
	run(&tool_check, file("w", "allow connect tcp:10.1.2.0/24:443 tcp:10.1.2.3/32:443 tcp:[fe80::1]:* tcp:*:*\n"), NULL);
	silent_about("the bits behind");
	/* Beside what stands firm wider rules that open the address do not count: what names it, or refuses, comes first. */
	run(&tool_check, file("w", "allow connect tcp:*:*\ndeny net tcp:10.0.0.0/8:* firm\nallow connect tcp:10.0.0.1:80\n"), NULL);
	silent_about("can never match");
	run(&tool_check, file("w", "deny net tcp:10.0.0.1:90 firm\nallow connect tcp:*:*\nask connect tcp:10.0.0.1:80-99\n"), "--ask=desk", NULL);
	silent_about("can never match");
	run(&tool_check, file("w", "allow connect tcp:*:*\nkill connect tcp:10.0.0.0/8:*\ndeny net tcp:10.0.0.1:80 firm\n"), NULL);
	silent_about("can never match");
	static const char *const first[] = { "allow connect tcp:*:*\ndeny net tcp:10.0.0.2:* udp:10.0.0.1:* firm\n", "deny net tcp:10.0.0.1:* firm\nkill connect tcp:10.0.0.0/8:*\n",
					     "deny net tcp:10.0.0.1:* firm\nask connect tcp:10.0.0.1:*\n", "allow connect tcp:*:*\ndeny bind tcp:10.0.0.1:* firm\n",
					     "allow connect tcp:*:*\ndeny net tcp:10.0.0.1:81 firm\n" };
	for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++) {
		char text[256];
		snprintf(text, sizeof(text), "%sallow connect tcp:10.0.0.1:80\n", first[i]);
		run(&tool_check, file("w", text), "--ask=desk", NULL);
		says("/w:3:1: warning: this rule can never match");
	}
	run(&tool_check, file("w", "ask read /etc/**\n"), "--ask=deny", NULL);
	says("nobody answers");
	run(&tool_check, file("w", "ask read /etc/**\ndefault ask\n"), "--ask=desk", NULL);
	silent_about("warning:");
	run(&tool_check, file("w", "deny read /x\ndefault ask\n"), "--ask=deny", NULL);
	says("/w:2:1: warning: the default asks");
	run(&tool_check, file("w", "deny read /etc/** by=/usr/bin/mkae\n"), NULL);
	says("warning: the program /usr/bin/mkae does not exist");
	run(&tool_check, file("w", "deny net tcp:192.0.2.1:*\nallow socket raw\n"), NULL);
	says("/w:2:1: warning: what goes through such a socket");
	says("it goes past ");
	run(&tool_check, file("w", "default deny\nallow socket packet\n"), NULL);
	says("warning: what goes through such a socket");
	run(&tool_check, file("w", "deny net tcp:192.0.2.1:*\nallow socket netlink mptcp alg\ndeny socket raw\n"), NULL);
	silent_about("warning:");
	run(&tool_check, file("w", "default allow\nallow socket *\n"), NULL);
	silent_about("warning:");
	run(&tool_check, file("w", "default allow\nallow socket raw\n"), file("x", "deny net udp:*:53\n"), NULL);
	says("/w:2:1: warning: has no effect: ");
	const char *a = file("a", "allow read /usr/**\n"), *b = file("b", "deny read /usr/** /etc/**\n");
	run(&tool_check, a, b, NULL);
	says("/a:1:1: warning: has no effect: another layer's ");
}

/* A refusal to run that a rename, which the rules allow, leads around; what a rename must not gain is no such thing. */
static void test_renames(void **state)
{
	run(&tool_check, file("w", "deny exec /nox/a/b/**\ndefault allow\n"), NULL);
	says("warning: the rules let /nox/a/b be renamed");
	run(&tool_check, file("w", "deny exec,delete /nox/a/b/**\ndefault allow\n"), NULL);
	silent_about("be renamed"); /* all that lies below it is refused to be removed, so a rename of /nox/a is, too */
	run(&tool_check, file("w", "deny exec /nox/a/b/**\ndeny delete /nox/a/b /nox/a /nox\ndefault allow\n"), NULL);
	silent_about("be renamed");
	run(&tool_check, file("w", "deny exec /nox/a/b/**\ndeny delete /nox/a/b\ndefault allow\n"), NULL);
	says("warning: the rules let /nox/a be renamed");
	run(&tool_check, file("w", "deny exec,read /nox/a/b/**\ndefault allow\n"), NULL);
	silent_about("be renamed");
	run(&tool_check, file("w", "deny read,write /nox/a/b/**\ndefault allow\n"), NULL);
	silent_about("be renamed");
	run(&tool_check, file("w", "deny exec /nox/a/b/**\nallow exec /nox/a/**\nallow read /**\ndefault deny\n"), NULL);
	silent_about("be renamed");
	run(&tool_check, file("w", "deny exec /nox/a/b/**\nallow exec /nox/a/**\nallow read,write /nox/**\ndefault deny\n"), NULL);
	says("warning: the rules let /nox/a/b be renamed");
}

static void test_expect(void **state)
{
	assert_int_equal(run(&tool_check, file("e", "deny read /a\ndefault allow\nexpect deny read /a\nexpect allow read /b\n"), NULL), 0);
	assert_int_equal(run(&tool_check, file("e", "deny read /a\ndefault allow\nexpect allow read /a\n"), NULL), 1);
	says("/e:3:1: error: expected allow, but it is deny by ");
	says("/e:1: deny read /a\n");
	/* Where variables decide, what they stand for: without it nothing tells why a line holds in one directory and fails in another. */
	char here[PATH_MAX + 64], cwd[PATH_MAX];
	snprintf(here, sizeof(here), ", $PWD is %s", getcwd(cwd, sizeof(cwd)));
	assert_int_equal(run(&tool_check, file("e", "deny read $PWD/**\ndefault allow\nexpect allow read $PWD/a\n"), NULL), 1);
	says("/e:1: deny read $PWD/**; here $HOME is /");
	says(here);
	/* Slashes count once, as in patterns. */
	assert_int_equal(run(&tool_check, file("e", "deny read /a/x/**\ndefault allow\nexpect deny read /a//x/b\nexpect deny read //a/x/b\n"), NULL), 0);
	assert_int_equal(run(&tool_check, file("e", "deny read /a/x/**\ndefault allow\nexpect allow read /a//x/b\n"), NULL), 1);
	says("/e:1");
}

static void test_explain(void **state)
{
	const char *x = file("x", "allow read /opt/x/**\ndeny read /opt/**\nask read,write /opt/**\n");
	const char *y = file("y", "default deny\nallow read /opt/x/y reason=\"why not\"\n");
	assert_int_equal(run(&tool_check, "--explain", "read /opt/x/y by /usr/bin/cat", x, NULL), 0);
	says("allow by ");
	says("/x:1\n");
	says("/x:2: deny read /opt/**");
	says("/x:3: ask read,write /opt/**");
	const char *f = file("f", "allow connect tcp:*:*\ndeny net tcp:10.0.0.1:* firm\nask connect tcp:10.0.0.1:80\n");
	assert_int_equal(run(&tool_check, "--explain", "connect tcp:10.0.0.1:80", f, NULL), 0);
	says("/f:3\n");
	says("as the address stands firm, it beats:\n");
	says("/f:1: allow connect tcp:*:*");
	assert_int_equal(run(&tool_check, "--explain", "read /opt/x/z", x, y, NULL), 0);
	says("deny by ");
	says("/y:1");
	assert_int_equal(run(&tool_check, "--json", "--explain", "read /opt/x/y", x, y, NULL), 0);
	says("{\"verdict\":\"allow\",\"rule\":\"");
	says("\"beaten\":[");
	/* One layer that says so is enough, whichever decides. */
	const char *all = file("all", "allow bind tcp:*:*\n"), *here = file("alone", "allow bind tcp:0.0.0.0:* loopback\nallow bind tcp:*:*\n");
	assert_int_equal(run(&tool_check, "--explain", "bind tcp:0.0.0.0:80", all, here, NULL), 0);
	says("/all:1\n");
	says("heard on the loopback interface alone");
	assert_int_equal(run(&tool_check, "--json", "--explain", "bind tcp:0.0.0.0:80", all, here, NULL), 0);
	says("\"heard\":\"loopback\"");
	assert_int_equal(run(&tool_check, "--explain", "bind tcp:192.0.2.1:80", all, here, NULL), 0);
	silent_about("heard");
	assert_int_equal(run(&tool_check, "--json", file("bad", "alow\n"), NULL), 1);
	says("\"line\":1,\"column\":1,\"level\":\"error\"");
}

/* What does not exist yet is asked of under the name that it will have, however much of its path is missing. */
static void test_explain_links(void **state)
{
	char link[PATH_MAX + 64], there[PATH_MAX + 64], question[PATH_MAX + 128], want[PATH_MAX + 128];
	const char *f = file("l", "default deny\n");
	snprintf(there, sizeof(there), "%s/there", dir);
	snprintf(link, sizeof(link), "%s/here", dir);
	assert_int_equal(mkdir(there, 0755), 0);
	assert_int_equal(symlink("there", link), 0);
	static const char *const rest[] = { "", "/a", "/a/b", "/a/b/c" };
	for (unsigned gone = 0; gone < 2; gone++) {
		for (size_t i = gone; i < sizeof(rest) / sizeof(rest[0]); i++) {
			snprintf(question, sizeof(question), "create %s%s", link, rest[i]);
			snprintf(want, sizeof(want), "here%s is %s%s\n", rest[i], there, rest[i]);
			assert_int_equal(run(&tool_check, "--explain", question, f, NULL), 0);
			says(want);
		}
		rmdir(there); /* the link leads nowhere */
	}
	unlink(link);
	assert_int_equal(symlink("here", link), 0); /* and then to itself */
	assert_int_equal(run(&tool_check, "--explain", question, f, NULL), 0);
	unlink(link);
}

static void test_plan(void **state)
{
	assert_int_equal(run(&tool_check, "--plan", file("p", "default deny\n"), NULL), 0);
	says("openat ");
	says("supervisor read modify create");
	says("no rule names stat");
	assert_int_equal(run(&tool_check, "--plan", file("p", "deny stat /x\n"), NULL), 0);
	silent_about("no rule names stat");
}

/* The published table is the one that decides. */
static void test_calls(void **state)
{
	static char published[64 * 1024];
	FILE *page = fopen("docs/calls.md", "r");
	assert_non_null(page);
	published[fread(published, 1, sizeof(published) - 1, page)] = 0;
	fclose(page);
	assert_int_equal(run(&tool_check, "--calls", NULL), 0);
	says("| openat | read, modify, create | usher opens it");
	if (strcmp(published, said) != 0)
		fail_msg("docs/calls.md is not what 'usher check --calls' prints: 'make calls-table' renews it");
}

static void test_fmt(void **state)
{
	const char *f = file("f", "\n\nallow   read /usr/**   \"/a  b\"  # why\n  deny write \\\n /etc/** reason=\"two  blanks\"\n\n\n\ndefault deny");
	assert_int_equal(run(&tool_fmt, f, NULL), 0);
	assert_string_equal(said, "allow    read     /usr/** \"/a  b\"  # why\n"
				  "deny     write    /etc/** reason=\"two  blanks\"\n\ndefault  deny\n");
	assert_int_equal(run(&tool_fmt, "--check", f, NULL), 1);
	assert_int_equal(run(&tool_fmt, "-w", f, NULL), 0);
	assert_int_equal(run(&tool_fmt, "--check", f, NULL), 0);
	assert_int_equal(run(&tool_fmt, "-w", "--check", f, NULL), 2);
	assert_int_equal(run(&tool_fmt, file("bad", "alow\n"), NULL), 1);
	assert_int_equal(run(&tool_fmt, file("open", "deny read /x \\"), NULL), 0);
	says("deny     read     /x\n");
	assert_int_equal(run(&tool_fmt, NULL), 2);
}

/* The file behind a link is written, and the link stays one. */
static void test_fmt_link(void **state)
{
	char link[PATH_MAX + 64], where[PATH_MAX], kept[64] = "";
	const char *f = file("real", "default   deny\n");
	snprintf(link, sizeof(link), "%s/link", dir);
	assert_int_equal(symlink(f, link), 0);
	assert_int_equal(run(&tool_fmt, "-w", link, NULL), 0);
	assert_true(readlink(link, where, sizeof(where)) > 0);
	FILE *from = fopen(f, "r");
	assert_non_null(from);
	assert_non_null(fgets(kept, sizeof(kept), from));
	fclose(from);
	assert_string_equal(kept, "default  deny\n");
	unlink(link);
}

/* An option that would have no effect is an error, before anything is printed. */
static void test_no_effect(void **state)
{
	const char *f = file("f", "default deny\n");
	static const char *const alone[][2] = { { "--plan", "--strict" }, { "--plan", "--ask=deny" }, { "--plan", "--calls" }, { "--calls", "--strict" } };
	for (size_t i = 0; i < sizeof(alone) / sizeof(alone[0]); i++) {
		assert_int_equal(run(&tool_check, alone[i][0], alone[i][1], f, NULL), 2);
		says(alone[i][0]);
		silent_about("openat");
	}
	assert_int_equal(run(&tool_check, "--calls", f, NULL), 2);
	assert_int_equal(run(&tool_check, "--explain", "read /x", "--plan", f, NULL), 2);
	assert_int_equal(run(&tool_check, "--explain", "read /x", "--strict", f, NULL), 2);
	assert_int_equal(run(&tool_check, "--explain", "read /", f, NULL), 0);
}

static void test_compiled_down(void **state)
{
	run(&tool_check, "--plan", file("p", "default allow\n"), NULL);
	says("unlink                   supervisor");
	says("newfstatat               kernel     no rule names stat");
	says("# kernel floor: ");
	run(&tool_check, "--plan", file("p", "deny delete ** log=none\nallow stat /etc/** log=none\ndefault allow\n"), NULL);
	says("unlink                   filter     refused whatever it names");
	says("rename                   filter     refused whatever it names");
	says("mkdir                    supervisor create");
	says("newfstatat               kernel     the rules on stat do no more than allow it unrecorded");
	/* Reads in the filter: wherever the rules do not let them, the plan says no more than that the name lies in memory. */
	static const char *const not_free[] = {
		"default allow\n", "allow read **\n", "allow read /** log=none limit=5/s\n", "deny read /etc/x\nallow read ** log=none\n",
		"allow read ** log=none by=/bin/sh\n", "allow read /etc/** log=none\n", "ask read /etc/x\nallow read ** log=none\n",
		"allow read ** log=none stack\n", "allow read /etc/**\nallow read ** log=none\n", "rewrite read /etc/x -> /etc/y\nallow read ** log=none\n",
	};
	for (size_t i = 0; i < sizeof(not_free) / sizeof(not_free[0]); i++) {
		run(&tool_check, "--plan", file("p", not_free[i]), NULL);
		says("openat                   supervisor read modify create: the name lies in memory\n");
	}
	run(&tool_check, "--plan", file("p", "allow read ** log=none\nlimit files 100\ndefault deny\n"), NULL);
	says("openat                   supervisor read modify create: a limit on files is watched where files are opened");
	run(&tool_check, "--plan", file("p", "allow open ** log=none\ndefault deny\n"), file("q", "deny read /etc/x\n"), NULL);
	says("openat                   supervisor read modify create: the name lies in memory\n");
	run(&tool_check, "--plan", file("p", "allow read /etc/** log=none\nallow open ** log=none\ndefault deny\n"), file("q", "deny create /x\n"), NULL);
	if (strstr(said, "openat                   filter "))
		says("openat                   filter     for reading alone");
	else
		says("covered in a mount namespace");
	run(&tool_check, "--plan", file("p", "deny delete **\nallow stat /etc/**\n"), NULL);
	says("unlink                   supervisor");
	says("newfstatat               supervisor");
	run(&tool_check, "--plan", file("p", "allow delete /tmp/**\ndeny delete ** log=none\n"), NULL);
	says("unlink                   supervisor");
	run(&tool_check, "--plan", file("p", "deny delete ** log=none uid=0\n"), NULL);
	says("unlink                   supervisor");
	run(&tool_check, "--plan", file("p", "deny delete ** log=none\n"), file("q", "default allow\n"), NULL);
	says("unlink                   supervisor");
}

static unsigned pick(unsigned *seed, unsigned n)
{
	*seed = *seed * 1103515245u + 12345u;
	return (*seed >> 16) % n;
}

#define PICK(seed, list) (list)[pick(seed, sizeof(list) / sizeof((list)[0]))]

static const char *const file_ops[] = { "read", "modify", "create", "delete", "attr", "stat", "exec" };
static const char *const net_ops[] = { "connect", "bind", "send" };
static const char *const file_names[] = { "/nox/a", "/nox/a/b", "/nox/.env", "/nox/a/c/d", "/noy", "memfd:x" };
static const char *const net_names[] = { "tcp:10.0.0.1:80", "udp:10.0.0.1:53", "tcp:[fd00::1]:443", "unix:/nox/s", "unix:@name" };
static const char *const callers[] = { "", " by /nob/x", " uid 7", " by /nob/y tree /nob/x" };

static void random_rules(unsigned *seed, char *out, size_t size)
{
	static const char *const verdicts[] = { "allow", "deny", "deny", "ask", "kill" };
	static const char *const groups[] = { "read", "write", "open", "exec", "read,exec", "stat", "create", "attr,delete" };
	static const char *const patterns[] = { "/nox/**", "/nox/*", "**/.env", "**", "/nox/a", "/no[xy]", "/nox/{a,b}/**", "memfd:**" };
	static const char *const ends[] = { "tcp:*:*", "tcp:10.0.0.0/8:*", "udp:*:53", "tcp:[fd00::1]:*", "unix:/nox/**", "unix:@**", "tcp:10.0.0.1:80-90" };
	static const char *const conditions[] = { "", "", "", " by=/nob/x", " uid=7", " tree=/nob/**" };
	size_t at = 0;
	unsigned n = 1 + pick(seed, 7);
	for (unsigned i = 0; i < n; i++) {
		bool net = pick(seed, 3) == 0;
		const char *verdict = PICK(seed, verdicts);
		const char *ops = net ? (pick(seed, 2) ? "net" : PICK(seed, net_ops)) : PICK(seed, groups);
		const char *pattern = net ? PICK(seed, ends) : PICK(seed, patterns);
		bool firm = net && verdict[0] != 'a' && pattern[0] != 'u' && pick(seed, 3) == 0;
		at += (size_t)snprintf(out + at, size - at, "%s %s %s%s%s\n", verdict, ops, pattern, PICK(seed, conditions), firm ? " firm" : "");
	}
	static const char *const defaults[] = { "", "default allow\n", "default deny\n", "default ask\n" };
	snprintf(out + at, size - at, "%s", PICK(seed, defaults));
}

/* The first line of --explain is what policy_decide() says to the same question. */
static void explain_agrees(const char *const files[2], const char *question)
{
	struct diagnostics found = { 0 };
	struct policy_options o = { .files = files, .n_files = 2 };
	struct ruleset_source source = { 0 };
	struct policy *p = NULL;
	struct query q;
	struct verdict v;
	char want[2 * PATH_MAX];
	assert_int_equal(policy_new(&o, &found, &p), 0);
	assert_int_equal(query_parse(question, &source, &found, &q), 0);
	policy_decide(p, &q.call, &v);
	snprintf(want, sizeof(want), "%s by %s\n", verdict_name(v.kind), v.where);
	assert_int_equal(run(&tool_check, "--explain", question, files[0], files[1], NULL), 0);
	if (strncmp(said, want, strlen(want)) != 0)
		fail_msg("%s: policy_decide says %sexplain says %s", question, want, said);
	query_free(&q);
	policy_free(p);
	diagnostics_free(&found);
}

/* A file with rules at random, blanks, comments and continued lines where they may be. */
static void random_layout(unsigned *seed, char *out, size_t size)
{
	static const char *const gaps[] = { " ", "  ", "\t", " \\\n ", "   \\\n\t" };
	static const char *const ends[] = { "\n", "  \n", " # why\n", "\t#  why  \n", "\n\n", "\n\n\n# \"\n", "\n   \n" };
	char rules[4096];
	size_t at = 0;
	random_rules(seed, rules, sizeof(rules));
	for (const char *from = rules; *from && at + 32 < size; from++) {
		if (*from == ' ' || *from == '\n')
			at += (size_t)snprintf(out + at, size - at, "%s", *from == ' ' ? PICK(seed, gaps) : PICK(seed, ends));
		else
			out[at++] = *from;
	}
	out[at] = 0;
}

/* Once laid out, a file stays as it is, and means what it meant. */
static void test_fmt_at_random(void **state)
{
	static const char *const questions[] = { "read /nox/a", "write /nox/.env", "exec /nox/a/b", "connect tcp:10.0.0.1:80", "stat /noy" };
	unsigned seed = 7;
	char text[8192], first[256];
	for (int i = 0; i < 25; i++) {
		random_layout(&seed, text, sizeof(text));
		const char *f = file("layout", text);
		const char *question = PICK(&seed, questions);
		run(&tool_check, "--explain", question, f, NULL);
		snprintf(first, sizeof(first), "%.*s", (int)strcspn(said, " \n"), said);
		assert_int_equal(run(&tool_fmt, "-w", f, NULL), 0);
		assert_int_equal(run(&tool_fmt, "--check", f, NULL), 0);
		run(&tool_check, "--explain", question, f, NULL);
		if (strncmp(said, first, strlen(first)) != 0)
			fail_msg("%s was %s before, of:\n%s", said, first, text);
	}
}

static void test_explain_agrees(void **state)
{
	char text[2][2000], question[200];
	unsigned seed = 3;
	for (unsigned round = 0; round < 60; round++) {
		random_rules(&seed, text[0], sizeof(text[0]));
		random_rules(&seed, text[1], sizeof(text[1]));
		const char *const files[2] = { file("r1", text[0]), file("r2", text[1]) };
		for (unsigned i = 0; i < 10; i++) {
			bool net = pick(&seed, 3) == 0;
			snprintf(question, sizeof(question), "%s %s%s", net ? PICK(&seed, net_ops) : PICK(&seed, file_ops),
				 net ? PICK(&seed, net_names) : PICK(&seed, file_names), PICK(&seed, callers));
			explain_agrees(files, question);
		}
	}
}

static void test_rules(void **state)
{
	assert_int_equal(run(&tool_rules, NULL), 0);
	says("builtin:agent\n");
	assert_int_equal(run(&tool_rules, "show", "builtin:secrets", NULL), 0);
	says("deny  net");
	const char *copy = file("copy", said);
	assert_int_equal(run(&tool_check, copy, NULL), 0);
	assert_int_equal(run(&tool_rules, "show", "nothing", NULL), 1);
	assert_int_equal(run(&tool_rules, "nonsense", NULL), 2);
}

static int setup(void **state)
{
	snprintf(dir, sizeof(dir), "/tmp/usher-check-XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state)
{
	char command[PATH_MAX + 16];
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_status), cmocka_unit_test(test_long_missing),
		cmocka_unit_test(test_own_process), cmocka_unit_test(test_warnings), cmocka_unit_test(test_expect), cmocka_unit_test(test_renames),
		cmocka_unit_test(test_explain), cmocka_unit_test(test_plan),	 cmocka_unit_test(test_fmt),
		cmocka_unit_test(test_explain_links), cmocka_unit_test(test_fmt_link), cmocka_unit_test(test_no_effect),
		cmocka_unit_test(test_calls),   cmocka_unit_test(test_compiled_down), cmocka_unit_test(test_fmt_at_random), cmocka_unit_test(test_explain_agrees), cmocka_unit_test(test_rules),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
