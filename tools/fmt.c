// SPDX-License-Identifier: Apache-2.0
/*
 * usher fmt: one way to lay out a rule file. Words, comments and their order stay as they
 * are; blanks between them, continuation lines and empty lines are made alike.
 *
 * MUST: never writes a file whose rules differ from what was read: what was read loads, and the new text has the same words in the same
 * order, which is compared.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rules/cleanup.h"
#include "rules/colours.h"
#include "rules/findings.h"
#include "rules/source.h"
#include "tools/rule_files.h"
#include "tools/tool.h"

#define WIDTH 120U
#define VERDICT_COLUMN 9U
#define OPERATION_COLUMN 9U

struct out {
	FILE *to;
	size_t column;
	size_t word;
	unsigned empty; /* empty lines waiting */
	bool any;       /* something was written */
};

static bool blank(char c)
{
	return c == ' ' || c == '\t';
}

/* A backslash at the very end of a line, of the last one too where that has no end. */
static bool continues(const char *at)
{
	return *at == '\\' && (at[1] == '\n' || !at[1]);
}

/* The end of the word or comment that begins at AT. */
static const char *word_end(const char *at)
{
	bool quoted = false;
	if (*at == '#')
		return at + strcspn(at, "\n");
	for (; *at && *at != '\n' && (quoted || !blank(*at)); at++) {
		if (continues(at))
			return at;
		if (*at == '\\' && quoted && at[1])
			at++;
		else if (*at == '"')
			quoted = !quoted;
	}
	return at;
}

static const char *skip_blanks(const char *at)
{
	while (blank(*at) || continues(at))
		at += *at == '\\' && at[1] ? 2 : 1;
	return at;
}

static void pad(struct out *o, size_t to)
{
	do {
		fputc(' ', o->to);
		o->column++;
	} while (o->column < to);
}

static void put_word(struct out *o, const char *word, size_t n, bool aligned)
{
	bool comment = *word == '#';
	if (o->word && !comment && o->column + 1 + n > WIDTH && o->word > 2) {
		fputs(" \\\n", o->to);
		o->column = 0;
		pad(o, aligned ? VERDICT_COLUMN + OPERATION_COLUMN : VERDICT_COLUMN);
	} else if (o->word == 1 && !comment) {
		pad(o, VERDICT_COLUMN);
	} else if (o->word == 2 && aligned && !comment) {
		pad(o, VERDICT_COLUMN + OPERATION_COLUMN);
	} else if (o->word) {
		pad(o, o->column + 1 + comment);
	}
	fwrite(word, 1, n, o->to);
	o->column += n;
	o->word++;
}

/* Rules align their patterns; set and include do not. */
static bool aligned(const char *word, size_t n)
{
	static const char *const heads[] = { "allow", "deny", "ask", "rewrite", "kill" };
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
		if (strlen(heads[i]) == n && memcmp(heads[i], word, n) == 0)
			return true;
	return false;
}

static const char *format_line(struct out *o, const char *at)
{
	bool rule = false;
	at = skip_blanks(at);
	if (*at == '\n' || !*at) {
		o->empty++;
		return *at ? at + 1 : at;
	}
	if (o->any && o->empty)
		fputc('\n', o->to);
	o->empty = 0;
	o->any = true;
	o->column = 0;
	o->word = 0;
	while (*at && *at != '\n') {
		const char *end = word_end(at);
		size_t n = (size_t)(end - at);
		while (*at == '#' && n && blank(at[n - 1]))
			n--;
		rule = o->word ? rule : aligned(at, n);
		put_word(o, at, n, rule);
		at = skip_blanks(end);
	}
	fputc('\n', o->to);
	return *at ? at + 1 : at;
}

static char *format(const char *text)
{
	char *result = NULL;
	size_t size = 0;
	struct out o = { .to = open_memstream(&result, &size) };
	if (!o.to)
		return NULL;
	while (*text)
		text = format_line(&o, text);
	return fclose(o.to) == 0 ? result : NULL;
}

