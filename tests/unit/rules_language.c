// SPDX-License-Identifier: Apache-2.0
/* The language: what each statement, option and verdict means, and what is refused with which words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rules/ruleset.h"
#include "rules/socket_kinds.h"

static const struct variable variables[] = {
	{ "HOME", "/home/u", NULL }, { "PWD", "/home/u/p [x]*", NULL }, { "TMPDIR", "/tmp/", NULL }, { "USER", "u", NULL }, { "UID", "1000", NULL },
	{ "UNSET", NULL, NULL },
};
static const struct ruleset_source from = { .variables = variables, .n_variables = 6 };

static struct ruleset *parse(const char *text)
{
	struct diagnostics found = { 0 };
	struct ruleset *rs = NULL;
	int r = ruleset_parse("t", text, strlen(text), &from, &found, &rs);
	if (r)
		diagnostics_print(&found, stderr, false);
	assert_int_equal(r, 0);
	assert_int_equal(found.count, 0);
	diagnostics_free(&found);
	return rs;
}

/* TEXT has exactly one error, at LINE:COLUMN, whose message holds WORDS. */
static void refused(const char *text, unsigned line, unsigned column, const char *words)
{
	struct diagnostics found = { 0 };
	struct ruleset *rs = NULL;
	int r = ruleset_parse("t", text, strlen(text), &from, &found, &rs);
	if (r != 1 || found.count != 1 || found.errors != 1 || found.items[0].line != line ||
	    found.items[0].column != column || !strstr(found.items[0].message, words)) {
		diagnostics_print(&found, stderr, false);
		fail_msg("%s: %d, %zu findings; expected %u:%u: %s", text, r, found.count, line, column, words);
	}
	assert_null(rs);
	diagnostics_free(&found);
}

static struct verdict ask(const struct ruleset *rs, const char *text)
{
	struct diagnostics found = { 0 };
	struct query q;
	struct verdict v;
	int r = query_parse(text, &from, &found, &q);
	diagnostics_print(&found, stderr, false);
	assert_int_equal(r, 0);
	ruleset_decide(rs, &q.call, &v);
	query_free(&q);
	diagnostics_free(&found);
	return v;
}

static void decides(const char *rules, const char *query, enum verdict_kind kind)
{
	struct ruleset *rs = parse(rules);
	struct verdict v = ask(rs, query);
	if (v.kind != kind)
		fail_msg("%s\n%s: %s by %s, expected %s", rules, query, verdict_name(v.kind), v.where, verdict_name(kind));
	ruleset_free(rs);
}

static void test_errors(void **state)
{
	refused("alow read /x\n", 1, 1, "allow, deny, ask");
	refused("\n\n  allow raed /x\n", 3, 9, "not an operation");
	refused("alow read /x\n", 1, 1, "did you mean 'allow'?");
	refused("redact o=*\n", 1, 8, "at least three bytes");
	refused("redact token=\n", 1, 8, "at least three bytes");
	refused("redact tok*en=*\n", 1, 8, "at least three bytes");
	refused("redact\n", 1, 7, "at least three bytes");
	refused("allow raed /x\n", 1, 7, "did you mean 'read'?");
	refused("ask read /x timout=5s\n", 1, 13, "did you mean 'timeout'?");
	refused("ask read /x revew=5\n", 1, 13, "did you mean 'review'?");
	refused("deny connect tcp:10.0.0.0/8:* fim=1\n", 1, 31, "did you mean 'firm'?");
	refused("allow bind tcp:*:80 loopbak\n", 1, 21, "neither a pattern nor an option (did you mean 'loopback'?)");
	refused("allow bind lopback tcp:*:80\n", 1, 12, "did you mean 'loopback'?");
	refused("allow read /x by /usr/bin/cat\n", 1, 15, "did you mean 'by='?");
	refused("ask read /x review limit\n", 1, 20, "did you mean 'limit='?");
	refused("allow bind tcp:*:80 loopback=yes\n", 1, 21, "loopback takes no value");
	refused("deny bind tcp:*:80 firm=\n", 1, 20, "firm takes no value");
	refused("allow read, write /x\n", 1, 12, "blank");
	refused("allow read,,write /x\n", 1, 12, "joined by commas");
	refused("allow read /x sha256=abc\n", 1, 22, "sha256sum prints it, was expected");
	refused("alow read /x\n", 1, 1, "allow, deny, ask, rewrite, kill, set, default, include, expect, redact, limit or env was expected");
	refused("allow read x/y\n", 1, 12, "begins with /");
	refused("allow read *x\n", 1, 12, "begins with /");
	refused("allow read /x/\n", 1, 14, "ends in a slash");
	refused("allow read /x/../y\n", 1, 12, "canonical");
	refused("allow read /x/./y\n", 1, 12, "canonical");
	refused("allow read\n", 1, 11, "a pattern was expected");
	refused("deny read /x/**,/y/**\n", 1, 11, "separated by blanks");
	refused("deny read /x, /y\n", 1, 11, "separated by blanks");
	refused("deny read /x,**/y\n", 1, 11, "separated by blanks");
	refused("deny read ~/x,~/y\n", 1, 11, "separated by blanks");
	refused("allow read /x by=/usr/bin/a,/usr/bin/b\n", 1, 15, "separated by blanks");
	ruleset_free(parse("deny read \"/x,/**\" /srv/a,b/{c,/d} /srv/*,v\n"));
	refused("deny read /x reason=no way\n", 1, 24, "quotes go around");
	refused("allow connect tcp:*:443 reason=the model\n", 1, 36, "quotes go around");
	ruleset_free(parse("deny read reason=no /x\nallow socket uid=0 ping\n"));
	refused("env keep FOO=bar\n", 1, 10, "env set");
	refused("env drop A,B\n", 1, 10, "blanks");
	refused("env drop A, B\n", 1, 10, "blanks");
	ruleset_free(parse("env drop {A,B}_* \"C,D\"\n"));
	refused("allow\n", 1, 6, "an operation was expected");
	refused("allow read /x[a\n", 1, 14, "'[' without ']'");
	refused("allow read /x[b-a]\n", 1, 17, "runs backwards");
	refused("allow read /{a,b\n", 1, 12, "'{' without '}'");
	refused("allow read /a}\n", 1, 12, "'}' without '{'");
	refused("allow read /a***\n", 1, 16, "more than two");
	refused("allow read $NOPE/x\n", 1, 12, "$NOPE is not set");
	refused("allow read $UNSET/x\n", 1, 12, "$UNSET is not set");
	refused("allow read $/x\n", 1, 12, "without a name");
	refused("allow read \"/x\n", 1, 12, "not closed");
	refused("allow read \"/x\\q\"\n", 1, 15, "unknown escape");
	refused("allow read \"/x\\x0\"\n", 1, 15, "hexadecimal");
	refused("allow read \"/x\\x00\"\n", 1, 15, "hexadecimal");
	refused("allow read /x\\y\n", 1, 14, "backslash outside quotes");
	refused("allow read /x colour=red\n", 1, 15, "unknown option");
	refused("allow read /x errno=ENOENT\n", 1, 15, "belongs to deny");
	refused("deny read /x errno=EFOO\n", 1, 20, "errno name");
	refused("allow read /x timeout=5s\n", 1, 15, "belongs to ask");
	refused("ask read /x timeout=5x\n", 1, 21, "a time such as");
	refused("ask read /x else=maybe\n", 1, 18, "deny, allow or kill");
	refused("allow read /x else=ask\n", 1, 15, "limit=");
	refused("allow read /x limit=0/s\n", 1, 21, "a rate such as");
	refused("allow read /x limit=5\n", 1, 21, "a rate such as");
	refused("deny read /x limit=5/s\n", 1, 14, "belongs to allow");
	refused("allow read /x by=/a by=/b\n", 1, 21, "given twice");
	refused("allow read /x by=make\n", 1, 15, "begins with /");
	refused("allow read /x argv=x\n", 1, 15, "exec rules");
	refused("allow read /x makes=link\n", 1, 15, "create");
	refused("allow bind tcp:*:80 own\n", 1, 21, "own speaks of");
	refused("allow connect udp:*:80 own\n", 1, 24, "own speaks of");
	refused("allow connect unix:@x own\n", 1, 23, "own speaks of");
	refused("allow bind,send unix:/x own\n", 1, 25, "own speaks of");
	refused("ask connect tcp:*:80 own\n", 1, 22, "belongs to allow");
	refused("allow write /x makes=socket\n", 1, 22, "file, directory, link or node");
	refused("ask read /x log=none\n", 1, 13, "always recorded");
	refused("allow exec /x sha256=00\n", 1, 22, "64 hexadecimal digits");
	refused("allow exec /x sha256=*\n", 1, 22, "64 hexadecimal digits");
	refused("allow read /x trusted\n", 1, 15, "belongs to exec");
	refused("allow connect tcp:*:* vacant\n", 1, 23, "vacant belongs to deny");
	refused("ask connect tcp:*:* vacant\n", 1, 21, "vacant belongs to deny");
	refused("deny net tcp:*:* vacant\n", 1, 18, "rules on connect alone");
	refused("deny bind tcp:*:* loopback\n", 1, 19, "loopback belongs to allow");
	refused("ask bind tcp:*:* loopback\n", 1, 18, "loopback belongs to allow");
	refused("allow net tcp:*:* loopback\n", 1, 19, "rules on bind alone");
	refused("allow bind tcp:*:* udp:*:* loopback\n", 1, 28, "tcp: addresses alone");
	refused("allow bind unix:/x loopback\n", 1, 20, "tcp: addresses alone");
	refused("deny connect tcp:*:* unix:@x vacant\n", 1, 30, "not unix:@");
	refused("deny connect tcp:*:* vacnt=1\n", 1, 22, "did you mean 'vacant'?");
	refused("allow read /x review\n", 1, 15, "belongs to ask");
	refused("ask read /x review timeout=5s\n", 1, 20, "asks none without");
	refused("ask read /x review review\n", 1, 20, "given twice");
	refused("rewrite connect udp:*:53 -> unix:/x\n", 1, 29, "keeps its family");
	refused("rewrite connect unix:/x -> udp:127.0.0.1:53\n", 1, 28, "keeps its family");
	refused("rewrite bind tcp:*:80 -> unix:/x\n", 1, 26, "only connect leads from tcp");
	refused("rewrite net tcp:*:80 -> unix:/x\n", 1, 25, "only connect leads from tcp");
	refused("rewrite bind unix:/x -> unix:@x\n", 1, 25, "a path to a path");
	refused("rewrite bind tcp:*:80 -> tcp:[::1]:80\n", 1, 26, "from IPv4 to IPv6");
	refused("rewrite send udp:10.0.0.1:53 -> udp:[::1]:53\n", 1, 33, "from IPv4 to IPv6");
	refused("rewrite connect udp:*:53 -> udp:[::1]:53\n", 1, 29, "from IPv4 to IPv6");
	refused("rewrite net udp:[::/0]:53 -> udp:[::1]:53\n", 1, 30, "from IPv4 to IPv6");
	refused("allow connect tcp:*:1 show=asked\n", 1, 23, "belongs to rewrite");
	refused("rewrite open /a -> /x show=asked\n", 1, 23, "belongs to rewrite connect");
	refused("rewrite connect tcp:*:1 -> unix:/x show=told\n", 1, 41, "asked was expected");
	refused("allow read tcp:*:1\n", 1, 12, "an endpoint where a file");
	refused("allow connect /x\n", 1, 15, "not an endpoint");
	refused("allow connect tcp:example.org:443\n", 1, 19, "a host name is none");
	refused("allow connect tcp:localhost:443\n", 1, 19, "a host name is none");
	refused("allow connect tcp:10.0.0.0/33:443\n", 1, 28, "0 to 32");
	refused("deny connect tcp:2001:db8::5:443\n", 1, 18, "in brackets");
	refused("deny connect tcp:fe80::1/10\n", 1, 18, "in brackets");
	refused("deny connect tcp:[*]:443\n", 1, 18, "without brackets");
	refused("expect allow read /x by=cat\ndefault allow\n", 1, 25, "absolute name was expected");
	refused("expect allow read /x tree cat\ndefault allow\n", 1, 27, "absolute name was expected");
	refused("allow connect tcp:10.0.0.1\n", 1, 27, "port is missing");
	refused("allow connect tcp:10.0.0.1:70000\n", 1, 28, "not a port");
	refused("allow connect tcp:10.0.0.1:9-5\n", 1, 28, "backwards");
	refused("allow connect unix:x\n", 1, 15, "unix:/");
	refused("allow read,connect /x\n", 1, 7, "rules of their own");
	refused("rewrite read /x\n", 1, 16, "FROM -> TO");
	refused("rewrite read /x ->\n", 1, 19, "FROM -> TO");
	refused("rewrite read /x -> /y*\n", 1, 20, "one name");
	refused("rewrite read /x* -> /y/**\n", 1, 21, "on its left");
	refused("rewrite read /x -> memfd:\n", 1, 20, "without a name");
	refused("rewrite connect tcp:*:1 -> udp:127.0.0.1:1\n", 1, 28, "tcp leads to tcp");
	refused("rewrite connect tcp:*:1 -> tcp:10.0.0.0/8:1\n", 1, 28, "one address");
	refused("allow read /x -> /y\n", 1, 15, "belongs to rewrite");
	refused("default maybe\n", 1, 9, "deny, ask or allow");
	refused("default deny\ndefault ask\n", 2, 1, "a second default");
	refused("set x=1\n", 1, 1, "set NAME = VALUE");
	refused("set 1x = 2\n", 1, 5, "not a name");
	refused("include builtin:nothing\n", 1, 9, "no built-in rules");
	refused("limit wall 10\n", 1, 12, "a time such as");
	refused("limit files 0\n", 1, 13, "a number of open files");
	refused("limit filesize 10\n", 1, 16, "a size such as");
	refused("limit memory 0M\n", 1, 14, "a size such as");
	refused("limit walls 10s\n", 1, 7, "wall");
	refused("allow read /x env=A\n", 1, 15, "belongs to exec");
	refused("allow exec /x args=a\n", 1, 15, "belongs to rewrite");
	refused("rewrite open /x -> /y args=a\n", 1, 23, "belongs to rewrite exec");
	refused("rewrite exec /x -> /y args=*\n", 1, 23, "only ** as a word");
	refused("rewrite exec /x -> /y args=\"** **\"\n", 1, 23, "once");
	refused("rewrite exec /x argv=\"a* **\" -> /y args=\"**\"\n", 1, 1, "to be words and then");
	refused("rewrite exec /x -> /y argv0=\"\"\n", 1, 23, "a name was expected");
	refused("env\n", 1, 4, "env keep NAME");
	refused("env kep PATH\n", 1, 5, "did you mean 'keep'");
	refused("env drop\n", 1, 9, "env keep NAME");
	refused("env set PATH\n", 1, 9, "NAME=VALUE");
	refused("env set =x\n", 1, 9, "NAME=VALUE");

	refused("expect maybe read /x\n", 1, 8, "expect VERDICT");
	refused("expect deny read x\n", 1, 18, "absolute");
	refused("expect deny read /x/\n", 1, 18, "ends in a slash");
	refused("expect deny read /x/..\n", 1, 18, "canonical");
	refused("expect deny bind unix:/x/\n", 1, 18, "ends in a slash");
	refused("expect deny read /x/../y\n", 1, 18, "canonical");
	refused("expect deny read /x/.\n", 1, 18, "canonical");
	refused("expect deny connect unix:/x/../y\n", 1, 21, "canonical");
	refused("allow read /x\r\n", 1, 14, "carriage return");
	refused("\xef\xbb\xbf" "allow read /x\n", 1, 1, "byte order mark");
	refused("allow read /x\x01\n", 1, 14, "control byte");
	refused("allow read /a \\\n  x\n", 2, 3, "begins with /");
}

