/* SPDX-License-Identifier: Apache-2.0 */
/* The forms of secrets that are known without being named, and where the value of each begins and ends. */
#ifndef USHER_AUDIT_REDACT_FORMS_H
#define USHER_AUDIT_REDACT_FORMS_H

#include <stdbool.h>
#include <stddef.h>

/* What stands behind, or around, a lead. */
enum form_kind {
	FORM_VALUE,    /* a value follows */
	FORM_WORD,     /* the same, where no letter or digit stands before the lead */
	FORM_OPTION,   /* the end of an option (--auth-token), its blank, and a value that is no option */
	FORM_TOKEN,    /* the lead begins a token: MORE letters, digits, '_', '-' or '.' at least follow */
	FORM_EXACT,    /* the same; case counts, and a digit is among what follows */
	FORM_UPPER,    /* case counts; MORE capitals and digits follow, and nothing else of a token */
	FORM_USERINFO, /* behind ://, the password before an @ */
	FORM_HEADER,   /* a name of a scheme or none, and a value */
	FORM_JSON,     /* an opening quote was in the lead's name: "name": "value" */
	FORM_PEM,      /* all up to -----END */
};

struct form {
	const char *text; /* at least three bytes, lower case but for FORM_EXACT and FORM_UPPER */
	enum form_kind kind;
	size_t more;
};

/* The set that is always there; ends with text NULL. */
extern const struct form redact_forms[];

/*
 * LEAD of the form was found at P, in the bytes from BYTES up to END, and ends at BEHIND. Whether a value is there, and which.
 * BYTES are a name, an argument, or arguments as rules see them: blanks and quotes within one behind a backslash.
 */
bool form_value(const struct form *f, const char *bytes, const char *p, const char *behind, const char *end, const char **at, size_t *len);

/* Whether what ends in LEAD, up to END (its blank is left out), is an option: what FORM_OPTION looks for. */
bool form_option(const char *bytes, const char *lead, const char *end);

/*
 * Options of well-known programs (mysql -pSECRET, curl -u USER:SECRET). The first value in ARGS, what PROGRAM was given, from FROM
 * on; PROGRAM is its last component.
 */
bool command_value(const char *program, size_t program_len, const char *args, size_t n, size_t from, size_t *at, size_t *len);

/* Whether argument I (from 1 on) of ARGV is, or holds, such a value. */
bool command_argument(char *const *argv, size_t i);

/* The programs that are known so, from 0 on; NULL behind the last. */
const char *command_program(size_t i);

/* The same for a shell's text: where the name of such a program stands at P. */
bool command_named(const char *bytes, const char *p, const char *end, const char **at, size_t *len);

#endif
