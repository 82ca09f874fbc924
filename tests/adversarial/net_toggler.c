/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Escapes rows 1, 15, 65 and 68: an address changes between the decision and the use.
 *
 * Two listeners of each kind, one denied by rule. A thread of the attacker flips the address in memory (for the unix link: the
 * link is flipped on disk) while the main thread connects or sends. Natively the denied listener is reached;
 * under usher it must never be, and the other one must be.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "race.h"

enum how { CONNECT, FASTOPEN, SENDTO, SENDMSG, SENDMMSG };

struct attack {
	const char *name;
	int domain, type;
	enum how how;
	bool link; /* the address stays, what it leads to is flipped by the tester */
};

static const struct attack attacks[] = {
	{ "connect", AF_INET, SOCK_STREAM, CONNECT, false },
	{ "connect-v6", AF_INET6, SOCK_STREAM, CONNECT, false },
	{ "fastopen", AF_INET, SOCK_STREAM, FASTOPEN, false },
	{ "sendto", AF_INET, SOCK_DGRAM, SENDTO, false },
	{ "sendmsg", AF_INET, SOCK_DGRAM, SENDMSG, false },
	{ "sendmmsg", AF_INET, SOCK_DGRAM, SENDMMSG, false },
	{ "unix-connect", AF_UNIX, SOCK_STREAM, CONNECT, false },
	{ "unix-sendto", AF_UNIX, SOCK_DGRAM, SENDTO, false },
	{ "unix-sendmsg", AF_UNIX, SOCK_DGRAM, SENDMSG, false },
	{ "unix-link", AF_UNIX, SOCK_STREAM, CONNECT, true },
};
#define N_ATTACKS (sizeof(attacks) / sizeof(attacks[0]))

struct target {
	union {
		struct sockaddr sa;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
		struct sockaddr_un un;
		struct sockaddr_storage ss;
	};
	socklen_t len;
};

static char dir[64];

/* --- the attacker --- */

struct flipping {
	struct target *at;
	struct target a, b;
	atomic_bool stop;
};

/* Only the bytes that differ are written, in one store where they are a port. */
static void *flip(void *arg)
{
	struct flipping *f = arg;

	for (unsigned i = 0; !atomic_load_explicit(&f->stop, memory_order_relaxed); i++) {
		const struct target *t = i & 1 ? &f->b : &f->a;
		if (t->sa.sa_family == AF_UNIX)
			*(volatile char *)&f->at->un.sun_path[strlen(t->un.sun_path) - 1] =
				t->un.sun_path[strlen(t->un.sun_path) - 1];
		else
			*(volatile in_port_t *)&f->at->in.sin_port = t->in.sin_port; /* the same place for IPv6 */
		for (volatile unsigned spin = 0; spin < 20 + i % 700; spin++)
			;
	}
	return NULL;
}

static void send_once(int s, enum how how, struct target *t, const struct target *good)
{
	struct target safe = *good;
	struct iovec iov = { "x", 1 };
	struct mmsghdr m[2] = {
		{ .msg_hdr = { .msg_name = &safe.sa, .msg_namelen = safe.len, .msg_iov = &iov, .msg_iovlen = 1 } },
		{ .msg_hdr = { .msg_name = &t->sa, .msg_namelen = t->len, .msg_iov = &iov, .msg_iovlen = 1 } },
	};

	if (how == SENDTO)
		(void)!sendto(s, "x", 1, 0, &t->sa, t->len);
	else if (how == SENDMSG)
		(void)!sendmsg(s, &m[1].msg_hdr, 0);
	else
		(void)!sendmmsg(s, m, 2, 0);
}

static void connect_once(const struct attack *a, struct target *t)
{
	struct linger hard = { .l_onoff = 1 };
	int s = socket(a->domain, a->type | SOCK_CLOEXEC, 0);

	if (s < 0)
		return;
	setsockopt(s, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard)); /* no TIME_WAIT */
	if (a->how == FASTOPEN)
		(void)!sendto(s, "x", 1, MSG_FASTOPEN | MSG_NOSIGNAL, &t->sa, t->len);
	else
		(void)!connect(s, &t->sa, t->len);
	close(s);
}

