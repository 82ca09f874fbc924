/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A peer that resets the connection while a long sendmsg is under way: the call says how much was sent, the next one that it was reset. Run
 * natively and supervised, the lines must be the same.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define TIMES 10

static struct sockaddr_in in = { .sin_family = AF_INET };
static int listener, peer;
static char bytes[64 << 20]; /* more than both buffers take, however far the kernel lets them grow */

static int connected(int sndbuf)
{
	int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (s < 0 || (sndbuf && setsockopt(s, SOL_SOCKET, SO_SNDBUF, &sndbuf, sizeof(sndbuf)) < 0) ||
	    connect(s, (void *)&in, sizeof(in)) < 0)
		exit(77);
	peer = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	return s;
}

/* When the sender waits: nobody reads. */
static void *reset(void *arg)
{
	struct linger at_once = { 1, 0 };

	(void)arg;
	usleep(200000);
	setsockopt(peer, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	close(peer);
	return NULL;
}

static void try(int sndbuf)
{
	unsigned told = 0, part = 0;

	for (int i = 0; i < TIMES; i++) {
		struct iovec v = { bytes, sizeof(bytes) };
		struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1 };
		int s = connected(sndbuf);
		pthread_t thread;

		pthread_create(&thread, NULL, reset, NULL);
		ssize_t n = sendmsg(s, &m, 0);
		part += n > 0 && n < (ssize_t)sizeof(bytes);
		pthread_join(thread, NULL);
		told += send(s, "x", 1, MSG_NOSIGNAL) < 0 && errno == ECONNRESET;
		close(s);
	}
	printf("send buffer %d: a part %u, then reset %u, of %d\n", sndbuf, part, told, TIMES);
}

/* A wait that is limited ends in time, with what was sent. */
static void try_limited(void)
{
	struct timeval limit = { .tv_usec = 300000 };
	struct iovec v = { bytes, sizeof(bytes) };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1 };
	int s = connected(300000);

	setsockopt(s, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	alarm(20);
	ssize_t n = sendmsg(s, &m, 0);
	printf("limited: a part %d\n", n > 0 && n < (ssize_t)sizeof(bytes));
	close(s);
	close(peer);
}

int main(void)
{
	socklen_t len = sizeof(in);

	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(listener, (void *)&in, len) || listen(listener, 8) || getsockname(listener, (void *)&in, &len))
		return 77;
	try(0);
	try(4096);
	try(300000);
	try_limited();
	return 0;
}
