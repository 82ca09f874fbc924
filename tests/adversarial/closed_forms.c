/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows 3, 14, 34, 35, 37, 46, 62 and 65 to 71: one attack at least for each, on files and addresses that the rules close. The rules
 * are those of rules_for(); a process outside listens, and gives away a descriptor of the secret,
 * and a fanotify group.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <linux/in6.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/fanotify.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>

#include "probe.h"
#include "race.h"

#ifndef IPV6_FLOWLABEL_MGR /* older headers hide it behind those of the C library */
#define IPV6_FLOWLABEL_MGR 32
#endif

#ifndef RWF_NOAPPEND
#define RWF_NOAPPEND 0x20
#endif
#define PATIENCE_MS 1000

static int result(bool got)
{
	return got ? WORKED : REFUSED;
}

/* Whether what FD gives is the secret. Closes FD. */
static bool secret(int fd)
{
	char text[8] = { 0 };
	ssize_t n = fd < 0 ? -1 : read(fd, text, 6);

	if (fd >= 0)
		close(fd);
	return n == 6 && memcmp(text, "SECRET", 6) == 0;
}

/* --- memory --- */

/* The kernel says EFAULT; /proc/self/mem does not, so that who reads names there is taken in. */
static int unreadable_name(void)
{
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), copy[16] = { 0 };
	int mem = open("/proc/self/mem", O_RDONLY);

	if (page == MAP_FAILED || mem < 0)
		return IMPOSSIBLE;
	strcpy(page, "fair");
	mprotect(page, 4096, PROT_NONE);
	if (!getenv("SUPERVISED"))
		return pread(mem, copy, 5, (off_t)(uintptr_t)page) == 5 && open(copy, O_RDONLY) >= 0 ? WORKED : REFUSED;
	return result(open(page, O_RDONLY) >= 0 || errno != EFAULT);
}

static char *name;
static atomic_bool stop;

static void *restore(void *arg)
{
	while (!atomic_load_explicit(&stop, memory_order_relaxed))
		memcpy(name, "asked", 6);
	return arg;
}

/* Who rewrites by writing the new name into the caller's memory is undone by another thread. */
static int rewritten_name(void)
{
	double end = race_clock() + race_seconds(getenv("QUICK") ? 0.2 : 1);
	bool got = false;
	pthread_t t;

	name = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	strcpy(name, "asked");
	if (pthread_create(&t, NULL, restore, NULL) != 0)
		return IMPOSSIBLE;
	while (!got && race_clock() < end)
		got = secret(open(name, O_RDONLY));
	atomic_store(&stop, true);
	pthread_join(t, NULL);
	return result(got);
}

/* --- what must look absent --- */

static bool lists(const char *entry)
{
	DIR *d = opendir(".");
	struct dirent *e;
	bool got = false;

	while (d && (e = readdir(d)))
		got |= strcmp(e->d_name, entry) == 0;
	if (d)
		closedir(d);
	return got;
}

static int listed(void)
{
	return result(lists("hidden"));
}

static int listed_by_link(void)
{
	return result(lists("also"));
}

/* Entries as getdents, the older one, gives them. */
static int listed_by_link_of_old(void)
{
#ifdef SYS_getdents
	char list[8192];
	int fd = open(".", O_RDONLY | O_DIRECTORY);
	long n = syscall(SYS_getdents, fd, list, sizeof(list));
	bool got = false;

	for (long at = 0; at < n; at += *(unsigned short *)(void *)(list + at + 16))
		got |= strcmp(list + at + 18, "also") == 0;
	close(fd);
	return result(got);
#else
	return IMPOSSIBLE;
#endif
}

/* A directory's number, given to another one by turns. */
struct turns {
	int number, dir[2];
	atomic_bool stop;
};

static void *take_turns(void *arg)
{
	struct turns *t = arg;

	for (unsigned i = 0; !atomic_load(&t->stop); i++)
		dup2(t->dir[i & 1], t->number);
	return NULL;
}

static bool lists_hidden(int dir)
{
	struct {
		uint64_t ino, off;
		unsigned short len;
		unsigned char type;
		char name[];
	} *e;
	char list[4096] __attribute__((aligned(8)));
	long n = syscall(SYS_getdents64, dir, list, sizeof(list));
	bool got = false;

	for (long at = 0; at < n; at += e->len) {
		e = (void *)(list + at);
		got |= strcmp(e->name, "hidden") == 0;
	}
	return got;
}

