/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/exec_script.h"

#include <stdbool.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct language {
	const char *name;
	const char *programs[6];  /* beginnings of the file's name, which digits and dots may follow */
	const char *text_options; /* their next argument is the program itself */
	const char *module_option;
	char grouped_value;        /* the letter that, last in a group, takes the next argument */
	const char *with_value[8]; /* options whose next argument is their value */
} languages[] = {
	[SCRIPT_PYTHON] = { "python", { "python", "pypy" }, "c", "-m", 0, { "-W", "-X", "-Q", "--check-hash-based-pycs" } },
	[SCRIPT_NODE] = { "node", { "node", "nodejs" }, "ep", NULL, 0, { "-r", "--require", "--import", "--loader", "-C", "--conditions" } },
	[SCRIPT_SHELL] = { "shell", { "bash", "dash", "sh", "zsh", "ksh" }, "c", NULL, 'o', { "-o", "+o", "-O", "+O", "--rcfile", "--init-file" } },
};

static bool is_program(const char *leaf, size_t len, const char *name)
{
	size_t n = strlen(name);

	if (len < n || memcmp(leaf, name, n) != 0)
		return false;
	return strspn(leaf + n, "0123456789.") >= len - n;
}

enum script_language script_language(struct span path)
{
	char leaf[32];
	const char *slash = path.len ? memrchr(path.bytes, '/', path.len) : NULL;
	size_t len = slash ? (size_t)(path.bytes + path.len - slash - 1) : 0;

	if (!len || len >= sizeof(leaf))
		return SCRIPT_NONE;
	memcpy(leaf, slash + 1, len);
	leaf[len] = '\0';
	for (unsigned l = SCRIPT_PYTHON; l <= SCRIPT_SHELL; l++) {
		for (unsigned i = 0; i < 6 && languages[l].programs[i]; i++) {
			if (is_program(leaf, len, languages[l].programs[i]))
				return (enum script_language)l;
		}
	}
	return SCRIPT_NONE;
}

/* A group of short options, as -ec. */
static bool says_text(const struct language *l, const char *option)
{
	if (option[0] != '-' || strchr("-WX", option[1]))
		return false; /* long, or with its value in one word */
	return strpbrk(option + 1, l->text_options) != NULL;
}

static bool takes_value(const struct language *l, const char *option)
{
	for (unsigned i = 0; i < 8 && l->with_value[i]; i++) {
		if (!strcmp(option, l->with_value[i]))
			return true;
	}
	size_t len = strlen(option);
	return l->grouped_value && option[1] != '-' && option[len - 1] == l->grouped_value; /* -euo pipefail */
}

static const char *next(const char *s)
{
	return s + strlen(s) + 1;
}

static void absolute(const char *name, const char *cwd, char *out)
{
	if (name[0] == '/' || !cwd[0])
		snprintf(out, SCRIPT_TEXT, "%s", name);
	else
		snprintf(out, SCRIPT_TEXT, "%s/%s", cwd, name);
}

void script_find(enum script_language language, struct span strings, const char *cwd, char *out, struct span *rest)
{
	const struct language *l = &languages[language];
	const char *s = strings.bytes, *end = s + strings.len;

	out[0] = '\0';
	if (s < end)
		s = next(s); /* argv[0] */
	for (; s < end && (s[0] == '-' || s[0] == '+') && s[1]; s = next(s)) {
		if (l->module_option && !strcmp(s, l->module_option) && next(s) < end) {
			s = next(s);
			snprintf(out, SCRIPT_TEXT, "-m %s", s);
			break;
		}
		if (says_text(l, s)) {
			snprintf(out, SCRIPT_TEXT, "-%c", strpbrk(s + 1, l->text_options)[0]);
			s = next(s) < end ? next(s) : s;
			break;
		}
		if (takes_value(l, s) && next(s) < end)
			s = next(s);
	}
	if (s < end && !out[0] && strcmp(s, "-") != 0)
		absolute(s, cwd, out);
	s = s < end ? next(s) : end;
	*rest = (struct span){ s, (uint32_t)(end - s) };
}

struct script {
	atomic_uint refs;
	enum script_language language;
	struct span name, args;
	char text[];
};

struct script *script_new(enum script_language language, struct span name, struct span args)
{
	struct script *s = malloc(sizeof(*s) + name.len + args.len);

	if (!s)
		return NULL;
	atomic_init(&s->refs, 1);
	s->language = language;
	s->name = (struct span){ s->text, name.len };
	s->args = (struct span){ s->text + name.len, args.len };
	if (name.len)
		memcpy(s->text, name.bytes, name.len);
	if (args.len)
		memcpy(s->text + name.len, args.bytes, args.len);
	return s;
}

struct script *script_hold(struct script *s)
{
	if (s)
		atomic_fetch_add_explicit(&s->refs, 1, memory_order_relaxed);
	return s;
}

void script_put(struct script *s)
{
	if (s && atomic_fetch_sub_explicit(&s->refs, 1, memory_order_acq_rel) == 1)
		free(s);
}

void script_record(const struct script *s, struct record *r)
{
	if (!s)
		return;
	record_object(r, "script");
	record_text(r, "language", languages[s->language].name);
	record_bytes(r, "name", s->name);
	if (s->args.len)
		record_bytes(r, "argv", s->args);
	record_close(r);
}
