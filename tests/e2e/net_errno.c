/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints what the kernel says to network calls, good and bad: one line for each. Run natively and
 * supervised, the lines must be the same. In the current directory it makes sockets and removes them.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/errqueue.h>
#include <linux/netlink.h>

#define FAR ((void *)0x10)

static volatile sig_atomic_t pipes;

static void say(const char *what, long rc)
{
	int e = errno;

	printf("%-44s %ld %s%s\n", what, rc, rc < 0 ? strerrorname_np(e) : "ok", pipes ? " SIGPIPE" : "");
	pipes = 0;
}

static void on_pipe(int sig)
{
	(void)sig;
	pipes = 1;
}

static int sock(int domain, int type)
{
	int s = socket(domain, type | SOCK_CLOEXEC, 0);

	if (s < 0)
		exit(77);
	return s;
}

static struct sockaddr_in v4(const char *addr, uint16_t port)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(port) };

	inet_pton(AF_INET, addr, &in.sin_addr);
	return in;
}

static struct sockaddr_in6 v6(const char *addr, uint16_t port)
{
	struct sockaddr_in6 in = { .sin6_family = AF_INET6, .sin6_port = htons(port) };

	inet_pton(AF_INET6, addr, &in.sin6_addr);
	return in;
}

static socklen_t local(struct sockaddr_un *un, const char *path)
{
	memset(un, 0, sizeof(*un));
	un->sun_family = AF_UNIX;
	strcpy(un->sun_path, path);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path) + 1);
}

/* The same address on every kind of socket, cut and stretched to every length of interest. */
static void lengths(const char *what, int domain, int type, const void *addr, size_t size)
{
	static const int len[] = { -1, 0, 1, 2, 3, 8, 15, 16, 17, 23, 24, 27, 28, 29, 109, 110, 111, 127, 128, 129, 4096 };
	char name[96], big[4096] = { 0 };

	memcpy(big, addr, size);
	for (size_t i = 0; i < sizeof(len) / sizeof(len[0]); i++) {
		int s = sock(domain, type);
		snprintf(name, sizeof(name), "connect %s len %d", what, len[i]);
		say(name, syscall(SYS_connect, s, big, len[i]));
		close(s);
		s = sock(domain, type);
		snprintf(name, sizeof(name), "sendto %s len %d", what, len[i]);
		say(name, syscall(SYS_sendto, s, "x", 1, MSG_NOSIGNAL, big, len[i]));
		struct iovec iov = { "x", 1 };
		struct msghdr m = { .msg_name = big, .msg_namelen = (socklen_t)len[i], .msg_iov = &iov, .msg_iovlen = 1 };
		snprintf(name, sizeof(name), "sendmsg %s len %d", what, len[i]);
		say(name, sendmsg(s, &m, MSG_NOSIGNAL));
		close(s);
		s = sock(domain, type);
		snprintf(name, sizeof(name), "bind %s len %d", what, len[i]);
		say(name, syscall(SYS_bind, s, big, len[i]));
		close(s);
		for (size_t n = 0; domain == AF_UNIX && n < sizeof("nobody.sock"); n++)
			unlink(strndupa("nobody.sock", n));
	}
}

static void families(void)
{
	struct sockaddr_in a4 = v4("127.0.0.1", 1), any4 = v4("0.0.0.0", 0), odd = v4("127.0.0.1", 0);
	struct sockaddr_in6 a6 = v6("::1", 1), mapped = v6("::ffff:127.0.0.1", 1), link = v6("fe80::1", 1);
	struct sockaddr_un un;

	local(&un, "nobody.sock");
	lengths("v4 on tcp4", AF_INET, SOCK_STREAM, &a4, sizeof(a4));
	lengths("v4 on udp4", AF_INET, SOCK_DGRAM, &a4, sizeof(a4));
	lengths("v4 on tcp6", AF_INET6, SOCK_STREAM, &a4, sizeof(a4));
	lengths("v4 on udp6", AF_INET6, SOCK_DGRAM, &a4, sizeof(a4));
	lengths("v6 on tcp6", AF_INET6, SOCK_STREAM, &a6, sizeof(a6));
	lengths("v6 on udp6", AF_INET6, SOCK_DGRAM, &a6, sizeof(a6));
	lengths("v6 on tcp4", AF_INET, SOCK_STREAM, &a6, sizeof(a6));
	lengths("mapped on tcp6", AF_INET6, SOCK_STREAM, &mapped, sizeof(mapped));
	lengths("link-local on udp6", AF_INET6, SOCK_DGRAM, &link, sizeof(link));
	lengths("unix on tcp4", AF_INET, SOCK_STREAM, &un, sizeof(un));
	lengths("v4 on unix", AF_UNIX, SOCK_STREAM, &a4, sizeof(a4));
	lengths("unix stream", AF_UNIX, SOCK_STREAM, &un, sizeof(un));
	lengths("unix dgram", AF_UNIX, SOCK_DGRAM, &un, sizeof(un));
	lengths("unix seqpacket", AF_UNIX, SOCK_SEQPACKET, &un, sizeof(un));
	any4.sin_family = AF_UNSPEC;
	lengths("unspec any on tcp4", AF_INET, SOCK_STREAM, &any4, sizeof(any4));
	odd.sin_family = AF_UNSPEC;
	lengths("unspec loopback on udp4", AF_INET, SOCK_DGRAM, &odd, sizeof(odd));
	lengths("unspec on udp6", AF_INET6, SOCK_DGRAM, &odd, sizeof(odd));
	lengths("unspec on unix dgram", AF_UNIX, SOCK_DGRAM, &odd, sizeof(odd));
	odd.sin_family = 77;
	lengths("family 77 on tcp4", AF_INET, SOCK_STREAM, &odd, sizeof(odd));
}

