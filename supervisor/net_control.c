/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MUST: walks the messages exactly as the kernel does (for_each_cmsghdr with CMSG_OK); every SCM_RIGHTS
 * in the result holds descriptors that fetch gave, or none.
 */
#include "supervisor/net_control.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef IPV6_2292PKTINFO
#define IPV6_2292PKTINFO 2
#endif
#ifndef IPV6_2292RTHDR
#define IPV6_2292RTHDR 5
#endif

static bool misroutes(const struct cmsghdr *h)
{
	if (h->cmsg_level == IPPROTO_IP)
		return h->cmsg_type == IP_RETOPTS;
	if (h->cmsg_level == IPPROTO_IPV6)
		return h->cmsg_type == IPV6_RTHDR || h->cmsg_type == IPV6_2292RTHDR;
	return false;
}

/* Appends one message; LEN bytes of data. */
static char *append(struct control *c, const struct cmsghdr *h, const void *data, size_t len)
{
	struct cmsghdr head = { .cmsg_len = CMSG_LEN(len), .cmsg_level = h->cmsg_level, .cmsg_type = h->cmsg_type };
	char *at = c->bytes + c->len;

	memset(at, 0, CMSG_SPACE(len));
	memcpy(at, &head, sizeof(head));
	if (data && len)
		memcpy(at + CMSG_LEN(0), data, len);
	c->len += CMSG_SPACE(len);
	return at + CMSG_LEN(0);
}

static int fetch_all(const struct control_source *source, const void *data, size_t n, struct control *out)
{
	if (n > CONTROL_MAX_FD || out->n_fd + n > CONTROL_MAX_FD)
		return -EINVAL;
	if (!out->fd)
		out->fd = malloc(CONTROL_MAX_FD * sizeof(int));
	if (!out->fd)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		int theirs;
		memcpy(&theirs, (const char *)data + i * sizeof(int), sizeof(int));
		int ours = theirs < 0 ? -EBADF : source->fetch(source->context, theirs);
		if (ours < 0)
			return ours;
		out->fd[out->n_fd++] = ours;
	}
	return 0;
}

/* Only unix sockets carry descriptors; elsewhere the header alone gives the kernel's own answer. */
static int add_rights(const struct control_source *source, const struct cmsghdr *h, const void *data, size_t len,
		      struct control *out)
{
	size_t n = source->domain == AF_UNIX ? len / sizeof(int) : 0;
	size_t first = out->n_fd;

	int rc = n ? fetch_all(source, data, n, out) : 0;
	if (rc == 0)
		append(out, h, n ? out->fd + first : NULL, n * sizeof(int));
	return rc;
}

static int add_one(const struct control_source *source, const struct cmsghdr *h, const void *data, size_t len,
		   struct control *out)
{
	if (misroutes(h))
		return -EPERM;
	if (h->cmsg_level == SOL_SOCKET && h->cmsg_type == SCM_RIGHTS)
		return add_rights(source, h, data, len, out);
	char *at = append(out, h, data, len);
	if (h->cmsg_level == SOL_SOCKET && h->cmsg_type == SCM_CREDENTIALS && len == sizeof(struct ucred))
		out->ucred = (size_t)(at - out->bytes);
	return 0;
}

/* The message at *AT of the LEN bytes IN; *AT is behind it then. 1: *H and *data are its own, 0: there is none, -EINVAL: it is malformed. */
static int next_message(const void *in, size_t len, size_t *at, struct cmsghdr *h, const char **data)
{
	if (*at > len || len - *at < sizeof(*h))
		return 0;
	memcpy(h, (const char *)in + *at, sizeof(*h));
	if (h->cmsg_len < sizeof(*h) || h->cmsg_len > len - *at)
		return -EINVAL;
	*data = (const char *)in + *at + CMSG_LEN(0);
	*at += CMSG_ALIGN(h->cmsg_len); /* beyond the end where the last one has no padding */
	return 1;
}

int control_build(const struct control_source *source, const void *in, size_t len, struct control *out)
{
	size_t at = 0;
	struct cmsghdr h;
	const char *data;
	int rc;

	memset(out, 0, sizeof(*out));
	/* a message grows by its padding at most; credentials may be added */
	out->bytes = calloc(1, CMSG_ALIGN(len) + sizeof(h) + CMSG_SPACE(sizeof(struct ucred)));
	if (!out->bytes)
		return -ENOMEM;
	while ((rc = next_message(in, len, &at, &h, &data)) > 0) {
		rc = add_one(source, &h, data, h.cmsg_len - CMSG_LEN(0), out);
		if (rc < 0)
			break;
	}
	return rc;
}

bool control_packet_source(const void *in, size_t len, struct in_addr *source)
{
	struct in_pktinfo said;
	struct cmsghdr h;
	const char *data;
	size_t at = 0;
	bool given = false;

	while (next_message(in, len, &at, &h, &data) > 0) {
		if (h.cmsg_level != IPPROTO_IP || h.cmsg_type != IP_PKTINFO || h.cmsg_len != CMSG_LEN(sizeof(said)))
			continue;
		memcpy(&said, data, sizeof(said));
		*source = said.ipi_spec_dst;
		given = true;
	}
	return given;
}

/* As the kernel takes them: in6_pktinfo may be longer than it is, and comes on IPv4 sockets, too, by which a mapped address is sent to. */
static unsigned interface_of(const struct cmsghdr *h, const char *data)
{
	struct in_pktinfo v4;
	struct in6_pktinfo v6;

	if (h->cmsg_level == IPPROTO_IP && h->cmsg_type == IP_PKTINFO && h->cmsg_len >= CMSG_LEN(sizeof(v4))) {
		memcpy(&v4, data, sizeof(v4));
		return (unsigned)v4.ipi_ifindex;
	}
	if (h->cmsg_level == IPPROTO_IPV6 && (h->cmsg_type == IPV6_PKTINFO || h->cmsg_type == IPV6_2292PKTINFO) && h->cmsg_len >= CMSG_LEN(sizeof(v6))) {
		memcpy(&v6, data, sizeof(v6));
		return v6.ipi6_ifindex;
	}
	return 0;
}

unsigned control_interface(const void *in, size_t len)
{
	struct cmsghdr h;
	const char *data;
	size_t at = 0;

	while (next_message(in, len, &at, &h, &data) > 0) {
		unsigned interface = interface_of(&h, data);
		if (interface > 1)
			return interface;
	}
	return 0;
}

int control_credentials(struct control *c, const struct ucred *who)
{
	struct cmsghdr h = { .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_CREDENTIALS };

	if (c->ucred)
		return 0;
	if (!c->bytes)
		c->bytes = calloc(1, CMSG_SPACE(sizeof(*who)));
	if (!c->bytes)
		return -ENOMEM;
	c->ucred = (size_t)(append(c, &h, who, sizeof(*who)) - c->bytes);
	return 0;
}

size_t control_unstamped(struct control *c)
{
	static const struct cmsghdr h = { .cmsg_level = SOL_SOCKET, .cmsg_type = SO_TIMESTAMPING };
	static const unsigned none;
	size_t len = c->len;

	if (!c->bytes)
		c->bytes = calloc(1, CMSG_SPACE(sizeof(struct ucred)));
	if (!c->bytes)
		return 0;
	append(c, &h, &none, sizeof(none)); /* there is room for credentials */
	size_t whole = c->len;
	c->len = len;
	return whole;
}

void control_free(struct control *c)
{
	for (size_t i = 0; i < c->n_fd; i++)
		close(c->fd[i]);
	free(c->fd);
	free(c->bytes);
	memset(c, 0, sizeof(*c));
}
