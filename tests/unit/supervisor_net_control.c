/* SPDX-License-Identifier: Apache-2.0 */
/* Control messages made over: descriptors translated, everything else kept, nothing untranslated left. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "supervisor/net_control.h"

#define OFFSET 500

/* The caller's number N is descriptor OFFSET + N here, when N is small. */
static int fetch(void *context, int fd)
{
	if (fd > 20)
		return -EBADF;
	++*(int *)context;
	return fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, OFFSET + fd);
}

static size_t put(char *buf, size_t at, int level, int type, const void *data, size_t len)
{
	struct cmsghdr h = { .cmsg_len = CMSG_LEN(len), .cmsg_level = level, .cmsg_type = type };

	memcpy(buf + at, &h, sizeof(h));
	memcpy(buf + at + sizeof(h), data, len);
	return at + CMSG_SPACE(len);
}

static int build(int domain, const void *in, size_t len, struct control *out, int *fetched)
{
	struct control_source s = { .domain = domain, .fetch = fetch, .context = fetched };

	*fetched = 0;
	return control_build(&s, in, len, out);
}

static void test_rights(void **state)
{
	char in[512] = { 0 };
	struct control c;
	int fds[3] = { 3, 5, 7 }, got[3], n;

	(void)state;
	size_t len = put(in, 0, SOL_SOCKET, SCM_RIGHTS, fds, sizeof(fds));
	len = put(in, len, SOL_SOCKET, SCM_RIGHTS, fds, sizeof(int));
	assert_int_equal(build(AF_UNIX, in, len, &c, &n), 0);
	assert_int_equal(n, 4);
	assert_int_equal(c.n_fd, 4);
	assert_int_equal(c.len, len);
	memcpy(got, c.bytes + CMSG_LEN(0), sizeof(got));
	for (int i = 0; i < 3; i++)
		assert_int_equal(got[i], c.fd[i]);
	int one = c.fd[0];
	control_free(&c);
	assert_int_equal(fcntl(one, F_GETFD), -1);
}

static void test_bad_rights(void **state)
{
	char in[4096] = { 0 };
	struct control c;
	int fds[254] = { 0 }, n, minus[2] = { 3, -1 }, unknown = 99;

	(void)state;
	assert_int_equal(build(AF_UNIX, in, put(in, 0, SOL_SOCKET, SCM_RIGHTS, fds, sizeof(fds)), &c, &n), -EINVAL);
	control_free(&c);
	assert_int_equal(build(AF_UNIX, in, put(in, 0, SOL_SOCKET, SCM_RIGHTS, minus, sizeof(minus)), &c, &n), -EBADF);
	control_free(&c);
	assert_int_equal(build(AF_UNIX, in, put(in, 0, SOL_SOCKET, SCM_RIGHTS, &unknown, sizeof(int)), &c, &n), -EBADF);
	control_free(&c);
}

/* Off unix sockets no number may pass, translated or not. */
static void test_rights_elsewhere(void **state)
{
	char in[64] = { 0 };
	struct control c;
	int fd = 3, n;

	(void)state;
	assert_int_equal(build(AF_INET, in, put(in, 0, SOL_SOCKET, SCM_RIGHTS, &fd, sizeof(fd)), &c, &n), 0);
	assert_int_equal(n, 0);
	assert_int_equal(c.len, CMSG_SPACE(0));
	assert_int_equal(((struct cmsghdr *)(void *)c.bytes)->cmsg_len, CMSG_LEN(0));
	control_free(&c);
}

static void test_kept(void **state)
{
	char in[256] = { 0 };
	struct in_pktinfo info = { .ipi_ifindex = 1 };
	struct control c;
	int n, ttl = 7;

	(void)state;
	size_t len = put(in, 0, IPPROTO_IP, IP_PKTINFO, &info, sizeof(info));
	len = put(in, len, IPPROTO_IP, IP_TTL, &ttl, sizeof(ttl));
	assert_int_equal(build(AF_INET, in, len, &c, &n), 0);
	assert_int_equal(c.len, len);
	assert_memory_equal(c.bytes, in, len);
	control_free(&c);
	/* no padding behind the last one */
	assert_int_equal(build(AF_INET, in, len - 4, &c, &n), 0);
	assert_int_equal(c.len, len);
	control_free(&c);
}

