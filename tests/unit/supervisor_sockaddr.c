/* SPDX-License-Identifier: Apache-2.0 */
/* What socket addresses mean: tables of bytes against meanings. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/un.h>

#include <cmocka.h>

#include "supervisor/sockaddr.h"

static const struct socket_kind tcp4 = { AF_INET, SOCK_STREAM, IPPROTO_TCP };
static const struct socket_kind udp4 = { AF_INET, SOCK_DGRAM, IPPROTO_UDP };
static const struct socket_kind tcp6 = { AF_INET6, SOCK_STREAM, IPPROTO_TCP };
static const struct socket_kind udp6 = { AF_INET6, SOCK_DGRAM, IPPROTO_UDP };
static const struct socket_kind local = { AF_UNIX, SOCK_STREAM, 0 };

static size_t in4(const char *addr, uint16_t port, sa_family_t family, void *out)
{
	struct sockaddr_in in = { .sin_family = family, .sin_port = htons(port) };

	assert_int_equal(inet_pton(AF_INET, addr, &in.sin_addr), 1);
	memcpy(out, &in, sizeof(in));
	return sizeof(in);
}

static size_t in6(const char *addr, uint16_t port, uint32_t scope, void *out)
{
	struct sockaddr_in6 in = { .sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_scope_id = scope };

	assert_int_equal(inet_pton(AF_INET6, addr, &in.sin6_addr), 1);
	memcpy(out, &in, sizeof(in));
	return sizeof(in);
}

struct row {
	const char *addr;
	bool v6;
	sa_family_t family; /* of a v4 address */
	size_t len;         /* 0: whole */
	const struct socket_kind *kind;
	enum address_use use;
	enum address_kind want;
	const char *text;   /* canonical */
};