static int listed_by_turns(void)
{
	struct turns t = { .dir = { open(".", O_RDONLY | O_DIRECTORY), open("/", O_RDONLY | O_DIRECTORY) } };
	double end = race_clock() + race_seconds(2);
	pthread_t thread;
	bool got = false;

	t.number = dup(t.dir[0]);
	if (t.number < 0 || t.dir[1] < 0 || pthread_create(&thread, NULL, take_turns, &t) != 0)
		return IMPOSSIBLE;
	while (!got && race_clock() < end) {
		lseek(t.dir[0], 0, SEEK_SET);
		lseek(t.dir[1], 0, SEEK_SET);
		got = lists_hidden(t.number);
	}
	atomic_store(&t.stop, true);
	pthread_join(thread, NULL);
	return result(got);
}

static int watched(void)
{
	int fd = inotify_init1(IN_CLOEXEC);

	return result(inotify_add_watch(fd, "hidden", IN_ALL_EVENTS) >= 0);
}

static int looked_at(void)
{
	struct stat st;
	char text[64];

	return result(stat("hidden", &st) == 0 || access("hidden", F_OK) == 0 || readlink("hidden", text, sizeof(text)) >= 0 || errno == EINVAL);
}

/* --- descriptors --- */

static bool is_changed(void)
{
	char text[8] = { 0 };
	int fd = open("locked", O_RDONLY);

	return read(fd, text, 3) != 3 || memcmp(text, "old", 3) != 0;
}

static int not_appended(void)
{
	struct iovec v = { (void *)(uintptr_t)"new", 3 };
	int fd = open("locked", O_WRONLY | O_APPEND);

	if (fd >= 0 && syscall(SYS_pwritev2, fd, &v, 1, 0, 0, RWF_NOAPPEND) != 3 && (fcntl(fd, F_SETFL, 0) < 0 || write(fd, "new", 3) != 3))
		return REFUSED;
	return result(is_changed());
}

static int by_copies(void)
{
	int from = open("fair", O_RDONLY), to = open("locked", O_RDWR), p[2];

	if (from < 0 || pipe(p) < 0)
		return IMPOSSIBLE;
	(void)!ftruncate(to, 0);
	(void)!copy_file_range(from, NULL, to, NULL, 3, 0);
	(void)!sendfile(to, from, NULL, 3);
	(void)!splice(from, NULL, p[1], NULL, 3, SPLICE_F_NONBLOCK);
	(void)!splice(p[0], NULL, to, NULL, 3, SPLICE_F_NONBLOCK);
	return result(is_changed());
}

static int by_mapping(void)
{
	int fd = open("locked", O_RDWR);
	char *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (at == MAP_FAILED)
		return REFUSED;
	memcpy(at, "new", 3);
	return result(is_changed());
}

/* What the process outside gives to who connects to GIVER, or -1. */
static int from_outside(const char *giver)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), fd = -1;
	char byte, space[CMSG_SPACE(sizeof(int))];
	struct iovec v = { &byte, 1 };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof(space) };

	strcpy(at.sun_path, giver);
	if (connect(s, (struct sockaddr *)&at, sizeof(at)) < 0 || recvmsg(s, &m, 0) != 1)
		return -1;
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	if (c && c->cmsg_type == SCM_RIGHTS)
		memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	return fd;
}

static int given(void)
{
	return result(secret(from_outside("donor")));
}

/* A group that nobody inside can have made. */
static int marked(void)
{
	int group = from_outside("watcher");

	return group < 0 ? IMPOSSIBLE : result(fanotify_mark(group, FAN_MARK_ADD, FAN_OPEN, AT_FDCWD, "hidden") == 0);
}

static int core_dump(void)
{
	char pattern[128] = "";
	struct rlimit l;
	int in = open("/proc/sys/kernel/core_pattern", O_RDONLY), status;

	if (in < 0 || read(in, pattern, sizeof(pattern) - 1) <= 0 || strchr("|/", pattern[0]))
		return IMPOSSIBLE;
	getrlimit(RLIMIT_CORE, &l);
	l.rlim_cur = l.rlim_max;
	setrlimit(RLIMIT_CORE, &l);
	int pid = fork();
	if (pid == 0) {
		prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
		abort();
	}
	waitpid(pid, &status, 0);
	return result(WIFSIGNALED(status) && WCOREDUMP(status));
}

