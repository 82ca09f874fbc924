/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MUST: what stays of a name, up to its last slash at least, says more than where it is: "~/.??????" would be ~/.bashrc, too. Letters alone are taken for drawn by
 * lot in a directory for temporary files only. A number of sixteens with as many places needs no name beside it: nothing else looks like it.
 */
#include "tools/review_lot.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define MKSTEMP 6  /* letters that mkstemp(3) draws */
#define PYTHON 8   /* that Python's tempfile does, of small ones */
#define MKTEMP 10  /* that mktemp(1) and Perl's File::Temp do */
#define STEM 2     /* letters in front of them, at least, where nothing parts them from these ("php", "cc", "tmp") */
#define UNSTEADY 3 /* times that letters drawn by lot change their kind, at least: words do at most twice */
#define GO_DIGITS 8 /* of Go's number, which has ten at most; shorter ones are rare. Java's has twenty */
#define COUNTED 10  /* digits of nginx's */
#define SIXTEENS 12 /* places of a number in sixteens, at least: PHP's uniqid has thirteen, half a UUID sixteen */
#define UUID 36
#define COUNTED_PLACES 8 /* of a number with zeros in front, at least */
#define COUNTED_DIGITS 5 /* of one that is all digits, as in _00001.wal */
#define COUNTED_WHOLE 4  /* of one that is all of the name, as PostgreSQL's pg_xact/0000 */
#define SUFFIX 12   /* letters behind a dot, at most: ".properties" */

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"

static const struct lot_letter letter = { "?", LETTERS };

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

/* N behind a '_' that parts them from a stem, as git's tmp_obj_XXXXXX and distcc's distcc_XXXXXXXX. */
static size_t behind_line(const char *name, size_t len, size_t run, size_t n)
{
	struct letters l = letters_at_end(name, len, n);
	size_t line = len - n - 1; /* where it is */

	if (run < n + 1 + STEM || name[line] != '_' || memchr(name + line + 1, '_', n))
		return 0;
	return l.upper + l.lower + l.digit > 1 ? n : 0;
}

/* The whole name, as nginx counts what is sent to it and what it passes on: ten digits, with zeros in front. */
static bool is_counted(const char *name, size_t len)
{
	if (len <= COUNTED)
		return false;
	const char *from = name + len - COUNTED;
	return from[-1] == '/' && from[0] == '0' && strspn(from, "0123456789") >= COUNTED;
}

/* Letters and digits as a number in sixteens has them, of one case; that both come by turns tells it from a word with a number behind it. */
static bool is_sixteens(const char *digits, size_t n, const char *allowed)
{
	unsigned changes = 0;

	for (size_t i = 1; i < n; i++)
		changes += !isdigit((unsigned char)digits[i]) != !isdigit((unsigned char)digits[i - 1]);
	return changes > 1 && strspn(digits, allowed) >= n;
}

static size_t sixteens_at_end(const char *name, size_t len, const char *allowed)
{
	size_t n = 0;

	while (n < len && name[len - 1 - n] && strchr(allowed, name[len - 1 - n]))
		n++;
	return n >= SIXTEENS && is_sixteens(name + len - n, n, allowed) ? n : 0;
}

static bool is_uuid(const char *name, size_t len, const char *letters)
{
	if (len < UUID)
		return false;
	for (size_t i = 0; i < UUID; i++) {
		char c = name[len - UUID + i];
		bool line = i == 8 || i == 13 || i == 18 || i == 23;
		if (line ? c != '-' : !c || c == '-' || !strchr(letters, c))
			return false;
	}
	return true;
}

/* Apache's, behind whatever else says what it is: .davfs.tmp3c5219, aptmp3c5219. */
static bool is_aprs(const char *name, size_t len)
{
	size_t n = MKSTEMP + 3;

	return len > n && strncmp(name + len - n, "tmp", 3) == 0 && strspn(name + len - MKSTEMP, "0123456789abcdef") >= MKSTEMP &&
	       strcspn(name + len - MKSTEMP, "0123456789") < MKSTEMP;
}

/* One that is counted, with zeros in front, as squid's and etcd's are: 0000000B, 0000000000000003-00000000000000cc. */
static size_t counted_at_end(const char *name, size_t len, const char *digits_and_line)
{
	size_t n = 0;

	while (n < len && name[len - 1 - n] && strchr(digits_and_line, name[len - 1 - n]))
		n++;
	const char *from = name + len - n;
	if (n == len || isalnum((unsigned char)from[-1]))
		return 0;
	for (size_t i = 0, end; i < n; i = end + 1) {
		end = i + strcspn(from + i, "-");
		end = end < n ? end : n;
		if (end - i < COUNTED_PLACES || strncmp(from + i, "00", 2) != 0)
			return 0;
	}
	return n;
}

/* The numbers of one case: what they are made of, and with lines between them. */
struct sixteens {
	struct lot_letter plain, lined;
};

static size_t sixteens_drawn(const char *name, size_t len, const struct sixteens *of, const struct lot_letter **one)
{
	bool uuid = is_uuid(name, len, of->lined.letters);
	size_t n = uuid ? UUID : sixteens_at_end(name, len, of->plain.letters);

	*one = uuid ? &of->lined : &of->plain;
	return n;
}

static size_t sixteens_counted(const char *name, size_t len, const struct sixteens *of, const struct lot_letter **one)
{
	size_t n = counted_at_end(name, len, of->lined.letters);

	*one = memchr(name + len - n, '-', n) ? &of->lined : &of->plain;
	return n;
}

