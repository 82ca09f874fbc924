/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MUST: what is guarded can be neither read nor changed nor connected to, what is
 * pinned cannot be changed, and no directory above either can be renamed or removed
 * (the name the rules know would then lead elsewhere).
 *
 * In this layer "allow" means no opinion: it opens nothing that the files close.
 */
#include "policy/guard.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/real_name.h"
#include "rules/user.h"

/* What everybody may read of any process; the rest of usher's /proc directory is refused. */
#define PROC_HARMLESS "{stat,statm,status,cmdline,comm,cgroup,sched,schedstat,loginuid,sessionid,oom_score,oom_score_adj,limits}"

/*
 * As root: programs that the kernel starts for whoever writes their names, outside the tree; what ends or stops processes outside.
 * An ordinary user cannot write them anyway.
 */
#define KERNEL_OWN                                                                                                  \
	"deny write /proc/{sysrq-trigger,kcore} /proc/sys/kernel/{core_pattern,modprobe,hotplug,poweroff_cmd,sysrq,usermodehelper/*} " \
	"/proc/sys/fs/binfmt_misc/** /sys/{power,kernel/debug,kernel/tracing}/** /sys/kernel/{uevent_helper,kexec*} "           \
	"reason=\"the kernel acts on it outside the tree\"\n"

/* The weight of a whole session, usher's and the shell's among them. */
#define SESSION_WEIGHT "deny write /proc/*/autogroup reason=\"it holds for processes outside the tree\"\n"

#define GRANTS "/grants.rules"

static bool is_plain(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c && strchr("/._-+:@%", c));
}

void guard_escape(struct strbuf *to, struct span name)
{
	uint32_t done = 0;

	for (uint32_t i = 0; i < name.len; i++) {
		unsigned char c = (unsigned char)name.bytes[i];
		if (is_plain(c))
			continue;
		strbuf_add(to, name.bytes + done, i - done);
		strbuf_printf(to, "\\x%02x", c); /* an escaped byte stands for itself, never for a wildcard */
		done = i + 1;
	}
	strbuf_add(to, name.bytes + done, name.len - done);
}

void guard_pattern(struct strbuf *to, const char *scheme, struct span name, const char *tail)
{
	strbuf_puts(to, " \"");
	strbuf_puts(to, scheme);
	guard_escape(to, name);
	strbuf_puts(to, tail);
	strbuf_puts(to, "\"");
}

static struct span span_of(const char *s)
{
	return (struct span){ s, (uint32_t)strlen(s) };
}

/* The layer as it is written. What is said of many names is one rule each, at the end, of each name once: every session starts with reading it. */
struct guard {
	struct strbuf text;
	struct strbuf parents; /* patterns of the directories above what is guarded */
	struct strbuf sockets; /* patterns of what nobody connects to */
};

/* Whether what was added to B behind the first BEFORE bytes, a pattern, had been there already. */
static bool was_there(const struct strbuf *b, size_t before)
{
	return before && !b->failed && memmem(b->bytes, before, b->bytes + before, b->len - before);
}

static void guard_parents(struct guard *g, const char *name)
{
	struct span dir = span_of(name);
	while (dir.len > 0) {
		while (dir.len > 0 && dir.bytes[dir.len - 1] != '/')
			dir.len--;
		while (dir.len > 0 && dir.bytes[dir.len - 1] == '/')
			dir.len--;
		if (dir.len == 0)
			return;
		size_t before = g->parents.len;
		guard_pattern(&g->parents, "", dir, "");
		if (was_there(&g->parents, before)) { /* with all above it */
			g->parents.len = before;
			return;
		}
	}
}

static void guard_name(struct guard *g, const char *ops, const char *name)
{
	strbuf_printf(&g->text, "deny %s", ops);
	guard_pattern(&g->text, "", span_of(name), "");
	guard_pattern(&g->text, "", span_of(name), "/**");
	strbuf_puts(&g->text, "\n");
}

static void guard_closed(struct guard *g, const char *name)
{
	guard_name(g, "read,write,exec", name);
	guard_pattern(&g->sockets, "unix:", span_of(name), "/**");
	guard_parents(g, name);
}

