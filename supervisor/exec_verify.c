/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The new image against the plan. Nothing can change it any more: its threads are gone, its memory is new, and it
 * stands before its first instruction.
 *
 * MUST: what cannot be read counts as different.
 */
#include <errno.h>
#include <sodium.h>
#include <string.h>
#include <sys/stat.h>

#include "rules/cleanup.h"
#include "supervisor/exec_plan.h"
#include "supervisor/exec_trace.h"
#include "supervisor/memory.h"
#include "supervisor/procmap.h"
#include "supervisor/procs_kernel.h"
#include "supervisor/session.h"

static bool exe_is(const struct job *j, pid_t pid, dev_t dev, ino_t ino)
{
	char path[PROC_PATH];
	struct stat st;

	put_proc_path(path, pid, "exe");
	return fstatat(j->session->self_proc, path, &st, 0) == 0 && st.st_dev == dev && st.st_ino == ino;
}

/*
 * Image and interpreter. Exec maps two files at most: the image and, where that asks for one, its interpreter, and starts in the latter. So
 * where a program starts in the system's own loader, which asks for none and could not have had another file mapped were it the image, and the plan's
 * image is mapped, too, that is the image. Looking /proc/PID/exe up for it takes the kernel five times as long as asking for one mapping more.
 */
static const char *files_differ(const struct job *j, pid_t pid, uint64_t ip)
{
	const struct exec_plan *p = plan_of(j);
	const struct target *t = &j->target[p->image];
	CLEANUP_FD int maps = mapping_open(pid);

	if (!mapping_is(maps, ip, p->loader ? p->loader_dev : t->dev, p->loader ? p->loader_ino : t->ino))
		return exe_is(j, pid, t->dev, t->ino) ? "interpreter" : "image";
	bool two = p->loader && (p->loader_dev != t->dev || p->loader_ino != t->ino);
	if (two && p->loader_plain && mapping_lowest_is(maps, t->dev, t->ino))
		return NULL;
	return exe_is(j, pid, t->dev, t->ino) ? NULL : "image";
}

/* Whether the stack holds exactly EXPECT at AT. */
static bool stack_holds(pid_t pid, uint64_t at, struct span expect)
{
	char block[4096];

	while (expect.len) {
		uint32_t n = expect.len < sizeof(block) ? expect.len : (uint32_t)sizeof(block);

		if (memory_read(pid, at, block, n) || memcmp(block, expect.bytes, n))
			return false;
		at += n;
		expect.bytes += n;
		expect.len -= n;
	}
	return true;
}

/* The kernel lays the strings of argv one behind the other, the first where argv[0] points: some thousand bytes from the pointers, as it likes. */
static bool argv_is(pid_t pid, uint64_t sp, const struct exec_plan *p)
{
	uint64_t head[2]; /* argc, argv[0] */

	if (memory_read(pid, sp, head, sizeof(head)) || head[0] != p->argc)
		return false;
	return stack_holds(pid, head[1], plan_prefix(p)) && stack_holds(pid, head[1] + p->prefix_len, plan_given(p));
}

/* The strings of the environment follow those of argv; its pointers follow argv's and a NULL. */
static bool env_is(pid_t pid, uint64_t sp, const struct exec_plan *p)
{
	crypto_generichash_state state;
	uint8_t hash[PLAN_HASH], block[2048];
	uint64_t vector = sp + (p->argc + 2) * sizeof(uint64_t), first, at, none;

	if (memory_read(pid, sp + sizeof(uint64_t), &first, sizeof(first)))
		return false;
	at = first + p->prefix_len + p->raw_len - p->skip;
	if (memory_read(pid, vector + p->env_count * sizeof(uint64_t), &none, sizeof(none)) || none)
		return false;
	if (memory_read(pid, vector, &first, sizeof(first)) || first != (p->env_count ? at : 0))
		return false;
	crypto_generichash_init(&state, NULL, 0, PLAN_HASH);
	for (uint32_t left = p->env_len; left;) {
		uint32_t n = left < sizeof(block) ? left : (uint32_t)sizeof(block);

		if (memory_read(pid, at, block, n))
			return false;
		crypto_generichash_update(&state, block, n);
		at += n;
		left -= n;
	}
	crypto_generichash_final(&state, hash, sizeof(hash));
	return memcmp(hash, p->env_hash, sizeof(hash)) == 0;
}

const char *verify_image(struct job *j, pid_t pid, uint64_t ip, uint64_t sp)
{
	const struct exec_plan *p = plan_of(j);
	const char *differs = files_differ(j, pid, ip);

	if (differs)
		return differs;
	if (!argv_is(pid, sp, p))
		return "argv";
	if (p->env_known && !env_is(pid, sp, p))
		return "environment";
	if ((j->answered && chain_unchanged(j)) || !content_same(j))
		return "content";
	return NULL;
}
