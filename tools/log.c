/* SPDX-License-Identifier: Apache-2.0 */
/* usher log: reads the journal. The queries themselves are in audit/query.h, the ways to show in tools/log_*.c. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "audit/field.h"
#include "audit/journal.h"
#include "audit/query.h"
#include "audit/reader.h"
#include "audit/render.h"
#include "audit/stamp.h"
#include "rules/cleanup.h"
#include "rules/colours.h"
#include "tools/log.h"
#include "tools/rule_files.h"
#include "tools/tool.h"

enum { USAGE = 2 };

static void usage(void)
{
	fputs("usage: usher log [DIR] [QUERY...] [--json] [--follow] [--tree] [--timeline]\n"
	      "       usher log [DIR] who-touched PATH      all that concerned PATH, through renames and links\n"
	      "       usher log [DIR] explain SEQ           one record: the rule as it stood, the stack, what came before;\n"
	      "                                             --explain SEQ is the same\n"
	      "       usher log [DIR] prove SEQ             that record alone, with its path to a signed seal; or --prove SEQ\n"
	      "       usher log [DIR] index                 make an index: questions to a large journal are answered at once\n"
	      "       usher log sessions [DIR]              what was run when, and how it ended: in DIR, or in every default place\n"
	      "       usher log diff DIR DIR                what one session did and the other did not\n"
	      "       usher log prune --keep AGE [DIR]      remove sessions older than AGE (30d, 12h):\n"
	      "                                             in DIR, or in every default place\n"
	      "\n"
	      "Shows the records of the journal in DIR (the newest session when absent) that answer every word of QUERY.\n"
	      "Times are UTC; where a session starts and ends the line has the date.\n"
	      "\n"
	      "  denied  asked  failed  alert  in-flight\n"
	      "  path:GLOB (or a word that begins with /)   by:PROGRAM   op:OPERATION   call:NAME   pid:N\n"
	      "  verdict:V   rule:TEXT   type:TYPE   result:R   event:E   seq:A-B   since:10m   until:TIME   sha256:HEX   !WORD\n"
	      "\n"
	      "  --json        the records themselves, one per line\n"
	      "  -f, --follow  wait for more until the session ends\n"
	      "  --tree        by process, each below the one that started it\n"
	      "  --timeline    how much happened when\n",
	      stdout);
}

static bool is_dir(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* A directory is a journal only where a word of a query cannot stand: before all other words, and behind what is about several. */
static void take_word(struct log *l, const char *arg)
{
	bool diff = l->n_words && !strcmp(l->words[0], "diff");
	bool many = l->n_words && (!strcmp(l->words[0], "prune") || !strcmp(l->words[0], "sessions"));
	if (!l->dir && (!l->n_words || diff || many) && is_dir(arg))
		l->dir = arg;
	else if (diff && l->dir && !l->other)
		l->other = arg;
	else
		l->words[l->n_words++] = arg;
}

static int parse(int argc, char **argv, struct log *l)
{
	const struct {
		const char *name;
		bool *flag;
	} flags[] = { { "--json", &l->json }, { "--follow", &l->follow },     { "-f", &l->follow },
		      { "--tree", &l->tree }, { "--timeline", &l->timeline } };
	for (int i = 1; i < argc; i++) {
		size_t k = 0, n = sizeof flags / sizeof flags[0];
		while (k < n && strcmp(argv[i], flags[k].name) != 0)
			k++;
		if (k < n)
			*flags[k].flag = true;
		else if (!strcmp(argv[i], "--keep"))
			l->keep = i + 1 < argc ? argv[++i] : ""; /* which is no age, and is said to be none */
		else if ((!strcmp(argv[i], "--prove") || !strcmp(argv[i], "--explain")) && !l->n_words) {
			l->words[l->n_words++] = argv[i] + 2;
			if (i + 1 < argc)
				l->words[l->n_words++] = argv[++i];
		} else if (argv[i][0] == '-') {
			tool_unexpected("log", argv[i]);
			return -EINVAL;
		} else
			take_word(l, argv[i]);
	}
	return log_form_holds(l) ? 0 : -EINVAL;
}