/* --- addresses --- */

static in_port_t port(void)
{
	return htons((in_port_t)atoi(getenv("PORT")));
}

static int met(int domain, const void *to, socklen_t len)
{
	int s = socket(domain, SOCK_STREAM | SOCK_CLOEXEC, 0), rc = connect(s, to, len);

	close(s);
	return rc;
}

static int mapped(void)
{
	struct sockaddr_in6 to = { .sin6_family = AF_INET6, .sin6_port = port() };

	inet_pton(AF_INET6, "::ffff:127.0.0.1", &to.sin6_addr);
	return verdict(met(AF_INET6, &to, sizeof(to)));
}

static int anywhere(void)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = port() };

	return verdict(met(AF_INET, &to, sizeof(to)));
}

/* A loose source route: the datagram goes to 127.0.0.2 first. */
static int detour(void)
{
	const unsigned char route[] = { 131, 7, 4, 127, 0, 0, 2, 0 };
	int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), rc = setsockopt(s, IPPROTO_IP, IP_OPTIONS, route, sizeof(route));

	close(s);
	return result(rc == 0);
}

static int joins(int family, int level, int option, const void *group, size_t len)
{
	int s = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0), rc = setsockopt(s, level, option, group, (socklen_t)len);

	close(s);
	return rc == 0;
}

/* The kernel says on the network which groups are joined: here on the loopback alone. */
static int groups(void)
{
	const struct sockaddr_in group = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(0xef010203) };
	const struct in_addr here = { htonl(INADDR_LOOPBACK) };
	const struct ip_mreq one = { group.sin_addr, here };
	const struct ip_mreq_source by = { .imr_multiaddr = group.sin_addr, .imr_interface = here, .imr_sourceaddr = here };
	struct group_req any = { .gr_interface = 1 };
	struct group_source_req any_by = { .gsr_interface = 1 };

	memcpy(&any.gr_group, &group, sizeof(group));
	memcpy(&any_by.gsr_group, &group, sizeof(group));
	any_by.gsr_source = any.gr_group;
	((struct sockaddr_in *)&any_by.gsr_source)->sin_addr = here;
	return result(joins(AF_INET, IPPROTO_IP, IP_ADD_MEMBERSHIP, &one, sizeof(one)) |
		      joins(AF_INET, IPPROTO_IP, IP_ADD_SOURCE_MEMBERSHIP, &by, sizeof(by)) |
		      joins(AF_INET, IPPROTO_IP, MCAST_JOIN_GROUP, &any, sizeof(any)) |
		      joins(AF_INET, IPPROTO_IP, MCAST_JOIN_SOURCE_GROUP, &any_by, sizeof(any_by)));
}

static int groups6(void)
{
	const struct sockaddr_in6 group = { .sin6_family = AF_INET6, .sin6_addr.s6_addr = { 0xff, 0x11, [14] = 0xbe, [15] = 0xef } };
	const struct sockaddr_in6 here = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	const struct ipv6_mreq one = { group.sin6_addr, 1 };
	struct group_req any = { .gr_interface = 1 };
	struct group_source_req any_by = { .gsr_interface = 1 };

	memcpy(&any.gr_group, &group, sizeof(group));
	memcpy(&any_by.gsr_group, &group, sizeof(group));
	memcpy(&any_by.gsr_source, &here, sizeof(here));
	return result(joins(AF_INET6, IPPROTO_IPV6, IPV6_ADD_MEMBERSHIP, &one, sizeof(one)) |
		      joins(AF_INET6, IPPROTO_IPV6, MCAST_JOIN_GROUP, &any, sizeof(any)) |
		      joins(AF_INET6, IPPROTO_IPV6, MCAST_JOIN_SOURCE_GROUP, &any_by, sizeof(any_by)));
}

