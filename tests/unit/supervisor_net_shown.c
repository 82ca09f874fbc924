/* SPDX-License-Identifier: Apache-2.0 */
/* What getpeername shows: known by the socket, not by the descriptor, and forgotten with it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "supervisor/net_shown.h"

static const struct shown_address one = { .len = 3, .bytes = "one" }, two = { .len = 3, .bytes = "two" }, none;

static void copies_show_the_same(void **state)
{
	struct shown *s;
	struct shown_address got;

	(void)state;
	assert_int_equal(shown_new(&s), 0);
	int a = socket(AF_UNIX, SOCK_STREAM, 0), b = socket(AF_UNIX, SOCK_STREAM, 0), copy = dup(a);
	assert_false(shown_look(s, a, &got));
	shown_note(s, a, &one); /* not held: nothing happens */
	assert_false(shown_look(s, a, &got));
	assert_int_equal(shown_hold(s, a), 0);
	assert_false(shown_look(s, a, &got));
	shown_note(s, a, &one);
	close(a);
	assert_true(shown_look(s, copy, &got));
	assert_memory_equal(got.bytes, "one", 3);
	assert_false(shown_look(s, b, &got));
	assert_int_equal(shown_hold(s, copy), 0);
	assert_true(shown_look(s, copy, &got));
	shown_note(s, copy, &two);
	assert_true(shown_look(s, copy, &got));
	assert_memory_equal(got.bytes, "two", 3);
	shown_note(s, copy, &none);
	assert_false(shown_look(s, copy, &got));
	assert_int_equal(shown_count(s), 1);
	close(copy);
	close(b);
	shown_free(s);
}

/* A socket that stays keeps its entry while thousands come and go under the same number. */
static void the_closed_are_forgotten(void **state)
{
	struct shown *s;
	struct shown_address got;
	unsigned most = 0;

	(void)state;
	assert_int_equal(shown_new(&s), 0);
	int stays = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(shown_hold(s, stays), 0);
	shown_note(s, stays, &one);
	for (int i = 0; i < 5000; i++) {
		int sock = socket(AF_UNIX, SOCK_DGRAM, 0);
		assert_int_equal(shown_hold(s, sock), 0);
		shown_note(s, sock, &two);
		assert_true(shown_look(s, sock, &got));
		assert_memory_equal(got.bytes, "two", 3);
		close(sock);
		if (shown_count(s) > most)
			most = shown_count(s);
	}
	assert_true(most <= 100);
	assert_true(shown_look(s, stays, &got));
	assert_memory_equal(got.bytes, "one", 3);
	close(stays);
	shown_free(s);
}

/* Sockets on their way to another process are open. */
static void in_flight(void **state)
{
	struct shown *s;
	struct shown_address got;
	int pair[2], fd;
	char byte = 0, room[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec iov = { &byte, 1 };
	struct msghdr h = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof(room) };

	(void)state;
	assert_int_equal(shown_new(&s), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	fd = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(shown_hold(s, fd), 0);
	shown_note(s, fd, &one);
	struct cmsghdr *c = CMSG_FIRSTHDR(&h);
	*c = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS };
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	assert_int_equal(sendmsg(pair[0], &h, 0), 1);
	close(fd);
	for (int i = 0; i < 300; i++) {
		int sock = socket(AF_UNIX, SOCK_DGRAM, 0);
		assert_int_equal(shown_hold(s, sock), 0);
		close(sock);
	}
	h.msg_controllen = sizeof(room);
	assert_int_equal(recvmsg(pair[1], &h, 0), 1);
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&h)), sizeof(fd));
	assert_true(shown_look(s, fd, &got));
	close(fd);
	close(pair[0]);
	close(pair[1]);
	shown_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(copies_show_the_same),
		cmocka_unit_test(the_closed_are_forgotten),
		cmocka_unit_test(in_flight),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
