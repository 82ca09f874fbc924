/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/thread_ids.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rules/cleanup.h"
#include "supervisor/proc_text.h"

static const char *field(const char *text, const char *key)
{
	const char *at = strstr(text, key);
	return at ? at + strlen(key) : NULL;
}

static int parse_groups(const char *at, struct thread_ids *out)
{
	size_t room = strcspn(at, "\n") / 2 + 1; /* a digit and a blank each */
	char *end;

	out->groups = malloc(room * sizeof(gid_t));
	if (!out->groups)
		return -ENOMEM;
	for (;;) {
		at += strspn(at, " \t");
		if (*at < '0' || *at > '9')
			return 0;
		out->groups[out->n_groups++] = (gid_t)strtoul(at, &end, 10);
		at = end;
	}
}

static bool parse_four(const char *at, unsigned out[ID_KINDS])
{
	return at && sscanf(at, "%u %u %u %u", &out[ID_REAL], &out[ID_EFFECTIVE], &out[ID_SAVED], &out[ID_FS]) == ID_KINDS;
}

static bool parse_caps(const char *at, uint64_t *out)
{
	return at && sscanf(at, "%" SCNx64, out) == 1;
}

int thread_ids_parse(const char *status, struct thread_ids *out)
{
	const char *groups = field(status, "\nGroups:");

	memset(out, 0, sizeof(*out));
	if (!groups || !parse_four(field(status, "\nUid:"), out->uid) || !parse_four(field(status, "\nGid:"), out->gid) ||
	    !parse_caps(field(status, "\nCapEff:"), &out->cap_effective) || !parse_caps(field(status, "\nCapPrm:"), &out->cap_permitted))
		return -EIO;
	return parse_groups(groups, out);
}

int thread_ids_read(pid_t tid, struct thread_ids *out)
{
	CLEANUP_FREE char *text = NULL;

	memset(out, 0, sizeof(*out));
	int rc = proc_whole(tid, "status", &text);
	return rc < 0 ? rc : thread_ids_parse(text, out);
}

static bool groups_are(const gid_t *groups, size_t n)
{
	int now = getgroups(0, NULL);

	if (now < 0 || (size_t)now != n)
		return false;
	if (n == 0)
		return true;
	CLEANUP_FREE gid_t *set = malloc(n * sizeof(gid_t));
	return set && getgroups(now, set) == now && memcmp(set, groups, n * sizeof(gid_t)) == 0;
}

int thread_groups_set(const gid_t *groups, size_t n)
{
	if (groups_are(groups, n))
		return 0;
	return syscall(SYS_setgroups, n, groups) < 0 ? -errno : 0;
}