/* Two texts with the same rules, in words: verdict, text without layout, and expectations. */
static bool same_words(const char *a, const char *b)
{
	for (;;) {
		a = skip_blanks(a);
		b = skip_blanks(b);
		while (*a == '\n')
			a = skip_blanks(a + 1);
		while (*b == '\n')
			b = skip_blanks(b + 1);
		size_t na = (size_t)(word_end(a) - a), nb = (size_t)(word_end(b) - b);
		while (na && *a == '#' && blank(a[na - 1]))
			na--;
		while (nb && *b == '#' && blank(b[nb - 1]))
			nb--;
		if (na != nb || memcmp(a, b, na) != 0)
			return false;
		if (!na)
			return *a == *b;
		a = word_end(a);
		b = word_end(b);
	}
}

/* The new text takes the old one's place by rename, mode kept; a link to the file goes on leading to it. */
static int replace(const char *name, const char *text)
{
	char path[PATH_MAX], temporary[PATH_MAX];
	struct stat st;
	if (!realpath(name, path))
		return -errno;
	if (stat(path, &st) < 0 || snprintf(temporary, sizeof(temporary), "%s.XXXXXX", path) >= (int)sizeof(temporary))
		return -EIO;
	CLEANUP_FD int fd = mkostemp(temporary, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	size_t n = strlen(text);
	bool ok = write(fd, text, n) == (ssize_t)n && fchmod(fd, st.st_mode & 07777) == 0 &&
		  (fchown(fd, st.st_uid, st.st_gid) == 0 || errno == EPERM) && fsync(fd) == 0 && rename(temporary, path) == 0;
	if (ok)
		return 0;
	int error = errno ? -errno : -EIO;
	unlink(temporary);
	return error;
}

static int loads(const char *path, struct rule_variables *v)
{
	struct diagnostics found = { 0 };
	struct ruleset *rs = NULL;
	struct ruleset_source source = { .path = path, .variables = v->item, .n_variables = v->n };
	int r = ruleset_load(&source, &found, &rs);
	if (r)
		diagnostics_print(&found, stderr, colours_on(STDERR_FILENO));
	ruleset_free(rs);
	diagnostics_free(&found);
	return r;
}

static int format_file(const char *path, bool write_back, bool check, struct rule_variables *v)
{
	struct arena arena = { 0 };
	struct diagnostics found = { 0 };
	struct place at = { .file = path };
	struct source source;
	CLEANUP_FREE char *text = NULL, *shown = shown_name(path);
	int status = loads(path, v) ? 1 : 0;
	if (!status && source_read(&arena, path, &at, &found, &source) == 0)
		text = format(source.text);
	if (!text || !same_words(source.text, text)) {
		if (!status)
			fprintf(stderr, "usher fmt: %s: left alone: it would not mean the same\n", shown ? shown : "");
		status = 1;
	} else if (check && strcmp(text, source.text) != 0) {
		printf("%s\n", path);
		status = 1;
	} else if (write_back && strcmp(text, source.text) != 0) {
		int r = replace(path, text);
		if (r)
			fprintf(stderr, "usher fmt: %s: %s\n", shown ? shown : "", strerror(-r));
		status = r ? 1 : 0;
	} else if (!write_back && !check) {
		fputs(text, stdout);
	}
	diagnostics_free(&found);
	arena_free(&arena);
	return status;
}

static int fmt_main(int argc, char **argv)
{
	bool write_back = false, check = false;
	int i = 1, status = 0;
	for (; i < argc && argv[i][0] == '-' && argv[i][1]; i++) {
		if (strcmp(argv[i], "-w") == 0)
			write_back = true;
		else if (strcmp(argv[i], "--check") == 0)
			check = true;
		else
			break;
	}
	if (write_back && check) {
		fputs("usher fmt: --check only looks, and -w writes: one of them\n", stderr);
		return 2;
	}
	if (i >= argc || (argv[i][0] == '-' && argv[i][1])) {
		bool help = i < argc && (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0);
		fprintf(help ? stdout : stderr, "usage: usher fmt %s\n\n%s; -w writes it back, --check names files that differ.\n",
			tool_fmt.usage, tool_fmt.summary);
		return help ? 0 : 2;
	}
	struct rule_variables *v = calloc(1, sizeof(*v));
	if (!v)
		return 1;
	rule_variables(v);
	for (; i < argc; i++)
		status |= format_file(argv[i], write_back, check, v);
	free(v);
	return status;
}

const struct tool tool_fmt = {
	.name = "fmt",
	.usage = "[-w | --check] FILE...",
	.summary = "lay out rule files in one way, without changing what they mean",
	.main = fmt_main,
};
