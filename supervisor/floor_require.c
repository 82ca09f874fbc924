/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/floor_require.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *word;
	int abi;
} words[] = { { "landlock", 1 }, { "truncate", 3 }, { "tcp", 4 }, { "ioctl", 5 }, { "scopes", 6 } };

/* The ABI that the word of LEN bytes takes, 0 when there is no such word. */
static int abi_of(const char *word, size_t len)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strlen(words[i].word) == len && memcmp(words[i].word, word, len) == 0)
			return words[i].abi;
	}
	return 0;
}

int floor_require(const char *list, int abi, char *word, size_t size, int *needs)
{
	for (;;) {
		size_t len = strcspn(list, ",");
		int takes = abi_of(list, len);
		if (takes == 0 || takes > abi) {
			snprintf(word, size, "%.*s", (int)len, list);
			*needs = takes;
			return takes ? -EOPNOTSUPP : -EINVAL;
		}
		if (list[len] == '\0')
			return 0;
		list += len + 1;
	}
}
