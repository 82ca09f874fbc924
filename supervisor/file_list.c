/* SPDX-License-Identifier: Apache-2.0 */
/*
 * getdents under stat rules: entries that stat is denied on are left out.
 *
 * The read is made on the caller's own open directory, so that its position moves as it would natively.
 *
 * MUST: it is the directory that was decided on, by whose name the entries are judged.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "policy/policy.h"
#include "rules/cleanup.h"
#include "rules/device.h"
#include "supervisor/file.h"
#include "supervisor/memory.h"
#include "supervisor/procs.h"
#include "supervisor/resolve.h"
#include "supervisor/rows_file.h"
#include "supervisor/session.h"

#define LIST_MAX 32768u
#define RECLEN_AT 16
#define NAME_AT_OLD 18 /* the type is the last byte of the entry */
#define NAME_AT_64 19  /* the type stands before it */
#define ENTRY_ROOM PATH_MAX /* getdents gives no longer names: EIO */

/* The listed directory's name, which may be longer than PATH_MAX (resolve_deep.c), with a slash behind it and room for an entry's. */
struct directory {
	char *name;
	size_t len;
	int fd;
	dev_t dev;
};

struct entry {
	uint64_t ino;
	unsigned char type;
	const char *name;
};

int getdents_resolve(struct job *j)
{
	struct target *t;

	return file_descriptor(j, (int)j->arg[0], OP_STAT, &t);
}

/* NULL: no memory. */
static char *directory_name(struct job *j, size_t *len)
{
	const struct text name = j->target[0].name;
	size_t n = name.len;
	char *full = malloc(n + 1 + ENTRY_ROOM);

	if (!full)
		return NULL;
	memcpy(full, job_text(j, name), n);
	if (n != 1)
		full[n++] = '/';
	*len = n;
	return full;
}

/* What a rule's literal name pins is hidden under its other names, too. Of a device the entry does not tell which one it is. */
static void identify(const struct directory *dir, const struct entry *e, struct object *out)
{
	struct identity is = { dir->dev, e->ino };
	struct stat st;

	if ((e->type == DT_CHR || e->type == DT_BLK || e->type == DT_UNKNOWN) && fstatat(dir->fd, e->name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		is = identity_of(st.st_mode, st.st_rdev, st.st_dev, st.st_ino);
	out->identified = true;
	out->dev = is.dev;
	out->ino = is.ino;
}

/* Whether the entry E of DIR may be seen. */
static bool visible(struct job *j, const struct directory *dir, const struct entry *e)
{
	struct call call;
	struct verdict v = { 0 };
	size_t n = strlen(e->name);

	if (strcmp(e->name, ".") == 0 || strcmp(e->name, "..") == 0)
		return true;
	if (n >= ENTRY_ROOM)
		return false;
	memcpy(dir->name + dir->len, e->name, n + 1);
	job_call(j, &call);
	call.n_objects = 1;
	call.object[0] = (struct object){ .kind = OBJECT_FILE, .ops = OP_STAT, .name = { dir->name, (uint32_t)(dir->len + n) } };
	if (j->session->identity)
		identify(dir, e, &call.object[0]);
	policy_decide(j->session->policy, &call, &v);
	return v.kind != VERDICT_DENY && v.kind != VERDICT_KILL;
}

/* Moves what may be seen to the front; returns its length. */
static size_t filter_entries(struct job *j, const struct directory *dir, char *list, size_t len, size_t name_at)
{
	size_t at = 0, out = 0;

	while (at + name_at < len) {
		unsigned short reclen;
		memcpy(&reclen, list + at + RECLEN_AT, sizeof(reclen));
		if (!reclen || at + reclen > len)
			break;
		struct entry e = { .type = (unsigned char)list[name_at == NAME_AT_64 ? at + NAME_AT_64 - 1 : at + reclen - 1u], .name = list + at + name_at };
		memcpy(&e.ino, list + at, sizeof(e.ino));
		if (visible(j, dir, &e)) {
			memmove(list + out, list + at, reclen);
			out += reclen;
		}
		at += reclen;
	}
	return out;
}

static int list(struct job *j, int fd, long nr, size_t name_at)
{
	unsigned room = (unsigned)j->arg[2] < LIST_MAX ? (unsigned)j->arg[2] : LIST_MAX;
	char *buf CLEANUP_FREE = malloc(LIST_MAX);
	size_t dir_len = 0, kept = 0;
	char *name CLEANUP_FREE = directory_name(j, &dir_len);
	struct stat st;
	long n;

	if (!buf || !name)
		return job_error(j, -ENOMEM);
	if (fstat(fd, &st) < 0)
		return job_error(j, -errno);
	const struct directory dir = { .name = name, .len = dir_len, .fd = fd, .dev = st.st_dev };
	off_t before = lseek(fd, 0, SEEK_CUR);
	/* A run of hidden entries must not look like the end. */
	do {
		n = syscall(nr, fd, buf, room);
		if (n < 0)
			return job_error(j, -errno);
		kept = filter_entries(j, &dir, buf, (size_t)n, name_at);
	} while (n > 0 && kept == 0);
	int rc = memory_give(j, j->arg[1], buf, kept);
	if (rc == 0)
		return job_value(j, (int64_t)kept);
	/* What the caller did not get is still to be read. */
	if (before >= 0)
		(void)lseek(fd, before, SEEK_SET);
	return rc == -ESRCH ? job_gone(j) : job_error(j, rc);
}

/* A number that a sibling has given to another directory since is decided on anew. */
static int list_decided(struct job *j, long nr, size_t name_at)
{
	int rc = file_again(j, (int)j->arg[0]);

	if (rc == 0)
		return list(j, j->sock, nr, name_at);
	cleanup_fd(&j->sock);
	j->sock = -1;
	return PERFORM_AGAIN;
}

int getdents64_perform(struct job *j)
{
	return list_decided(j, SYS_getdents64, NAME_AT_64);
}

#ifdef SYS_getdents
int getdents_perform(struct job *j)
{
	return list_decided(j, SYS_getdents, NAME_AT_OLD);
}
#endif