static void test_all_errors_are_told(void **state)
{
	static const char text[] = "alow read /x\nallow read y z\nallow read /ok\ndeny read /x errno=E\n";
	struct diagnostics found = { 0 };
	struct ruleset *rs = NULL;
	assert_int_equal(ruleset_parse("t", text, sizeof(text) - 1, &from, &found, &rs), 1);
	assert_int_equal(found.errors, 4);
	char *printed = NULL;
	size_t size = 0;
	FILE *to = open_memstream(&printed, &size);
	diagnostics_print(&found, to, false);
	fclose(to);
	assert_non_null(strstr(printed, "t:2:14: error: "));
	assert_non_null(strstr(printed, "\n    allow read y z\n                 ^\n"));
	free(printed);
	diagnostics_free(&found);
}

static void test_nul_and_size(void **state)
{
	struct diagnostics found = { 0 };
	struct ruleset *rs = NULL;
	assert_int_equal(ruleset_parse("t", "allow read /x\0\n", 15, &from, &found, &rs), 1);
	assert_non_null(strstr(found.items[0].message, "NUL byte"));
	diagnostics_free(&found);
}

static void test_first_match_and_default(void **state)
{
	decides("allow read /a/**\ndeny read /a/b\n", "read /a/b", VERDICT_ALLOW);
	decides("deny read /a/b\nallow read /a/**\n", "read /a/b", VERDICT_DENY);
	decides("deny read /a/b\nallow read /a/**\n", "read /a/c", VERDICT_ALLOW);
	decides("allow read /a\n", "read /b", VERDICT_NONE);
	decides("allow read /a\ndefault ask\n", "read /b", VERDICT_ASK);
	decides("default allow\n", "connect tcp:192.0.2.1:1", VERDICT_ALLOW);
	decides("kill read /a\n", "read /a", VERDICT_KILL);
	decides("allow read /a\ndeny write /a\n", "open /a", VERDICT_DENY);
	decides("allow open /a\n", "open /a", VERDICT_ALLOW);
	decides("allow read /a\n", "open /a", VERDICT_NONE);
	decides("ask modify /a\nallow read /a\nallow create /a\n", "open /a", VERDICT_ASK);
	decides("allow write /a\n", "delete /a", VERDICT_ALLOW);
	decides("allow write /a\n", "read /a", VERDICT_NONE);
	decides("allow read,exec /a\n", "exec /a", VERDICT_ALLOW);
}

static void test_stat_has_no_default(void **state)
{
	decides("default deny\n", "stat /a", VERDICT_NONE);
	decides("default deny\ndeny read /a\n", "stat /a", VERDICT_NONE);
	decides("deny stat /a\n", "stat /a", VERDICT_DENY);
	struct ruleset *rs = parse("deny stat /a\nallow read /b\ndefault deny\n");
	assert_int_equal(ask(rs, "stat /a").error, ENOENT);
	assert_true(ask(rs, "stat /b").unnamed);
	assert_false(ask(rs, "read /a").unnamed);
	assert_int_equal(ruleset_ops(rs), OP_STAT | OP_READ);
	struct call c = { .n_objects = 1 };
	struct verdict v;
	c.object[0] = (struct object){ .kind = OBJECT_FILE, .ops = OP_STAT | OP_READ, .name = SPAN_LITERAL("/b") };
	ruleset_decide(rs, &c, &v);
	assert_int_equal(v.kind, VERDICT_ALLOW);
	ruleset_free(rs);
}

static void test_variables(void **state)
{
	decides("allow read $PWD/**\n", "read \"/home/u/p [x]*/f\"", VERDICT_ALLOW);
	decides("allow read $PWD/**\n", "read \"/home/u/p x/f\"", VERDICT_NONE);
	decides("allow read $TMPDIR/**\n", "read /tmp/f", VERDICT_ALLOW);
	decides("allow read ~/x by=~/bin/y\n", "read /home/u/x by /home/u/bin/y", VERDICT_ALLOW);
	decides("set d = /a/{b,c}/\nallow read ${d}/**\n", "read /a/c/x", VERDICT_ALLOW);
	decides("set a = $HOME/q\nset b = $a/r\nallow read $b\n", "read /home/u/q/r", VERDICT_ALLOW);
	decides("allow read \"$HOME/My Files/**\"\n", "read \"/home/u/My Files/x\"", VERDICT_ALLOW);
	decides("allow read /a \\\n  /b # and\n", "read /b", VERDICT_ALLOW);
}

static unsigned looked_for;
static const char *found_name;

