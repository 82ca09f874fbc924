/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/call.h"

#include <fcntl.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

#include "rules/date.h"

enum makes makes_of(mode_t mode)
{
	if (S_ISDIR(mode))
		return MAKES_DIRECTORY;
	if (S_ISLNK(mode))
		return MAKES_LINK;
	return S_ISREG(mode) || !(mode & S_IFMT) ? MAKES_FILE : MAKES_NODE;
}

bool makes_parse(const char *word, enum makes *out)
{
	static const char *const words[] = { "file", "directory", "link", "node" };
	for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(word, words[i]) == 0) {
			*out = (enum makes)i;
			return true;
		}
	}
	return false;
}

/* CALLED is NAME, or what stands behind its last slash. */
static bool names(struct span called, struct span name)
{
	if (!name.bytes || called.len == 0 || called.len > name.len ||
	    memcmp(name.bytes + (name.len - called.len), called.bytes, called.len) != 0)
		return false;
	return called.len == name.len || (name.bytes[name.len - called.len - 1] == '/' && !memchr(called.bytes, '/', called.len));
}

struct span call_called(const struct call *c)
{
	const struct object *o = &c->object[0];
	if (c->says || !c->argv0.bytes || c->n_objects == 0 || names(c->argv0, o->name) || names(c->argv0, o->named))
		return (struct span){ NULL, 0 };
	return c->argv0;
}

/* One of OPS, on any of its objects. */
static bool does(const struct call *c, op_set ops)
{
	for (uint32_t i = 0; i < c->n_objects; i++) {
		if (c->object[i].ops & ops)
			return true;
	}
	return false;
}

/* As by "%04o": this is done for each file that is made. */
static size_t octal(uint64_t n, char *out)
{
	unsigned digits = 4;
	while (n >> 3 * digits)
		digits++;
	for (unsigned i = 0; i < digits; i++)
		out[i] = (char)('0' + (n >> 3 * (digits - 1 - i) & 7));
	out[digits] = '\0';
	return digits;
}

/* Without an object the call failed before usher had read what it says. */
size_t call_mode_text(const struct call *c, char out[SAYS_TEXT])
{
	if (c->says == SAYS_MODE)
		return c->n_objects ? octal((uint32_t)c->said, out) : 0;
	return c->says == SAYS_OPEN && does(c, OP_CREATE) ? octal(c->said >> SAYS_ABOVE, out) : 0;
}

size_t call_owner_text(const struct call *c, char out[SAYS_TEXT])
{
	uint32_t user = (uint32_t)(c->said >> SAYS_ABOVE), group = (uint32_t)c->said;
	char u[12] = "", g[12] = "";

	if (c->says != SAYS_OWNER || !c->n_objects || (user == UINT32_MAX && group == UINT32_MAX))
		return 0;
	if (user != UINT32_MAX)
		snprintf(u, sizeof(u), "%" PRIu32, user);
	if (group != UINT32_MAX)
		snprintf(g, sizeof(g), "%" PRIu32, group);
	return (size_t)snprintf(out, SAYS_TEXT, "%s:%s", u, g);
}

bool call_length(const struct call *c, uint64_t *out)
{
	bool empties = c->says == SAYS_OPEN && (c->said & O_TRUNC) && !(c->said & O_PATH);

	if ((c->says != SAYS_LENGTH && !empties) || !does(c, OP_MODIFY))
		return false;
	*out = empties ? 0 : c->said;
	return true;
}

struct flag_word {
	uint64_t bit;
	const char *word;
};

#define WORDS(list, v) (list), sizeof(list) / sizeof((list)[0]), (v)

static const struct flag_word marks_int[] = {
	{ FS_IMMUTABLE_FL, "immutable" }, { FS_APPEND_FL, "append" },	{ FS_NOATIME_FL, "noatime" },	 { FS_NODUMP_FL, "nodump" },
	{ FS_SYNC_FL, "sync" },		  { FS_DIRSYNC_FL, "dirsync" }, { FS_COMPR_FL, "compress" },	 { FS_NOCOMP_FL, "nocompress" },
	{ FS_NOCOW_FL, "nocow" },	  { FS_DAX_FL, "dax" },		{ FS_CASEFOLD_FL, "casefold" }, { FS_JOURNAL_DATA_FL, "journal" },
	{ FS_TOPDIR_FL, "topdir" },	  { FS_SECRM_FL, "secrm" },	{ FS_UNRM_FL, "unrm" },	 { FS_NOTAIL_FL, "notail" },
	{ FS_EXTENT_FL, "extents" },	  { FS_VERITY_FL, "verity" },	{ FS_ENCRYPT_FL, "encrypt" },	 { FS_PROJINHERIT_FL, "projinherit" },
};

static const struct flag_word marks_x[] = {
	{ FS_XFLAG_IMMUTABLE, "immutable" }, { FS_XFLAG_APPEND, "append" }, { FS_XFLAG_NOATIME, "noatime" },	 { FS_XFLAG_NODUMP, "nodump" },
	{ FS_XFLAG_SYNC, "sync" },	     { FS_XFLAG_DAX, "dax" },	   { FS_XFLAG_PROJINHERIT, "projinherit" }, { FS_XFLAG_NOSYMLINKS, "nosymlinks" },
	{ FS_XFLAG_NODEFRAG, "nodefrag" },
};