static void descriptors(void)
{
	struct sockaddr_in a = v4("127.0.0.1", 1);
	struct iovec iov = { "x", 1 };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct mmsghdr mm = { .msg_hdr = m };
	int bad[] = { -1, 4000, open("/dev/null", O_RDWR), open(".", O_PATH), open("/", O_RDONLY | O_DIRECTORY) };
	static const char *const name[] = { "-1", "4000", "/dev/null", "O_PATH", "directory" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		printf("descriptor %s\n", name[i]);
		say(" connect", connect(bad[i], (struct sockaddr *)&a, sizeof(a)));
		say(" connect unreadable", syscall(SYS_connect, bad[i], FAR, 16));
		say(" connect too long", syscall(SYS_connect, bad[i], &a, 500));
		say(" bind", bind(bad[i], (struct sockaddr *)&a, sizeof(a)));
		say(" bind unreadable", syscall(SYS_bind, bad[i], FAR, 16));
		say(" listen", listen(bad[i], 1));
		say(" sendto", sendto(bad[i], "x", 1, 0, (struct sockaddr *)&a, sizeof(a)));
		say(" sendto unreadable", syscall(SYS_sendto, bad[i], "x", 1, 0, FAR, 16));
		say(" sendmsg", sendmsg(bad[i], &m, 0));
		say(" sendmsg unreadable", syscall(SYS_sendmsg, bad[i], FAR, 0));
		say(" sendmmsg", sendmmsg(bad[i], &mm, 1, 0));
		say(" sendmmsg none", sendmmsg(bad[i], &mm, 0, 0));
	}
}

static void unreadable(void)
{
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct sockaddr_in a = v4("127.0.0.1", 9);
	int s = sock(AF_INET, SOCK_DGRAM);
	struct iovec iov[2] = { { "x", 1 }, { FAR, 5 } };
	struct msghdr m = { .msg_name = &a, .msg_namelen = sizeof(a), .msg_iov = iov, .msg_iovlen = 2 };
	struct mmsghdr mm[2] = { { .msg_hdr = m }, { .msg_hdr = m } };

	mprotect(page + 4096, 4096, PROT_NONE);
	memcpy(page + 4096 - sizeof(a), &a, sizeof(a));
	say("address ends at a page's end", connect(s, (struct sockaddr *)(page + 4096 - sizeof(a)), sizeof(a)));
	say("address crosses into PROT_NONE", connect(s, (struct sockaddr *)(page + 4096 - 8), sizeof(a)));
	say("odd alignment", connect(s, memcpy(page + 1, &a, sizeof(a)), sizeof(a)));
	say("buffer unreadable", syscall(SYS_sendto, s, FAR, 5, 0, &a, sizeof(a)));
	say("buffer crosses into PROT_NONE", sendto(s, page + 4000, 200, 0, (struct sockaddr *)&a, sizeof(a)));
	say("second element unreadable", sendmsg(s, &m, 0));
	m.msg_iov = FAR;
	say("vector unreadable", sendmsg(s, &m, 0));
	m.msg_iovlen = 1025;
	say("vector of 1025", sendmsg(s, &m, 0));
	m.msg_iovlen = SIZE_MAX;
	say("vector of SIZE_MAX", sendmsg(s, &m, 0));
	iov[1] = (struct iovec){ page, SIZE_MAX };
	m.msg_iov = iov;
	m.msg_iovlen = 2;
	say("negative length", sendmsg(s, &m, 0));
	iov[0].iov_len = SIZE_MAX / 4;
	say("negative length behind one that is too long", sendmsg(s, &m, 0));
	iov[1].iov_len = 1;
	say("too long", sendmsg(s, &m, 0));
	say("too long, in the first of two messages", (mm[0].msg_hdr = m, sendmmsg(s, mm, 2, 0)));
	m.msg_iovlen = 1;
	say("too long, alone", sendmsg(s, &m, 0));
	m.msg_iovlen = 2;
	iov[0].iov_len = 1;
	iov[1].iov_len = 0;
	say("empty element", sendmsg(s, &m, 0));
	m.msg_name = FAR;
	say("name unreadable", sendmsg(s, &m, 0));
	m.msg_namelen = (socklen_t)-5;
	say("name length negative", sendmsg(s, &m, 0));
	m.msg_name = NULL;
	say("name length without a name, negative", sendmsg(s, &m, 0));
	m.msg_namelen = 400;
	say("name length without a name", sendmsg(s, &m, 0));
	say("second message unreadable", (mm[0].msg_hdr.msg_iovlen = 1, sendmmsg(s, mm, 2, 0)));
	mm[0].msg_hdr.msg_iovlen = 2;
	mm[0].msg_hdr.msg_iov = FAR;
	say("first message unreadable", sendmmsg(s, mm, 2, 0));
	say("a thousand messages past the end", syscall(SYS_sendmmsg, s, page + 4096 - 2 * sizeof(mm[0]), 1000, 0));
	close(s);
}