static char *find_name(void)
{
	looked_for++;
	return found_name ? strdup(found_name) : NULL;
}

/* What a file with $USER decides where NAME is found, and how often that was looked for. */
static unsigned late_decides(const char *text, const char *name, const char *path, enum verdict_kind kind)
{
	const struct variable late[] = { { "HOME", "/home/u", NULL }, { "USER", "1000", find_name } };
	const struct ruleset_source with = { .variables = late, .n_variables = 2 };
	struct diagnostics found = { 0 };
	struct ruleset *rs = NULL;
	char query[64];

	looked_for = 0;
	found_name = name;
	assert_int_equal(ruleset_parse("t", text, strlen(text), &with, &found, &rs), 0);
	snprintf(query, sizeof(query), "read %s", path);
	assert_int_equal(ask(rs, query).kind, kind);
	diagnostics_free(&found);
	ruleset_free(rs);
	return looked_for;
}

static void test_late_variables(void **state)
{
	assert_int_equal(late_decides("deny read /m/$USER\ndeny read /n/${USER}/**\ndefault allow\n", "u*", "/m/u*", VERDICT_DENY), 1);
	assert_int_equal(late_decides("deny read /m/$USER\ndefault allow\n", "u*", "/m/ux", VERDICT_ALLOW), 1);
	assert_int_equal(late_decides("deny read /m/$USER\ndefault allow\n", NULL, "/m/1000", VERDICT_DENY), 1);
	assert_int_equal(late_decides("deny read $HOME/x\ndefault allow\n", "u", "/home/u/x", VERDICT_DENY), 0);
	assert_int_equal(late_decides("set USER = v\ndeny read /m/$USER\ndefault allow\n", "u", "/m/v", VERDICT_DENY), 0);
}

static void test_conditions(void **state)
{
	decides("allow exec /a by=/usr/bin/make\n", "exec /a by /usr/bin/make", VERDICT_ALLOW);
	decides("allow exec /a by=/usr/bin/make\n", "exec /a by /usr/bin/makex", VERDICT_NONE);
	decides("allow exec /a by=/usr/{bin,lib}/**\n", "exec /a by /usr/lib/x/y", VERDICT_ALLOW);
	decides("allow exec /a tree=/usr/bin/make\n", "exec /a by /bin/sh tree /usr/bin/make", VERDICT_ALLOW);
	decides("allow exec /a tree=/usr/bin/make\n", "exec /a by /bin/sh", VERDICT_NONE);
	decides("allow exec /a tree=/usr/bin/make\n", "exec /a by /usr/bin/make", VERDICT_ALLOW);
	decides("ask exec /g argv=\"push **\"\nallow exec /g\n", "exec /g argv push origin main", VERDICT_ASK);
	decides("ask exec /g argv=\"push **\"\nallow exec /g\n", "exec /g argv push", VERDICT_ASK);
	decides("ask exec /g argv=\"push **\"\nallow exec /g\n", "exec /g argv pull", VERDICT_ALLOW);
	decides("ask exec /g argv=\"push **\"\nallow exec /g\n", "exec /g", VERDICT_ALLOW);
	decides("deny exec /s argv=\"-c **curl**\"\n", "exec /s argv \"-c echo\\\\ hi;curl\\\\ x\"", VERDICT_DENY);
	decides("deny exec /s argv=\"-c *\"\n", "exec /s argv \"-c one\\\\ word\"", VERDICT_DENY);
	decides("deny exec /s argv=\"-c *\"\n", "exec /s argv -c two words", VERDICT_NONE);
	decides("deny exec /s argv=\"** --force **\"\n", "exec /s argv push --force x", VERDICT_DENY);
	decides("deny exec /s argv=\"** --force **\"\n", "exec /s argv --force", VERDICT_DENY);
	decides("deny exec /s argv=\"** --force **\"\n", "exec /s argv x--force", VERDICT_NONE);
	decides("deny exec /s argv=\"\"\n", "exec /s argv \"\"", VERDICT_DENY);
	decides("deny exec /s argv=\"\"\n", "exec /s", VERDICT_DENY);
	decides("deny exec /s argv=\"\"\n", "exec /s argv=\"\" uid 0", VERDICT_DENY);
	decides("deny exec /s argv=\"\"\n", "exec /s argv x", VERDICT_NONE);
	decides("deny exec /s argv=\"{,x}\"\n", "exec /s", VERDICT_DENY);
	decides("deny exec /s argv=\"{,x}\"\n", "exec /s argv x", VERDICT_DENY);
	decides("deny exec /s argv=\"**\"\n", "exec /s", VERDICT_NONE);
	decides("allow read /a uid=0\n", "read /a uid 0", VERDICT_ALLOW);
	decides("allow read /a uid=1-5\n", "read /a uid 6", VERDICT_NONE);
	decides("allow read /a uid=$UID\n", "read /a uid 1000", VERDICT_ALLOW);
	decides("allow read /a depth=1-\n", "read /a tree /x", VERDICT_ALLOW);
	decides("allow read /a depth=1-\n", "read /a", VERDICT_NONE);
}

static void test_options(void **state)
{
	struct ruleset *rs = parse("ask write /a timeout=90s else=allow remember=10m reason=\"costs $5\" stack log=alert after=3\n"
				   "deny read /b errno=ENOENT log=none\n"
				   "allow connect tcp:*:443 limit=100/min else=ask\n"
				   "allow read /c limit=5/10m\n"
				   "rewrite connect tcp:192.0.2.1:443 -> tcp:127.0.0.1:8443\n"
				   "allow exec /d hash stack\n");
	const struct rule *r = ruleset_rule(rs, 0);
	assert_int_equal(r->timeout_s, 90);
	assert_int_equal(r->otherwise, VERDICT_ALLOW);
	assert_int_equal(r->remember, REMEMBER_TIME);
	assert_int_equal(r->remember_s, 600);
	assert_string_equal(r->reason, "costs $5");
	assert_int_equal(r->evidence, EVIDENCE_STACK);
	assert_int_equal(ruleset_rule(rs, 5)->evidence, EVIDENCE_STACK | EVIDENCE_HASH);
	assert_int_equal(r->log, LOG_ALERT);
	assert_int_equal(r->after, 3);
	assert_string_equal(r->where, "t:1");
	assert_string_equal(ruleset_rule(rs, 1)->text, "deny read /b errno=ENOENT log=none");
	assert_int_equal(ask(rs, "read /b").error, ENOENT);
	assert_int_equal(ask(rs, "read /b").log, LOG_NONE);
	r = ruleset_rule(rs, 2);
	assert_int_equal(r->limit, 100);
	assert_int_equal(r->limit_period_s, 60);
	assert_int_equal(r->otherwise, VERDICT_ASK);
	assert_int_equal(ruleset_rule(rs, 3)->limit_period_s, 600);
	assert_int_equal(ruleset_rule(rs, 3)->limit_slot, 1);
	assert_int_equal(ruleset_limit_slots(rs), 2);
	assert_null(ruleset_rule(rs, 6));
	assert_true(ruleset_can(rs, VERDICT_ASK));
	assert_true(ruleset_can(rs, VERDICT_REWRITE));
	assert_false(ruleset_can(rs, VERDICT_KILL));
	ruleset_free(rs);
}

static void test_endpoints(void **state)
{
	decides("allow connect tcp:*:443\n", "connect tcp:192.0.2.1:443", VERDICT_ALLOW);
	decides("allow connect tcp:*:443\n", "connect tcp:[2001:db8::1]:443", VERDICT_ALLOW);
	decides("allow connect tcp:*:443\n", "connect udp:192.0.2.1:443", VERDICT_NONE);
	decides("allow connect tcp:*:443\n", "connect tcp:192.0.2.1:444", VERDICT_NONE);
	decides("allow connect tcp:10.0.0.0/8:5000-6000\n", "connect tcp:10.9.8.7:5432", VERDICT_ALLOW);
	decides("allow connect tcp:10.0.0.0/8:5000-6000\n", "connect tcp:11.0.0.1:5432", VERDICT_NONE);
	decides("allow connect tcp:10.0.0.0/8:5000-6000\n", "connect tcp:[::ffff:10.0.0.1]:6000", VERDICT_ALLOW);
	decides("allow connect tcp:[::ffff:10.0.0.0]/104:*\n", "connect tcp:10.1.1.1:1", VERDICT_ALLOW);
	decides("allow connect tcp:[2001:db8::]/33:*\n", "connect tcp:[2001:db8:7fff::1]:1", VERDICT_ALLOW);
	decides("allow connect tcp:[2001:db8::/33]:*\n", "connect tcp:[2001:db8:8000::1]:1", VERDICT_NONE);
	decides("allow connect tcp:127.0.0.1:{80,443}\n", "connect tcp:127.0.0.1:443", VERDICT_ALLOW);
	decides("deny net tcp:169.254.169.254:* udp:*:*\nallow net tcp:*:*\n", "connect tcp:169.254.169.254:80", VERDICT_DENY);
	decides("allow net tcp:*:*\ndeny net tcp:169.254.169.254:*\n", "connect tcp:169.254.169.254:80", VERDICT_ALLOW);
	decides("deny net udp:*:53\nallow net udp:*:*\n", "send udp:192.0.2.1:54", VERDICT_ALLOW);
	decides("deny connect tcp:127.0.0.1:* vacant\nask connect tcp:*:*\n", "connect tcp:127.0.0.1:80 vacant", VERDICT_DENY);
	decides("deny connect tcp:127.0.0.1:* vacant\nask connect tcp:*:*\n", "connect tcp:127.0.0.1:80", VERDICT_ASK);
	decides("deny connect tcp:127.0.0.1:* unix:/x vacant\nask connect unix:**\n", "connect unix:/x vacant", VERDICT_DENY);
	decides("deny connect tcp:127.0.0.1:* unix:/x vacant\nask connect unix:**\n", "connect unix:/x", VERDICT_ASK);
	decides("deny connect udp:127.0.0.1:* vacant\nask connect udp:*:*\n", "connect udp:127.0.0.1:80 vacant", VERDICT_DENY);
	decides("deny connect tcp:127.0.0.1:* vacant\nask connect tcp:*:*\n", "connect tcp:127.0.0.1:80 own", VERDICT_ASK);
	decides("allow connect unix:/run/pg/**\n", "connect unix:/run/pg/s", VERDICT_ALLOW);
	decides("allow connect unix:/run/pg/**\n", "connect unix:@/run/pg/s", VERDICT_NONE);
	decides("allow connect unix:@na?e\n", "connect unix:@name", VERDICT_ALLOW);
	decides("allow connect unix:@**\n", "connect unix:@/tmp/x", VERDICT_ALLOW);
	decides("allow connect unix:**\n", "connect unix:@x", VERDICT_NONE);
	decides("allow connect unix:@a/\n", "connect unix:@a/", VERDICT_ALLOW);
	decides("allow connect unix:@a/\n", "connect unix:@a", VERDICT_NONE);
	decides("allow connect unix:@a/**/\n", "connect unix:@a/b/c/", VERDICT_ALLOW);
	decides("allow connect unix:@a/**/\n", "connect unix:@a/", VERDICT_ALLOW);
	decides("allow connect unix:@a/**/\n", "connect unix:@a/b", VERDICT_NONE);
	decides("allow connect unix:@a/**/\n", "connect unix:@a", VERDICT_NONE);
	decides("allow connect unix:@**/\n", "connect unix:@b", VERDICT_NONE);
	decides("allow connect unix:@/*//\n", "connect unix:@/a//", VERDICT_ALLOW);
	decides("deny connect unix:@*\nallow connect unix:@**\n", "connect unix:@", VERDICT_DENY);
	decides("deny connect unix:@**/\nallow connect unix:@**\n", "connect unix:@", VERDICT_DENY);
	decides("deny connect unix:@{,x}\nallow connect unix:@**\n", "connect unix:@", VERDICT_DENY);
	decides("deny connect unix:@?* unix:@/ unix:@*/* unix:@a\nallow connect unix:@**\n", "connect unix:@", VERDICT_ALLOW);
	decides("allow bind unix:/x\n", "connect unix:/x", VERDICT_NONE);
}

