/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One thread connects a blocking socket, another one reads from it: what the reader is told. Run natively and supervised, the lines
 * must be the same.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define AGAIN 2000 /* connects of a socket that is connected */
#define FRESH 400  /* sockets that are connected beside a reader */

static int count_again;

static int listener(struct sockaddr_in *in)
{
	int l = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t len = sizeof(*in);

	*in = (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	if (l < 0 || bind(l, (void *)in, len) || listen(l, 8) || getsockname(l, (void *)in, &len))
		exit(77);
	return l;
}

/* Reads until the end. */
static void *reads(void *arg)
{
	const int *s = arg;
	ssize_t n;
	char c;

	while ((n = recv(*s, &c, 1, 0)) != 0) {
		if (n < 0 && errno != EAGAIN)
			break;
		count_again += n < 0;
	}
	return NULL;
}

/* As a program that asks in this way whether its connection stands. */
static void connect_again(void)
{
	struct sockaddr_in in;
	pthread_t reader;
	int l = listener(&in), s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), others = 0;

	if (connect(s, (void *)&in, sizeof(in)))
		exit(77);
	int peer = accept(l, NULL, NULL);
	pthread_create(&reader, NULL, reads, &s);
	for (int i = 0; i < AGAIN; i++) {
		others += connect(s, (void *)&in, sizeof(in)) == 0 || errno != EISCONN;
		if (i % 8 == 0 && send(peer, "x", 1, 0) != 1)
			exit(1);
	}
	close(peer);
	pthread_join(reader, NULL);
	printf("connected again: EAGAIN %d, other than EISCONN %d\n", count_again, others);
	close(l);
	close(s);
}

/* Waits for the connection as event loops do, and then reads. */
static void *waits(void *arg)
{
	const int *s = arg;
	struct pollfd p = { .fd = *s, .events = POLLOUT };
	char c;

	while (poll(&p, 1, 1000) > 0 && p.revents & (POLLHUP | POLLERR))
		; /* not connected yet */
	count_again += recv(*s, &c, 1, 0) < 0 && errno == EAGAIN;
	return NULL;
}

static void connect_fresh(void)
{
	struct sockaddr_in in;
	pthread_t reader;
	int l = listener(&in), failed = 0;

	count_again = 0;
	for (int i = 0; i < FRESH; i++) {
		int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		pthread_create(&reader, NULL, waits, &s);
		failed += connect(s, (void *)&in, sizeof(in)) != 0;
		int peer = accept(l, NULL, NULL);
		failed += send(peer, "x", 1, 0) != 1;
		pthread_join(reader, NULL);
		close(peer);
		close(s);
	}
	printf("connected beside a reader: EAGAIN %d, failed %d\n", count_again, failed);
	close(l);
}

int main(void)
{
	connect_again();
	connect_fresh();
	return 0;
}