/* A stream sends what makes a packet, before one that holds memory which cannot be read. */
static void streams_unreadable(void)
{
	char *pages = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	static const size_t len[] = { 0, 1, 100, 4096, 32768, 32769, 65536, 300000 };
	int pair[2];

	for (size_t i = 0; i < sizeof(len) / sizeof(len[0]); i++) {
		struct iovec iov[3] = { { pages, len[i] }, { FAR, 5 }, { pages, 5 } };
		struct msghdr m = { .msg_iov = iov, .msg_iovlen = 3 };
		socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair);
		printf("%zu bytes, ", len[i]);
		say("then unreadable", sendmsg(pair[0], &m, 0));
		say("as many are there", recv(pair[1], pages, 1 << 20, 0));
		close(pair[0]);
		close(pair[1]);
	}
	munmap(pages, 1 << 20);
}

/* Of several messages the last one sent may be a part of one: what is behind it is not sent, or a hole would be in the stream. */
static void streams_cut(void)
{
	char *pages = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct iovec cut[2] = { { pages, 100000 }, { FAR, 5 } }, behind = { "behind", 6 };
	int pair[2];

	memset(pages, '.', 1 << 20);
	for (int flags = 0; flags <= SOCK_NONBLOCK; flags += SOCK_NONBLOCK) {
		struct mmsghdr mm[3] = { { .msg_hdr = { .msg_iov = &behind, .msg_iovlen = 1 } },
					 { .msg_hdr = { .msg_iov = cut, .msg_iovlen = 2 } },
					 { .msg_hdr = { .msg_iov = &behind, .msg_iovlen = 1 } } };
		socketpair(AF_UNIX, SOCK_STREAM | flags, 0, pair);
		say("messages, the second one cut", sendmmsg(pair[0], mm, 3, 0));
		say("of the first", mm[0].msg_len);
		say("of the second", mm[1].msg_len);
		say("of the third", mm[2].msg_len);
		long n = recv(pair[1], pages, 1 << 20, MSG_DONTWAIT);
		say("as many are there", n);
		say("the last one is of the second", n > 0 && pages[n - 1] == '.');
		close(pair[0]);
		close(pair[1]);
	}
	munmap(pages, 1 << 20);
}