/* Of NAME, which does not exist, the first part that is missing may not come to be anything else. REAL is what exists of it. */
static void guard_missing(struct guard *g, const char *whole, size_t real)
{
	struct span first = { whole, (uint32_t)real };
	while (whole[first.len] == '/')
		first.len++;
	while (whole[first.len] && whole[first.len] != '/')
		first.len++;
	strbuf_puts(&g->text, "deny create");
	guard_pattern(&g->text, "", first, "");
	strbuf_puts(&g->text, " reason=\"usher's own files will be below\"\n");
}

/* A link (or what ".." leaves) that leads to usher's own: what is put in its place would be read for it. */
static void guard_link(void *context, const char *name)
{
	struct guard *g = context;
	strbuf_puts(&g->text, "deny delete");
	guard_pattern(&g->text, "", span_of(name), "");
	strbuf_puts(&g->text, " reason=\"usher's own files are behind\"\n");
	guard_parents(g, name);
}

/* WHOLE is what NAME means. Most names cross no link, and are what they say. */
static void guard_links(struct guard *g, const char *name, const char *whole)
{
	if (strcmp(name, whole) != 0)
		(void)real_name_leads(name, guard_link, g);
}

/* As guard_closed(), for a name that may lead over links and whose end may not exist yet: nor may others make its parents. */
static void guard_real(struct guard *g, const char *name)
{
	char whole[PATH_MAX];
	ssize_t real = real_name(name, whole);

	if (real < 0)
		return;
	guard_closed(g, whole);
	guard_links(g, name, whole);
	if (whole[real])
		guard_missing(g, whole, (size_t)real);
}

/* FILE where it is a link: what it leads to, wherever that is. */
static void guard_led(struct guard *g, const char *file)
{
	char target[1];
	if (readlink(file, target, sizeof(target)) >= 0)
		guard_real(g, file);
}

/* The directory too: a link in its place would make a file of the tree's own the file of grants. */
static void guard_grants(struct guard *g, const char *file)
{
	char dir[PATH_MAX];
	guard_led(g, file);
	snprintf(dir, sizeof(dir), "%s", file);
	char *slash = strrchr(dir, '/');
	if (slash && slash != dir)
		*slash = '\0';
	guard_real(g, dir);
}

/* The directories between the first BASE bytes of PATH, which are not made, and its last part: the user's alone. That they cannot be made is no fault. */
static void make_above(char *path, size_t base)
{
	char *last = strrchr(path, '/');

	*last = '\0';
	bool there = access(path, F_OK) == 0;
	*last = '/';
	for (char *at = path + base + 1; !there && (at = strchr(at, '/')); at++) {
		*at = '\0';
		(void)mkdir(path, 0700);
		*at = '/';
	}
}

static bool is_guarded(const struct policy_options *o, const char *name)
{
	for (size_t i = 0; i < o->n_guarded; i++) {
		if (!strcmp(o->guarded[i], name))
			return true;
	}
	return false;
}

/* Whether the file of grants, which is guarded with its directory, lies in PATH. */
static bool has_grants(const struct policy_options *o, const char *path)
{
	size_t len = strlen(path);

	return o->grants_file && strncmp(o->grants_file, path, len) == 0 && o->grants_file[len] == '/';
}

/*
 * NAME below BASE, which an usher uses, this one or another: nobody makes a part of it that is missing, as it might be a link. MAKE: programs may want what it
 * lies in, so that a session makes it for them.
 */
static void guard_place(struct guard *g, const struct policy_options *o, const char *base, const char *name, bool make)
{
	char path[PATH_MAX], whole[PATH_MAX];

	if (base[0] != '/' || (size_t)snprintf(path, sizeof(path), "%s%s", base, name) >= sizeof(path))
		return;
	if (has_grants(o, path))
		return;
	if (make && o->makes_places)
		make_above(path, strlen(base));
	ssize_t real = real_name(path, whole);
	if (real < 0)
		return;
	guard_links(g, path, whole);
	if (is_guarded(o, whole))
		return;
	guard_closed(g, whole);
	if (whole[real])
		guard_missing(g, whole, (size_t)real);
	if ((size_t)snprintf(path, sizeof(path), "%s%s" GRANTS, base, name) < sizeof(path))
		guard_led(g, path);
}

