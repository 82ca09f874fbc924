/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times of sending (SO_TIMESTAMPING): of a long sendmsg the kernel tells once, of its last byte. Run natively and supervised, the lines must
 * be the same.
 */
#include <arpa/inet.h>
#include <asm/socket.h>
#include <errno.h>
#include <linux/errqueue.h>
#include <linux/net_tstamp.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static struct sockaddr_in in = { .sin_family = AF_INET };
static int listener, peer;
static char bytes[4 << 20];
static size_t read_so_far;

static void *reads(void *arg)
{
	static char some[1 << 16];
	ssize_t n;

	(void)arg;
	usleep(50000);
	while ((n = read(peer, some, sizeof(some))) > 0)
		read_so_far += (size_t)n;
	return NULL;
}

/* Prints the bytes that S is told of, as they come; LAST ends it. */
static void tell(int s, unsigned last)
{
	struct pollfd p = { .fd = s };
	unsigned at = 0, told = 0;

	while (!(told && at == last) && poll(&p, 1, 2000) > 0) {
		union {
			char bytes[512];
			struct cmsghdr align;
		} c;
		struct msghdr m = { .msg_control = c.bytes, .msg_controllen = sizeof(c.bytes) };

		if (recvmsg(s, &m, MSG_ERRQUEUE | MSG_DONTWAIT) < 0)
			break;
		for (struct cmsghdr *h = CMSG_FIRSTHDR(&m); h; h = CMSG_NXTHDR(&m, h)) {
			struct sock_extended_err e;
			if (h->cmsg_level != SOL_IP || h->cmsg_type != IP_RECVERR)
				continue;
			memcpy(&e, CMSG_DATA(h), sizeof(e));
			at = e.ee_data;
			told++;
			printf(" %u", at);
		}
	}
}

static void try(size_t n, int sndbuf, unsigned sock_flags, int flags)
{
	union {
		char bytes[CMSG_SPACE(sizeof(unsigned))];
		struct cmsghdr align;
	} c = { { 0 } };
	struct iovec v = { bytes, n };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1 };
	unsigned said = SOF_TIMESTAMPING_SOFTWARE | SOF_TIMESTAMPING_OPT_ID | SOF_TIMESTAMPING_OPT_TSONLY | sock_flags;
	int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	pthread_t reader;

	if (!sock_flags) {
		m.msg_control = c.bytes;
		m.msg_controllen = sizeof(c.bytes);
		c.align = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof(unsigned)), .cmsg_level = SOL_SOCKET, .cmsg_type = SO_TIMESTAMPING };
		memcpy(CMSG_DATA(&c.align), &(unsigned){ SOF_TIMESTAMPING_TX_ACK }, sizeof(unsigned));
	}
	if (sndbuf)
		setsockopt(s, SOL_SOCKET, SO_SNDBUF, &sndbuf, sizeof(sndbuf));
	if (connect(s, (void *)&in, sizeof(in)) < 0 || setsockopt(s, SOL_SOCKET, SO_TIMESTAMPING, &said, sizeof(said)) < 0)
		exit(77);
	peer = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	read_so_far = 0;
	pthread_create(&reader, NULL, reads, NULL);
	ssize_t sent = sendmsg(s, &m, flags);
	printf("%zu by %s%s:", n, sock_flags ? "the socket" : "the message", sndbuf == 20000 ? ", little room" : flags ? ", at once" : "");
	tell(s, (unsigned)sent - 1);
	shutdown(s, SHUT_WR);
	pthread_join(reader, NULL);
	printf(", %s\n", sent == (ssize_t)n && read_so_far == n ? "all sent" : "a part");
	close(peer);
	close(s);
}

int main(void)
{
	socklen_t len = sizeof(in);

	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(listener, (void *)&in, len) || listen(listener, 8) || getsockname(listener, (void *)&in, &len))
		return 77;
	for (int i = 0; i < 3; i++) {
		try(1000, 0, SOF_TIMESTAMPING_TX_ACK, 0);
		try(300000, 0, SOF_TIMESTAMPING_TX_ACK, 0);
		try(200000, 20000, SOF_TIMESTAMPING_TX_ACK, 0);
		try(sizeof(bytes), 0, SOF_TIMESTAMPING_TX_ACK, 0);
		try(sizeof(bytes), 0, 0, 0);
		try(300000, 1 << 20, SOF_TIMESTAMPING_TX_ACK, MSG_DONTWAIT);
	}
	return 0;
}