static void control(void)
{
	union {
		char buf[4096];
		struct cmsghdr h;
	} u = { 0 };
	struct iovec iov = { "x", 1 };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = u.buf, .msg_controllen = CMSG_SPACE(4) };
	int pair[2], fd = 0;
	char name[64];

	socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair);
	static const size_t len[] = { 0, 1, 15, 16, 17, 19, 20, 21, 24, 25, 100, SIZE_MAX };
	for (size_t i = 0; i < sizeof(len) / sizeof(len[0]); i++) {
		u.h = (struct cmsghdr){ .cmsg_len = len[i], .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS };
		memcpy(CMSG_DATA(&u.h), &fd, sizeof(fd));
		snprintf(name, sizeof(name), "rights, cmsg_len %zd", (ssize_t)len[i]);
		say(name, sendmsg(pair[0], &m, 0));
	}
	u.h = (struct cmsghdr){ .cmsg_len = CMSG_LEN(4), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS };
	for (fd = -2; fd < 1000; fd += 501) {
		memcpy(CMSG_DATA(&u.h), &fd, sizeof(fd));
		snprintf(name, sizeof(name), "rights of %d", fd);
		say(name, sendmsg(pair[0], &m, 0));
	}
	u.h.cmsg_type = 99;
	say("unknown type", sendmsg(pair[0], &m, 0));
	u.h.cmsg_level = 99;
	say("unknown level", sendmsg(pair[0], &m, 0));
	m.msg_control = FAR;
	say("control unreadable", sendmsg(pair[0], &m, 0));
	m.msg_control = NULL;
	say("control of no address", sendmsg(pair[0], &m, 0));
	m.msg_controllen = (size_t)INT32_MAX + 1;
	say("control of 2 GiB", sendmsg(pair[0], &m, 0));
	m.msg_control = u.buf;
	memset(u.buf, 0, sizeof(u.buf));
	u.h = (struct cmsghdr){ .cmsg_len = CMSG_LEN(254 * 4), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS };
	m.msg_controllen = CMSG_SPACE(254 * 4);
	say("254 descriptors", sendmsg(pair[0], &m, 0));
	u.h.cmsg_len = CMSG_LEN(253 * 4);
	say("253 descriptors", sendmsg(pair[0], &m, 0));
	int s = sock(AF_INET, SOCK_DGRAM);
	struct sockaddr_in a = v4("127.0.0.1", 9);
	m = (struct msghdr){ .msg_name = &a, .msg_namelen = sizeof(a), .msg_iov = &iov, .msg_iovlen = 1,
			     .msg_control = u.buf, .msg_controllen = CMSG_SPACE(4) };
	u.h.cmsg_len = CMSG_LEN(4);
	say("rights on udp", sendmsg(s, &m, 0));
	u.h.cmsg_level = IPPROTO_IP;
	u.h.cmsg_type = IP_TTL;
	memcpy(CMSG_DATA(&u.h), &(int){ 300 }, 4);
	say("ttl 300", sendmsg(s, &m, 0));
	memcpy(CMSG_DATA(&u.h), &(int){ 30 }, 4);
	say("ttl 30", sendmsg(s, &m, 0));
	struct in_pktinfo info = { .ipi_ifindex = 4242 };
	u.h.cmsg_type = IP_PKTINFO;
	u.h.cmsg_len = CMSG_LEN(sizeof(info));
	m.msg_controllen = CMSG_SPACE(sizeof(info));
	memcpy(CMSG_DATA(&u.h), &info, sizeof(info));
	say("pktinfo of no interface", sendmsg(s, &m, 0));
	struct ucred other = { .pid = 1, .uid = 12345, .gid = 12345 };
	m = (struct msghdr){ .msg_iov = &iov, .msg_iovlen = 1, .msg_control = u.buf, .msg_controllen = CMSG_SPACE(sizeof(other)) };
	u.h = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof(other)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_CREDENTIALS };
	memcpy(CMSG_DATA(&u.h), &other, sizeof(other));
	say("another's credentials", sendmsg(pair[0], &m, 0));
	struct ucred own = { .pid = getpid(), .uid = getuid(), .gid = getgid() };
	memcpy(CMSG_DATA(&u.h), &own, sizeof(own));
	say("own credentials", sendmsg(pair[0], &m, 0));
	close(s);
	close(pair[0]);
	close(pair[1]);
}

