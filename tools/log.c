/* SPDX-License-Identifier: Apache-2.0 */
/* usher log: reads the journal. The queries themselves are in audit/query.h, the ways to show in tools/log_*.c. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "audit/journal.h"
#include "audit/query.h"
#include "audit/reader.h"
#include "audit/render.h"
#include "audit/stamp.h"
#include "tools/log.h"
#include "tools/tool.h"

static void usage(FILE *to)
{
	fputs("usage: usher log [DIR] [QUERY...] [--json] [--follow]\n"
	      "\n"
	      "Shows the records of the journal in DIR (the newest session when absent) that answer every word of QUERY.\n"
	      "\n"
	      "  denied  asked  failed  alert  in-flight\n"
	      "  path:GLOB (or a word that begins with /)   by:PROGRAM   op:OPERATION   call:NAME   pid:N\n"
	      "  verdict:V   rule:TEXT   type:TYPE   result:R   event:E   seq:A-B   since:10m   until:TIME   !WORD\n"
	      "\n"
	      "  --json    the records themselves, one per line\n"
	      "  --follow  wait for more until the session ends\n",
	      to);
}

static bool is_dir(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static int parse(int argc, char **argv, struct log *l)
{
	for (int i = 1; i < argc; i++) {
		const char *arg = argv[i];
		if (!strcmp(arg, "--json"))
			l->json = true;
		else if (!strcmp(arg, "--follow") || !strcmp(arg, "-f"))
			l->follow = true;
		else if (arg[0] == '-')
			return -EINVAL;
		else if (!l->dir && !l->n_words && is_dir(arg))
			l->dir = arg;
		else
			l->words[l->n_words++] = arg;
	}
	return 0;
}

void log_show(struct log *l, const char *text, size_t len)
{
	if (!query_match(l->query, text, len))
		return;
	if (!l->json) {
		render_line(stdout, text, len, l->colour);
		return;
	}
	fwrite(text, 1, len, stdout);
	putchar('\n');
}

static bool session_over(struct log *l)
{
	return journal_writer(l->dir) == 0;
}

static void nap(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 200000000 }, NULL);
}

/* Everything there is; with --follow until the session is over. */
static int show_records(struct log *l)
{
	struct reader *r;
	struct line line;
	int rc = reader_open(l->dir, &r);
	if (rc != 0)
		return rc;
	for (bool over = !l->follow;;) {
		while ((rc = reader_next(r, &line)) == 1)
			if (line.bytes[0] == '{')
				log_show(l, line.bytes, line.len);
		if (rc < 0 || over || ferror(stdout))
			break;
		fflush(stdout);
		over = session_over(l); /* looked at before the last read: nothing is missed */
		if (!over)
			nap();
	}
	reader_close(r);
	return rc;
}

/* Intents in their slots. Of a living session they are simply what is being done now. */
static int show_intents(struct log *l)
{
	struct reader *r;
	struct line line;
	if (reader_open_inflight(l->dir, &r) != 0)
		return 0;
	while (reader_next(r, &line) == 1)
		if (line.ended)
			log_show(l, line.bytes, line.len);
	reader_close(r);
	return 0;
}

static int prepare(struct log *l, char *dir, size_t cap)
{
	const char *bad;
	if (!l->dir && journal_newest(dir, cap) != 0) {
		fprintf(stderr, "usher log: there is no session in the default place; name a directory\n");
		return -ENOENT;
	}
	if (!l->dir)
		l->dir = dir;
	int rc = query_new(l->words, l->n_words, stamp_now(), &l->query, &bad);
	if (rc == -EINVAL)
		fprintf(stderr, "usher log: '%s' is no directory and no word of a query; 'usher log --help' lists them\n", bad);
	return rc;
}

static int log_main(int argc, char **argv)
{
	char dir[PATH_MAX];
	struct log l = { .colour = isatty(STDOUT_FILENO) && !getenv("NO_COLOR") };
	if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
		usage(stdout);
		return 0;
	}
	l.words = calloc((size_t)argc, sizeof *l.words);
	if (!l.words || parse(argc, argv, &l) != 0) {
		usage(stderr);
		free(l.words);
		return 2;
	}
	int rc = prepare(&l, dir, sizeof dir);
	if (rc == 0) {
		rc = show_records(&l);
		if (rc == 0)
			rc = show_intents(&l);
		if (rc != 0)
			fprintf(stderr, "usher log: %s: %s\n", l.dir, rc == -ENOENT ? "no journal there" : strerror(-rc));
	}
	log_query_free(l.query);
	free(l.words);
	return rc == 0 ? 0 : 2;
}

const struct tool tool_log = {
	.name = "log",
	.usage = "[DIR] [QUERY...] [--json] [--follow]",
	.summary = "read the journal",
	.main = log_main,
};