/* guard_place() for both bases, each of which may be NULL: the second where it is another. */
static void guard_below(struct guard *g, const struct policy_options *o, const char *one, const char *two, const char *name, bool make)
{
	if (one)
		guard_place(g, o, one, name, make);
	if (two && (!one || strcmp(one, two) != 0))
		guard_place(g, o, two, name, make);
}

/*
 * Where any session of this user has its desk, standing answers and journals. One that was started elsewhere (from a login, by cron, through sudo)
 * has other variables, and the usual places where this one may have none.
 */
static void guard_places(struct guard *g, const struct policy_options *o)
{
	const char *home = getenv("HOME"), *run = getenv("XDG_RUNTIME_DIR");
	struct user user = { .home = "" };
	char usual[32];

	(void)user_find_local(getuid(), &user);
	snprintf(usual, sizeof(usual), "/run/user/%u", (unsigned)getuid());
	guard_below(g, o, home, user.home, "/.config/usher", true);
	guard_below(g, o, home, user.home, "/.local/state/usher", true);
	guard_below(g, o, getenv("XDG_STATE_HOME"), NULL, "/usher", true);
	guard_below(g, o, run, usual, "/usher", false);
	guard_below(g, o, run, usual, "/usher-journals", false);
}

static void guard_process(struct guard *g, pid_t self)
{
	strbuf_printf(&g->text, "allow read /proc/%d/" PROC_HARMLESS "\n", self);
	strbuf_printf(&g->text, "deny read /proc/%d/*/**\ndeny write /proc/%d/**\ndeny exec /proc/%d/**\n", self, self, self);
}

/* The one rule about all PATTERNS, which are let go of. */
static void guard_all(struct strbuf *to, const char *what, struct strbuf *patterns, const char *options)
{
	if (patterns->failed)
		to->failed = true;
	else if (patterns->len) {
		strbuf_puts(to, what);
		strbuf_add(to, patterns->bytes, patterns->len);
		strbuf_puts(to, options);
	}
	strbuf_free(patterns);
}

int guard_text(const struct policy_options *options, pid_t self, char **out, size_t *len)
{
	struct guard g = { 0 };

	guard_process(&g, self);
	strbuf_puts(&g.text, SESSION_WEIGHT);
	if (geteuid() == 0)
		strbuf_puts(&g.text, KERNEL_OWN);
	for (size_t i = 0; i < options->n_guarded; i++)
		guard_closed(&g, options->guarded[i]);
	for (size_t i = 0; i < options->n_pinned; i++) {
		guard_name(&g, "write", options->pinned[i]);
		guard_parents(&g, options->pinned[i]);
	}
	for (size_t i = 0; i < options->n_links; i++)
		guard_link(&g, options->links[i]);
	guard_places(&g, options); /* first: it makes what is missing */
	if (options->grants_file)
		guard_grants(&g, options->grants_file);
	guard_all(&g.text, "deny net", &g.sockets, "\n");
	guard_all(&g.text, "deny delete", &g.parents, " reason=\"usher's own files are below\"\n");
	return strbuf_end(&g.text, out, len);
}

static int join(char *out, size_t cap, const char *dir, const char *rest)
{
	int n = snprintf(out, cap, "%s%s", dir, rest);
	return n >= 0 && (size_t)n < cap ? 0 : -ENAMETOOLONG;
}

int policy_grants_path(char *out, size_t cap)
{
	const char *dir = getenv("XDG_CONFIG_HOME");
	if (dir && dir[0] == '/')
		return join(out, cap, dir, "/usher" GRANTS);
	dir = getenv("HOME");
	return dir && dir[0] == '/' ? join(out, cap, dir, "/.config/usher" GRANTS) : -ENOENT;
}

int policy_desk_dir(char *out, size_t cap)
{
	const char *dir = getenv("XDG_RUNTIME_DIR");
	if (dir && dir[0] == '/')
		return join(out, cap, dir, "/usher");
	dir = getenv("XDG_STATE_HOME");
	if (dir && dir[0] == '/')
		return join(out, cap, dir, "/usher/desk");
	dir = getenv("HOME");
	if (dir && dir[0] == '/')
		return join(out, cap, dir, "/.local/state/usher/desk");
	return -ENOENT;
}
