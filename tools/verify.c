/* SPDX-License-Identifier: Apache-2.0 */
/* usher verify: proves a journal whole, or names the first damage. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "audit/digest.h"
#include "audit/journal.h"
#include "audit/reader.h"
#include "audit/tombstone.h"
#include "audit/verify.h"
#include "rules/cleanup.h"
#include "tools/rule_files.h"
#include "tools/tool.h"

enum { WHOLE = 0, DAMAGED = 1, UNREADABLE = 2 };

struct arguments {
	const char *dir;
	const char *anchor;
	bool closed; /* an unclosed journal is damage as well */
	bool quiet;
};

static void usage(void)
{
	fputs("usage: usher verify [--anchor HEAD] [--closed] [--quiet] [DIR]\n"
	      "\n"
	      "Proves the journal in DIR (the newest session when absent): every record is there, in order,\n"
	      "unchanged, and signed by keys that were erased.\n"
	      "\n"
	      "DIR may also be a file pruned.jsonl: what usher log prune left of removed sessions.\n"
	      "\n"
	      "  --anchor HEAD  the journal must contain HEAD: SEQ:HASH, a first public key, or a file with either\n"
	      "  --closed       a journal that was not closed counts as damaged\n"
	      "  -q, --quiet    print damage only\n"
	      "\n"
	      "Exit status: 0 whole, 1 damaged, 2 cannot be read.\n",
	      stdout);
}

/* Who made the journal chose its directory's name, too. */
static void put_dir(const char *before, const char *dir)
{
	fputs(before, stdout);
	put_text(dir, strlen(dir), stdout);
}

static void print_place(const char *dir, const struct proof *p)
{
	put_dir("damaged: ", dir);
	putchar('/');
	put_text(p->file, strlen(p->file), stdout); /* who made the journal chose the names in it */
	if (p->line)
		printf(" line %" PRIu64, p->line);
	printf(", record %" PRIu64 ": %s\n", p->seq, p->what);
}

static void print_counts(const struct proof *p)
{
	char head[DIGEST_HEX + 1] = "", key[DIGEST_HEX + 1] = "";
	hex_write(head, p->head.bytes, DIGEST_BYTES);
	hex_write(key, p->key, sizeof p->key);
	printf("%" PRIu64 " record%s, %" PRIu64 " seal%s; signed up to record %" PRIu64 "\n", p->records, tool_plural(p->records), p->seals,
	       tool_plural(p->seals), p->proven);
	if (p->records) {
		printf("first key %s\n", key);
		printf("head %" PRIu64 ":%s\n", p->records, head);
	}
}

/* How far what no seal covers is proven: each record by the one that follows it, and so the last by none. */
static void print_unsealed(const struct proof *p)
{
	uint64_t first = p->proven + 1;
	if (p->closed || p->records < first)
		return;
	if (p->records > first)
		printf("not signed: records %" PRIu64 " to %" PRIu64 " are held by the chain (none of them alone was changed), record %" PRIu64
		       " by its form alone\n",
		       first, p->records - 1, p->records);
	else
		printf("not signed: record %" PRIu64 ", which is held by its form alone\n", p->records);
	if (!p->writer)
		puts("whether more followed only an anchor can tell (--anchor)");
}

static void print_state(const struct proof *p)
{
	if (p->closed && p->ended && p->unwritten[0])
		printf("closed: whole, and not from start to end: the session could not write on (%s), what needed a record from there on was refused and has "
		       "none\n",
		       p->unwritten);
	else if (p->closed && p->ended)
		puts("closed: whole from start to end");
	else if (p->closed)
		puts("closed without an end record: the session did not come to its end");
	else if (p->writer < 0)
		puts("not closed: a process of another pid namespace is still writing");
	else if (p->writer)
		printf("not closed: process %d is still writing\n", (int)p->writer);
	else
		printf("not closed: the writer died or could not go on; whole up to record %" PRIu64 "\n", p->records);
	print_unsealed(p);
	if (p->torn && !p->writer)
		printf("a record was being written: %" PRIu64 " bytes of it are left and do not count\n", p->torn);
	if (p->intents)
		printf("%" PRIu64 " operation%s in flight and may have taken effect without a record of %s outcome (usher log shows %s)\n", p->intents,
		       p->intents == 1 ? " was" : "s were", p->intents == 1 ? "its" : "their", p->intents == 1 ? "it" : "them");
}

