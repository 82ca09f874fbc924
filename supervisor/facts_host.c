/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/facts_host.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rules/cleanup.h"

#define HOSTS "/etc/hosts"
#define HOSTS_MOST (256 * 1024)

/* WORD as an address in the form that endpoints have: IPv4 mapped into IPv6. */
static bool address(const char *word, unsigned char out[16])
{
	struct in_addr v4;

	if (inet_pton(AF_INET6, word, out) == 1)
		return true;
	if (inet_pton(AF_INET, word, &v4) != 1)
		return false;
	memset(out, 0, 10);
	memset(out + 10, 0xff, 2);
	memcpy(out + 12, &v4, 4);
	return true;
}

/* One line of the file: its names join OUT when its address is E's. */
static size_t take_line(char *line, const struct inet_endpoint *e, char *out, size_t used, size_t cap)
{
	unsigned char addr[16];
	char *rest = NULL;

	line[strcspn(line, "#")] = '\0';
	char *word = strtok_r(line, " \t\r", &rest);
	if (!word || !address(word, addr) || memcmp(addr, e->addr, sizeof(addr)) != 0)
		return used;
	while ((word = strtok_r(NULL, " \t\r", &rest))) {
		int n = snprintf(out + used, cap - used, "%s%s", used ? " " : "", word);
		if (n < 0 || (size_t)n >= cap - used)
			return used;
		used += (size_t)n;
	}
	return used;
}

size_t fact_host(const struct inet_endpoint *e, char *out, size_t cap)
{
	static const char from[] = " (as " HOSTS " has it)";
	CLEANUP_FREE char *text = malloc(HOSTS_MOST + 1);
	int fd CLEANUP_FD = open(HOSTS, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n = !text || fd < 0 || cap < sizeof(from) ? -1 : read(fd, text, HOSTS_MOST);
	size_t used = 0;

	if (n <= 0)
		return 0;
	text[n] = '\0';
	char *rest = NULL;
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		used = take_line(line, e, out, used, cap - sizeof(from));
	if (!used)
		return 0;
	memcpy(out + used, from, sizeof(from));
	return used + sizeof(from) - 1;
}