static const struct flag_word rename_words[] = {
	{ RENAME_NOREPLACE, "noreplace" }, { RENAME_EXCHANGE, "exchange" }, { RENAME_WHITEOUT, "whiteout" },
};
static const struct flag_word remove_words[] = { { AT_REMOVEDIR, "directory" } };
static const struct flag_word open_words[] = { { O_TMPFILE, "tmpfile" } };

/* The N words of LIST whose bits are all in V; where REST, what else there is in V as a number. */
static size_t words(const struct flag_word *list, size_t n, uint64_t v, bool rest, char out[CALL_FLAGS_TEXT])
{
	char *o = out;
	for (size_t i = 0; i < n; i++) {
		if ((v & list[i].bit) != list[i].bit)
			continue;
		if (o != out)
			*o++ = ',';
		o = stpcpy(o, list[i].word);
		v &= ~list[i].bit;
	}
	if (rest && v)
		o += sprintf(o, "%s0x%" PRIx64, o != out ? "," : "", v);
	return (size_t)(o - out);
}

/* The first field of either struct is the flags, and PROJECT_AT bytes in is the project. */
static bool marks(const struct call *c, uint64_t *flags, const char **project)
{
	static const struct {
		size_t flags, project, least;
	} layout[] = {
		[MARKS_INT] = { sizeof(int), 0, sizeof(int) },
		[MARKS_FSX] = { sizeof(uint32_t), offsetof(struct fsxattr, fsx_projid), sizeof(struct fsxattr) },
		[MARKS_ATTR] = { sizeof(uint64_t), 16, 24 }, /* fa_xflags fa_extsize fa_nextents fa_projid fa_cowextsize */
	};

	if (c->says != SAYS_MARKS || !c->n_objects || c->said > MARKS_ATTR || c->text.len < layout[c->said].least)
		return false;
	*flags = 0; /* little-endian, as all that usher runs on */
	memcpy(flags, c->text.bytes, layout[c->said].flags);
	*project = layout[c->said].project ? c->text.bytes + layout[c->said].project : NULL;
	return true;
}

static size_t marks_text(const struct call *c, char out[CALL_FLAGS_TEXT])
{
	uint64_t flags;
	const char *project;

	if (!marks(c, &flags, &project))
		return 0;
	if (!flags)
		return (size_t)(stpcpy(out, "none") - out);
	return c->said == MARKS_INT ? words(WORDS(marks_int, flags), true, out) : words(WORDS(marks_x, flags), true, out);
}

size_t call_flags_text(const struct call *c, char out[CALL_FLAGS_TEXT])
{
	size_t n = 0;

	if (c->says == SAYS_MARKS)
		n = marks_text(c, out);
	else if (c->says == SAYS_OPEN && does(c, OP_CREATE))
		n = words(WORDS(open_words, c->said), false, out);
	else if (c->says == SAYS_FLAGS && c->said && strncmp(c->syscall, "rename", 6) == 0)
		n = words(WORDS(rename_words, c->said), false, out);
	else if (c->says == SAYS_FLAGS && c->said && strcmp(c->syscall, "unlinkat") == 0)
		n = words(WORDS(remove_words, c->said), false, out);
	out[n] = '\0';
	return n;
}

bool call_project(const struct call *c, uint32_t *out)
{
	uint64_t flags;
	const char *project;

	if (!marks(c, &flags, &project) || !project)
		return false;
	memcpy(out, project, sizeof(*out));
	return true;
}

#define SECONDS_A_DAY 86400
#define FIRST_NO_DATE 253402300800 /* the year 10000 */

/* V in N decimal digits, and SEP behind them: who unpacks an archive does this for each file. */
static char *digits(char *out, uint64_t v, unsigned n, char sep)
{
	for (unsigned i = n; i-- > 0; v /= 10)
		out[i] = (char)('0' + v % 10);
	out[n] = sep;
	return out + n + 1;
}

static size_t date_text(const struct timespec *t, char *out)
{
	struct date date = date_of((uint64_t)t->tv_sec / SECONDS_A_DAY);
	unsigned second = (unsigned)(t->tv_sec % SECONDS_A_DAY);
	char *o = digits(out, date.year, 4, '-');

	o = digits(o, date.month, 2, '-');
	o = digits(o, date.day, 2, 'T');
	o = digits(o, second / 3600, 2, ':');
	o = digits(o, second / 60 % 60, 2, ':');
	o = digits(o, second % 60, 2, '.');
	o = digits(o, (uint64_t)t->tv_nsec, 9, 'Z');
	*o = '\0';
	return (size_t)(o - out);
}

size_t call_time_text(const struct call *c, enum call_time which, char out[CALL_TIME_TEXT])
{
	struct timespec t[2];

	if (c->says != SAYS_TIMES || !c->n_objects || c->text.len != sizeof(t))
		return 0;
	memcpy(t, c->text.bytes, sizeof(t));
	if (t[which].tv_nsec == UTIME_OMIT || (t[0].tv_nsec == UTIME_NOW && t[1].tv_nsec == UTIME_NOW))
		return 0;
	if (t[which].tv_nsec == UTIME_NOW)
		return (size_t)snprintf(out, CALL_TIME_TEXT, "now");
	if (t[which].tv_sec < 0 || t[which].tv_sec >= FIRST_NO_DATE || t[which].tv_nsec < 0 || t[which].tv_nsec > 999999999)
		return (size_t)snprintf(out, CALL_TIME_TEXT, "@%lld.%09ld", (long long)t[which].tv_sec, t[which].tv_nsec);
	return date_text(&t[which], out);
}
