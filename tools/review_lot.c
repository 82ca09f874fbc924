/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MUST: what stays of a name, up to its last slash at least, says more than where it is: "~/.??????" would be ~/.bashrc, too. Letters alone are taken for drawn by
 * lot in a directory for temporary files only.
 */
#include "tools/review_lot.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#define MKSTEMP 6  /* letters that mkstemp(3) draws */
#define PYTHON 8   /* that Python's tempfile does, of small ones */
#define MKTEMP 10  /* that mktemp(1) and Perl's File::Temp do */
#define STEM 2     /* letters in front of them, at least, where nothing parts them from these ("php", "cc", "tmp") */
#define UNSTEADY 3 /* times that letters drawn by lot change their kind, at least: words do at most twice */
#define GO_DIGITS 8 /* of Go's number, which has ten at most; shorter ones are rare. Java's has twenty */
#define COUNTED 10  /* digits of nginx's */
#define SUFFIX 12   /* letters behind a dot, at most: ".properties" */

struct letters {
	size_t n;
	bool upper, lower, digit;
	unsigned changes; /* from one kind to another */
};

static bool is_letter(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static int kind_of(unsigned char c)
{
	return isupper(c) ? 'A' : islower(c) ? 'a' : isdigit(c) ? '0' : '_';
}

/* The last letters of the name, MOST of them at most. */
static struct letters letters_at_end(const char *name, size_t len, size_t most)
{
	struct letters l = { 0 };
	int before = 0;

	for (; l.n < len && l.n < most && is_letter(name[len - 1 - l.n]); l.n++) {
		int kind = kind_of((unsigned char)name[len - 1 - l.n]);
		l.changes += before && kind != before;
		before = kind;
		l.upper |= kind == 'A';
		l.lower |= kind == 'a';
		l.digit |= kind == '0';
	}
	return l;
}

/* Whether the first LEN bytes of the name end in more of a file's than a dot or the like. */
static bool is_named(const char *name, size_t len)
{
	while (len && name[len - 1] != '/' && !isalnum((unsigned char)name[len - 1]))
		len--;
	return len && name[len - 1] != '/';
}

/* Whether the first LEN bytes are a directory in which everybody draws names: /tmp, /var/tmp, and others of that name. */
static bool is_temporary(const char *name, size_t len)
{
	return (len >= 5 && strncmp(name + len - 5, "/tmp/", 5) == 0) || (len >= 6 && strncmp(name + len - 6, "/temp/", 6) == 0);
}

/*
 * The whole name as Python's tempfile draws it unless it is told a stem: four in ten of these change their kind no oftener than words do, and one in a
 * dozen is without a digit.
 */
static bool is_pythons(const char *name, size_t len, const struct letters *run)
{
	size_t before = len - run->n;

	return run->n == 3 + PYTHON && !run->upper && before && name[before - 1] == '/' && strncmp(name + before, "tmp", 3) == 0 &&
	       (run->digit || is_temporary(name, before));
}

/* Behind a stem that is letters, too; RUN of them in all. */
static size_t behind_stem(const char *name, size_t len, size_t run)
{
	struct letters six = letters_at_end(name, len, MKSTEMP), eight = letters_at_end(name, len, PYTHON);
	const struct letters *l = six.upper && six.lower ? &six : &eight;

	if (run < l->n + STEM || l->changes < UNSTEADY)
		return 0;
	for (size_t i = len - run; i < len - l->n; i++) {
		if (!isalpha((unsigned char)name[i]))
			return 0;
	}
	return l->n;
}

/* Behind a '_' that parts them from a stem, as git's tmp_obj_XXXXXX. */
static size_t behind_line(const char *name, size_t len, size_t run)
{
	struct letters six = letters_at_end(name, len, MKSTEMP);
	size_t line = len - MKSTEMP - 1; /* where it is */

	if (run < MKSTEMP + 1 + STEM || name[line] != '_' || memchr(name + line + 1, '_', MKSTEMP))
		return 0;
	return six.upper + six.lower + six.digit > 1 ? MKSTEMP : 0;
}

/* The whole name, as nginx counts what is sent to it and what it passes on: ten digits, with zeros in front. */
static bool is_counted(const char *name, size_t len)
{
	if (len <= COUNTED)
		return false;
	const char *from = name + len - COUNTED;
	return from[-1] == '/' && from[0] == '0' && strspn(from, "0123456789") >= COUNTED;
}

static size_t letters_drawn(const char *name, size_t len, const char **one)
{
	struct letters run = letters_at_end(name, len, len);
	size_t before = len - run.n;
	bool named = is_named(name, before), mixed = run.upper + run.lower + run.digit > 1, both = run.upper && run.lower;

	*one = "?";
	if (is_counted(name, len)) {
		*one = "[0-9]";
		return COUNTED;
	}
	if (named && (((run.n == MKSTEMP || run.n == PYTHON) && mixed) || (run.n == MKTEMP && both)))
		return run.n;
	if (!named && is_temporary(name, before) && ((run.n == PYTHON && !run.upper) || (run.n == MKTEMP && both))) {
		*one = "[A-Za-z0-9_]";
		return run.n;
	}
	if (is_pythons(name, len, &run))
		return PYTHON;
	if (!named && (!before || name[before - 1] != '/'))
		return 0;
	size_t n = behind_stem(name, len, run.n);
	return n ? n : behind_line(name, len, run.n);
}

static size_t digits_at_end(const char *name, size_t len)
{
	size_t n = 0;

	while (n < len && isdigit((unsigned char)name[len - 1 - n]))
		n++;
	return n >= GO_DIGITS && n < len && name[len - 1 - n] != '/' ? n : 0;
}

/* How long a kind of file is at the end of the name, with its dot. */
static size_t suffix_of(const char *name, size_t len)
{
	size_t n = 0;

	while (n < len && n < SUFFIX && isalpha((unsigned char)name[len - 1 - n]))
		n++;
	return n && n < len && name[len - 1 - n] == '.' ? n + 1 : 0;
}

static struct unsteady before_suffix(const char *name, size_t len, size_t suffix)
{
	struct unsteady u = { .suffix = suffix };

	u.digits = digits_at_end(name, len - suffix);
	u.lot = u.digits ? 0 : letters_drawn(name, len - suffix, &u.one);
	return u;
}

struct unsteady review_unsteady(const char *name)
{
	size_t len = strlen(name);
	struct unsteady u = before_suffix(name, len, 0);

	return u.digits || u.lot ? u : before_suffix(name, len, suffix_of(name, len));
}

char *review_nameless(char *name)
{
	char *last = strrchr(name, '/');

	if (!last || last[1] != '#' || !isdigit((unsigned char)last[2]) || last[2 + strspn(last + 2, "0123456789")])
		return NULL;
	return last + 2;
}
