/* SPDX-License-Identifier: Apache-2.0 */
/* Whether somebody listens: as the kernel finds who does, and also after an answer of which something was left. */
#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/sock_diag.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "rules/call.h"
#include "rules/cleanup.h"
#include "supervisor/sock_diag.h"

#define EACH 200

static struct sock_diag *diag;

/* A kernel without inet_diag knows it of no port. */
static void skip_untold(void)
{
	if (sock_diag_told(diag) < 0)
		skip();
}

static int bound(int type, struct inet_endpoint *at)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t len = sizeof(in);
	int s = socket(AF_INET, type | SOCK_CLOEXEC, 0);

	assert_int_equal(bind(s, (struct sockaddr *)&in, len), 0);
	assert_int_equal(getsockname(s, (struct sockaddr *)&in, &len), 0);
	*at = (struct inet_endpoint){ .proto = type == SOCK_STREAM ? PROTO_TCP : PROTO_UDP, .port = ntohs(in.sin_port), .addr = { [10] = 0xff, [11] = 0xff } };
	memcpy(at->addr + 12, &in.sin_addr, 4);
	return s;
}

static void listens_or_not(void **state)
{
	skip_untold();
	int client CLEANUP_FD = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct inet_endpoint at, other;

	for (int i = 0; i < EACH; i++) {
		int s CLEANUP_FD = bound(SOCK_STREAM, &at);
		assert_true(sock_diag_vacant(diag, &at, client)); /* bound is not enough */
		assert_int_equal(listen(s, 1), 0);
		assert_false(sock_diag_vacant(diag, &at, client));
		other = at;
		other.addr[15] = 2;
		assert_true(sock_diag_vacant(diag, &other, client));
	}
}

static void others_are_not_vacant(void **state)
{
	skip_untold();
	int client CLEANUP_FD = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct inet_endpoint at;
	int s = bound(SOCK_STREAM, &at);

	assert_true(sock_diag_vacant(diag, &at, client));
	at.addr[12] = 192; /* another machine's, as far as is known */
	assert_false(sock_diag_vacant(diag, &at, client));
	assert_false(sock_diag_vacant(NULL, &at, client));
	close(s);
}

/* Of UDP bound is enough. The client is one of UDP, too. */
static void datagrams(void **state)
{
	skip_untold();
	int client CLEANUP_FD = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct inet_endpoint at, other;

	for (int i = 0; i < EACH; i++) {
		int s = bound(SOCK_DGRAM, &at);
		assert_false(sock_diag_vacant(diag, &at, client));
		other = at;
		other.addr[15] = 2;
		assert_true(sock_diag_vacant(diag, &other, client));
		close(s);
		assert_true(sock_diag_vacant(diag, &at, client));
	}
}

/* A list has several messages, of which one is read. */
static void something_was_left(void **state)
{
	skip_untold();
	struct {
		struct nlmsghdr head;
		struct inet_diag_req_v2 body;
	} list = { .head = { .nlmsg_len = sizeof(list), .nlmsg_type = SOCK_DIAG_BY_FAMILY, .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP },
		   .body = { .sdiag_family = AF_INET, .sdiag_protocol = IPPROTO_TCP, .idiag_states = UINT32_MAX } };
	_Alignas(struct nlmsghdr) char answer[256];
	int client CLEANUP_FD = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct inet_endpoint at;
	int s CLEANUP_FD = bound(SOCK_STREAM, &at);

	assert_int_equal(listen(s, 1), 0);
	(void)sock_diag_ask(diag, &list.head, (struct nlmsghdr *)answer, sizeof(answer));
	assert_false(sock_diag_vacant(diag, &at, client));
	close(steal_fd(&s));
	assert_true(sock_diag_vacant(diag, &at, client));
}

static int begin(void **state)
{
	return sock_diag_new(&diag);
}

static int end(void **state)
{
	sock_diag_free(diag);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(listens_or_not),
		cmocka_unit_test(others_are_not_vacant),
		cmocka_unit_test(datagrams),
		cmocka_unit_test(something_was_left),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