void log_show(void *context, const char *text, size_t len)
{
	struct log *l = context;
	if (!query_match(l->query, text, len))
		return;
	l->shown++;
	if (!l->json) {
		render_line(stdout, text, len, l->colour, log_day(l));
		return;
	}
	log_put(text, len);
	putchar('\n');
}

const char *log_day(struct log *l)
{
	struct reader *r;
	struct line line;
	struct field time;
	if (!l->day_known && reader_open(l->dir, &r) == 0) {
		if (reader_next(r, &line) == 1 && field_find(line.bytes, line.len, "time", &time) && time.len > DAY_LEN)
			memcpy(l->day, time.value, DAY_LEN);
		reader_close(r);
	}
	l->day_known = true;
	return l->day[0] ? l->day : NULL;
}

/*
 * Waits for more until the session is over; what was in flight then is told as without waiting. DIR is the directory itself, by whatever name it goes
 * meanwhile: one that is renamed does not seem to be over.
 */
static int follow_in(struct log *l, const char *dir)
{
	struct reader *r;
	struct line line;
	int rc = reader_open(dir, &r);
	if (rc != 0)
		return rc;
	for (bool over = false;;) {
		while ((rc = reader_next(r, &line)) == 1)
			if (line_is_record(&line))
				log_show(l, line.bytes, line.len);
		if (rc < 0 || over || fflush(stdout) != 0)
			break;
		over = journal_writer(dir) == 0; /* asked before the last read: nothing is missed */
		if (!over)
			nanosleep(&(struct timespec){ .tv_nsec = 200000000 }, NULL);
	}
	reader_close(r);
	return rc == 0 ? log_walk_inflight(dir, log_show, l) : rc;
}