static int parse(int argc, char **argv, struct arguments *a)
{
	for (int i = 1; i < argc; i++) {
		const char *arg = argv[i];
		if (!strcmp(arg, "--anchor") && i + 1 == argc) {
			fputs("usher verify: --anchor needs a HEAD behind it; 'usher verify --help' tells what that is\n", stderr);
			return -EINVAL;
		}
		if (!strcmp(arg, "--anchor"))
			a->anchor = argv[++i];
		else if (!strncmp(arg, "--anchor=", 9))
			a->anchor = arg + 9;
		else if (!strcmp(arg, "--closed"))
			a->closed = true;
		else if (!strcmp(arg, "--quiet") || !strcmp(arg, "-q"))
			a->quiet = true;
		else if (arg[0] == '-' || a->dir) {
			tool_unexpected("verify", arg);
			return -EINVAL;
		} else
			a->dir = arg;
	}
	return 0;
}

static int report(const struct arguments *a, const struct proof *p)
{
	if (p->damaged) {
		print_place(a->dir, p);
		printf("whole before that: ");
		print_counts(p);
		return DAMAGED;
	}
	if (!a->quiet) {
		put_dir("whole: ", a->dir);
		putchar('\n');
		print_counts(p);
		print_state(p);
		if (p->among_others)
			puts("the anchor has other sessions, too: the journal of one of them would pass here as well");
	}
	if (a->closed && !p->closed) {
		put_dir("damaged: ", a->dir);
		puts(": the journal was not closed");
		return DAMAGED;
	}
	return WHOLE;
}

/* What is left of removed sessions. */
static int verify_tombstones(const struct arguments *a)
{
	uint64_t lines;
	bool all;
	if (a->anchor || a->closed) {
		fputs("usher verify: --anchor and --closed are of a journal: " TOMBSTONE_FILE " goes without\n", stderr);
		return UNREADABLE;
	}
	int rc = tombstone_verify(a->dir, &lines, &all);
	if (rc < 0) {
		CLEANUP_FREE char *shown = shown_name(a->dir);
		fprintf(stderr, "usher verify: %s: %s\n", shown ? shown : "",
			rc == -EBADMSG ? "the key beside it, " TOMBSTONE_KEY ", is not whole: remove it to verify without, as a copy" : strerror(-rc));
		return UNREADABLE;
	}
	if (rc || !a->quiet)
		put_dir(rc ? "damaged: " : "whole: ", a->dir);
	if (rc)
		printf(" line %" PRIu64 ": it does not continue what was signed before, or is missing\n", lines + 1);
	else if (!a->quiet)
		printf(", %" PRIu64 " removed sessions%s\n", lines, all ? "" : "; without " TOMBSTONE_KEY " beside it nothing tells whether there were more");
	return rc ? DAMAGED : WHOLE;
}

static int verify_main(int argc, char **argv)
{
	struct arguments a = { 0 };
	CLEANUP_FREE struct anchor *anchors = NULL;
	struct proof proof;
	size_t n = 0;
	char dir[PATH_MAX];
	if (tool_help(argc, argv)) {
		usage();
		return 0;
	}
	if (parse(argc, argv, &a) != 0)
		return UNREADABLE;
	char text[PATH_MAX + 256];
	int rc = a.dir ? 0 : journal_newest(dir, sizeof dir);
	if (rc != 0) {
		fprintf(stderr, "usher verify: %s\n", journal_newest_error(rc, dir, text, sizeof text));
		return UNREADABLE;
	}
	if (!a.dir)
		a.dir = dir;
	const char *base = strrchr(a.dir, '/');
	if (!strcmp(base ? base + 1 : a.dir, TOMBSTONE_FILE))
		return verify_tombstones(&a);
	rc = a.anchor ? anchor_parse(a.anchor, &anchors, &n) : 0;
	if (rc != 0) {
		CLEANUP_FREE char *shown = shown_name(a.anchor);
		fprintf(stderr, "usher verify: anchor %s: %s\n", shown ? shown : "",
			rc == -EINVAL ? "expected SEQ:HASH, a key of 64 digits, or a file with either" : strerror(-rc));
		return UNREADABLE;
	}
	rc = verify_journal(a.dir, anchors, n, &proof);
	if (rc != 0) {
		CLEANUP_FREE char *shown = shown_name(a.dir);
		fprintf(stderr, "usher verify: %s: %s\n", shown ? shown : "", rc == -ENOENT ? "no journal there" : reader_error(rc));
		return UNREADABLE;
	}
	return report(&a, &proof);
}

const struct tool tool_verify = {
	.name = "verify",
	.usage = "[--anchor HEAD] [--closed] [--quiet] [DIR]",
	.summary = "prove a journal whole",
	.main = verify_main,
};