static void states(void)
{
	struct sockaddr_in a = v4("127.0.0.1", 0), none = { .sin_family = AF_UNSPEC };
	socklen_t len = sizeof(a);
	struct iovec iov = { "x", 1 };
	struct msghdr m = { .msg_name = &a, .msg_namelen = sizeof(a), .msg_iov = &iov, .msg_iovlen = 1 };
	int l = sock(AF_INET, SOCK_STREAM), c = sock(AF_INET, SOCK_STREAM), u = sock(AF_INET, SOCK_DGRAM);

	say("send unconnected tcp", sendmsg(c, &(struct msghdr){ .msg_iov = &iov, .msg_iovlen = 1 }, 0));
	say("bind", bind(l, (struct sockaddr *)&a, sizeof(a)));
	say("bind again", bind(l, (struct sockaddr *)&a, sizeof(a)));
	getsockname(l, (struct sockaddr *)&a, &len);
	say("bind in use", bind(c, (struct sockaddr *)&a, sizeof(a)));
	say("connect to bound, not listening", connect(c, (struct sockaddr *)&a, sizeof(a)));
	say("listen", listen(l, 5));
	say("listen again", listen(l, -1));
	say("listen udp", listen(u, 5));
	say("connect a listener", connect(l, (struct sockaddr *)&a, sizeof(a)));
	say("connect", connect(c, (struct sockaddr *)&a, sizeof(a)));
	say("connect again", connect(c, (struct sockaddr *)&a, sizeof(a)));
	say("listen connected", listen(c, 5));
	say("bind connected", bind(c, (struct sockaddr *)&a, sizeof(a)));
	say("sendto connected tcp with an address", sendto(c, "x", 1, 0, (struct sockaddr *)&a, sizeof(a)));
	say("sendmsg connected tcp with an address", sendmsg(c, &m, 0));
	say("connect unspec", connect(c, (struct sockaddr *)&none, sizeof(none)));
	say("connect after unspec", connect(c, (struct sockaddr *)&a, sizeof(a)));
	shutdown(c, SHUT_WR);
	say("sendmsg after shutdown", sendmsg(c, &m, 0));
	say("sendmsg after shutdown, MSG_NOSIGNAL", sendmsg(c, &m, MSG_NOSIGNAL));
	say("sendto after shutdown", sendto(c, "x", 1, 0, (struct sockaddr *)&a, sizeof(a)));
	say("udp too long", sendto(u, calloc(1, 70000), 70000, 0, (struct sockaddr *)&a, sizeof(a)));
	say("udp 65507", sendto(u, calloc(1, 65507), 65507, 0, (struct sockaddr *)&a, sizeof(a)));
	say("udp empty", sendto(u, "", 0, 0, (struct sockaddr *)&a, sizeof(a)));
	say("udp without an address", sendmsg(u, &(struct msghdr){ .msg_iov = &iov, .msg_iovlen = 1 }, 0));
	struct sockaddr_in broadcast = v4("255.255.255.255", 9), own = v4("1.2.3.4", 0), zero = v4("127.0.0.1", 0);
	say("broadcast without the option", connect(u, (struct sockaddr *)&broadcast, sizeof(broadcast)));
	say("bind another's address", bind(u, (struct sockaddr *)&own, sizeof(own)));
	say("sendto port 0", sendto(u, "x", 1, 0, (struct sockaddr *)&zero, sizeof(zero)));
	close(l);
	close(c);
	c = sock(AF_INET, SOCK_STREAM | SOCK_NONBLOCK);
	say("nothing listens, non-blocking", connect(c, (struct sockaddr *)&a, sizeof(a)) < 0 && errno == EINPROGRESS ? 0 : -1);
	close(c);
	say("fastopen unspec", sendto(sock(AF_INET, SOCK_STREAM), "x", 1, MSG_FASTOPEN, (struct sockaddr *)&none, sizeof(none)));
	struct sockaddr_in6 mapped = v6("::ffff:127.0.0.1", 9);
	int six = sock(AF_INET6, SOCK_DGRAM);
	say("connect udp6 to a mapped address", connect(six, (struct sockaddr *)&mapped, sizeof(mapped)));
	say("send to the mapped peer", sendto(six, "x", 1, 0, NULL, 0));
	say("sendto unspec past the mapped peer", sendto(six, "x", 1, 0, (struct sockaddr *)&none, sizeof(none)));
	say("sendto unspec, two bytes", sendto(six, "x", 1, 0, (struct sockaddr *)&none, 2));
	close(six);
	c = sock(AF_INET, SOCK_STREAM);
	say("unreadable on an unconnected socket", sendmsg(c, &(struct msghdr){ .msg_iov = &(struct iovec){ FAR, 5 }, .msg_iovlen = 1 }, MSG_NOSIGNAL));
	close(c);
	c = sock(AF_UNIX, SOCK_DGRAM);
	say("unreadable to nobody", sendmsg(c, &(struct msghdr){ .msg_iov = &(struct iovec){ FAR, 5 }, .msg_iovlen = 1 }, 0));
	say("compat flag, sendto", syscall(SYS_sendto, u, "x", 1, 0x80000000, &a, sizeof(a)));
	say("compat flag, sendmsg", syscall(SYS_sendmsg, -1, &m, 0x80000000));
	say("compat flag, sendmmsg of none", syscall(SYS_sendmmsg, u, NULL, 0, 0x80000000));
	close(c);
	say("bad flags", sendto(u, "x", 1, MSG_OOB, (struct sockaddr *)&a, sizeof(a)));
}

/* To no address means to the one that the socket is bound to; from a group, or to all, nothing can come, and then it is loopback. */
static void no_address(void)
{
	static const char *const from[] = { "127.0.0.1", "127.0.0.2", "224.0.0.1", "255.255.255.255", "127.255.255.255" };
	struct sockaddr_in a, any;
	socklen_t len = sizeof(a);
	char name[64];

	for (size_t i = 0; i < 2 * sizeof(from) / sizeof(from[0]); i++) {
		int type = i % 2 ? SOCK_DGRAM : SOCK_STREAM, l = sock(AF_INET, type), c = sock(AF_INET, type);
		a = v4("127.0.0.1", 0);
		if (bind(l, (struct sockaddr *)&a, sizeof(a)) < 0 || getsockname(l, (struct sockaddr *)&a, &len) < 0)
			exit(77);
		listen(l, 1);
		any = v4("0.0.0.0", ntohs(a.sin_port));
		a = v4(from[i / 2], 0);
		snprintf(name, sizeof(name), "from %s to no address", from[i / 2]);
		say("bind", bind(c, (struct sockaddr *)&a, sizeof(a)));
		if (type == SOCK_DGRAM)
			say(name, sendto(c, "x", 1, 0, (struct sockaddr *)&any, sizeof(any)));
		say(name, connect(c, (struct sockaddr *)&any, sizeof(any)));
		if (getpeername(c, (struct sockaddr *)&a, &len) == 0)
			printf("to %s\n", inet_ntoa(a.sin_addr));
		say("came", type == SOCK_DGRAM ? recv(l, name, 1, MSG_DONTWAIT) : 0);
		close(c);
		close(l);
	}
}