/* The same with fewer places: behind something else its digits are all that may stand there, since letters as few are words. */
static size_t counted_shortly(const char *name, size_t len, const struct lot_letter **one)
{
	static const struct lot_letter digit = { "[0-9]", "0123456789" }, any = { "[0-9a-fA-F]", "0123456789abcdefABCDEF" };
	size_t n = 0;

	while (n < len && isdigit((unsigned char)name[len - 1 - n]))
		n++;
	if (n == len || n < COUNTED_WHOLE || n >= COUNTED_PLACES || strncmp(name + len - n, "00", 2) != 0)
		return 0;
	char before = name[len - 1 - n];
	*one = before == '/' ? &any : &digit;
	return before == '/' || (n >= COUNTED_DIGITS && !isalnum((unsigned char)before)) ? n : 0;
}

/* A number that was drawn, or of the time, or counted, in sixteens. What was counted up to 9 says not which case it will have. */
static size_t number_drawn(const char *name, size_t len, const struct lot_letter **one)
{
	static const struct sixteens small = { { "[0-9a-f]", "0123456789abcdef" }, { "[0-9a-f-]", "0123456789abcdef-" } },
				     large = { { "[0-9A-F]", "0123456789ABCDEF" }, { "[0-9A-F-]", "0123456789ABCDEF-" } },
				     any = { { "[0-9a-fA-F]", "0123456789abcdefABCDEF" }, { "[0-9a-fA-F-]", "0123456789abcdefABCDEF-" } };

	if (is_counted(name, len))
		return 0;
	size_t n = sixteens_drawn(name, len, &small, one);
	n = n ? n : sixteens_drawn(name, len, &large, one);
	n = n ? n : sixteens_counted(name, len, &any, one);
	n = n ? n : counted_shortly(name, len, one);
	if (n)
		return n;
	*one = &small.plain;
	return is_aprs(name, len) ? MKSTEMP : 0;
}

static size_t letters_drawn(const char *name, size_t len, const struct lot_letter **one)
{
	static const struct lot_letter digit = { "[0-9]", "0123456789" }, alone = { "[A-Za-z0-9_]", LETTERS };
	struct letters run = letters_at_end(name, len, len);
	size_t before = len - run.n;
	bool named = is_named(name, before), mixed = run.upper + run.lower + run.digit > 1, both = run.upper && run.lower;

	*one = &letter;
	if (is_counted(name, len)) {
		*one = &digit;
		return COUNTED;
	}
	if (named && (((run.n == MKSTEMP || run.n == PYTHON) && mixed) || (run.n == MKTEMP && both)))
		return run.n;
	if (!named && is_temporary(name, before) && ((run.n == PYTHON && !run.upper) || (run.n == MKTEMP && both))) {
		*one = &alone;
		return run.n;
	}
	if (is_pythons(name, len, &run))
		return PYTHON;
	if (!named && (!before || name[before - 1] != '/'))
		return 0;
	size_t n = behind_stem(name, len, run.n);
	n = n ? n : behind_line(name, len, run.n, MKSTEMP);
	return n ? n : behind_line(name, len, run.n, PYTHON);
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

	u.lot = number_drawn(name, len - suffix, &u.one);
	u.digits = u.lot ? 0 : digits_at_end(name, len - suffix);
	u.lot = u.lot || u.digits ? u.lot : letters_drawn(name, len - suffix, &u.one);
	return u;
}

struct unsteady review_unsteady(const char *name)
{
	size_t len = strlen(name);
	struct unsteady u = before_suffix(name, len, 0);

	return u.digits || u.lot ? u : before_suffix(name, len, suffix_of(name, len));
}

static struct unsteady number_before(const char *name, size_t len, size_t suffix)
{
	struct unsteady u = { .suffix = suffix };

	u.lot = number_drawn(name, len - suffix, &u.one);
	return u;
}

struct unsteady review_numbered(const char *name)
{
	size_t len = strlen(name);
	struct unsteady u = number_before(name, len, 0);

	return u.lot ? u : number_before(name, len, suffix_of(name, len));
}

static size_t word_at_end(const char *name, size_t len)
{
	size_t n = 0;

	while (n < len && islower((unsigned char)name[len - 1 - n]))
		n++;
	const char *slash = memrchr(name, '/', len - n);
	bool parted = n < len && name[len - 1 - n] != '/' && !isalnum((unsigned char)name[len - 1 - n]);
	return (n == MKSTEMP || n == PYTHON || n == MKTEMP) && parted && is_named(name, len - n) && slash && is_temporary(name, (size_t)(slash - name) + 1) ? n : 0;
}

struct unsteady review_like_word(const char *name)
{
	size_t len = strlen(name), suffix = 0, lot = word_at_end(name, len);

	if (!lot) {
		suffix = suffix_of(name, len);
		lot = suffix ? word_at_end(name, len - suffix) : 0;
	}
	return (struct unsteady){ .lot = lot, .suffix = lot ? suffix : 0, .one = &letter };
}

size_t review_sixteens(const char *name)
{
	size_t n = strspn(name, "0123456789abcdefABCDEF"), len = strnlen(name, UUID);

	if (is_uuid(name, len, "0123456789abcdef") || is_uuid(name, len, "0123456789ABCDEF"))
		return UUID;
	return n >= SIXTEENS ? n : 0;
}

bool review_is_day(const char *digits, size_t n)
{
	unsigned month, day;

	return n == 8 && sscanf(digits, "20%*2[0-9]%2u%2u", &month, &day) == 2 && month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

char *review_nameless(char *name)
{
	char *last = strrchr(name, '/');

	if (!last || last[1] != '#' || !isdigit((unsigned char)last[2]) || last[2 + strspn(last + 2, "0123456789")])
		return NULL;
	return last + 2;
}