static void test_memfd(void **state)
{
	decides("allow exec **\n", "exec memfd:x", VERDICT_NONE);
	decides("allow exec **\nallow exec memfd:\n", "exec memfd:x", VERDICT_ALLOW);
	decides("allow exec memfd:jit*\n", "exec memfd:jit-1", VERDICT_ALLOW);
	decides("allow exec memfd:jit*\n", "exec memfd:x", VERDICT_NONE);
	decides("deny exec memfd:*\nallow exec memfd:\n", "exec memfd:", VERDICT_DENY);
	decides("deny read /*\nallow read /**\n", "read /", VERDICT_ALLOW);
	decides("allow exec memfd:jit/\n", "exec memfd:jit/", VERDICT_ALLOW);
	decides("allow exec memfd:jit/\n", "exec memfd:jit", VERDICT_NONE);
	decides("allow read,exec **\n", "read memfd:x", VERDICT_ALLOW);
	decides("deny read /a\nallow read /**\n", "read memfd:x", VERDICT_ALLOW);
	decides("deny stat,read **\n", "stat memfd:x", VERDICT_NONE);
	decides("deny stat,read **\n", "read memfd:x", VERDICT_DENY);
	decides("deny stat memfd:\n", "stat memfd:x", VERDICT_DENY);
	decides("allow attr memfd:\n", "attr socket:[7]", VERDICT_ALLOW);
	decides("allow attr memfd:socket:*\n", "attr socket:[7]", VERDICT_ALLOW);
	decides("allow attr memfd:socket:*\n", "attr pipe:[7]", VERDICT_NONE);
	decides("allow attr memfd:pipe:*\n", "attr pipe:[7]", VERDICT_ALLOW);
	decides("allow attr memfd::*\n", "attr socket:[7]", VERDICT_NONE);
	decides("allow attr \"memfd:anon_inode:\\x5beventpoll]\"\n", "attr anon_inode:[eventpoll]", VERDICT_ALLOW);
}

/* Of one file the first statement that matches decides. */
static void environment(void **state)
{
	static const char text[] = "env keep MY_KEY PATH\nenv drop *_{KEY,TOKEN} AWS_*\nenv set A=\"b c\" D=\nenv keep AWS_REGION\n";
	static const struct {
		const char *name;
		enum env_says says;
	} names[] = { { "MY_KEY", ENV_KEEP }, { "YOUR_KEY", ENV_DROP }, { "_TOKEN", ENV_DROP }, { "TOKEN", ENV_SILENT },
		      { "AWS_REGION", ENV_DROP }, { "XAWS_REGION", ENV_SILENT }, { "my_key", ENV_SILENT }, { "A", ENV_SILENT } };
	struct ruleset *rs = parse(text);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_int_equal(ruleset_env(rs, names[i].name, strlen(names[i].name)), names[i].says);
	assert_string_equal(ruleset_env_setting(rs, 0), "A=b c");
	assert_string_equal(ruleset_env_setting(rs, 1), "D=");
	assert_null(ruleset_env_setting(rs, 2));
	ruleset_free(rs);
}

static void rewritten(const char *rules, const char *query, const char *expected)
{
	struct ruleset *rs = parse(rules);
	struct diagnostics found = { 0 };
	struct query q;
	struct verdict v;
	struct object to;
	char name[PATH_MAX];
	size_t len;
	assert_int_equal(query_parse(query, &from, &found, &q), 0);
	ruleset_decide(rs, &q.call, &v);
	assert_int_equal(v.kind, VERDICT_REWRITE);
	assert_int_equal(rule_rewrite(v.rule, &q.call.object[0], name, &len, &to), 0);
	if (to.kind == OBJECT_INET)
		len = (size_t)snprintf(name, sizeof(name), "%u.%u:%u", to.inet.addr[12], to.inet.addr[15], to.inet.port);
	if (len != strlen(expected) || memcmp(name, expected, len) != 0)
		fail_msg("%s: %.*s, expected %s", query, (int)len, name, expected);
	query_free(&q);
	ruleset_free(rs);
}

/* What pattern INDEX of the first rule calls TO, "" where it has no name for it. */
static void called(const char *rules, uint32_t index, const char *to, const char *expected)
{
	struct ruleset *rs = parse(rules);
	char name[PATH_MAX];
	size_t len = 0;
	int rc = rule_rewritten(ruleset_rule(rs, 0), index, (struct span){ to, (uint32_t)strlen(to) }, name, &len);
	assert_int_equal(rc, *expected != 0);
	if (rc == 1 && (len != strlen(expected) || memcmp(name, expected, len) != 0))
		fail_msg("%s: %.*s, expected %s", to, (int)len, name, expected);
	ruleset_free(rs);
}

static void test_rewritten(void **state)
{
	called("rewrite read /a/b/** -> /x/y/**\n", 0, "/x/y/c/d", "/a/b/c/d");
	called("rewrite read /a/b/** -> /x/y/**\n", 0, "/x/y", "/a/b");
	called("rewrite read /a/b/** -> /x/y/**\n", 0, "/x/yc", "");
	called("rewrite read /a/b/** -> /x/y/**\n", 0, "/x", "");
	called("rewrite read /a/b/** -> /x/y/**\n", 1, "/x/y/c", "");
	called("rewrite read /a/** -> /**\n", 0, "/x/y", "/a/x/y");
	called("rewrite read /** -> /x/**\n", 0, "/x/y", "/y");
	called("rewrite read /** -> /x/**\n", 0, "/x", "/");
	called("rewrite read /a/b -> /x/y\n", 0, "/x/y", "");
	called("allow read /a/**\n", 0, "/a/b", "");
	/* The longest name that a pattern can have, and one more. */
	char to[PATH_MAX + 1] = "/x", name[PATH_MAX];
	struct ruleset *rs = parse("rewrite read /a/b/** -> /x/**\n");
	size_t len = 0;
	to[2] = '/';
	memset(to + 3, 'n', sizeof(to) - 3);
	assert_int_equal(rule_rewritten(ruleset_rule(rs, 0), 0, (struct span){ to, PATH_MAX - 3 }, name, &len), 1);
	assert_int_equal(len, PATH_MAX - 1);
	assert_int_equal(rule_rewritten(ruleset_rule(rs, 0), 0, (struct span){ to, PATH_MAX - 2 }, name, &len), -ENAMETOOLONG);
	ruleset_free(rs);
}

/* The words of an edit, each in <>, ** for those that were given. */
static void edited(const char *rules, const char *expected)
{
	struct ruleset *rs = parse(rules);
	const struct exec_edit *e = ruleset_rule(rs, 0)->edit;
	char text[512];
	size_t n = 0;

	assert_non_null(e);
	n += (size_t)snprintf(text, sizeof(text), "%s:", e->argv0 ? e->argv0 : "");
	for (const char *s = e->before.bytes; s && s < e->before.bytes + e->before.len; s += strlen(s) + 1)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "<%s>", s);
	if (e->given)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "**%u", e->skip);
	for (const char *s = e->after.bytes; s && s < e->after.bytes + e->after.len; s += strlen(s) + 1)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "<%s>", s);
	assert_string_equal(text, expected);
	ruleset_free(rs);
}

static void test_edit(void **state)
{
	edited("rewrite exec /a -> /b args=\"\"\n", ":");
	edited("rewrite exec /a -> /b args=\"**\"\n", ":**0");
	edited("rewrite exec /a -> /b argv0=c\n", "c:");
	edited("rewrite exec /a -> /b args=\" -x  ** --to /t \" argv0=b\n", "b:<-x>**0<--to></t>");
	edited("rewrite exec /a -> /b args=\"a\\\\ b \\\\\\\\ c\\\\\\\"d\"\n", ":<a b><\\><c\"d>");
	edited("rewrite exec /a argv=\"push **\" -> /b args=\"push -n **\"\n", ":<push><-n>**1");
	edited("rewrite exec /a argv=\"push --force **\" -> /b args=\"**\"\n", ":**2");
	edited("rewrite exec /a argv=\"a\\\\ b c **\" -> /b args=\"**\"\n", ":**2");
	edited("rewrite exec /a argv=\"**\" -> /b args=\"**\"\n", ":**0");
	edited("rewrite exec /a argv=\"{x,y} **\" -> /b args=\"**\"\n", ":**1");
	edited("rewrite exec /a argv=\"x*\" -> /b args=\"y \\*\"\n", ":<y><*>");
	edited("set v = \"a b\"\nrewrite exec /a -> /b args=\"$v c\"\n", ":<a><b><c>");
}