/* To no address with a source in a control message: to that source. */
static void no_address_from(void)
{
	static const char *const from[] = { "127.0.0.2", "0.0.0.0" };
	char control[CMSG_SPACE(sizeof(struct in_pktinfo))], came;
	struct sockaddr_in a, any;
	socklen_t len = sizeof(a);

	for (size_t i = 0; i < 4; i++) {
		int l = sock(AF_INET, SOCK_DGRAM), c = sock(AF_INET, SOCK_DGRAM);
		struct in_pktinfo said = { .ipi_spec_dst = v4(from[i / 2], 0).sin_addr };
		struct msghdr m = { .msg_name = &any, .msg_namelen = sizeof(any), .msg_iov = &(struct iovec){ "x", 1 }, .msg_iovlen = 1,
				    .msg_control = control, .msg_controllen = sizeof(control) };
		struct cmsghdr *h = CMSG_FIRSTHDR(&m);
		a = v4(i % 2 ? "127.0.0.1" : "127.0.0.2", 0);
		if (bind(l, (struct sockaddr *)&a, sizeof(a)) < 0 || getsockname(l, (struct sockaddr *)&a, &len) < 0)
			exit(77);
		any = v4("0.0.0.0", ntohs(a.sin_port));
		*h = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof(said)), .cmsg_level = IPPROTO_IP, .cmsg_type = IP_PKTINFO };
		memcpy(CMSG_DATA(h), &said, sizeof(said));
		a = v4("127.0.0.3", 0);
		say("bind", bind(c, (struct sockaddr *)&a, sizeof(a)));
		say("from a control message's source to no address", sendmsg(c, &m, 0));
		say("came", recv(l, &came, 1, MSG_DONTWAIT));
		close(c);
		close(l);
	}
}

static void paths(void)
{
	struct sockaddr_un un;
	int l = sock(AF_UNIX, SOCK_STREAM), d = sock(AF_UNIX, SOCK_DGRAM), c = sock(AF_UNIX, SOCK_STREAM);
	char name[64], long_name[109];
	static const char *const bad[] = { "none.sock", "none/x", "file", "file/x", "dir", "dir/", "loop", "dangling", "dgram.sock",
					   ".", "..", "/", "closed/x" };

	close(open("file", O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
	mkdir("dir", 0755);
	symlink("loop", "loop");
	symlink("nowhere", "dangling");
	say("bind", bind(l, (struct sockaddr *)&un, local(&un, "stream.sock")));
	say("bind twice", bind(l, (struct sockaddr *)&un, local(&un, "other.sock")));
	say("connect, not listening", connect(c, (struct sockaddr *)&un, local(&un, "stream.sock")));
	listen(l, 0);
	say("bind dgram", bind(d, (struct sockaddr *)&un, local(&un, "dgram.sock")));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		int s = sock(AF_UNIX, SOCK_STREAM), b = sock(AF_UNIX, SOCK_STREAM), g = sock(AF_UNIX, SOCK_DGRAM);
		snprintf(name, sizeof(name), "connect %s", bad[i]);
		say(name, connect(s, (struct sockaddr *)&un, local(&un, bad[i])));
		snprintf(name, sizeof(name), "bind %s", bad[i]);
		say(name, bind(b, (struct sockaddr *)&un, local(&un, bad[i])));
		unlink("none.sock");
		snprintf(name, sizeof(name), "sendto %s", bad[i]);
		say(name, sendto(g, "x", 1, 0, (struct sockaddr *)&un, local(&un, bad[i])));
		close(s);
		close(b);
		close(g);
	}
	int s = sock(AF_UNIX, SOCK_SEQPACKET);
	say("connect of another type", connect(s, (struct sockaddr *)&un, local(&un, "stream.sock")));
	say("connect", connect(c, (struct sockaddr *)&un, local(&un, "stream.sock")));
	fcntl(c, F_SETFL, O_NONBLOCK);
	say("connect again, non-blocking", connect(c, (struct sockaddr *)&un, local(&un, "stream.sock")));
	int n = sock(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK);
	say("queue full, non-blocking", connect(n, (struct sockaddr *)&un, local(&un, "stream.sock")));
	say("sendto on a stream with an address", sendto(c, "x", 1, 0, (struct sockaddr *)&un, local(&un, "dgram.sock")));
	say("sendto dgram", sendto(sock(AF_UNIX, SOCK_DGRAM), "x", 1, 0, (struct sockaddr *)&un, local(&un, "dgram.sock")));
	memset(long_name, 'n', 108);
	memcpy(&un, &(struct sockaddr_un){ .sun_family = AF_UNIX }, sizeof(un));
	memcpy(un.sun_path, long_name, 108);
	say("108 bytes, no NUL", bind(s, (struct sockaddr *)&un, sizeof(un)));
	static const char *const made[] = { "stream.sock", "dgram.sock", "file", "loop", "dangling" };
	for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++)
		unlink(made[i]);
	long_name[108] = '\0';
	unlink(long_name);
	rmdir("dir");
}