/* What is sent under a label goes by the options that were leased with it. The label alone is anybody's. */
static int detour_of_label(void)
{
	struct {
		struct in6_flowlabel_req label;
		char options[CMSG_SPACE(sizeof(int))];
	} with = { .label = { .flr_dst = IN6ADDR_LOOPBACK_INIT, .flr_action = IPV6_FL_A_GET, .flr_share = IPV6_FL_S_EXCL, .flr_flags = IPV6_FL_F_CREATE } };
	struct in6_flowlabel_req alone = with.label;
	struct cmsghdr class = { .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = IPPROTO_IPV6, .cmsg_type = IPV6_TCLASS };
	int s = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	memcpy(with.options, &class, sizeof(class));
	int fair = setsockopt(s, IPPROTO_IPV6, IPV6_FLOWLABEL_MGR, &alone, sizeof(alone));
	int rc = setsockopt(s, IPPROTO_IPV6, IPV6_FLOWLABEL_MGR, &with, sizeof(with));
	close(s);
	return fair < 0 ? IMPOSSIBLE : result(rc == 0);
}

static int by_name(void)
{
	struct addrinfo *all = NULL, want = { .ai_family = AF_INET, .ai_socktype = SOCK_STREAM };
	int rc = -1;

	if (getaddrinfo("localhost", getenv("PORT"), &want, &all) != 0)
		return IMPOSSIBLE;
	for (struct addrinfo *a = all; a && rc < 0; a = a->ai_next)
		rc = met(AF_INET, a->ai_addr, a->ai_addrlen);
	freeaddrinfo(all);
	return verdict(rc);
}

static int fast_open(void)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = port(), .sin_addr = { htonl(INADDR_LOOPBACK) } };
	int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	return verdict(sendto(s, "x", 1, MSG_FASTOPEN, (struct sockaddr *)&to, sizeof(to)));
}

/* A datagram whose address has no family is delivered all the same; the other side answers. */
static int no_family(void)
{
	struct sockaddr_in to = { .sin_family = AF_UNSPEC, .sin_port = port(), .sin_addr = { htonl(INADDR_LOOPBACK) } };
	int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct pollfd p = { s, POLLIN, 0 };

	if (sendto(s, "x", 1, 0, (struct sockaddr *)&to, sizeof(to)) < 0)
		return REFUSED;
	return result(poll(&p, 1, PATIENCE_MS) == 1);
}

/* The family INET on a datagram socket of INET6. */
static int other_family(void)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = port(), .sin_addr = { htonl(INADDR_LOOPBACK) } };
	int s = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct pollfd p = { s, POLLIN, 0 };

	if (sendto(s, "x", 1, 0, (struct sockaddr *)&to, sizeof(to)) < 0)
		return REFUSED;
	return result(poll(&p, 1, PATIENCE_MS) == 1);
}

static int unbound(void)
{
	return verdict(listen(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), 1));
}

/* Nobody answers there: the socket says afterwards which port it had, and has none. */
static int unbound_again(int family, const void *nobody, socklen_t len)
{
	int s = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (s < 0 || connect(s, nobody, len) == 0 || errno != ECONNREFUSED)
		return IMPOSSIBLE;
	return verdict(listen(s, 1));
}

static int unbound_behind(void)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(1), .sin_addr = { htonl(INADDR_LOOPBACK) } };

	return unbound_again(AF_INET, &to, sizeof(to));
}

static int unbound_behind6(void)
{
	struct sockaddr_in6 to = { .sin6_family = AF_INET6, .sin6_port = htons(1), .sin6_addr = IN6ADDR_LOOPBACK_INIT };

	return unbound_again(AF_INET6, &to, sizeof(to));
}

/* The kernel gives a name to whoever connects and wants to know of others who they are. */
static int unnamed(void)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX, .sun_path = "unheard" };
	int deaf = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;

	unlink("unheard");
	if (bind(deaf, (struct sockaddr *)&to, sizeof(to)) < 0 || setsockopt(s, SOL_SOCKET, SO_PASSCRED, &one, sizeof(one)) < 0 ||
	    connect(s, (struct sockaddr *)&to, sizeof(to)) == 0 || errno != ECONNREFUSED)
		return IMPOSSIBLE;
	unlink("unheard");
	return verdict(listen(s, 1));
}