static void test_rewrite(void **state)
{
	rewritten("rewrite open /etc/r -> /p/r\n", "read /etc/r", "/p/r");
	rewritten("rewrite open /d/** -> /s/t/**\n", "read /d/a/b", "/s/t/a/b");
	rewritten("rewrite open /d/** -> /s/t/**\n", "read /d", "/s/t");
	rewritten("rewrite open /d/** -> /**\n", "read /d/x", "/x");
	rewritten("rewrite open /d/** -> /**\n", "read /d", "/");
	rewritten("rewrite open /** -> /r/**\n", "read /d/x", "/r/d/x");
	rewritten("rewrite open /d/*.c -> /one\n", "read /d/x.c", "/one");
	rewritten("rewrite exec /usr/bin/rm -> /usr/bin/trash\n", "exec /usr/bin/rm", "/usr/bin/trash");
	rewritten("rewrite connect tcp:192.0.2.9:443 -> tcp:127.0.0.1:8443\n", "connect tcp:192.0.2.9:443", "127.1:8443");
	rewritten("rewrite connect tcp:*:443 -> tcp:*:8443\n", "connect tcp:192.0.2.9:443", "192.9:8443");
	rewritten("rewrite connect tcp:*:* -> tcp:127.0.0.1:*\n", "connect tcp:192.0.2.9:443", "127.1:443");
	rewritten("rewrite connect tcp:*:443 -> unix:/run/mock\n", "connect tcp:192.0.2.9:443", "/run/mock");
	rewritten("rewrite connect unix:/a -> unix:@b\n", "connect unix:/a", "b");
	/* A rewrite counts for what it names: the rest of the call cannot go to two places. */
	decides("rewrite read /a -> /b\nallow write /a\n", "modify /a", VERDICT_ALLOW);
	decides("rewrite read /a -> /b\nallow write /a\n", "open /a", VERDICT_DENY);
	struct ruleset *rs = parse("rewrite open /d/** -> /s/**\n");
	static char longest[PATH_MAX + 10] = "/d/";
	memset(longest + 3, 'x', PATH_MAX - 4);
	struct object o = { .kind = OBJECT_FILE, .name = { longest, PATH_MAX - 1 } }, to;
	char name[PATH_MAX];
	size_t len;
	assert_int_equal(rule_rewrite(ruleset_rule(rs, 0), &o, name, &len, &to), 0);
	o.name.len = PATH_MAX + 5;
	assert_int_equal(rule_rewrite(ruleset_rule(rs, 0), &o, name, &len, &to), -ENAMETOOLONG);
	ruleset_free(rs);
}

/* What the object that was asked about is led to by the word of who answered. */
static int answered(const char *asked, const char *text, struct object *to)
{
	static char name[PATH_MAX];
	struct diagnostics found = { 0 };
	struct query q;
	size_t len;
	assert_int_equal(query_parse(asked, &from, &found, &q), 0);
	int rc = object_answered(text, &q.call.object[0], name, &len, to);
	query_free(&q);
	return rc;
}

static void test_answered(void **state)
{
	static const struct {
		const char *from, *text;
	} none[] = {
		{ "connect tcp:192.0.2.9:443", "" }, { "connect tcp:192.0.2.9:443", "tcp" }, { "connect tcp:192.0.2.9:443", "q1\0x127.0.0.1:80" },
		{ "connect tcp:192.0.2.9:443", "sip:127.0.0.1:80" }, { "connect tcp:192.0.2.9:443", "tcp:127.0.0.1" }, { "connect tcp:192.0.2.9:443", "tcp:*:80" },
		{ "connect tcp:192.0.2.9:443", "tcp:127.0.0.0/8:80" }, { "connect tcp:192.0.2.9:443", "udp:127.0.0.1:80" }, { "connect tcp:192.0.2.9:443", "/s" },
		{ "send udp:192.0.2.9:53", "tcp:127.0.0.1:53" }, { "send udp:192.0.2.9:53", "udp:[::1]:53" }, { "send udp:192.0.2.9:53", "unix:/s" },
		{ "bind tcp:192.0.2.9:80", "tcp:[::1]:80" }, { "bind tcp:192.0.2.9:80", "unix:/s" }, { "bind unix:/a", "unix:@b" }, { "bind unix:@a", "unix:/b" },
		{ "connect unix:/a", "udp:127.0.0.1:80" }, { "connect unix:/a", "unix:" }, { "read /a", "b" }, { "read /a", "" },
	};
	struct object to;
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		if (answered(none[i].from, none[i].text, &to) != -EINVAL)
			fail_msg("%s is led to %s", none[i].from, none[i].text);
	assert_int_equal(answered("connect tcp:192.0.2.9:443", "tcp:[::1]:80", &to), 0);
	assert_true(to.kind == OBJECT_INET && to.inet.proto == PROTO_TCP && to.inet.port == 80 && to.ops == OP_CONNECT);
	assert_int_equal(answered("connect tcp:192.0.2.9:443", "unix:@b", &to), 0);
	assert_true(to.kind == OBJECT_ABSTRACT && span_equal(to.name, SPAN_LITERAL("b")));
	assert_int_equal(answered("connect unix:/a", "/b", &to), 0);
	assert_true(to.kind == OBJECT_UNIX && span_equal(to.name, SPAN_LITERAL("/b")));
	assert_int_equal(answered("bind unix:/a", "unix:/b", &to), 0);
	assert_int_equal(answered("send udp:192.0.2.9:53", "udp:127.0.0.1:54", &to), 0);
	assert_int_equal(answered("read /a", "/b", &to), 0);
	assert_true(to.kind == OBJECT_FILE && span_equal(to.name, SPAN_LITERAL("/b")));
}

static char dir[PATH_MAX];

static const char *file(const char *name, const char *text, mode_t mode)
{
	static char path[2][PATH_MAX + 64];
	static unsigned turn;
	char *out = path[turn++ % 2];
	snprintf(out, sizeof(path[0]), "%s/%s", dir, name);
	FILE *to = fopen(out, "w");
	assert_non_null(to);
	fputs(text, to);
	fclose(to);
	assert_int_equal(chmod(out, mode), 0);
	return out;
}

static int load(const char *path, struct diagnostics *found, struct ruleset **rs)
{
	struct ruleset_source source = { .path = path, .variables = variables, .n_variables = 6 };
	*found = (struct diagnostics){ 0 };
	return ruleset_load(&source, found, rs);
}

static void not_loaded(const char *path, int expected, const char *words)
{
	struct diagnostics found;
	struct ruleset *rs;
	int r = load(path, &found, &rs);
	if (r != expected || !found.count || !strstr(found.items[0].message, words)) {
		diagnostics_print(&found, stderr, false);
		fail_msg("%s: %d, expected %d and %s", path, r, expected, words);
	}
	assert_null(rs);
	diagnostics_free(&found);
}

static void test_files(void **state)
{
	struct diagnostics found;
	struct ruleset *rs;
	not_loaded("/nowhere.rules", -ENOENT, "No such file");
	not_loaded(dir, -EISDIR, "is a directory");
	not_loaded("/dev/null", -EINVAL, "not a regular file");
	not_loaded(file("w", "allow read /x\n", 0666), -EPERM, "can be written by");
	not_loaded(file("g", "allow read /x\n", 0664), -EPERM, "can be written by");
	const char *big = file("big", "", 0644);
	assert_int_equal(truncate(big, 100 * 1024 * 1024), 0);
	not_loaded(big, -EFBIG, "larger than 16 MiB");
	const char *fifo = file("x", "", 0644);
	unlink(fifo);
	assert_int_equal(mkfifo(fifo, 0644), 0);
	not_loaded(fifo, -EINVAL, "not a regular file");
	const char *inner = file("inner", "deny read /secret\n", 0644);
	(void)inner;
	const char *outer = file("outer", "include inner\nallow read /**\n", 0644);
	assert_int_equal(load(outer, &found, &rs), 0);
	assert_int_equal(ask(rs, "read /secret").kind, VERDICT_DENY);
	assert_non_null(strstr(ask(rs, "read /secret").where, "/inner:1"));
	const struct ruleset_file *files;
	assert_int_equal(ruleset_files(rs, &files), 2);
	ruleset_free(rs);
	diagnostics_free(&found);
	file("a", "include b\n", 0644);
	not_loaded(file("b", "include a\n", 0644), 1, "includes itself");
	file("loose", "allow read /x\n", 0666);
	not_loaded(file("c", "include loose\n", 0644), -EPERM, "can be written by");
}

/* Hostile sizes end in an error, soon. */
static void test_bounds(void **state)
{
	static char text[3 * 1024 * 1024];
	struct diagnostics found = { 0 };
	struct ruleset *rs = NULL;
	strcpy(text, "allow read");
	for (unsigned i = 0; i < 4000; i++)
		strcat(text + i * 36, " /{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}/xxx");
	assert_int_equal(ruleset_parse("t", text, strlen(text), &from, &found, &rs), 1);
	assert_non_null(strstr(found.items[0].message, "too much memory"));
	diagnostics_free(&found);
	/* Of classes the different ones count. */
	strcpy(text, "allow read /");
	for (unsigned i = 0; i < 200; i++)
		strcat(text, i % 2 ? "[0-9a-f]" : "[!x]");
	assert_int_equal(ruleset_parse("t", text, strlen(text), &from, &found, &rs), 0);
	diagnostics_free(&found);
	ruleset_free(rs);
	rs = NULL;
	strcpy(text, "allow read /");
	for (unsigned i = 0; i < 65; i++)
		sprintf(text + strlen(text), "[\"\\x%02x\"z]", 0x80 + i);
	strcat(text, "\n");
	refused(text, 1, 12, "too many [...]");
	refused("allow read /{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}\n", 1, 12, "too many forms");
	memset(text, 0, sizeof(text));
	for (unsigned i = 0; i < 300000; i++)
		memcpy(text + i * 8, "nonsens\n", 8);
	assert_int_equal(ruleset_parse("t", text, strlen(text), &from, &found, &rs), 1);
	assert_true(found.errors >= 1000 && found.errors < 2000);
	diagnostics_free(&found);
	memset(text, 'x', 2000000);
	text[2000000] = 0;
	memcpy(text, "allow read /", 12);
	refused(text, 1, 12, "too long");
	for (unsigned i = 0; i < 20; i++) {
		char name[16], line[64];
		snprintf(name, sizeof(name), "deep%u", i);
		snprintf(line, sizeof(line), "include deep%u\n", i + 1);
		file(name, line, 0644);
	}
	char first[PATH_MAX + 64];
	snprintf(first, sizeof(first), "%s/deep0", dir);
	not_loaded(first, 1, "nest deeper");
}

