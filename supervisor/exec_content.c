/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What rules with sha256= and trusted ask of an image: its content, and whether anybody but root could change it.
 *
 * MUST: what cannot be read has no hash, and so is not what a rule names; what was hashed is hashed again before the new
 * image runs.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <nettle/sha2.h>
#include <sodium.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rules/cleanup.h"
#include "supervisor/exec_plan.h"
#include "supervisor/resolve.h"
#include "supervisor/session.h"

#define HEX (2 * SHA256_DIGEST_SIZE)

static int hash_of(int path_fd, char hex[HEX + 1])
{
	unsigned char hash[SHA256_DIGEST_SIZE], block[32 * 1024];
	struct sha256_ctx ctx;
	off_t at = 0;
	ssize_t n;

	CLEANUP_FD int fd = resolve_reopen(path_fd, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return -EACCES;
	sha256_init(&ctx);
	while ((n = pread(fd, block, sizeof(block), at)) > 0) {
		sha256_update(&ctx, (size_t)n, block);
		at += n;
	}
	if (n < 0)
		return -errno;
	sha256_digest(&ctx, sizeof(hash), hash);
	sodium_bin2hex(hex, HEX + 1, hash, sizeof(hash));
	return 0;
}

static bool roots_alone(const struct stat *st)
{
	return st->st_uid == 0 && !(st->st_mode & (S_IWGRP | S_IWOTH));
}

/* The file and every directory above it belong to root, and nobody else may write them. */
static bool trusted(const struct job *j, const struct target *t)
{
	struct span name = job_span(j, t->name);
	char path[PATH_MAX];
	struct stat st;

	if (t->kind != OBJECT_FILE || j->session->roots_moved || name.len >= sizeof(path) || fstat(t->fd, &st) < 0 || !roots_alone(&st))
		return false;
	memcpy(path, name.bytes, name.len);
	path[name.len] = '\0';
	for (char *slash; (slash = strrchr(path, '/'));) {
		slash[slash == path] = '\0';
		if (lstat(path, &st) < 0 || !S_ISDIR(st.st_mode) || !roots_alone(&st))
			return false;
		if (slash == path)
			return true;
	}
	return false;
}

static bool image(const struct target *t)
{
	return (t->ops & OP_EXEC) && t->exists && t->fd >= 0 && S_ISREG(t->mode);
}

int content_note(struct job *j)
{
	char hex[HEX + 1];

	for (uint32_t i = 0; i < j->n_targets; i++) {
		struct target *t = &j->target[i];

		t->sha256 = (struct text){ 0 };
		t->trusted = j->session->asks_trust && image(t) && trusted(j, t);
		if (!j->session->pins_content || !image(t) || hash_of(t->fd, hex))
			continue;
		t->sha256 = job_copy(j, hex, HEX);
		if (!t->sha256.off)
			return -ENOMEM;
	}
	return 0;
}

bool content_same(struct job *j)
{
	char hex[HEX + 1];

	for (uint32_t i = 0; i < j->n_targets; i++) {
		const struct target *t = &j->target[i];

		if (t->sha256.off && (hash_of(t->fd, hex) || memcmp(hex, job_text(j, t->sha256), HEX)))
			return false;
	}
	return true;
}
