/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/helper_files.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rules/cleanup.h"

#define WORDS_MOST 512 /* of one text */
#define DIRS_MOST 8
#define CHAIN_MOST 4      /* interpreters of interpreters that the kernel follows */
#define FIRST_LINE_MOST 256 /* of a script, as the kernel reads it */

struct looking {
	int (*each)(void *context, const char *file);
	void *context;
	char *dir[DIRS_MOST]; /* that a word has named: what follows may be said from there (cd DIR && ./helper) */
	unsigned dirs;
	unsigned chain;       /* scripts whose first lines are being read */
};

/* A word as it is read: what stands in it for others is one byte, or what a variable has. One that is too long is cut: there is no such file. */
struct word {
	char *text; /* PATH_MAX */
	size_t n;
};

static void put(struct word *w, const char *bytes, size_t len)
{
	size_t room = PATH_MAX - 1 - w->n;

	len = len < room ? len : room;
	memcpy(w->text + w->n, bytes, len);
	w->n += len;
}

/* How long the variable at P is ("$HOME", "${HOME}"), whose content is put; 0: it is none, or one that usher does not have. */
static size_t put_variable(struct word *w, const char *p)
{
	char name[256];
	bool braces = p[0] == '$' && p[1] == '{';
	const char *from = p + 1 + braces;
	size_t len = 0;

	while (isalnum((unsigned char)from[len]) || from[len] == '_')
		len++;
	if (p[0] != '$' || !len || len >= sizeof(name) || (braces && from[len] != '}'))
		return 0;
	memcpy(name, from, len);
	name[len] = '\0';
	const char *value = getenv(name);
	if (!value)
		return 0;
	put(w, value, strlen(value));
	return 1 + len + 2 * braces;
}

/* The next word of *AT, without its quotes, into TEXT; false at the end. */
static bool next_word(const char **at, char text[PATH_MAX])
{
	static const char between[] = " \t\n;|&()<>=`";
	const char *p = *at + strspn(*at, between);
	struct word word = { .text = text };
	char quote = 0;

	for (; *p && (quote || !strchr(between, *p)); p++) {
		size_t variable = quote != '\'' ? put_variable(&word, p) : 0;
		if (variable) {
			p += variable - 1;
			continue;
		}
		if (!quote && (*p == '\'' || *p == '"')) {
			quote = *p;
			continue;
		}
		if (quote && *p == quote) {
			quote = 0;
			continue;
		}
		bool escapes = *p == '\\' && quote != '\'' && p[1];
		p += escapes;
		if (!escapes || *p != '\n') /* a line that goes on */
			put(&word, p, 1);
	}
	text[word.n] = '\0';
	bool some = p != *at + strspn(*at, between);
	*at = p;
	return some;
}

static bool is_program(const char *file)
{
	struct stat st;

	return stat(file, &st) == 0 && S_ISREG(st.st_mode) && access(file, X_OK) == 0;
}

/* WORD in the directory of $PATH at *DIR, which goes on to the next one. False past the last. */
static bool next_in_path(const char **dir, const char *word, char file[2 * PATH_MAX])
{
	const char *from = *dir;

	if (!from)
		return false;
	size_t n = strcspn(from, ":");
	snprintf(file, 2 * PATH_MAX, "%.*s%s%s", (int)(n < PATH_MAX ? n : PATH_MAX), from, n ? "/" : "./", word);
	*dir = from[n] ? from + n + 1 : NULL;
	return true;
}

/* Whether this user could make FILE, or change it. */
static bool may_be_put(const char *file)
{
	char dir[2 * PATH_MAX];

	snprintf(dir, sizeof(dir), "%s", file);
	*strrchr(dir, '/') = '\0'; /* "/" is no directory of $PATH: "" cannot be written either */
	return access(dir, W_OK) == 0 || access(file, W_OK) == 0;
}

static int look_at_script(struct looking *l, const char *file);

static int look_at_file(struct looking *l, const char *file)
{
	int rc = l->each(l->context, file);

	return rc < 0 ? rc : look_at_script(l, file);
}