static void test_defaults_of_includes(void **state)
{
	struct diagnostics found;
	struct ruleset *rs;
	file("inner", "default allow\nexpect deny read /never\n", 0644);
	assert_int_equal(load(file("outer", "include inner\ndefault deny\n", 0644), &found, &rs), 0);
	assert_int_equal(ask(rs, "read /x").kind, VERDICT_DENY);
	assert_int_equal(ruleset_expectation(rs, 0)->depth, 1);
	ruleset_free(rs);
	assert_int_equal(load(file("outer", "include inner\n", 0644), &found, &rs), 0);
	assert_int_equal(ask(rs, "read /x").kind, VERDICT_ALLOW);
	ruleset_free(rs);
}

static struct call on_file(const char *path, op_set ops)
{
	struct call c = { .n_objects = 1 };
	struct stat st;
	c.object[0] = (struct object){ .kind = OBJECT_FILE, .ops = ops, .name = { path, (uint32_t)strlen(path) } };
	if (stat(path, &st) == 0) {
		c.object[0].identified = true;
		c.object[0].dev = st.st_dev;
		c.object[0].ino = st.st_ino;
	}
	return c;
}

static void test_pins_and_links(void **state)
{
	struct diagnostics found;
	struct ruleset *rs;
	struct verdict v;
	char text[5 * PATH_MAX], secret[PATH_MAX], alias[PATH_MAX], sub[PATH_MAX], inside[PATH_MAX];
	snprintf(secret, sizeof(secret), "%.4000s/secret", dir);
	snprintf(alias, sizeof(alias), "%.4000s/alias", dir);
	snprintf(sub, sizeof(sub), "%.4000s/real", dir);
	snprintf(inside, sizeof(inside), "%.4000s/real/f", dir);
	file("secret", "x", 0600);
	unlink(alias);
	assert_int_equal(link(secret, alias), 0);
	assert_int_equal(mkdir(sub, 0755), 0);
	snprintf(text, sizeof(text), "%.4000s/link", dir);
	assert_int_equal(symlink("real", text), 0);
	snprintf(text, sizeof(text), "deny read %s\ndeny read %s/link/**\nallow read **\n", secret, dir);
	assert_int_equal(load(file("pins", text, 0644), &found, &rs), 0);
	assert_true(ruleset_pins(rs));
	struct call c = on_file(alias, OP_READ);
	ruleset_decide(rs, &c, &v);
	assert_int_equal(v.kind, VERDICT_DENY);
	assert_true(rule_matches(rs, ruleset_rule(rs, 0), &c, 0, OP_READ));
	c.object[0].identified = false;
	ruleset_decide(rs, &c, &v);
	assert_int_equal(v.kind, VERDICT_ALLOW);
	/* Where a link in a refused name leads is refused too. */
	c = on_file(inside, OP_READ);
	ruleset_decide(rs, &c, &v);
	assert_int_equal(v.kind, VERDICT_DENY);
	ruleset_free(rs);
	/* A link that a program could have laid does not widen an allow. */
	snprintf(text, sizeof(text), "allow read %s/link/**\n", dir);
	assert_int_equal(load(file("pins", text, 0644), &found, &rs), 0);
	ruleset_decide(rs, &c, &v);
	assert_int_equal(v.kind, VERDICT_NONE);
	ruleset_free(rs);
	assert_int_equal(load(file("pins", "allow read /proc/self/x\n", 0644), &found, &rs), 0);
	assert_false(ruleset_pins(rs));
	ruleset_free(rs);
}

/* Their directory is read as a whole then: what is there counts as before, links and other names of a file included. */
static void test_pins_and_links_among_many(void **state)
{
	struct diagnostics found;
	struct ruleset *rs;
	struct verdict v;
	char text[8 * PATH_MAX], own[64], hard[96], inside[96];
	size_t n = 0;
	snprintf(own, sizeof(own), "%.50s/many", dir);
	assert_int_equal(mkdir(own, 0755), 0);
	snprintf(text, sizeof(text), "%s/real", own);
	assert_int_equal(mkdir(text, 0755), 0);
	snprintf(text, sizeof(text), "%s/link", own);
	assert_int_equal(symlink("real", text), 0);
	file("many/secret", "x", 0600);
	snprintf(text, sizeof(text), "%s/secret", own);
	snprintf(hard, sizeof(hard), "%s/hard", own);
	assert_int_equal(link(text, hard), 0);
	snprintf(inside, sizeof(inside), "%s/real/f", own);
	for (int i = 0; i < 40; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "deny read %s/none%d %s/none%d/below/**\n", own, i, own, i);
	snprintf(text + n, sizeof(text) - n, "deny read %s/secret\ndeny read %s/link/**\nallow read **\n", own, own);
	assert_int_equal(load(file("pins", text, 0644), &found, &rs), 0);
	assert_true(ruleset_pins(rs));
	struct call c = on_file(hard, OP_READ);
	ruleset_decide(rs, &c, &v);
	assert_int_equal(v.kind, VERDICT_DENY);
	c = on_file(inside, OP_READ);
	ruleset_decide(rs, &c, &v);
	assert_int_equal(v.kind, VERDICT_DENY);
	ruleset_free(rs);
}

/* One layer leaves open what another rules on: joined per operation, nothing falls through. */
static void test_parts(void **state)
{
	struct ruleset *rs = parse("allow read /a\nallow create /b\n");
	struct call c = { .n_objects = 2 };
	struct verdict v, each[OP_COUNT];
	c.object[0] = (struct object){ .kind = OBJECT_FILE, .ops = OP_READ | OP_MODIFY, .name = SPAN_LITERAL("/a") };
	c.object[1] = (struct object){ .kind = OBJECT_FILE, .ops = OP_CREATE, .name = SPAN_LITERAL("/b") };
	ruleset_decide(rs, &c, &v);
	assert_int_equal(v.kind, VERDICT_NONE);
	ruleset_decide_object(rs, &c, 0, each);
	assert_int_equal(each[0].kind, VERDICT_ALLOW);
	assert_int_equal(each[1].kind, VERDICT_NONE);
	c.object[0].ops = OP_READ;
	ruleset_decide(rs, &c, &v);
	assert_int_equal(v.kind, VERDICT_ALLOW);
	c.n_objects = 0;
	ruleset_decide(rs, &c, &v);
	assert_int_equal(v.kind, VERDICT_NONE);
	ruleset_free(rs);
}

/* A firm refusal of an address yields to rules that name it, and to no other. */
static void test_firm(void **state)
{
	static const char wide[] = "allow connect tcp:*:*\ndeny connect tcp:10.0.0.1:* tcp:[fd00::1]:* firm\ndefault ask\n";
	decides(wide, "connect tcp:10.0.0.1:80", VERDICT_DENY);
	decides(wide, "connect tcp:[::ffff:10.0.0.1]:80", VERDICT_DENY);
	decides(wide, "connect tcp:[fd00::1]:80", VERDICT_DENY);
	decides(wide, "connect tcp:10.0.0.2:80", VERDICT_ALLOW);
	static const char named[] = "deny connect tcp:10.0.0.1:* firm\nallow connect tcp:10.0.0.0/8:*\nallow connect tcp:10.0.0.1:80\n";
	decides(named, "connect tcp:10.0.0.1:80", VERDICT_ALLOW);
	decides(named, "connect tcp:10.0.0.1:81", VERDICT_DENY);
	decides("allow connect tcp:10.0.0.1:80\ndeny net tcp:10.0.0.1:* firm\n", "connect tcp:10.0.0.1:80", VERDICT_ALLOW);
	decides("allow connect tcp:10.0.0.1:80 uid=7\ndeny net tcp:10.0.0.1:* firm\n", "connect tcp:10.0.0.1:80 uid 8", VERDICT_DENY);
	decides("kill connect tcp:10.0.0.0/8:*\ndeny net tcp:10.0.0.1:* firm\n", "connect tcp:10.0.0.1:80", VERDICT_KILL);
	decides("allow connect tcp:*:*\ndeny connect tcp:10.0.0.1:* firm uid=7\n", "connect tcp:10.0.0.1:80 uid 8", VERDICT_ALLOW);
	/* A rule that names the address speaks for itself alone. */
	decides("allow connect tcp:*:*\ndeny net tcp:10.0.0.1:* firm\ndeny connect tcp:10.0.0.1:80\n", "connect tcp:10.0.0.1:80", VERDICT_DENY);
	decides("allow connect tcp:*:*\nask connect tcp:10.0.0.1:80\ndeny net tcp:10.0.0.1:* firm\n", "connect tcp:10.0.0.1:80", VERDICT_ASK);
	decides("ask connect tcp:*:*\ndeny net tcp:10.0.0.1:* firm\nallow connect tcp:10.0.0.1:80\n", "connect tcp:10.0.0.1:80", VERDICT_ALLOW);
	decides("kill connect tcp:10.0.0.0/8:*\ndeny net tcp:10.0.0.1:* firm\nallow connect tcp:10.0.0.1:80\n", "connect tcp:10.0.0.1:80", VERDICT_KILL);
	refused("allow connect tcp:*:* firm\n", 1, 23, "firm belongs to deny and kill");
	refused("deny read /x firm\n", 1, 14, "addresses alone");
	decides("include builtin:secrets\nallow connect tcp:*:*\n", "connect tcp:169.254.169.254:80", VERDICT_DENY);
	decides("allow connect tcp:*:*\ninclude builtin:secrets\n", "connect tcp:[fd00:ec2::254]:80", VERDICT_DENY);
	decides("include builtin:secrets\nallow connect tcp:169.254.169.254:80\n", "connect tcp:169.254.169.254:80", VERDICT_ALLOW);
}

