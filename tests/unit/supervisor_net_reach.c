/* SPDX-License-Identifier: Apache-2.0 */
/* What rule files could ever let a command reach. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "policy/policy.h"
#include "supervisor/net_reach.h"

#define UDP 1
#define TCP 2
#define ABSTRACT 4
#define OTHERS 8
#define GROUPS 16 /* UDP to everybody */
#define ANYWHERE 32 /* and TCP */

struct row {
	const char *first;
	const char *second; /* a second layer, NULL: none */
	int reach;
};

static const struct row rows[] = {
	{ "default allow\n", NULL, UDP | TCP | ABSTRACT | OTHERS | GROUPS | ANYWHERE },
	{ "default ask\n", NULL, UDP | TCP | ABSTRACT },
	{ "default deny\n", NULL, 0 },
	{ "allow read /**\n", NULL, 0 },
	{ "default deny\nallow connect tcp:*:443\n", NULL, TCP },
	{ "default deny\nask send udp:[::1]:53\n", NULL, UDP },
	{ "default deny\nallow bind udp:127.0.0.1:0 uid=4\n", NULL, UDP },
	{ "default deny\nrewrite connect tcp:192.0.2.1:80 -> tcp:127.0.0.1:80\n", NULL, TCP },
	{ "default deny\nallow net unix:@a*\n", NULL, ABSTRACT },
	{ "default deny\nallow net unix:/run/**\n", NULL, 0 },
	{ "default allow\ndeny net udp:*:*\n", NULL, TCP | ABSTRACT },
	{ "default allow\ndeny connect,bind udp:*:*\n", NULL, UDP | TCP | ABSTRACT | GROUPS | ANYWHERE },
	{ "default allow\ndeny net udp:*:* uid=7\n", NULL, UDP | TCP | ABSTRACT },
	{ "default allow\ndeny net udp:*:1-65535\n", NULL, UDP | TCP | ABSTRACT },
	{ "default deny\ndeny net udp:*:*\nallow net udp:127.0.0.1:53\n", NULL, 0 },
	{ "default deny\nallow net udp:127.0.0.1:53\ndeny net udp:*:*\n", NULL, UDP },
	{ "default allow\n", "deny net tcp:*:* udp:*:*\n", ABSTRACT },
	{ "default allow\n", "default deny\nallow net tcp:127.0.0.1:80\n", TCP },
	{ "default deny\n", "default allow\n", 0 },
	{ "default allow\ndeny net unix:@**\n", NULL, UDP | TCP | OTHERS | GROUPS | ANYWHERE },
	{ "default allow\ndeny net unix:@a**\n", NULL, UDP | TCP | ABSTRACT | OTHERS | GROUPS | ANYWHERE },
	{ "allow read /**\n", "allow net tcp:*:*\n", TCP },
	{ "default deny\nallow socket raw\n", NULL, OTHERS },
	{ "default deny\nask socket vsock uid=7\n", NULL, OTHERS },
	{ "default deny\ndeny socket raw\n", NULL, 0 },
	{ "deny net tcp:192.0.2.1:*\nallow socket raw\n", NULL, OTHERS },
	{ "allow socket raw\n", "deny net tcp:192.0.2.1:*\n", 0 },
	{ "default allow\n", "allow connect tcp:192.0.2.1:* limit=5/s\n", UDP | TCP | ABSTRACT | GROUPS },
	{ "default deny\nallow send udp:*:*\n", NULL, UDP | GROUPS },
	{ "default deny\nallow send udp:*:* uid=7\n", NULL, UDP },
	{ "default deny\nallow send udp:*:* limit=5/s\n", NULL, UDP },
	{ "default deny\nallow send udp:192.0.2.1:53\nallow send udp:*:*\ndeny send udp:*:*\n", NULL, UDP | GROUPS },
	{ "default deny\nallow send udp:*:*\ndeny send udp:224.0.0.0/4:* firm\n", NULL, UDP },
	{ "default deny\nallow send udp:*:*\ndeny connect udp:224.0.0.0/4:* firm\ndeny send tcp:*:* firm\n", NULL, UDP | GROUPS },
	{ "default allow\ndeny send udp:192.0.2.1:53\n", NULL, UDP | TCP | ABSTRACT },
	{ "default allow\nrewrite send udp:192.0.2.1:53 -> udp:127.0.0.1:53\n", NULL, UDP | TCP | ABSTRACT },
	{ "default allow\n", "deny send udp:*:5353\n", UDP | TCP | ABSTRACT },
	{ "default deny\nallow send udp:*:*\nallow connect tcp:*:*\n", NULL, UDP | TCP | GROUPS | ANYWHERE },
	{ "default deny\nallow send udp:*:*\nallow connect tcp:127.0.0.0/8:*\n", NULL, UDP | TCP | GROUPS },
	{ "default deny\nallow send udp:127.0.0.0/8:*\nallow connect tcp:*:*\n", NULL, UDP | TCP },
	{ "default allow\ndeny connect tcp:192.0.2.1:*\n", NULL, UDP | TCP | ABSTRACT | GROUPS },
	{ "default allow\nask connect tcp:*:25\n", NULL, UDP | TCP | ABSTRACT | GROUPS },
};

static char dir[64];

static void write_rules(const char *name, const char *text, char path[128])
{
	snprintf(path, 128, "%s/%s", dir, name);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	assert_int_equal(chmod(path, 0600), 0);
}

static int reach_of(const struct row *row)
{
	char path[2][128];
	const char *files[2] = { path[0], path[1] };
	struct policy_options o = { .files = files, .n_files = row->second ? 2 : 1 };
	struct diagnostics found = { 0 };
	struct policy *policy;
	struct net_reach can;

	write_rules("a.rules", row->first, path[0]);
	if (row->second)
		write_rules("b.rules", row->second, path[1]);
	int rc = policy_new(&o, &found, &policy);
	if (rc)
		diagnostics_print(&found, stderr, false);
	assert_int_equal(rc, 0);
	net_reach(policy, &can);
	policy_free(policy);
	diagnostics_free(&found);
	return (can.udp ? UDP : 0) | (can.tcp ? TCP : 0) | (can.abstract ? ABSTRACT : 0) | (can.others ? OTHERS : 0) | (can.groups ? GROUPS : 0) |
	       (can.anywhere ? ANYWHERE : 0);
}

static void test_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int got = reach_of(&rows[i]);
		if (got != rows[i].reach)
			print_error("%s%s: %d, wanted %d\n", rows[i].first, rows[i].second ? rows[i].second : "", got, rows[i].reach);
		assert_int_equal(got, rows[i].reach);
	}
}

static int set_up(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/net-reach.XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int tear_down(void **state)
{
	char path[128];

	(void)state;
	snprintf(path, sizeof(path), "%s/a.rules", dir);
	unlink(path);
	snprintf(path, sizeof(path), "%s/b.rules", dir);
	unlink(path);
	return rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_rows) };

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
