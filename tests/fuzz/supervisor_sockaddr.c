/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Socket addresses and control messages from any bytes. Properties: a number of the caller's never stays in
 * the result where the kernel takes descriptors; a pinned destination decodes to itself.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/net_control.h"
#include "supervisor/sockaddr.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int fetch(void *context, int fd)
{
	(void)context;
	return (fd & 3) == 3 ? -EBADF : dup(STDERR_FILENO);
}

static void addresses(const uint8_t *data, size_t size)
{
	static const int domains[] = { AF_INET, AF_INET6, AF_UNIX, AF_NETLINK, AF_VSOCK };
	struct socket_kind kind = { domains[data[0] % 5], data[1] % 6, data[2] };
	enum address_use use = (enum address_use)(data[3] % 3);
	struct sockaddr_storage ss = { 0 };
	char text[ENDPOINT_TEXT];
	struct address a, b;
	size_t len = size - 4 < sizeof(ss) ? size - 4 : sizeof(ss);

	/* as long as said and not longer: reading past it shows */
	char *bytes = malloc(len ? len : 1);
	memcpy(bytes, data + 4, len);
	sockaddr_decode(bytes, len, &kind, use, &a);
	(void)sockaddr_text(bytes, len, text);
	if (a.kind == ADDRESS_INET && inet_is_any(&a.inet)) {
		sockaddr_pin_any(bytes, len, NULL, &a.inet);
		sockaddr_decode(bytes, len, &kind, use, &b);
		if (b.kind != ADDRESS_INET || memcmp(a.inet.addr, b.inet.addr, 16) != 0 || inet_is_any(&b.inet))
			abort();
	}
	if ((a.kind == ADDRESS_PATH || a.kind == ADDRESS_ABSTRACT) &&
	    (a.name.bytes < bytes || a.name.bytes + a.name.len > bytes + len))
		abort();
	free(bytes);
}

static void check_rights(const struct control *c)
{
	size_t seen = 0;
	struct msghdr m = { .msg_control = c->bytes, .msg_controllen = c->len };

	for (struct cmsghdr *h = CMSG_FIRSTHDR(&m); h; h = CMSG_NXTHDR(&m, h)) {
		if (h->cmsg_level != SOL_SOCKET || h->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < (h->cmsg_len - CMSG_LEN(0)) / sizeof(int); i++) {
			int fd;
			memcpy(&fd, CMSG_DATA(h) + i * sizeof(int), sizeof(int));
			if (seen >= c->n_fd || c->fd[seen++] != fd)
				abort();
		}
	}
	if (seen != c->n_fd)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct control_source source = { .domain = AF_UNIX, .fetch = fetch };
	struct control c;

	if (size < 5)
		return 0;
	addresses(data, size);
	char *exact = malloc(size - 1);
	memcpy(exact, data + 1, size - 1);
	source.domain = data[0] & 1 ? AF_UNIX : AF_INET;
	if (control_build(&source, exact, size - 1, &c) == 0)
		check_rights(&c);
	control_free(&c);
	free(exact);
	return 0;
}