static int attacker(const struct attack *a, int tries, struct target *good, struct target *bad)
{
	struct target *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct flipping f = { .at = shared, .a = *good, .b = *bad };
	pthread_t thread;

	if (shared == MAP_FAILED)
		return 1;
	*shared = *good;
	if (a->link)
		snprintf(shared->un.sun_path, sizeof(shared->un.sun_path), "%s/link", dir);
	else if (pthread_create(&thread, NULL, flip, &f))
		return 1;
	int s = socket(a->domain, a->type | SOCK_CLOEXEC, 0);
	for (int i = 0; race_on(i, tries); i++) {
		if (a->how == CONNECT || a->how == FASTOPEN)
			connect_once(a, shared);
		else
			send_once(s, a->how, shared, good);
	}
	atomic_store(&f.stop, true);
	if (!a->link)
		pthread_join(thread, NULL);
	return 0;
}

/* --- the tester --- */

struct servers {
	int fd[2];
	int type;
	atomic_long seen[2];
	atomic_bool stop;
	bool link;
};

static void drain(struct servers *s, int i)
{
	char c;

	if (s->type == SOCK_DGRAM) {
		while (recv(s->fd[i], &c, 1, MSG_DONTWAIT) >= 0)
			atomic_fetch_add(&s->seen[i], 1);
		return;
	}
	for (int fd; (fd = accept4(s->fd[i], NULL, NULL, SOCK_NONBLOCK)) >= 0; close(fd))
		atomic_fetch_add(&s->seen[i], 1);
}

static void *serve(void *arg)
{
	struct servers *s = arg;
	struct pollfd p[2] = { { .fd = s->fd[0], .events = POLLIN }, { .fd = s->fd[1], .events = POLLIN } };

	while (!atomic_load(&s->stop)) {
		if (poll(p, 2, 50) <= 0)
			continue;
		drain(s, 0);
		drain(s, 1);
	}
	drain(s, 0);
	drain(s, 1);
	return NULL;
}

static void *swap_link(void *arg)
{
	struct servers *s = arg;
	char next[128], link[128];

	snprintf(next, sizeof(next), "%s/next", dir);
	snprintf(link, sizeof(link), "%s/link", dir);
	for (unsigned i = 0; !atomic_load(&s->stop); i++) {
		if (symlink(i & 1 ? "sock.b" : "sock.a", next) == 0 && rename(next, link) < 0)
			unlink(next);
	}
	return NULL;
}

static int listener(const struct attack *a, int which, struct target *t)
{
	int s = socket(a->domain, a->type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), qlen = 64;

	memset(t, 0, sizeof(*t));
	t->sa.sa_family = (sa_family_t)a->domain;
	if (a->domain == AF_UNIX) {
		snprintf(t->un.sun_path, sizeof(t->un.sun_path), "%s/sock.%c", dir, 'a' + which);
		unlink(t->un.sun_path);
		t->len = sizeof(t->un);
	} else if (a->domain == AF_INET6) {
		t->in6.sin6_addr = in6addr_loopback;
		t->len = sizeof(t->in6);
	} else {
		t->in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		t->len = sizeof(t->in);
	}
	if (s < 0 || bind(s, &t->sa, t->len) < 0)
		return -1;
	if (a->type == SOCK_STREAM && listen(s, 512) < 0)
		return -1;
	if (a->how == FASTOPEN)
		setsockopt(s, IPPROTO_TCP, 23 /* TCP_FASTOPEN */, &qlen, sizeof(qlen));
	socklen_t len = sizeof(t->ss);
	if (a->domain != AF_UNIX)
		getsockname(s, &t->sa, &len);
	return s;
}

static void write_rules(const char *path, const struct attack *a, const struct target *bad)
{
	FILE *f = fopen(path, "w");

	if (!f)
		exit(1);
	fprintf(f, "default allow\n");
	if (a->domain == AF_UNIX)
		fprintf(f, "deny net unix:%s\n", bad->un.sun_path);
	else if (a->domain == AF_INET6)
		fprintf(f, "deny net tcp:[::1]:%u\n", ntohs(bad->in6.sin6_port));
	else
		fprintf(f, "deny net %s:127.0.0.1:%u\n", a->type == SOCK_STREAM ? "tcp" : "udp", ntohs(bad->in.sin_port));
	fclose(f);
}

static void hex(const struct target *t, char *out)
{
	for (size_t i = 0; i < sizeof(*t); i++)
		sprintf(out + 2 * i, "%02x", ((const unsigned char *)t)[i]);
}

static void unhex(const char *in, struct target *t)
{
	for (size_t i = 0; i < sizeof(*t); i++)
		sscanf(in + 2 * i, "%2hhx", (unsigned char *)t + i);
}