/* Sockets whose addresses no rule speaks of, as far as "default allow" gives them. */
static void others(void)
{
	static const struct {
		const char *name;
		int domain, type, protocol;
	} kinds[] = {
		{ "raw icmp", AF_INET, SOCK_RAW, IPPROTO_ICMP },   { "raw tcp", AF_INET, SOCK_RAW, IPPROTO_TCP },
		{ "raw icmpv6", AF_INET6, SOCK_RAW, IPPROTO_ICMPV6 }, { "raw raw", AF_INET, SOCK_RAW, IPPROTO_RAW },
		{ "ping", AF_INET, SOCK_DGRAM, IPPROTO_ICMP },	   { "route", AF_NETLINK, SOCK_RAW, 0 },
		{ "sock_diag", AF_NETLINK, SOCK_DGRAM, 4 },	   { "raw 0", AF_INET, SOCK_RAW, 0 },
	};
	static const int families[] = { AF_UNSPEC, AF_UNIX, AF_INET, AF_INET6, AF_NETLINK, 77 };
	static const int len[] = { 0, 1, 2, 8, 12, 16, 28, 128, 129 };
	char name[96], to[256];

	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		int s = socket(kinds[k].domain, kinds[k].type | SOCK_CLOEXEC, kinds[k].protocol);
		say(kinds[k].name, s < 0 ? -1 : 0);
		for (size_t i = 0; s >= 0 && i < sizeof(families) / sizeof(families[0]) * (sizeof(len) / sizeof(len[0])); i++) {
			struct sockaddr_in a = v4("127.0.0.1", 0);
			int n = len[i % (sizeof(len) / sizeof(len[0]))], family = families[i / (sizeof(len) / sizeof(len[0]))];
			memset(to, 0, sizeof(to));
			memcpy(to, &a, family == AF_INET || family == AF_UNSPEC ? sizeof(a) : 0);
			memcpy(to, &(sa_family_t){ (sa_family_t)family }, sizeof(sa_family_t));
			snprintf(name, sizeof(name), "%s connect family %d len %d", kinds[k].name, family, n);
			say(name, syscall(SYS_connect, s, to, n));
			snprintf(name, sizeof(name), "%s sendto family %d len %d", kinds[k].name, family, n);
			say(name, syscall(SYS_sendto, s, "x", 1, MSG_DONTWAIT, to, n));
			struct iovec iov = { "x", 1 };
			struct msghdr m = { .msg_name = to, .msg_namelen = (socklen_t)n, .msg_iov = &iov, .msg_iovlen = 1 };
			snprintf(name, sizeof(name), "%s sendmsg family %d len %d", kinds[k].name, family, n);
			say(name, sendmsg(s, &m, MSG_DONTWAIT));
			snprintf(name, sizeof(name), "%s bind family %d len %d", kinds[k].name, family, n);
			say(name, syscall(SYS_bind, s, to, n));
		}
		if (s >= 0)
			say(" listen", listen(s, 1));
		if (s >= 0)
			say(" no address", sendmsg(s, &(struct msghdr){ .msg_iov = &(struct iovec){ "x", 1 }, .msg_iovlen = 1 }, MSG_DONTWAIT));
		close(s);
	}
}

#define WORDS (1024 * 1024)

/* Takes what comes only when the sender's buffers are full. Its status is 1 where a word is not the next one. */
static pid_t slow_reader(int s)
{
	static uint32_t part[16384];
	const struct timespec wait = { .tv_nsec = 300000000 };
	uint32_t next = 0;
	bool same = true;
	ssize_t n;
	pid_t pid = fork();

	if (pid)
		return pid;
	nanosleep(&wait, NULL);
	while ((n = recv(s, part, sizeof(part), MSG_WAITALL)) > 0) {
		for (ssize_t i = 0; i < n / (ssize_t)sizeof(part[0]); i++)
			same = part[i] == next++ && same;
	}
	_exit(!same || next != WORDS);
}

/* How many calls the kernel says it has done with, when it has told of N or says no more. */
static long calls_done(int s, long n)
{
	char room[256];
	long done = 0;

	while (done < n && poll(&(struct pollfd){ .fd = s }, 1, 5000) > 0) {
		struct msghdr m = { .msg_control = room, .msg_controllen = sizeof(room) };
		if (recvmsg(s, &m, MSG_ERRQUEUE | MSG_DONTWAIT) < 0 || !CMSG_FIRSTHDR(&m))
			break;
		const struct sock_extended_err *e = (const void *)CMSG_DATA(CMSG_FIRSTHDR(&m));
		done = e->ee_data + 1L;
	}
	return done;
}

