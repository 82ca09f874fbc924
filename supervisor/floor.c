/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/floor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rules/cleanup.h"
#include "supervisor/compat.h"
#include "supervisor/floor_plan.h"
#include "supervisor/landlock.h"

struct floor {
	int ruleset;
	int abi;
	struct floor_plan plan;
};

int floor_abi(void)
{
	long abi = syscall(__NR_landlock_create_ruleset, NULL, (size_t)0, LL_CREATE_VERSION);

	return abi > 0 ? (int)abi : 0;
}

static int create(int abi)
{
	struct ll_ruleset attr = { .handled_fs = LL_FS_ABI1 };
	size_t size = offsetof(struct ll_ruleset, handled_net);

	if (abi >= 2)
		attr.handled_fs |= LL_FS_REFER;
	if (abi >= 3)
		attr.handled_fs |= LL_FS_TRUNCATE;
	if (abi >= 4) {
		attr.handled_net = LL_NET_BIND_TCP | LL_NET_CONNECT_TCP;
		size = offsetof(struct ll_ruleset, scoped);
	}
	if (abi >= 5)
		attr.handled_fs |= LL_FS_IOCTL_DEV;
	if (abi >= 6) {
		attr.scoped = LL_SCOPE_ABSTRACT | LL_SCOPE_SIGNAL;
		size = sizeof(attr);
	}
	if (abi >= 9)
		attr.handled_fs |= LL_FS_RESOLVE_UNIX;
	if (abi >= 10)
		attr.handled_net |= LL_NET_BIND_UDP | LL_NET_CONNECT_SEND_UDP;
	long fd = syscall(__NR_landlock_create_ruleset, &attr, size, 0U);
	return fd < 0 ? -errno : (int)fd;
}

/* The nearest part of NAME that exists: a rule may name a directory that the command will make. */
static int open_nearest(const char *name)
{
	CLEANUP_FREE char *path = strdup(name);

	if (!path)
		return -ENOMEM;
	for (;;) {
		int fd = open(path, O_PATH | O_CLOEXEC);
		if (fd >= 0)
			return fd;
		if (errno != ENOENT && errno != ENOTDIR && errno != EACCES)
			return -errno;
		char *slash = strrchr(path, '/');
		if (!slash || slash[1] == '\0')
			return -ENOENT;
		slash[slash == path ? 1 : 0] = '\0';
	}
}

static int grant(int ruleset, const char *name, uint64_t rights)
{
	CLEANUP_FD int fd = open_nearest(name);
	struct ll_path_beneath rule = { .allowed = rights, .parent = fd };

	if (fd < 0)
		return fd;
	if (syscall(__NR_landlock_add_rule, ruleset, LL_RULE_PATH_BENEATH, &rule, 0U) < 0)
		return -errno;
	return 0;
}

int floor_prepare(const struct policy *policy, struct floor **out)
{
	struct floor *f = calloc(1, sizeof(*f));

	if (!f)
		return -ENOMEM;
	f->ruleset = -1;
	f->abi = floor_abi();
	int rc = f->abi > 0 ? floor_plan_make(policy, &f->plan) : -EOPNOTSUPP;
	if (rc == 0)
		rc = f->ruleset = create(f->abi);
	for (const char *name = NULL; rc >= 0 && (name = floor_plan_next(&f->plan, name));)
		rc = grant(f->ruleset, name, LL_FS_READ_FILE | LL_FS_EXECUTE);
	if (rc < 0) {
		floor_free(f);
		return rc;
	}
	*out = f;
	return 0;
}

int floor_open_reads(struct floor *floor)
{
	uint64_t control = floor->abi >= 5 ? LL_FS_IOCTL_DEV : 0;

	return grant(floor->ruleset, "/", LL_FS_READ_FILE | LL_FS_READ_DIR | control);
}

void floor_free(struct floor *floor)
{
	if (!floor)
		return;
	if (floor->ruleset >= 0)
		close(floor->ruleset);
	floor_plan_done(&floor->plan);
	free(floor);
}

int floor_ruleset(const struct floor *floor)
{
	return floor ? floor->ruleset : -1;
}

int floor_enter(int ruleset)
{
	return syscall(__NR_landlock_restrict_self, ruleset, 0U) < 0 ? -errno : 0;
}

bool floor_scopes_signals(const struct floor *floor)
{
	return floor->abi >= 6;
}

const char *floor_grant(const struct floor *floor, const char *previous)
{
	return floor_plan_next(&floor->plan, previous);
}

size_t floor_describe(char *out, size_t size)
{
	int abi = floor_abi();

	if (abi == 0)
		return 0;
	int n = snprintf(out, size, "Landlock ABI %d: files%s%s%s", abi, abi >= 2 ? ", links across directories" : "",
			 abi >= 3 ? ", truncation" : "", abi >= 4 ? ", TCP connect and bind" : "");
	if (n > 0 && (size_t)n < size)
		n += snprintf(out + n, size - (size_t)n, "%s%s%s%s", abi >= 5 ? ", device ioctls" : "",
			      abi >= 6 ? ", signals, abstract sockets" : "", abi >= 9 ? ", sockets with a path name" : "",
			      abi >= 10 ? ", UDP" : "");
	return n > 0 ? (size_t)n : 0;
}
