/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What /proc shows a process of itself.
 *
 * A process that has changed its user without an exec (seteuid, a daemon that gave up root) belongs to root in /proc. The kernel lets it
 * use its own descriptors and maps there all the same, since it is itself; a thread of usher's is not, whatever credentials it has taken. So
 * with one that has laid down powers for a while: its memory is closed to whoever has no more than those in force, but for itself.
 *
 * MUST: true only for the caller's own thread group, and never for more than the kernel gives that one.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "supervisor/procs.h"
#include "supervisor/resolve.h"
#include "supervisor/resolve_name.h"
#include "supervisor/session.h"

static bool is(struct span name, const char *what)
{
	return name.len == strlen(what) && memcmp(name.bytes, what, name.len) == 0;
}

/* A file of the process itself, or of one of its descriptors: what lies further below (net/) is not the process's. */
static bool own_file(struct span name, const struct stat *st)
{
	static const char info[] = "fdinfo/";
	const size_t n = sizeof(info) - 1;

	if (name.len > n && memcmp(name.bytes, info, n) == 0)
		name = (struct span){ name.bytes + n, (uint32_t)(name.len - n) };
	return !memchr(name.bytes, '/', name.len) && S_ISREG(st->st_mode);
}

static bool is_kind(enum own_kind kind, struct span name, bool thread, const struct stat *st)
{
	bool open = is(name, "fd") || is(name, "map_files");

	switch (kind) {
	case OWN_FD:
		return open;
	case OWN_WRITABLE:
		return open || (thread && is(name, "comm"));
	case OWN_DESCRIPTORS:
		return is(name, "fd") || is(name, "fdinfo");
	case OWN_READABLE:
		return open || is(name, "fdinfo") || (own_file(name, st) && (st->st_mode & 0444) == 0444);
	case OWN_FILE:
		return own_file(name, st);
	}
	return false;
}

bool resolve_own_process(struct job *j, int fd, enum own_kind kind)
{
	char number[16], text[PATH_MAX];
	const char *rest;
	size_t len;
	struct stat st;

	/* An ordinary user's are that user's in /proc: there are only the directories of descriptors and maps, which nobody may write but itself. */
	if ((!j->session->privileged && kind != OWN_FD && kind != OWN_WRITABLE) || fstat(fd, &st) < 0 || st.st_dev != j->session->proc_dev)
		return false;
	snprintf(number, sizeof(number), "%d", fd);
	ssize_t n = readlinkat(j->session->self_fds, number, text, sizeof(text));
	if (n <= 0 || name_proc(text, (size_t)n, &rest, &len) != proc_pid(j->proc))
		return false;
	const char *entry = name_proc_entry(rest, &len);
	return is_kind(kind, (struct span){ entry, (uint32_t)len }, entry != rest, &st);
}