static int odd_socket(void)
{
	static const int odd[][3] = { { AF_VSOCK, SOCK_STREAM, 0 }, { AF_ALG, SOCK_SEQPACKET, 0 }, { AF_INET, SOCK_STREAM, 262 /* MPTCP */ },
				      { AF_INET, SOCK_STREAM, IPPROTO_SCTP }, { AF_INET, SOCK_RAW, IPPROTO_ICMP }, { AF_PACKET, SOCK_RAW, 0 },
				      { AF_NETLINK, SOCK_RAW, 9 /* audit */ } };
	bool got = false;

	for (unsigned i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		int s = socket(odd[i][0], odd[i][1] | SOCK_CLOEXEC, odd[i][2]);
		got |= s >= 0;
		close(s);
	}
	return result(got);
}

static const struct attack attacks[] = {
	{ "row 3: a name in memory without read permission", unreadable_name, false },
	{ "row 14: a rewritten name is restored in memory", rewritten_name, false },
	{ "row 34: a hidden name is listed", listed, false },
	{ "row 34: a hidden file is listed by an older hard link", listed_by_link, false },
	{ "row 34: a hidden file is listed by an older hard link, with getdents", listed_by_link_of_old, false },
	{ "row 34: a hidden name is listed by a number that is given to another directory meanwhile", listed_by_turns, false },
	{ "row 34: a hidden file is watched", watched, false },
	{ "row 34: a hidden file is looked at", looked_at, false },
	{ "row 34: a hidden file is watched by a group from outside", marked, false },
	{ "row 35: append-only is undone", not_appended, false },
	{ "row 37: copies between descriptors", by_copies, false },
	{ "row 37: a mapping", by_mapping, false },
	{ "row 46: a core dump", core_dump, false },
	{ "row 62: a descriptor from outside", given, false },
	{ "row 65: a source route", detour, false },
	{ "row 65: a source route that comes with a flow label", detour_of_label, false },
	{ "row 65: a group that is joined", groups, false },
	{ "row 65: a group of IPv6 that is joined", groups6, false },
	{ "row 66: no family", no_family, false },
	{ "row 67: an IPv4 address in IPv6", mapped, false },
	{ "row 67: no address", anywhere, false },
	{ "row 67: an IPv4 address on an IPv6 socket", other_family, false },
	{ "row 68: data before the connection", fast_open, false },
	{ "row 69: listen without bind", unbound, false },
	{ "row 69: listen behind a connection that failed", unbound_behind, false },
	{ "row 69: listen behind a connection of IPv6 that failed", unbound_behind6, false },
	{ "row 69: listen under a name that the kernel gave", unnamed, false },
	{ "row 70: other families and protocols", odd_socket, false },
	{ "row 71: the name of a closed address", by_name, false },
};

/* --- outside --- */

/* Gives FD, which is closed then, to who connects to S. */
static void donate(int s, int fd)
{
	char space[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec v = { (void *)(uintptr_t)"x", 1 };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof(space) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	int to = accept(s, NULL, NULL);

	*c = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS };
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	if (fd >= 0)
		(void)!sendmsg(to, &m, MSG_NOSIGNAL);
	close(to);
	if (fd >= 0)
		close(fd);
}

static void answer(int s)
{
	struct sockaddr_in from;
	socklen_t len = sizeof(from);
	char byte;

	if (recvfrom(s, &byte, 1, 0, (struct sockaddr *)&from, &len) >= 0)
		(void)!sendto(s, "y", 1, 0, (struct sockaddr *)&from, len);
}

static _Noreturn void serve(int stream, int datagram, int donor, int watcher)
{
	struct pollfd p[] = { { stream, POLLIN, 0 }, { datagram, POLLIN, 0 }, { donor, POLLIN, 0 }, { watcher, POLLIN, 0 } };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		poll(p, 4, -1);
		if (p[0].revents)
			close(accept(stream, NULL, NULL));
		if (p[1].revents)
			answer(datagram);
		if (p[2].revents)
			donate(donor, open("secret", O_RDONLY));
		if (p[3].revents)
			donate(watcher, fanotify_init(FAN_CLASS_NOTIF | FAN_REPORT_FID, 0));
	}
}

/* A socket FILE in the working directory, to which everybody may connect. */
static int listens(const char *file)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	strcpy(at.sun_path, file);
	return bind(s, (struct sockaddr *)&at, sizeof(at)) < 0 || chmod(file, 0777) < 0 || listen(s, 16) < 0 ? -1 : s;
}