static void test_inet(void **state)
{
	static const struct row rows[] = {
		{ "10.1.2.3", false, AF_INET, 0, &tcp4, ADDRESS_CONNECT, ADDRESS_INET, "10.1.2.3:80" },
		{ "10.1.2.3", false, AF_INET, 0, &udp6, ADDRESS_SEND, ADDRESS_INET, "10.1.2.3:80" },
		{ "10.1.2.3", false, AF_INET, 15, &tcp4, ADDRESS_CONNECT, ADDRESS_NOBODY, NULL },
		{ "10.1.2.3", false, AF_INET, 1, &tcp4, ADDRESS_CONNECT, ADDRESS_NOBODY, NULL },
		{ "10.1.2.3", false, AF_UNSPEC, 0, &tcp4, ADDRESS_CONNECT, ADDRESS_NOBODY, NULL },
		{ "10.1.2.3", false, AF_UNSPEC, 0, &udp4, ADDRESS_SEND, ADDRESS_INET, "10.1.2.3:80" },
		{ "10.1.2.3", false, AF_UNSPEC, 0, &udp6, ADDRESS_SEND, ADDRESS_IGNORED, NULL },
		{ "0.0.0.0", false, AF_UNSPEC, 0, &tcp4, ADDRESS_BIND, ADDRESS_INET, "0.0.0.0:80" },
		{ "10.1.2.3", false, AF_PACKET, 0, &tcp4, ADDRESS_CONNECT, ADDRESS_NOBODY, NULL },
		{ "10.1.2.3", false, AF_UNIX, 0, &tcp4, ADDRESS_CONNECT, ADDRESS_NOBODY, NULL },
		{ "2001:db8::1", true, 0, 0, &tcp6, ADDRESS_CONNECT, ADDRESS_INET, "[2001:db8::1]:80" },
		{ "2001:db8::1", true, 0, 24, &tcp6, ADDRESS_CONNECT, ADDRESS_INET, "[2001:db8::1]:80" },
		{ "2001:db8::1", true, 0, 23, &tcp6, ADDRESS_CONNECT, ADDRESS_NOBODY, NULL },
		{ "::ffff:10.1.2.3", true, 0, 0, &tcp6, ADDRESS_CONNECT, ADDRESS_INET, "10.1.2.3:80" },
		{ "fe80::1", true, 0, 0, &tcp6, ADDRESS_CONNECT, ADDRESS_INET, "[fe80::1%7]:80" },
		{ "fe80::1", true, 0, 24, &tcp6, ADDRESS_CONNECT, ADDRESS_INET, "[fe80::1]:80" },
		{ "ff02::1", true, 0, 0, &udp6, ADDRESS_SEND, ADDRESS_INET, "[ff02::1%7]:80" },
		{ "ff05::1", true, 0, 0, &udp6, ADDRESS_SEND, ADDRESS_INET, "[ff05::1]:80" },
		{ "::", true, 0, 0, &tcp6, ADDRESS_BIND, ADDRESS_INET, "[::]:80" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *r = &rows[i];
		struct sockaddr_storage ss, canonical;
		char text[ENDPOINT_TEXT];
		struct address a;

		memset(&ss, 0xee, sizeof(ss));
		size_t len = r->v6 ? in6(r->addr, 80, 7, &ss) : in4(r->addr, 80, r->family, &ss);
		sockaddr_decode(&ss, r->len ? r->len : len, r->kind, r->use, &a);
		assert_int_equal(a.kind, r->want);
		if (!r->text)
			continue;
		int n = sockaddr_encode(&a.inet, inet_is_v4(&a.inet) ? AF_INET : AF_INET6, &canonical);
		assert_true(n > 0);
		size_t m = sockaddr_text(&canonical, (size_t)n, text);
		assert_int_equal(m, strlen(r->text));
		assert_string_equal(text, r->text);
	}
}

static void test_any(void **state)
{
	static const struct {
		const char *said, *bound, *meant;
		bool v6;
	} rows[] = {
		{ "0.0.0.0", NULL, "127.0.0.1:80", false },
		{ "0.0.0.0", "0.0.0.0", "127.0.0.1:80", false },
		{ "0.0.0.0", "10.0.0.5", "10.0.0.5:80", false },
		{ "::", NULL, "[::1]:80", true },
		{ "::", "10.0.0.5", "[::ffff:127.0.0.1]:80", true },
		{ "::ffff:0.0.0.0", NULL, "[::ffff:127.0.0.1]:80", true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct socket_kind *kind = rows[i].v6 ? &tcp6 : &tcp4;
		struct sockaddr_storage ss, bound;
		char text[ENDPOINT_TEXT];
		struct address a, b;

		size_t len = rows[i].v6 ? in6(rows[i].said, 80, 0, &ss) : in4(rows[i].said, 80, AF_INET, &ss);
		sockaddr_decode(&ss, len, kind, ADDRESS_CONNECT, &a);
		assert_true(inet_is_any(&a.inet));
		if (rows[i].bound)
			sockaddr_decode(&bound, in4(rows[i].bound, 1, AF_INET, &bound), &tcp4, ADDRESS_BIND, &b);
		sockaddr_pin_any(&ss, len, rows[i].bound ? &b.inet : NULL, &a.inet);
		/* decided and used are the same */
		assert_true(sockaddr_text(&ss, len, text) > 0);
		assert_string_equal(text, rows[i].meant);
		sockaddr_decode(&ss, len, kind, ADDRESS_CONNECT, &b);
		assert_memory_equal(a.inet.addr, b.inet.addr, 16);
		assert_false(inet_is_any(&b.inet));
	}
}

static void test_unix(void **state)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	const size_t head = offsetof(struct sockaddr_un, sun_path);
	struct address a;

	(void)state;
	memcpy(un.sun_path, "/run/x\0tail", 11);
	sockaddr_decode(&un, sizeof(un), &local, ADDRESS_CONNECT, &a);
	assert_int_equal(a.kind, ADDRESS_PATH);
	assert_int_equal(a.name.len, 6);
	sockaddr_decode(&un, head + 4, &local, ADDRESS_CONNECT, &a); /* the length ends the path */
	assert_int_equal(a.name.len, 4);
	memset(un.sun_path, 'p', sizeof(un.sun_path)); /* no NUL at all */
	sockaddr_decode(&un, sizeof(un), &local, ADDRESS_BIND, &a);
	assert_int_equal(a.kind, ADDRESS_PATH);
	assert_int_equal(a.name.len, sizeof(un.sun_path));
	memcpy(un.sun_path, "\0a\0b", 4);
	sockaddr_decode(&un, head + 4, &local, ADDRESS_CONNECT, &a);
	assert_int_equal(a.kind, ADDRESS_ABSTRACT);
	assert_int_equal(a.name.len, 3);
	assert_memory_equal(a.name.bytes, "a\0b", 3);
	sockaddr_decode(&un, head + 1, &local, ADDRESS_CONNECT, &a); /* the empty abstract name exists */
	assert_int_equal(a.kind, ADDRESS_ABSTRACT);
	assert_int_equal(a.name.len, 0);
	sockaddr_decode(&un, head, &local, ADDRESS_BIND, &a);
	assert_int_equal(a.kind, ADDRESS_AUTOBIND);
	sockaddr_decode(&un, head, &local, ADDRESS_CONNECT, &a);
	assert_int_equal(a.kind, ADDRESS_NOBODY);
	sockaddr_decode(&un, 1, &local, ADDRESS_CONNECT, &a);
	assert_int_equal(a.kind, ADDRESS_NOBODY);
	un.sun_family = AF_INET;
	sockaddr_decode(&un, sizeof(un), &local, ADDRESS_CONNECT, &a);
	assert_int_equal(a.kind, ADDRESS_NOBODY);
}

static void test_too_long_unix(void **state)
{
	struct sockaddr_storage ss = { .ss_family = AF_UNIX };
	struct address a;

	(void)state;
	memset((char *)&ss + 2, 'x', sizeof(ss) - 2);
	sockaddr_decode(&ss, sizeof(struct sockaddr_un) + 1, &local, ADDRESS_CONNECT, &a);
	assert_int_equal(a.kind, ADDRESS_NOBODY);
}

static void test_families(void **state)
{
	const struct socket_kind vsock = { AF_VSOCK, SOCK_STREAM, 0 }, netlink = { AF_NETLINK, SOCK_RAW, 0 };
	struct sockaddr_storage ss = { 0 };
	struct address a;

	(void)state;
	sockaddr_decode(&ss, in4("1.2.3.4", 5, AF_INET, &ss), &vsock, ADDRESS_CONNECT, &a);
	assert_int_equal(a.kind, ADDRESS_UNKNOWN);
	sockaddr_decode(&ss, 12, &netlink, ADDRESS_SEND, &a);
	assert_int_equal(a.kind, ADDRESS_NOBODY);
	assert_int_equal(socket_proto(&tcp6), PROTO_TCP);
	assert_int_equal(socket_proto(&udp4), PROTO_UDP);
	assert_int_equal(socket_proto(&local), PROTO_UNIX);
	assert_int_equal(socket_proto(&(struct socket_kind){ AF_INET, SOCK_DGRAM, IPPROTO_ICMP }), PROTO_OTHER);
}

static void test_encode(void **state)
{
	struct inet_endpoint e = { .port = 9 };
	struct sockaddr_storage ss;

	(void)state;
	e.addr[15] = 1;
	assert_int_equal(sockaddr_encode(&e, AF_INET, &ss), -EAFNOSUPPORT);
	assert_int_equal(sockaddr_encode(&e, AF_INET6, &ss), sizeof(struct sockaddr_in6));
	e.addr[10] = e.addr[11] = 0xff;
	assert_int_equal(sockaddr_encode(&e, AF_INET, &ss), sizeof(struct sockaddr_in));
	assert_int_equal(sockaddr_text(&ss, 3, (char[ENDPOINT_TEXT]){ 0 }), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_inet),	   cmocka_unit_test(test_any),	    cmocka_unit_test(test_unix),
		cmocka_unit_test(test_too_long_unix), cmocka_unit_test(test_families), cmocka_unit_test(test_encode),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