/* Runs the attacker, natively without RULES. */
static bool run(const char *usher, const char *rules, size_t which, int tries, const struct target t[2])
{
	char index[16], count[16], good[2 * sizeof(*t) + 1], bad[2 * sizeof(*t) + 1];
	char self[512] = { 0 };
	int status = -1;

	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		return false;
	snprintf(index, sizeof(index), "%zu", which);
	snprintf(count, sizeof(count), "%d", tries);
	hex(&t[0], good);
	hex(&t[1], bad);
	pid_t pid = fork();
	if (!pid) {
		char *const native[] = { self, index, count, good, bad, dir, NULL };
		char *const under[] = { (char *)(uintptr_t)usher, "run", "-p", (char *)(uintptr_t)rules, "--ask=deny", "--",
					self, index, count, good, bad, dir, NULL };
		execv(rules ? usher : self, rules ? under : native);
		_exit(127);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

static bool trial(const char *usher, const char *rules, size_t which, int tries, struct servers *s,
		  const struct target t[2])
{
	pthread_t server, swapper;
	bool link = attacks[which].link;

	atomic_store(&s->stop, false);
	atomic_store(&s->seen[0], 0);
	atomic_store(&s->seen[1], 0);
	if (pthread_create(&server, NULL, serve, s))
		return false;
	if (link && pthread_create(&swapper, NULL, swap_link, s))
		return false;
	bool ran = run(usher, rules, which, tries, t);
	atomic_store(&s->stop, true);
	pthread_join(server, NULL);
	if (link)
		pthread_join(swapper, NULL);
	return ran;
}

static bool test(const char *usher, size_t which, int tries)
{
	const struct attack *a = &attacks[which];
	char rules[128];
	struct target t[2];
	struct servers s = { .type = a->type };

	s.fd[0] = listener(a, 0, &t[0]);
	s.fd[1] = listener(a, 1, &t[1]);
	if (s.fd[0] < 0 || s.fd[1] < 0) {
		printf("skip %s: no such sockets here\n", a->name);
		return true;
	}
	snprintf(rules, sizeof(rules), "%s/rules", dir);
	write_rules(rules, a, &t[1]);
	bool ran = true;
	long reached = 0;
	for (int round = 0; round < 20 && ran && !reached; round++) {
		ran = trial(usher, NULL, which, 3000, &s, t);
		reached = atomic_load(&s.seen[1]);
	}
	printf("%s %s control: the denied listener is reached natively\n", ran && reached > 0 ? "ok" : "not ok", a->name);
	bool good = ran && reached > 0;
	ran = trial(usher, rules, which, tries, &s, t);
	bool held = ran && !atomic_load(&s.seen[1]) && atomic_load(&s.seen[0]);
	printf("%s %s: %ld allowed, %ld denied arrived of %d tries\n", held ? "ok" : "not ok", a->name,
	       atomic_load(&s.seen[0]), atomic_load(&s.seen[1]), tries);
	close(s.fd[0]);
	close(s.fd[1]);
	return good && held;
}

int main(int argc, char **argv)
{
	const char *usher = getenv("USHER"), *tries = getenv("TRIES"), *quick = getenv("QUICK");
	bool good = true;

	if (argc == 6) {
		struct target g, b;
		unhex(argv[3], &g);
		unhex(argv[4], &b);
		snprintf(dir, sizeof(dir), "%s", argv[5]);
		return attacker(&attacks[atoi(argv[1]) % (int)N_ATTACKS], atoi(argv[2]), &g, &b);
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!usher) {
		printf("skip net_toggler: USHER is not set\n");
		return 77;
	}
	strcpy(dir, "/tmp/net-toggler.XXXXXX");
	if (!mkdtemp(dir) || chmod(dir, 0755) < 0)
		return 1;
	int n = tries ? atoi(tries) : quick ? 3000 : 100000;
	for (size_t i = 0; i < N_ATTACKS; i++)
		good &= test(usher, i, n);
	static const char *const left[] = { "sock.a", "sock.b", "link", "next", "rules" };
	for (size_t i = 0; i < sizeof(left) / sizeof(left[0]); i++) {
		char path[128];
		snprintf(path, sizeof(path), "%s/%s", dir, left[i]);
		unlink(path);
	}
	rmdir(dir);
	return good ? 0 : 1;
}