/* Returns the server's number, with its port in the environment; the stage's working directory is where the donor is. */
static int start_server(const struct stage *s)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	int stream = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), datagram = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int donor, watcher;
	socklen_t len = sizeof(at);
	char text[16];

	if (bind(stream, (struct sockaddr *)&at, sizeof(at)) < 0 || listen(stream, 16) < 0 || getsockname(stream, (struct sockaddr *)&at, &len) < 0 ||
	    bind(datagram, (struct sockaddr *)&at, sizeof(at)) < 0 || chdir(s->work) < 0 || (donor = listens("donor")) < 0 ||
	    (watcher = listens("watcher")) < 0)
		return -1;
	snprintf(text, sizeof(text), "%d", ntohs(at.sin_port));
	setenv("PORT", text, 1);
	int pid = fork();
	if (pid == 0)
		serve(stream, datagram, donor, watcher);
	close(stream);
	close(datagram);
	close(donor);
	close(watcher);
	return pid;
}

static bool put(const struct stage *s, const char *file, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", s->work, file);
	FILE *f = fopen(path, "we");
	return f && fputs(text, f) >= 0 && fclose(f) == 0 && (s->uid == 0 || geteuid() != 0 || chown(path, (uid_t)s->uid, (uid_t)s->uid) == 0);
}

/* From before the rules are loaded */
static bool put_link(const struct stage *s, const char *file, const char *other)
{
	char from[128], to[128];

	snprintf(from, sizeof(from), "%s/%s", s->work, file);
	snprintf(to, sizeof(to), "%s/%s", s->work, other);
	return link(from, to) == 0 || errno == EEXIST;
}

static bool rules_for(const struct stage *s)
{
	const char *w = s->work, *p = getenv("PORT");
	FILE *f = fopen(s->rules, "we");

	return f &&
	       fprintf(f,
		       "deny open %s/secret\ndeny write %s/locked\ndeny stat %s/hidden\nrewrite open %s/asked -> %s/fair\n"
		       "deny connect unix:%s/donor tcp:127.0.0.1:%s udp:127.0.0.1:%s\ndeny send udp:127.0.0.1:%s\ndeny bind tcp:*:* unix:@**\ndefault allow\n",
		       w, w, w, w, w, w, p, p, p) > 0 &&
	       fclose(f) == 0;
}

static int round_as(int uid)
{
	struct stage s = { .uid = 0 };
	int failed = 0;

	int server = probe_stage(&s, uid) < 0 ? -1 : start_server(&s);
	if (server < 0) {
		printf("not ok stage: %s\n", strerror(errno));
		return 1;
	}
	for (unsigned i = 0; i < sizeof(attacks) / sizeof(attacks[0]); i++) {
		/* An attack that works leaves its traces. */
		if (!put(&s, "secret", "SECRET") || !put(&s, "asked", "SECRET") || !put(&s, "fair", "public") || !put(&s, "locked", "old") ||
		    !put(&s, "hidden", "hidden") || !put_link(&s, "hidden", "also") || !rules_for(&s))
			failed++;
		char number[16];
		snprintf(number, sizeof(number), "%u", i);
		int native = probe_native(&s, &attacks[i], number);
		if (native != WORKED) {
			printf("%s %s (%s): natively it does not work\n", native == IMPOSSIBLE || native == REFUSED ? "# left out" : "not ok",
			       attacks[i].name, s.uid ? "user" : "root");
			failed += native != IMPOSSIBLE && native != REFUSED;
			continue;
		}
		failed += !put(&s, "locked", "old");
		failed += probe_supervised(&s, &attacks[i], number, "auto") + probe_supervised(&s, &attacks[i], number, "off");
	}
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
	(void)!chdir("/");
	probe_clean(&s);
	return failed;
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "--attack") == 0)
		return attacks[atoi(argv[2])].run();
	setvbuf(stdout, NULL, _IOLBF, 0);
	int failed = round_as(geteuid() == 0 ? 0 : PROBE_UID);
	if (geteuid() == 0)
		failed += round_as(PROBE_UID);
	return failed ? 1 : 0;
}