static int follow(struct log *l)
{
	char dir[64];
	CLEANUP_FD int fd = open(l->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	(void)log_day(l); /* which is read by the name */
	snprintf(dir, sizeof dir, "/proc/self/fd/%d", fd);
	return follow_in(l, access(dir, F_OK) == 0 ? dir : l->dir); /* without /proc by its name */
}

static int compile_query(struct log *l)
{
	const char *bad;
	int rc = query_new(l->words, l->n_words, stamp_now(), &l->query, &bad);
	if (rc != -EINVAL)
		return rc;
	log_bad_word(bad);
	return 1;
}

/* Meant as a journal, a name that is no directory is a word of the query. */
static bool names_nothing(const struct log *l)
{
	return l->n_words && l->words[0][0] == '/' && access(l->words[0], F_OK) != 0;
}

static bool asks_for_name(const struct log *l)
{
	for (size_t i = 0; i < l->n_words; i++)
		if (l->words[i][0] == '/' || !strncmp(l->words[i], "path:", 5))
			return true;
	return false;
}

/* ... and of several sessions the newest need not be the one that is meant. */
static void tell_nothing(const struct log *l)
{
	if (l->shown)
		return;
	CLEANUP_FREE char *word = l->n_words ? shown_name(l->words[0]) : NULL, *dir = shown_name(l->dir); /* names that the program made, perhaps */
	if (!dir)
		return;
	if (names_nothing(l) && word)
		fprintf(stderr, "usher log: %s is no directory, and no record in %s %s\n", word, dir,
			l->n_words == 1 ? "is about it" : "answers every word");
	else if (l->newest)
		fprintf(stderr, "usher log: no record of the newest session answers that: %s\n", dir);
	if (asks_for_name(l))
		log_tell_redacted(l->dir);
}

/* What answers that depends on what comes behind it, and an index leads to the record alone. */
static bool asks_in_flight(const struct log *l)
{
	for (size_t i = 0; i < query_words(l->query); i++)
		if (query_word_key(l->query, i) == KEY_INTENT)
			return true;
	return false;
}

static int show(struct log *l)
{
	int rc = compile_query(l);
	if (rc != 0)
		return rc;
	if (l->tree)
		return log_tree(l);
	if (l->timeline)
		return log_timeline(l);
	if (l->follow)
		rc = follow(l);
	else if (asks_in_flight(l))
		rc = log_walk_settled(l->dir, log_show, l);
	else
		rc = log_find(l->dir, l->query, log_show, l);
	if (rc == 0)
		tell_nothing(l);
	return rc;
}

static int complain(const char *what)
{
	fprintf(stderr, "usher log: %s; see usher log --help\n", what);
	return 1;
}

/* The number of a record, 0 when TEXT is none. */
static uint64_t record_number(const char *text)
{
	char *end;
	errno = 0;
	long long n = strtoll(text, &end, 10);
	return errno || n < 1 || *end || text[0] < '0' || text[0] > '9' ? 0 : (uint64_t)n;
}

static int run(struct log *l)
{
	const char *command = l->n_words ? l->words[0] : "", *arg = l->n_words > 1 ? l->words[1] : NULL;
	if (!strcmp(command, "who-touched"))
		return arg && l->n_words == 2 ? log_who_touched(l, arg) : complain("who-touched needs one PATH");
	if (!strcmp(command, "index") && l->n_words == 1)
		return log_make_index(l->dir);
	if (!strcmp(command, "diff"))
		return l->other && l->n_words == 1 ? log_diff(l) : complain("diff needs two directories");
	bool explain = !strcmp(command, "explain"), prove = !strcmp(command, "prove");
	if (explain || prove) {
		uint64_t seq = arg ? record_number(arg) : 0;
		if (!seq || l->n_words != 2)
			return complain("explain and prove need the number of one record");
		return explain ? log_explain(l, seq) : log_prove(l, seq);
	}
	return show(l);
}

static int find_session(struct log *l, char *dir, size_t cap)
{
	if (l->dir)
		return 0;
	char text[PATH_MAX + 256];
	int rc = journal_newest(dir, cap);
	CLEANUP_FREE char *word = rc != 0 && names_nothing(l) ? shown_name(l->words[0]) : NULL;
	if (word)
		fprintf(stderr, "usher log: %s is no directory, and the newest session is not to be had\n", word);
	if (rc != 0)
		return complain(journal_newest_error(rc, dir, text, sizeof text));
	l->dir = dir;
	l->newest = true;
	return 0;
}

static int log_main(int argc, char **argv)
{
	char dir[PATH_MAX];
	struct log l = { .colour = colours_on(STDOUT_FILENO) };
	if (tool_help(argc, argv)) {
		usage();
		return 0;
	}
	l.words = calloc((size_t)argc, sizeof *l.words);
	if (!l.words || parse(argc, argv, &l) != 0) {
		free(l.words);
		return USAGE;
	}
	int rc;
	if (l.n_words && !strcmp(l.words[0], "prune"))
		rc = log_prune(&l);
	else if (l.n_words && !strcmp(l.words[0], "sessions"))
		rc = l.n_words == 1 ? log_sessions(&l) : complain("sessions takes one directory that holds some, or none; there is none of that name");
	else if ((rc = find_session(&l, dir, sizeof dir)) == 0)
		rc = run(&l);
	CLEANUP_FREE char *shown = rc < 0 ? shown_name(l.dir ? l.dir : "sessions") : NULL;
	if (rc == -ENOENT && l.dir && shown)
		fprintf(stderr, "usher log: %s: no journal there; what concerns it 'usher log path:%s' tells\n", shown, shown);
	else if (rc < 0)
		fprintf(stderr, "usher log: %s: %s\n", shown ? shown : "", reader_error(rc));
	log_query_free(l.query);
	free(l.words);
	return rc == 0 ? 0 : USAGE;
}

const struct tool tool_log = {
	.name = "log",
	.usage = "[DIR] [QUERY...] [--json] [--follow] [--tree] [--timeline]",
	.summary = "read the journal",
	.main = log_main,
};
