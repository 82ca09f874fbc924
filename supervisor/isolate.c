/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/isolate.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rules/cleanup.h"
#include "supervisor/net_reach.h"
#include "supervisor/spaces.h"

static int loopback_up(void)
{
	struct ifreq lo = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };
	int sock CLEANUP_FD = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (sock < 0)
		return -errno;
	return ioctl(sock, SIOCSIFFLAGS, &lo) < 0 ? -errno : 0;
}

static int make_here(void)
{
	if (unshare(CLONE_NEWNET) < 0)
		return -errno;
	int rc = loopback_up();
	if (rc < 0)
		return rc;
	int fd = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static void *maker(void *result)
{
	*(int *)result = make_here();
	return NULL;
}

/* A namespace made by a thread that ends: usher stays where it is. Returns a descriptor or a negative errno. */
static int make_apart(void)
{
	pthread_t thread;
	int result = -EPERM;
	int rc = pthread_create(&thread, NULL, maker, &result);

	if (rc)
		return -rc;
	pthread_join(thread, NULL);
	return result;
}

static bool nothing_allowed(const struct policy *policy)
{
	struct net_reach can;

	net_reach(policy, &can);
	return !can.tcp && !can.udp && !can.abstract && !can.others;
}

int isolate_prepare(const char *mode, const struct policy *policy, struct isolation *out)
{
	struct spaces want;
	bool asked = spaces_parse(mode, &want) == 0 && want.net;

	*out = (struct isolation){ .net = -1 };
	if (!asked && ((mode && strcmp(mode, "none") == 0) || !nothing_allowed(policy)))
		return 0;
	int fd = make_apart();
	if (fd >= 0)
		out->net = fd;
	else if (asked && fd != -EPERM)
		return fd;
	out->user = asked && fd < 0;
	if (out->user)
		user_map_make(&out->map);
	return 0;
}

void isolate_done(struct isolation *i)
{
	if (i->net >= 0)
		close(i->net);
	i->net = -1;
}

int isolate_enter(const struct isolation *i)
{
	if (i->net >= 0)
		return setns(i->net, CLONE_NEWNET) < 0 ? -errno : 0;
	if (!i->user)
		return 0;
	if (unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0)
		return -errno;
	int rc = user_map_set(&i->map);
	return rc == 0 ? loopback_up() : rc;
}

const char *isolate_describe(const struct isolation *i)
{
	if (i->user)
		return "net, user";
	return i->net >= 0 ? "net" : NULL;
}