/* What TEXT says of reading OBJECT where the variables are these. */
static enum verdict_kind said_at(const char *text, const char *home, const char *pwd, const char *tmp, const char *object)
{
	const struct variable at[] = { { "HOME", home, NULL }, { "PWD", pwd, NULL }, { "TMPDIR", tmp, NULL } };
	const struct ruleset_source source = { .variables = at, .n_variables = 3 };
	struct diagnostics found = { 0 };
	struct ruleset *rs = NULL;
	struct verdict v;
	assert_int_equal(ruleset_parse("t", text, strlen(text), &source, &found, &rs), 0);
	struct call call = { .n_objects = 1, .object[0] = { .kind = OBJECT_FILE, .ops = OP_READ,
							    .name = { object, (uint32_t)strlen(object) } } };
	ruleset_decide(rs, &call, &v);
	ruleset_free(rs);
	diagnostics_free(&found);
	return v.kind;
}

/* $ABOVE_PWD: the directories on the way to PWD, neither itself nor anything in them. */
static void above_by(const char *text, const char *pwd, const char *object, bool is)
{
	enum verdict_kind kind = said_at(text, "/home/u", pwd, "/tmp", object);
	if ((kind == VERDICT_ALLOW) != is)
		fail_msg("PWD=%s: %s is %s", pwd, object, verdict_name(kind));
}

static void above(const char *pwd, const char *object, bool is)
{
	above_by("allow read $ABOVE_PWD\ndefault deny\n", pwd, object, is);
}

static void test_above_pwd(void **state)
{
	char deep[4096] = "";
	above("/home/u/s,[x]*/p", "/home/u/s,[x]*", true);
	above("/home/u/s,[x]*/p", "/home/u/s,xy", false);
	above("/home/u/s,[x]*/p", "/home", true);
	above("/home/u/s,[x]*/p", "/", true);
	above("/home/u/s,[x]*/p", "/home/u/s,[x]*/p", false);
	above("/home/u/src/p/", "/home/u/src", true);
	above("/home/u/src/p/", "/home/u/src/q", false);
	above("/home/u/src/p", "/home/u/sr", false);
	above("/p", "/", true);
	above("/p", "/p", false);
	above("/", "/", true);
	above("/", "/home", false);
	above(NULL, "/home", false);
	for (size_t i = 0; i + 3 < sizeof(deep); i += 2)
		memcpy(deep + i, "/d", 3);
	above(deep, "/", true);
	above(deep, "/d", false);
	deep[strlen(deep) - 2] = '\0';
	char parent[4096];
	memcpy(parent, deep, sizeof(deep));
	strcat(deep, "/d");
	above(deep, parent, true);
	above_by("include builtin:agent\n", "/home/u/s/p", "/home/u/s", true);
	above_by("include builtin:agent\n", "/home/u/s/p", "/home/u/s/q", false);
	above_by("include builtin:agent\n", "/home/u/.ssh/p", "/home/u/.ssh", false);
	(void)state;
}

/* $TEMPORARY: TMPDIR, /tmp and /var/tmp, but for a home that lies in one of them. */
static void temporary_by(const char *text, const char *home, const char *tmp, const char *object, bool is)
{
	enum verdict_kind kind = said_at(text, home, "/srv/p", tmp, object);
	if ((kind == VERDICT_ALLOW) != is)
		fail_msg("HOME=%s TMPDIR=%s: %s is %s", home, tmp, object, verdict_name(kind));
}

static void temporary_is(const char *home, const char *tmp, const char *object, bool is)
{
	temporary_by("allow read $TEMPORARY/**\ndefault deny\n", home, tmp, object, is);
	temporary_by("include builtin:agent\n", home, tmp, object, is);
}

/* A home as long as names can be, of components like NAME, below /tmp. */
static void temporary_long(const char *name, size_t most)
{
	char home[4096] = "/tmp", letter[4110];

	for (size_t i = 4; i + strlen(name) < most; i += strlen(name)) {
		memcpy(home + i, name, strlen(name) + 1);
		snprintf(letter, sizeof(letter), "%s/letter", home);
		if (i > 100 && i + 2 * strlen(name) < most)
			continue; /* in between it is the same */
		temporary_is(home, "/tmp", letter, false);
		temporary_is(home, "/tmp", "/tmp/other", true);
	}
}

static void test_temporary(void **state)
{
	char deep[600] = "/tmp", letter[620];
	temporary_is("/home/u", "/tmp", "/tmp/a", true);
	temporary_is("/home/u", "/tmp", "/var/tmp/a/b", true);
	temporary_is("/home/u", "/scratch/u", "/scratch/u/a", true);
	temporary_is("/home/u", "/scratch/u", "/tmp/a", true);
	temporary_is("/home/u", "/scratch/u", "/scratch/a", false);
	temporary_is("/home/u", "/home/u/tmp", "/home/u/tmp/a", true);
	temporary_is("/home/u", "/home/u/tmp", "/home/u/letter", false);
	temporary_is("/tmp/t.1/home", "/tmp", "/tmp/t.1/home/letter", false);
	temporary_is("/tmp/t.1/home/", "/tmp/", "/tmp/t.1/home/letter", false);
	temporary_is("/tmp/t.1/home", "/tmp", "/tmp/t.1/home2/a", true);
	temporary_is("/tmp/t.1/home", "/tmp", "/tmp/t.1/hom", true);
	temporary_is("/tmp/t.1/home", "/tmp", "/tmp/t.1/out/a", true);
	temporary_is("/tmp/t.1/home", "/tmp", "/tmp/t.2/home/a", true);
	temporary_is("/tmp/t.1/home", "/tmp", "/tmp/t", true);
	temporary_is("/tmp/t.1/home", "/tmp", "/var/tmp/a", true);
	temporary_is("/tmp/t.1/home", "/tmp/t.1", "/tmp/t.1/home/letter", false);
	temporary_is("/tmp/t.1/home", "/tmp/t.1", "/tmp/t.1/a", true);
	temporary_is("/tmp/t.1/home", "/tmp/t.1/home/tmp", "/tmp/t.1/home/tmp/a", true);
	temporary_is("/tmp/t.1/home", "/tmp/t.1/home/tmp", "/tmp/t.1/home/letter", false);
	temporary_is("/var/tmp/[x]*,{", "/tmp", "/var/tmp/[x]*,{/letter", false);
	temporary_is("/var/tmp/[x]*,{", "/tmp", "/var/tmp/xy/a", true);
	temporary_is("/tmp", "/tmp", "/tmp/a", true);
	temporary_is("/nonexistent", "/", "/tmp/a", true);
	temporary_is("/nonexistent", "/", "/srv/a", false);
	temporary_is("/home/u", "/home/u", "/home/u/letter", false);
	temporary_is("/home/u", "/home/u/", "/home/u/letter", false);
	temporary_is("/home/u", "/home/u", "/tmp/a", true);
	temporary_is("/tmp/u", "/tmp/u", "/tmp/u/letter", false);
	temporary_is("/tmp/u", "/tmp/u", "/tmp/a", true);
	temporary_long("/long-d7", 4080);
	temporary_long("/a", 4080);
	temporary_long("/a-name-of-40-bytes-as-tests-make-them.d7", 4080);
	for (size_t i = 4; i + 9 < sizeof(deep) - 300; i += 8)
		memcpy(deep + i, "/long-d7", 9);
	snprintf(letter, sizeof(letter), "%s/letter", deep);
	temporary_is(deep, "/tmp", letter, false);
	temporary_is(deep, "/var/tmp", "/var/tmp/a", true);
	memset(deep + 5, 'l', 250);
	memset(letter + 5, 'l', 250);
	temporary_is(deep, "/tmp", "/tmp/other", true);
	temporary_is(deep, "/tmp", letter, false);
	(void)state;
}

/* $OTHER_HOMES leaves out the homes that HOME, PWD and TMPDIR are in. */
static void other(const char *home, const char *pwd, const char *object, bool is)
{
	enum verdict_kind kind = said_at("deny read $OTHER_HOMES/**\ndefault allow\n", home, pwd, "/tmp", object);
	if ((kind == VERDICT_DENY) != is)
		fail_msg("HOME=%s PWD=%s: %s is %s", home, pwd, object, verdict_name(kind));
}

static void test_other_homes(void **state)
{
	static const char *const names[] = { "a", "ab", "abc", "b", "a-", "]", "a]b", "lost+found" };
	char home[64], name[64];
	for (size_t h = 0; h < 8; h++) {
		snprintf(home, sizeof(home), "/home/%s", names[h]);
		for (size_t n = 0; n < 8; n++) {
			snprintf(name, sizeof(name), "/home/%s%s", names[n], n % 2 ? "/x/y" : "");
			other(home, "/srv", name, h != n);
			other("/home/a", home, name, n != 0 && h != n);
			other("/root", "/", name, true);
		}
		other(home, home, "/home", false);
		other(home, home, "/root/x", true);
	}
	other("/root", "/root/p", "/root/p/x", false);
	other("/srv/homes/joe", "/tmp", "/srv/homes/joe/x", false);
	other("/srv/homes/joe", "/tmp", "/srv/homes/jo/x", true);
	other("/srv/homes/joe", "/tmp", "/srv/x", false);
	other("/nonexistent", "/home", "/home/u/x", true);
}

