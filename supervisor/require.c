/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/require.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define AT(member) (1 + (int)offsetof(struct in_force, member))

/* Either the ABI that it takes, or where it is said that it is in force (or both of two places). */
static const struct {
	const char *word;
	int abi, first, second;
	const char *takes;
} words[] = {
	{ "landlock", 1, 0, 0, "a kernel with Landlock, and no --floor=off" },
	{ "truncate", 3, 0, 0, "Landlock ABI 3 (Linux 6.2)" },
	{ "tcp", 4, 0, 0, "Landlock ABI 4 (Linux 6.7)" },
	{ "ioctl", 5, 0, 0, "Landlock ABI 5 (Linux 6.10)" },
	{ "scopes", 6, 0, 0, "Landlock ABI 6 (Linux 6.12)" },
	{ "unix", 9, 0, 0, "Landlock ABI 9" },
	{ "udp", 10, 0, 0, "Landlock ABI 10 (Linux 7.2)" },
	{ "net", 0, AT(spaces.net), 0, "--isolate=net" },
	{ "pid", 0, AT(spaces.pid), 0, "--isolate=pid" },
	{ "ipc", 0, AT(spaces.ipc), 0, "--isolate=ipc" },
	{ "uts", 0, AT(spaces.uts), 0, "--isolate=uts" },
	{ "cgroup", 0, AT(spaces.cgroup), 0, "--isolate=cgroup" },
	{ "mount", 0, AT(spaces.tmp), AT(spaces.shm), "--isolate=mount" },
	{ "tmp", 0, AT(spaces.tmp), 0, "--isolate=tmp" },
	{ "shm", 0, AT(spaces.shm), 0, "--isolate=shm" },
	{ "ptrace", 0, AT(sees_all), 0, "CAP_SYS_PTRACE" },
	{ "memory", 0, AT(memory), 0, "a rule 'limit memory SIZE' and a delegated control group with the memory controller" },
};

#define WORDS (sizeof(words) / sizeof(words[0]))

static bool is_set(const struct in_force *has, int at)
{
	return at == 0 || *((const bool *)has + (at - 1));
}

static size_t find(const char *word, size_t len)
{
	size_t i = 0;

	while (i < WORDS && !(strlen(words[i].word) == len && memcmp(words[i].word, word, len) == 0))
		i++;
	return i;
}

int require_check(const char *list, const struct in_force *has, char *word, size_t size, const char **takes)
{
	for (;;) {
		size_t len = strcspn(list, ","), i = find(list, len);
		bool good = i < WORDS && (!has || (words[i].abi <= has->abi && is_set(has, words[i].first) && is_set(has, words[i].second)));
		if (!good) {
			snprintf(word, size, "%.*s", (int)len, list);
			*takes = i < WORDS ? words[i].takes : NULL;
			return i < WORDS ? -EOPNOTSUPP : -EINVAL;
		}
		if (list[len] == '\0')
			return 0;
		list += len + 1;
	}
}