/* A large message without a copy: what arrives, and how many calls the kernel counts. */
static void zerocopy(void)
{
	struct sockaddr_in in = v4("127.0.0.1", 0);
	socklen_t len = sizeof(in);
	uint32_t *words = malloc(WORDS * sizeof(words[0]));
	struct iovec iov = { words, WORDS * sizeof(words[0]) };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };
	int on = 1, status = -1, l = sock(AF_INET, SOCK_STREAM), s = sock(AF_INET, SOCK_STREAM);

	for (uint32_t i = 0; words && i < WORDS; i++)
		words[i] = i;
	say("listener", bind(l, (void *)&in, sizeof(in)) || listen(l, 1) || getsockname(l, (void *)&in, &len));
	say("SO_ZEROCOPY", setsockopt(s, SOL_SOCKET, SO_ZEROCOPY, &on, sizeof(on)));
	say("connect", connect(s, (void *)&in, sizeof(in)));
	int peer = accept4(l, NULL, NULL, SOCK_CLOEXEC);
	fflush(stdout);
	pid_t pid = slow_reader(peer);
	close(peer);
	say("sendmsg without a copy", sendmsg(s, &m, MSG_ZEROCOPY));
	shutdown(s, SHUT_WR);
	waitpid(pid, &status, 0);
	say("what arrives is another", status);
	say("calls that are done", calls_done(s, 1));
	close(l);
	close(s);
	free(words);
}

/* The first of a process has its number, the next one another; one that has a number keeps it. */
static void netlink_numbers(void)
{
	struct sockaddr_nl any = { .nl_family = AF_NETLINK }, got;
	int s[3];

	for (int i = 0; i < 3; i++) {
		socklen_t len = sizeof(got);

		s[i] = sock(AF_NETLINK, SOCK_RAW);
		say("bind of netlink to any number", bind(s[i], (struct sockaddr *)&any, sizeof(any)));
		getsockname(s[i], (struct sockaddr *)&got, &len);
		say("its number is the process's", got.nl_pid == (uint32_t)getpid());
		say("bind to any number again", bind(s[i], (struct sockaddr *)&any, sizeof(any)));
		say("a short address", bind(s[i], (struct sockaddr *)&any, sizeof(any) - 1));
	}
	for (int i = 0; i < 3; i++)
		close(s[i]);
}

static void netlink_says(const char *how, int s)
{
	struct sockaddr_nl got = { 0 };
	socklen_t len = sizeof(got);

	getsockname(s, (struct sockaddr *)&got, &len);
	printf("%s: ", how);
	say("its number is the process's", got.nl_pid == (uint32_t)getpid());
	say("its groups", got.nl_groups);
	close(s);
}

/* A socket that connects or sends before it was bound has a number from there on. */
static void netlink_unbound(void)
{
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	struct nlmsghdr noop = { .nlmsg_len = sizeof(noop), .nlmsg_type = NLMSG_NOOP };
	struct iovec iov = { &noop, sizeof(noop) };
	struct msghdr m = { .msg_name = &kernel, .msg_namelen = sizeof(kernel), .msg_iov = &iov, .msg_iovlen = 1 };
	char buf[CMSG_SPACE(sizeof(struct ucred))] = { 0 };
	int s = sock(AF_NETLINK, SOCK_RAW);

	say("netlink connect", connect(s, (struct sockaddr *)&kernel, sizeof(kernel)));
	netlink_says("connect", s);
	s = sock(AF_NETLINK, SOCK_RAW);
	say("a group", setsockopt(s, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &(int){ 1 }, sizeof(int)));
	say("netlink sendto", sendto(s, &noop, sizeof(noop), 0, (struct sockaddr *)&kernel, sizeof(kernel)));
	netlink_says("sendto", s);
	for (pid_t pid = 1; pid > 0; pid = pid == 1 ? getpid() : 0) {
		struct ucred who = { .pid = pid, .uid = getuid(), .gid = getgid() };

		m.msg_control = buf;
		m.msg_controllen = sizeof(buf);
		*CMSG_FIRSTHDR(&m) =
			(struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof(who)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_CREDENTIALS };
		memcpy(CMSG_DATA(CMSG_FIRSTHDR(&m)), &who, sizeof(who));
		s = sock(AF_NETLINK, SOCK_RAW);
		say(pid == 1 ? "another's credentials" : "own credentials", sendmsg(s, &m, 0));
		if (pid != 1)
			netlink_says("sendmsg", s);
		else
			close(s);
	}
}

int main(void)
{
	struct sigaction sa = { .sa_handler = on_pipe };

	sigaction(SIGPIPE, &sa, NULL);
	setvbuf(stdout, NULL, _IOFBF, 1 << 16);
	families();
	descriptors();
	unreadable();
	streams_unreadable();
	streams_cut();
	control();
	states();
	no_address();
	no_address_from();
	paths();
	others();
	zerocopy();
	netlink_numbers();
	netlink_unbound();
	return 0;
}
