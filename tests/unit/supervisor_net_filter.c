/* SPDX-License-Identifier: Apache-2.0 */
/* The list of sockets that can be made, in the kernel: each case in a child that has the filter and nothing else. */
#include <errno.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "supervisor/net_filter.h"

#define JUNK 0xdeadbeef00000000ul

static void enter(const struct net_sockets *give)
{
	struct sock_filter f[NET_FILTER_LEN + 2];
	struct sock_fprog prog = { .len = NET_FILTER_LEN + 2, .filter = f };

	f[0] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	net_filter(give, f + 1);
	f[NET_FILTER_LEN + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) < 0)
		_exit(200);
}

/* The errno of the call in a filtered child, 0 for a socket. */
static int outcome_in(struct net_sockets give, long nr, unsigned long domain, unsigned long type, unsigned long protocol)
{
	int pair[2];
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		enter(&give);
		long rc = syscall(nr, domain, type, protocol, pair);
		_exit(rc < 0 ? errno : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int outcome(long nr, unsigned long domain, unsigned long type, unsigned long protocol)
{
	return outcome_in((struct net_sockets){ .udp = true }, nr, domain, type, protocol);
}

struct row {
	unsigned long domain, type, protocol;
	int error;
};

static void test_socket(void **state)
{
	static const struct row rows[] = {
		{ AF_INET, SOCK_STREAM, 0, 0 },
		{ AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP, 0 },
		{ AF_INET6, SOCK_STREAM, IPPROTO_TCP, 0 },
		{ AF_INET, SOCK_DGRAM, 0, 0 },
		{ AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, IPPROTO_UDP, 0 },
		{ AF_INET6, SOCK_DGRAM, IPPROTO_UDPLITE, 0 },
		{ AF_UNIX, SOCK_STREAM, 0, 0 },
		{ AF_UNIX, SOCK_SEQPACKET, 0, 0 },
		{ AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 0, 0 },
		{ AF_INET | JUNK, SOCK_STREAM | JUNK, IPPROTO_TCP | JUNK, 0 },
		{ AF_INET, SOCK_RAW, IPPROTO_TCP, ESOCKTNOSUPPORT },
		{ AF_INET6, SOCK_RAW, 58, ESOCKTNOSUPPORT },
		{ AF_INET, SOCK_RAW | JUNK, 1, ESOCKTNOSUPPORT },
		{ AF_INET, SOCK_PACKET, 3, ESOCKTNOSUPPORT },
		{ AF_INET, SOCK_DGRAM, IPPROTO_ICMP, EPROTONOSUPPORT },
		{ AF_INET, SOCK_DGRAM, 33 /* DCCP */, EPROTONOSUPPORT },
		{ AF_INET, SOCK_STREAM, IPPROTO_UDPLITE, EPROTONOSUPPORT },
		{ AF_INET, SOCK_STREAM, 262 /* MPTCP */, EPROTONOSUPPORT },
		{ AF_INET, SOCK_STREAM, IPPROTO_SCTP, EPROTONOSUPPORT },
		{ AF_INET, SOCK_SEQPACKET, IPPROTO_SCTP, ESOCKTNOSUPPORT },
		{ AF_INET, SOCK_STREAM, 256 /* SMC */, EPROTONOSUPPORT },
		{ AF_NETLINK, SOCK_RAW, 4 /* SOCK_DIAG */, EPROTONOSUPPORT },
		{ AF_NETLINK | JUNK, SOCK_RAW, 9 | JUNK, EPROTONOSUPPORT },
		{ AF_PACKET, SOCK_RAW, 0, EAFNOSUPPORT },
		{ AF_VSOCK, SOCK_STREAM, 0, EAFNOSUPPORT },
		{ AF_VSOCK | JUNK, SOCK_STREAM, 0, EAFNOSUPPORT },
		{ AF_ALG, SOCK_SEQPACKET, 0, EAFNOSUPPORT },
		{ 43 /* SMC */, SOCK_STREAM, 0, EAFNOSUPPORT },
		{ AF_UNSPEC, SOCK_STREAM, 0, EAFNOSUPPORT },
		{ (unsigned long)-1, SOCK_STREAM, 0, EAFNOSUPPORT },
		{ 1ul << 31 | AF_INET, SOCK_STREAM, 0, EAFNOSUPPORT },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int got = outcome(SYS_socket, rows[i].domain, rows[i].type, rows[i].protocol);
		if (got != rows[i].error)
			print_error("row %zu: errno %d, wanted %d\n", i, got, rows[i].error);
		assert_int_equal(got, rows[i].error);
	}
}

static void test_without_udp(void **state)
{
	const struct net_sockets none = { .udp = false }, others = { .others = true };

	(void)state;
	assert_int_equal(outcome_in(none, SYS_socket, AF_INET, SOCK_DGRAM, 0), EAFNOSUPPORT);
	assert_int_equal(outcome_in(none, SYS_socket, AF_INET6 | JUNK, SOCK_DGRAM | SOCK_CLOEXEC, IPPROTO_UDP), EAFNOSUPPORT);
	assert_int_equal(outcome_in(none, SYS_socket, AF_INET, SOCK_DGRAM, IPPROTO_UDPLITE), EAFNOSUPPORT);
	assert_int_equal(outcome_in(none, SYS_socket, AF_INET, SOCK_DGRAM, IPPROTO_ICMP), EPROTONOSUPPORT);
	assert_int_equal(outcome_in(none, SYS_socket, AF_INET, SOCK_STREAM, 0), 0);
	assert_int_equal(outcome_in(none, SYS_socket, AF_UNIX, SOCK_DGRAM, 0), 0);
	assert_int_equal(outcome_in(none, SYS_socket, AF_NETLINK, SOCK_RAW, 0), 0);
	assert_int_equal(outcome_in(others, SYS_socket, AF_INET, SOCK_DGRAM, 0), EAFNOSUPPORT);
	assert_int_equal(outcome_in(others, SYS_socket, AF_INET6, SOCK_DGRAM, IPPROTO_UDP), EAFNOSUPPORT);
}

/* Whoever hears of it (here nobody: ENOSYS) hears of all that is not listed, and of nothing else. */
static void test_others(void **state)
{
	static const struct row rows[] = {
		{ AF_INET, SOCK_STREAM, 0, 0 },
		{ AF_INET6, SOCK_DGRAM, IPPROTO_UDP, 0 },
		{ AF_UNIX, SOCK_STREAM, 0, 0 },
		{ AF_NETLINK, SOCK_RAW, 0, 0 },
		{ AF_NETLINK, SOCK_RAW | JUNK, 4, ENOSYS },
		{ AF_INET, SOCK_RAW, IPPROTO_ICMP, ENOSYS },
		{ AF_INET6 | JUNK, SOCK_RAW | JUNK, 58 | JUNK, ENOSYS },
		{ AF_INET, SOCK_PACKET, 3, ENOSYS },
		{ AF_INET, SOCK_DGRAM, IPPROTO_ICMP, ENOSYS },
		{ AF_INET, SOCK_STREAM, 262 /* MPTCP */, ENOSYS },
		{ AF_INET, SOCK_SEQPACKET, IPPROTO_SCTP, ENOSYS },
		{ AF_PACKET, SOCK_RAW, 0, ENOSYS },
		{ AF_VSOCK, SOCK_STREAM, 0, ENOSYS },
		{ AF_UNSPEC, SOCK_STREAM, 0, ENOSYS },
		{ 99, SOCK_STREAM, 0, ENOSYS },
	};
	const struct net_sockets all = { .udp = true, .others = true };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int got = outcome_in(all, SYS_socket, rows[i].domain, rows[i].type, rows[i].protocol);
		if (got != rows[i].error)
			print_error("row %zu: errno %d, wanted %d\n", i, got, rows[i].error);
		assert_int_equal(got, rows[i].error);
	}
	assert_int_equal(outcome_in(all, SYS_socketpair, 30 /* TIPC */, SOCK_SEQPACKET, 0), EAFNOSUPPORT);
}

static void test_pair(void **state)
{
	(void)state;
	assert_int_equal(outcome(SYS_socketpair, AF_UNIX, SOCK_DGRAM, 0), 0);
	assert_int_equal(outcome(SYS_socketpair, AF_INET, SOCK_STREAM, 0), EOPNOTSUPP);
	assert_int_equal(outcome(SYS_socketpair, 30 /* TIPC */, SOCK_SEQPACKET, 0), EAFNOSUPPORT);
}

static void test_other_calls(void **state)
{
	(void)state;
	assert_int_equal(outcome(SYS_getppid, 0, 0, 0), 0);
	assert_int_equal(outcome(SYS_close, 4095, 0, 0), EBADF);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_socket),
		cmocka_unit_test(test_without_udp),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_pair),
		cmocka_unit_test(test_other_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