static void test_refused(void **state)
{
	char in[256] = { 0 };
	struct control c;
	int n, x = 0;

	(void)state;
	assert_int_equal(build(AF_INET, in, put(in, 0, IPPROTO_IP, IP_RETOPTS, &x, 4), &c, &n), -EPERM);
	control_free(&c);
	assert_int_equal(build(AF_INET6, in, put(in, 0, IPPROTO_IPV6, IPV6_RTHDR, &x, 4), &c, &n), -EPERM);
	control_free(&c);
}

static void test_interface(void **state)
{
	char in[256] = { 0 };
	struct in_pktinfo v4 = { .ipi_ifindex = 3 };
	struct in6_pktinfo v6 = { .ipi6_ifindex = 4 };
	int ttl = 7;

	(void)state;
	assert_int_equal(control_interface(in, 0), 0);
	assert_int_equal(control_interface(in, put(in, 0, IPPROTO_IP, IP_TTL, &ttl, sizeof(ttl))), 0);
	assert_int_equal(control_interface(in, put(in, 0, IPPROTO_IP, IP_PKTINFO, &v4, sizeof(v4))), 3);
	assert_int_equal(control_interface(in, put(in, 0, IPPROTO_IPV6, IPV6_PKTINFO, &v6, sizeof(v6))), 4);
	assert_int_equal(control_interface(in, put(in, 0, IPPROTO_IPV6, 2 /* IPV6_2292PKTINFO */, &v6, sizeof(v6))), 4);
	v4.ipi_ifindex = 1;
	size_t len = put(in, 0, IPPROTO_IP, IP_PKTINFO, &v4, sizeof(v4));
	assert_int_equal(control_interface(in, len), 0);
	/* whichever the kernel takes: any other than loopback is told */
	assert_int_equal(control_interface(in, put(in, len, IPPROTO_IPV6, IPV6_PKTINFO, &v6, sizeof(v6))), 4);
}

static void test_malformed(void **state)
{
	char in[256] = { 0 };
	struct cmsghdr h = { .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS };
	static const size_t bad[] = { 0, 1, sizeof(h) - 1, 33, 64, SIZE_MAX, SIZE_MAX - 7 };
	struct control c;
	int n;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		h.cmsg_len = bad[i];
		memcpy(in, &h, sizeof(h));
		assert_int_equal(build(AF_UNIX, in, 32, &c, &n), -EINVAL);
		assert_int_equal(n, 0);
		control_free(&c);
	}
	/* too short for a header: there is no message */
	assert_int_equal(build(AF_UNIX, in, sizeof(h) - 1, &c, &n), 0);
	assert_int_equal(c.len, 0);
	control_free(&c);
}

static void test_credentials(void **state)
{
	struct ucred me = { .pid = 1, .uid = 2, .gid = 3 }, other = { .pid = 9 }, got;
	char in[64] = { 0 };
	struct control c = { 0 };
	int n;

	(void)state;
	assert_int_equal(control_credentials(&c, &me), 0);
	memcpy(&got, c.bytes + c.ucred, sizeof(got));
	assert_memory_equal(&got, &me, sizeof(me));
	control_free(&c);
	/* said explicitly: kept */
	assert_int_equal(build(AF_UNIX, in, put(in, 0, SOL_SOCKET, SCM_CREDENTIALS, &other, sizeof(other)), &c, &n), 0);
	assert_int_equal(control_credentials(&c, &me), 0);
	memcpy(&got, c.bytes + c.ucred, sizeof(got));
	assert_int_equal(got.pid, 9);
	control_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_interface), cmocka_unit_test(test_rights),	  cmocka_unit_test(test_bad_rights), cmocka_unit_test(test_rights_elsewhere),
		cmocka_unit_test(test_kept),	  cmocka_unit_test(test_refused),    cmocka_unit_test(test_malformed),
		cmocka_unit_test(test_credentials),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