/* Where the shell looks for WORD: what was put into a directory before the one that has it would be run for it. */
static int look_in_path(struct looking *l, const char *word)
{
	const char *dir = getenv("PATH"), *again = dir;
	char file[2 * PATH_MAX];
	unsigned places = 0;
	bool found = false;
	int rc = 0;

	for (; !found && next_in_path(&dir, word, file); places++)
		found = is_program(file);
	if (found)
		rc = look_at_script(l, file);
	for (; found && rc == 0 && places && next_in_path(&again, word, file); places--)
		rc = may_be_put(file) ? l->each(l->context, file) : 0;
	return rc;
}

static int keep_dir(struct looking *l, const char *dir)
{
	if (l->dirs == DIRS_MOST)
		return 0;
	l->dir[l->dirs] = strdup(dir);
	return l->dir[l->dirs] ? (l->dirs++, 0) : -ENOMEM;
}

static int look_at(struct looking *l, const char *name)
{
	struct stat st;

	if (stat(name, &st) < 0)
		return 0;
	if (S_ISDIR(st.st_mode))
		return keep_dir(l, name);
	return S_ISREG(st.st_mode) ? look_at_file(l, name) : 0;
}

/* As it is said: from where usher was started, from a directory named before, or from the home. */
static int look_from_all(struct looking *l, const char *word)
{
	const char *home = getenv("HOME");
	char name[2 * PATH_MAX];
	unsigned before = l->dirs;

	if (!strncmp(word, "~/", 2) && home)
		snprintf(name, sizeof(name), "%.*s%s", PATH_MAX, home, word + 1);
	else
		snprintf(name, sizeof(name), "%s", word);
	int rc = look_at(l, name);
	for (unsigned i = 0; rc == 0 && name[0] != '/' && i < before; i++) {
		snprintf(name, sizeof(name), "%.*s/%s", PATH_MAX, l->dir[i], word);
		rc = look_at(l, name);
	}
	return rc;
}

static int look(struct looking *l, const char *word)
{
	bool option = word[0] == '-' && word[1] && word[2]; /* -fFILE */

	if (!word[0])
		return 0;
	int rc = look_from_all(l, word);
	if (rc == 0 && option)
		rc = look_from_all(l, word + 2);
	return rc < 0 || strchr(word, '/') ? rc : look_in_path(l, word);
}

static int look_at_words(struct looking *l, const char *text)
{
	CLEANUP_FREE char *word = malloc(PATH_MAX);
	int rc = word ? 0 : -ENOMEM;

	for (unsigned n = 0; rc == 0 && n < WORDS_MOST && next_word(&text, word); n++)
		rc = look(l, word);
	return rc;
}

/* Who runs a script reads it for it: its interpreter, and the program that `env` is to find. */
static int look_at_script(struct looking *l, const char *file)
{
	char line[FIRST_LINE_MOST + 1];

	int fd CLEANUP_FD = l->chain < CHAIN_MOST ? open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;
	ssize_t n = fd < 0 ? 0 : read(fd, line, FIRST_LINE_MOST);
	if (n < 2 || memcmp(line, "#!", 2) != 0)
		return 0;
	line[n] = '\0';
	line[strcspn(line, "\n")] = '\0';
	l->chain++;
	int rc = look_at_words(l, line + 2);
	l->chain--;
	return rc;
}

/* What stands in quotes may be a command, too: the words of `sh -c '...'`, of `eval`, of a substitution. */
static int look_into_quotes(struct looking *l, const char *command)
{
	static const char quotes[] = "'\"`\\";
	CLEANUP_FREE char *bare = command[strcspn(command, quotes)] ? strdup(command) : NULL;

	if (!bare)
		return command[strcspn(command, quotes)] ? -ENOMEM : 0;
	for (char *p = bare; *(p += strcspn(p, quotes));)
		*p = ' ';
	return look_at_words(l, bare);
}

int helper_files(const char *command, int (*each)(void *context, const char *file), void *context)
{
	struct looking l = { .each = each, .context = context };

	int rc = look_at_words(&l, command);
	if (rc == 0)
		rc = look_into_quotes(&l, command);
	while (l.dirs)
		free(l.dir[--l.dirs]);
	return rc;
}