static int setup(void **state)
{
	snprintf(dir, sizeof(dir), "/tmp/usher-rules-XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state)
{
	char command[PATH_MAX + 16];
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

static void test_sockets(void **state)
{
	refused("allow socket tcp\n", 1, 14, "every program may make these");
	refused("allow socket netlink:route\n", 1, 14, "every program may make these");
	refused("allow socket raww\n", 1, 14, "not a kind of socket");
	refused("allow socket raw:1\n", 1, 14, "not a kind of socket");
	refused("allow socket raw:01\n", 1, 14, "not a kind of socket");
	refused("allow socket netlink:9\n", 1, 14, "not a kind of socket");
	refused("allow socket netlink:0\n", 1, 14, "not a kind of socket");
	refused("allow socket family:40\n", 1, 14, "not a kind of socket");
	refused("allow socket raw:x*\n", 1, 14, "no kind of socket");
	refused("allow socket tcp:*:*\n", 1, 14, "no kind of socket");
	refused("allow socket /dev/raw\n", 1, 14, "not a kind of socket");
	refused("allow connect,socket tcp:*:*\n", 1, 7, "a rule of its own");
	refused("allow read,socket /x\n", 1, 7, "a rule of its own");
	refused("rewrite socket raw -> ping\n", 1, 1, "cannot be made into one of another kind");
	refused("deny socket raw firm\n", 1, 17, "firm belongs to");
	refused("allow socket raw own\n", 1, 18, "terminals");
	refused("expect allow socket raw:*\n", 1, 21, "no");
	decides("allow socket raw\n", "socket raw:icmp", VERDICT_ALLOW);
	decides("allow socket raw\n", "socket raw:77", VERDICT_ALLOW);
	decides("allow socket raw\n", "socket packet", VERDICT_NONE);
	decides("allow socket raw:icmp\n", "socket raw:icmpv6", VERDICT_NONE);
	decides("allow socket {ping,netlink:{audit,generic}} raw:[i]*\n", "socket netlink:generic", VERDICT_ALLOW);
	decides("allow socket {ping,netlink:{audit,generic}} raw:[i]*\n", "socket raw:igmp", VERDICT_ALLOW);
	decides("allow socket *\n", "socket vsock", VERDICT_ALLOW);
	decides("allow socket **\n", "socket netlink:31", VERDICT_ALLOW);
	decides("allow socket family:200\n", "socket family:200", VERDICT_ALLOW);
	decides("deny socket raw:icmp\nallow socket *\n", "socket raw:icmp", VERDICT_DENY);
	decides("deny socket raw:icmp\nallow socket *\n", "socket ping", VERDICT_ALLOW);
	decides("ask socket ping by=/usr/bin/ping\n", "socket ping by=/usr/bin/ping", VERDICT_ASK);
	decides("ask socket ping by=/usr/bin/ping\n", "socket ping by=/usr/bin/fping", VERDICT_NONE);
}

/* A default gives the plain kinds alone, and only where nothing restricts addresses; names of files never match. */
static void test_sockets_unnamed(void **state)
{
	decides("default allow\n", "socket raw:icmp", VERDICT_ALLOW);
	decides("default allow\n", "socket ping", VERDICT_ALLOW);
	decides("default allow\n", "socket netlink:sock_diag", VERDICT_ALLOW);
	decides("default allow\n", "socket packet", VERDICT_NONE);
	decides("default allow\n", "socket vsock", VERDICT_NONE);
	decides("default allow\n", "socket mptcp", VERDICT_NONE);
	decides("default allow\n", "socket netlink:audit", VERDICT_NONE);
	decides("default deny\n", "socket raw:icmp", VERDICT_DENY);
	decides("default ask\n", "socket raw:icmp", VERDICT_DENY);
	decides("allow read **\n", "socket raw:icmp", VERDICT_NONE);
	decides("default allow\ndeny connect tcp:192.0.2.1:1\n", "socket raw:icmp", VERDICT_DENY);
	decides("default allow\nask send udp:*:53 uid=7\n", "socket ping", VERDICT_DENY);
	decides("default allow\nrewrite connect tcp:192.0.2.1:1 -> tcp:127.0.0.1:1\n", "socket ping", VERDICT_DENY);
	decides("default allow\nallow connect tcp:*:* limit=5/s\n", "socket ping", VERDICT_DENY);
	decides("deny net tcp:192.0.2.1:1\n", "socket vsock", VERDICT_DENY);
	decides("deny net tcp:192.0.2.1:1\nallow socket vsock\n", "socket vsock", VERDICT_ALLOW);
	decides("default allow\nallow connect tcp:192.0.2.1:1\ndeny net unix:/run/x\n", "socket ping", VERDICT_ALLOW);
	decides("default deny\nallow read,write **\n", "socket raw:icmp", VERDICT_DENY);

	struct ruleset *rs = parse("deny socket raw errno=EPERM\ndeny socket *\n");
	assert_int_equal(ask(rs, "socket raw:tcp").error, EPERM);
	assert_int_equal(ask(rs, "socket packet").error, EAFNOSUPPORT);
	assert_int_equal(ask(rs, "socket mptcp").error, EPROTONOSUPPORT);
	assert_int_equal(ask(rs, "socket type:9").error, ESOCKTNOSUPPORT);
	ruleset_free(rs);
}

/* The kernel's three numbers and their name; and that each name that can be written is one that they can have. */
static void test_socket_names(void **state)
{
	static const struct {
		int family, type, protocol;
		const char *name; /* NULL: every program may make it */
	} rows[] = {
		{ AF_INET, SOCK_STREAM, 0, NULL },
		{ AF_INET6, SOCK_STREAM | SOCK_NONBLOCK, 6, NULL },
		{ AF_INET, SOCK_DGRAM, 136, NULL },
		{ AF_UNIX, SOCK_SEQPACKET, 1, NULL },
		{ AF_NETLINK, SOCK_RAW, 0, NULL },
		{ AF_NETLINK, SOCK_DGRAM, 17, "netlink:17" },
		{ AF_NETLINK, SOCK_DGRAM, 9, "netlink:audit" },
		{ AF_INET, SOCK_RAW | SOCK_CLOEXEC, 1, "raw:icmp" },
		{ AF_INET6, SOCK_RAW, 255, "raw:raw" },
		{ AF_INET, SOCK_RAW, 0, "raw:0" },
		{ AF_INET, SOCK_PACKET, 3, "packet" },
		{ AF_INET6, SOCK_PACKET, 3, "type:10" },
		{ AF_PACKET, SOCK_DGRAM, 768, "packet" },
		{ AF_INET, SOCK_DGRAM, 1, "ping" },
		{ AF_INET6, SOCK_DGRAM, 58, "ping" },
		{ AF_INET, SOCK_STREAM, 262, "mptcp" },
		{ AF_INET, SOCK_STREAM, 256, "smc" },
		{ 43, SOCK_STREAM, 0, "smc" },
		{ AF_INET6, SOCK_SEQPACKET, 0, "sctp" },
		{ AF_INET, SOCK_STREAM, 17, "protocol:17" },
		{ AF_VSOCK, SOCK_STREAM, 0, "vsock" },
		{ AF_ALG, SOCK_SEQPACKET, 0, "alg" },
		{ 0, SOCK_STREAM, 0, "family:0" },
		{ -1, SOCK_STREAM, 0, "family:4294967295" },
		{ AF_INET, SOCK_STREAM, -1, "protocol:4294967295" },
	};
	char name[SOCKET_NAME_MAX], rule[64];
	const char *example;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		bool other = socket_name(rows[i].family, rows[i].type, rows[i].protocol, name);
		assert_int_equal(other, rows[i].name != NULL);
		if (other)
			assert_string_equal(name, rows[i].name);
	}
	for (unsigned i = 0; (example = socket_example(i)); i++) {
		snprintf(rule, sizeof(rule), "allow socket %s\n", example);
		snprintf(name, sizeof(name), "socket %s", example);
		decides(rule, name, VERDICT_ALLOW);
	}
}

/* SCTP and what is not known are told by the type or by the protocol, whichever a kernel without them misses first. */
static void test_socket_absent(void **state)
{
	static const struct {
		int family, type, protocol, error;
	} rows[] = {
		{ AF_INET, SOCK_RAW | SOCK_CLOEXEC, 1, ESOCKTNOSUPPORT },
		{ AF_INET, SOCK_PACKET, 3, EAFNOSUPPORT },
		{ AF_INET6, SOCK_PACKET, 3, ESOCKTNOSUPPORT },
		{ AF_INET, SOCK_STREAM, 262, EPROTONOSUPPORT },
		{ AF_INET, SOCK_STREAM, 132, EPROTONOSUPPORT },
		{ AF_INET, SOCK_SEQPACKET | SOCK_CLOEXEC, 132, ESOCKTNOSUPPORT },
		{ AF_INET6, SOCK_SEQPACKET, 0, ESOCKTNOSUPPORT },
		{ AF_INET, SOCK_SEQPACKET, 6, ESOCKTNOSUPPORT },
		{ AF_INET, SOCK_DGRAM, 6, EPROTONOSUPPORT },
		{ AF_INET6, SOCK_DCCP, 33, ESOCKTNOSUPPORT },
		{ AF_NETLINK, SOCK_RAW, 9, EPROTONOSUPPORT },
		{ AF_ALG, SOCK_SEQPACKET, 0, EAFNOSUPPORT },
	};
	char name[SOCKET_NAME_MAX];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_true(socket_name(rows[i].family, rows[i].type, rows[i].protocol, name));
		struct object o = { .kind = OBJECT_SOCKET, .name = { name, (uint32_t)strlen(name) }, .of_type = socket_of_type(rows[i].family, rows[i].type) };
		assert_int_equal(socket_absent(&o), rows[i].error);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_sockets),
		cmocka_unit_test(test_sockets_unnamed),
		cmocka_unit_test(test_socket_names),
		cmocka_unit_test(test_socket_absent),
		cmocka_unit_test(test_all_errors_are_told),
		cmocka_unit_test(test_nul_and_size),
		cmocka_unit_test(test_first_match_and_default),
		cmocka_unit_test(test_stat_has_no_default),
		cmocka_unit_test(test_variables),
		cmocka_unit_test(test_late_variables),
		cmocka_unit_test(test_conditions),
		cmocka_unit_test(test_options),
		cmocka_unit_test(test_endpoints),
		cmocka_unit_test(test_memfd),
		cmocka_unit_test(test_edit), cmocka_unit_test(test_rewritten),
		cmocka_unit_test(test_rewrite),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_defaults_of_includes),
		cmocka_unit_test(test_pins_and_links),
		cmocka_unit_test(test_pins_and_links_among_many),
		cmocka_unit_test(environment), cmocka_unit_test(test_parts), cmocka_unit_test(test_answered),
		cmocka_unit_test(test_firm),
		cmocka_unit_test(test_above_pwd),
		cmocka_unit_test(test_temporary),
		cmocka_unit_test(test_other_homes),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
