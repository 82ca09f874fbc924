/* SPDX-License-Identifier: Apache-2.0 */
/* See redact_forms.h. A form is here when what it finds is hardly ever anything but a secret: what is hidden is no evidence. */
#include "audit/redact_forms.h"

#include <string.h>

#include "audit/redact.h"

#define USERINFO_LONG 20
#define TEXT_LOOK 4096 /* bytes without a blank that are looked through for one */

const struct form redact_forms[] = {
	{ REDACT_OPEN, FORM_VALUE, 0 },
	{ "://", FORM_USERINFO, 0 },
	/* forges and continuous integration */
	{ "ghp_", FORM_TOKEN, 20 }, { "gho_", FORM_TOKEN, 20 }, { "ghu_", FORM_TOKEN, 20 }, { "ghs_", FORM_TOKEN, 20 },
	{ "ghr_", FORM_TOKEN, 20 }, { "github_pat_", FORM_TOKEN, 20 }, { "glpat-", FORM_TOKEN, 16 }, { "gldt-", FORM_TOKEN, 16 },
	{ "glrt-", FORM_TOKEN, 16 }, { "glcbt-", FORM_TOKEN, 16 }, { "glptt-", FORM_TOKEN, 16 }, { "glft-", FORM_TOKEN, 16 },
	{ "gloas-", FORM_TOKEN, 16 }, { "glsoat-", FORM_TOKEN, 16 }, { "glagent-", FORM_TOKEN, 16 }, { "glimt-", FORM_TOKEN, 16 },
	{ "GR1348941", FORM_EXACT, 16 }, { "ATATT3", FORM_EXACT, 20 }, { "ATCTT3", FORM_EXACT, 20 }, { "ATBB", FORM_EXACT, 24 },
	{ "CCIPAT_", FORM_EXACT, 20 }, { "bkua_", FORM_TOKEN, 30 }, { "sqp_", FORM_TOKEN, 36 }, { "squ_", FORM_TOKEN, 36 },
	{ "sqa_", FORM_TOKEN, 36 }, { "lin_api_", FORM_TOKEN, 20 }, { "lin_oauth_", FORM_TOKEN, 20 }, { "figd_", FORM_TOKEN, 20 },
	{ "ntn_", FORM_TOKEN, 36 }, { "secret_", FORM_EXACT, 43 },
	/* messages and mail */
	{ "xoxb-", FORM_TOKEN, 10 }, { "xoxp-", FORM_TOKEN, 10 }, { "xoxa-", FORM_TOKEN, 10 }, { "xoxs-", FORM_TOKEN, 10 },
	{ "xoxr-", FORM_TOKEN, 10 }, { "xoxc-", FORM_TOKEN, 10 }, { "xoxd-", FORM_TOKEN, 10 }, { "xoxe", FORM_TOKEN, 20 },
	{ "xapp-", FORM_TOKEN, 10 }, { "hooks.slack.com/services/", FORM_VALUE, 0 }, { "hooks.slack.com/workflows/", FORM_VALUE, 0 },
	{ "discord.com/api/webhooks/", FORM_VALUE, 0 }, { "discordapp.com/api/webhooks/", FORM_VALUE, 0 },
	{ "webhook.office.com/webhookb2/", FORM_VALUE, 0 }, { "api.telegram.org/bot", FORM_VALUE, 0 }, { "SG.", FORM_EXACT, 40 },
	{ "xkeysib-", FORM_TOKEN, 30 }, { "xsmtpsib-", FORM_TOKEN, 30 },
	/* money and shops */
	{ "sk_live_", FORM_TOKEN, 16 }, { "sk_test_", FORM_TOKEN, 16 }, { "rk_live_", FORM_TOKEN, 16 }, { "rk_test_", FORM_TOKEN, 16 },
	{ "whsec_", FORM_TOKEN, 20 }, { "shpat_", FORM_TOKEN, 20 }, { "shpca_", FORM_TOKEN, 20 }, { "shppa_", FORM_TOKEN, 20 },
	{ "shpss_", FORM_TOKEN, 20 }, { "sq0atp-", FORM_TOKEN, 16 }, { "sq0csp-", FORM_TOKEN, 16 }, { "shippo_live_", FORM_TOKEN, 20 },
	/* models */
	{ "sk-", FORM_EXACT, 20 }, { "hf_", FORM_TOKEN, 30 }, { "gsk_", FORM_EXACT, 30 }, { "xai-", FORM_EXACT, 30 },
	{ "pplx-", FORM_EXACT, 30 }, { "r8_", FORM_EXACT, 30 }, { "tvly-", FORM_EXACT, 20 }, { "lsv2_pt_", FORM_TOKEN, 20 },
	{ "lsv2_sk_", FORM_TOKEN, 20 },
	/* clouds */
	{ "AKIA", FORM_UPPER, 16 }, { "ASIA", FORM_UPPER, 16 }, { "ABIA", FORM_UPPER, 16 }, { "ACCA", FORM_UPPER, 16 },
	{ "AIza", FORM_EXACT, 30 }, { "ya29.", FORM_TOKEN, 20 }, { "GOCSPX-", FORM_EXACT, 20 }, { "LTAI", FORM_EXACT, 16 },
	{ "dop_v1_", FORM_TOKEN, 20 }, { "doo_v1_", FORM_TOKEN, 20 }, { "dor_v1_", FORM_TOKEN, 20 }, { "hvs.", FORM_EXACT, 20 },
	{ "hvb.", FORM_EXACT, 20 }, { "hvr.", FORM_EXACT, 20 }, { ".atlasv1.", FORM_VALUE, 0 }, { "pul-", FORM_EXACT, 40 },
	{ "dapi", FORM_EXACT, 32 }, { "dp.pt.", FORM_EXACT, 30 }, { "dp.st.", FORM_EXACT, 30 }, { "dp.ct.", FORM_EXACT, 30 },
	{ "sbp_", FORM_TOKEN, 30 }, { "sb_secret_", FORM_TOKEN, 20 }, { "nfp_", FORM_EXACT, 30 }, { "HRKU-", FORM_EXACT, 20 },
	{ "pscale_tkn_", FORM_TOKEN, 20 }, { "pscale_pw_", FORM_TOKEN, 20 }, { "fo1_", FORM_EXACT, 30 }, { "fm2_", FORM_EXACT, 30 },
	{ "glc_", FORM_EXACT, 30 }, { "glsa_", FORM_TOKEN, 30 }, { "sntrys_", FORM_TOKEN, 30 }, { "sntryu_", FORM_TOKEN, 30 },
	{ "NRAK-", FORM_EXACT, 20 }, { "NRII-", FORM_EXACT, 20 }, { "dt0c01.", FORM_TOKEN, 30 }, { "PMAK-", FORM_EXACT, 30 },
	/* packages and images */
	{ "npm_", FORM_EXACT, 30 }, { "pypi-", FORM_EXACT, 30 }, { "rubygems_", FORM_TOKEN, 30 }, { "dckr_pat_", FORM_TOKEN, 20 },
	{ "dckr_oat_", FORM_TOKEN, 20 }, { "AKCp", FORM_EXACT, 30 },
	/* keys themselves */
	{ "eyJ", FORM_EXACT, 30 }, { "private key-----", FORM_PEM, 0 }, { "private key block-----", FORM_PEM, 0 },
	{ "AGE-SECRET-KEY-1", FORM_TOKEN, 20 }, { "b3BlbnNzaC1rZXktdjE", FORM_EXACT, 20 },
	/* NAME=VALUE: variables, queries, options, connection strings */
	{ "password=", FORM_VALUE, 0 }, { "passwd=", FORM_VALUE, 0 }, { "passphrase=", FORM_VALUE, 0 }, { "pass=", FORM_WORD, 0 },
	{ "_pwd=", FORM_VALUE, 0 }, { ";pwd=", FORM_VALUE, 0 }, { "&pwd=", FORM_VALUE, 0 },
	{ "?pwd=", FORM_VALUE, 0 }, { "secret=", FORM_VALUE, 0 }, { "token=", FORM_VALUE, 0 }, { "api_key=", FORM_VALUE, 0 },
	{ "apikey=", FORM_VALUE, 0 }, { "api-key=", FORM_VALUE, 0 }, { "access_key=", FORM_VALUE, 0 }, { "access-key=", FORM_VALUE, 0 },
	{ "accesskey=", FORM_VALUE, 0 }, { "secret_key=", FORM_VALUE, 0 }, { "secret-key=", FORM_VALUE, 0 }, { "secretkey=", FORM_VALUE, 0 },
	{ "account_key=", FORM_VALUE, 0 }, { "accountkey=", FORM_VALUE, 0 }, { "private_key=", FORM_VALUE, 0 },
	{ "signing_key=", FORM_VALUE, 0 }, { "encryption_key=", FORM_VALUE, 0 }, { "master_key=", FORM_VALUE, 0 },
	{ "signature=", FORM_VALUE, 0 }, { "&sig=", FORM_VALUE, 0 }, { "?sig=", FORM_VALUE, 0 }, { "_auth=", FORM_VALUE, 0 },
	{ "jwt=", FORM_WORD, 0 }, { "sessionid=", FORM_VALUE, 0 }, { "sessid=", FORM_VALUE, 0 }, { "client_assertion=", FORM_VALUE, 0 },
	{ "-passin pass:", FORM_VALUE, 0 }, { "-passout pass:", FORM_VALUE, 0 }, { "-pass pass:", FORM_VALUE, 0 },
	/* --NAME VALUE */
	{ "password ", FORM_OPTION, 0 }, { "passwd ", FORM_OPTION, 0 }, { "passphrase ", FORM_OPTION, 0 }, { "token ", FORM_OPTION, 0 },
	{ "secret ", FORM_OPTION, 0 }, { "api-key ", FORM_OPTION, 0 }, { "api_key ", FORM_OPTION, 0 }, { "apikey ", FORM_OPTION, 0 },
	{ "secret-key ", FORM_OPTION, 0 }, { "access-key ", FORM_OPTION, 0 }, { "account-key ", FORM_OPTION, 0 },
	/* headers */
	{ "authorization:", FORM_HEADER, 0 }, { "bearer ", FORM_VALUE, 0 }, { "api-key:", FORM_HEADER, 0 }, { "-token:", FORM_HEADER, 0 },
	{ "subscription-key:", FORM_HEADER, 0 }, { "functions-key:", FORM_HEADER, 0 }, { "auth-key:", FORM_HEADER, 0 },
	{ "cookie: ", FORM_VALUE, 0 },
	/* "NAME": "VALUE" */
	{ "password\"", FORM_JSON, 0 }, { "passwd\"", FORM_JSON, 0 }, { "passphrase\"", FORM_JSON, 0 }, { "secret\"", FORM_JSON, 0 },
	{ "token\"", FORM_JSON, 0 }, { "api_key\"", FORM_JSON, 0 }, { "apikey\"", FORM_JSON, 0 }, { "api-key\"", FORM_JSON, 0 },
	{ "access_key\"", FORM_JSON, 0 }, { "secret_key\"", FORM_JSON, 0 }, { "secretkey\"", FORM_JSON, 0 },
	{ "accesskey\"", FORM_JSON, 0 }, { "private_key\"", FORM_JSON, 0 }, { "authorization\"", FORM_JSON, 0 },
	{ NULL, FORM_VALUE, 0 },
};

static bool in_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static bool in_token(char c)
{
	return in_word(c) || c == '_' || c == '-' || c == '.';
}

static size_t token_length(const char *p, const char *end)
{
	const char *q = p;
	while (q < end && in_token(*q))
		q++;
	return (size_t)(q - p);
}

/* The next QUOTE from P on with so many backslashes before it, from these on; or END. */
static const char *closing(const char *p, const char *end, char quote, size_t slashes)
{
	for (const char *q = p; q < end; q++) {
		size_t n = 0;
		if (*q != quote)
			continue;
		while (q - n > p && q[-(ptrdiff_t)n - 1] == '\\')
			n++;
		if (n == slashes)
			return q - n;
	}
	return end;
}

/* Something in quotes, with them; 0 where the quote ends what came before: "token=" + x. */
static size_t quoted_length(const char *p, const char *end)
{
	size_t slashes = 0;
	while (p + slashes < end && p[slashes] == '\\')
		slashes++;
	const char *in = p + slashes + 1;
	if (in >= end || (in[-1] != '"' && in[-1] != '\'') || strchr(" \\+,.)]};:\n\"'", *in))
		return 0;
	const char *stop = closing(in, end, in[-1], slashes);
	return (size_t)(stop - p) + (stop < end ? slashes + 1 : 0);
}

/* Whether P stands in an argument of several words: a command for a shell, a header, a sentence. */
static bool in_text(const char *bytes, const char *p)
{
	for (size_t n = 0; p > bytes && p[-1] != ' ' && n < TEXT_LOOK; n++)
		p--;
	return p > bytes + 1 && p[-1] == ' ' && p[-2] == '\\';
}

/* Arguments stand joined by blanks; a blank or quote in one is behind a backslash. Among several words a value is one. */
static size_t value_length(const char *bytes, const char *p, const char *end)
{
	bool text = in_text(bytes, p);
	const char *q = p;
	size_t quoted = quoted_length(p, end);
	if (quoted)
		return quoted;
	for (; q < end; q++) {
		bool behind = *q == '\\' && q + 1 < end;
		if (behind && text && strchr(" \"'", q[1]))
			break;
		if (behind)
			q++;
		else if ((unsigned char)*q <= ' ' || strchr("\"'&;<>", *q))
			break;
	}
	return (size_t)(q - p);
}

/* The rest of what is in quotes where they open right before the word that LEAD is in: "password=two words". 0 elsewhere, and where they do not end. */
static size_t rest_of_quotes(const char *bytes, const char *lead, const char *p, const char *end)
{
	const char *word = lead;
	size_t slashes = 0;
	while (word > bytes && lead - word < TEXT_LOOK && in_token(word[-1]))
		word--;
	if (word == bytes || (word[-1] != '"' && word[-1] != '\''))
		return 0;
	const char *before = word - 1;
	for (; before > bytes && before[-1] == '\\'; slashes++)
		before--;
	if (before > bytes && !strchr(" \t\n=", before[-1]))
		return 0;
	const char *stop = closing(p, end, word[-1], slashes), *q = p;
	while (q < stop && !strchr("&;", *q))
		q++;
	return stop < end ? (size_t)(q - p) : 0;
}

static size_t length_behind(const char *bytes, const char *lead, const char *p, const char *end)
{
	size_t quoted = rest_of_quotes(bytes, lead, p, end);
	return quoted ? quoted : value_length(bytes, p, end);
}

/* What follows "://": the password in it, or nothing. */
static const char *userinfo(const char *p, const char *end, size_t *len)
{
	const char *stop = p, *colon = NULL, *at = NULL;
	for (; stop < end && (unsigned char)*stop > ' ' && !strchr("/?#\"'<>", *stop); stop++) {
		if (*stop == ':' && !colon && !at)
			colon = stop;
		if (*stop == '@')
			at = stop;
	}
	const char *from = at && colon ? colon + 1 : p;
	*len = at && (colon || at - p >= USERINFO_LONG) ? (size_t)(at - from) : 0;
	return from;
}

static const char *skip_blanks(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\t' || (*p == '\\' && end - p > 1 && p[1] == ' ')))
		p++;
	return p;
}

/* Bearer abc, Basic abc, or abc alone: the abc. */
static const char *header(const char *bytes, const char *p, const char *end, size_t *len)
{
	const char *from = skip_blanks(p, end), *word = from;
	while (word < end && (in_word(*word) || *word == '-'))
		word++;
	const char *value = skip_blanks(word, end);
	/* Where the blanks of arguments are behind backslashes, a bare one is the end. */
	bool on = word < end && (*word == '\\' || (*word == ' ' && from > p && *p == ' '));
	if (!on || value == word || value == end || strchr("\"'", *value))
		value = from;
	*len = value_length(bytes, value, end);
	return value;
}

/* Behind the name and its quote: a colon and a string, with as many backslashes before its quotes (more are a quote within). */
static const char *json(const char *p, const char *end, size_t *len)
{
	char quote = p[-1];
	size_t slashes = 0;
	while (p[-2 - (ptrdiff_t)slashes] == '\\') /* the name stands before them */
		slashes++;
	const char *from = skip_blanks(p, end);
	*len = 0;
	if (from == end || *from != ':')
		return from;
	from = skip_blanks(from + 1, end);
	while (from < end && *from == '\\')
		from++;
	if (from == end || *from++ != quote)
		return from;
	*len = (size_t)(closing(from, end, quote, slashes) - from);
	return from;
}

static size_t pem_length(const char *p, const char *end)
{
	const char *stop = memmem(p, (size_t)(end - p), "-----END", 8);
	return (size_t)((stop ? stop : end) - p);
}

bool form_option(const char *bytes, const char *lead, const char *end)
{
	const char *from = lead;
	while (from > bytes && (in_word(from[-1]) || from[-1] == '-' || from[-1] == '_'))
		from--;
	if (from == lead || *from != '-' || (end - from > 5 && memcmp(from, "--no-", 5) == 0))
		return false;
	/* -psecret is an option p; -auth-secret is one of a secret. */
	if (lead - from > 1 && from[1] != '-' && lead[-1] != '-' && lead[-1] != '_')
		return false;
	return from == bytes || strchr(" \t\n\"'", from[-1]);
}

static bool has_digit(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i] >= '0' && p[i] <= '9')
			return true;
	return false;
}

static bool is_token(const struct form *f, const char *p, const char *behind, size_t len)
{
	size_t lead = strlen(f->text);
	if (len < lead + f->more)
		return false;
	if (f->kind == FORM_TOKEN)
		return true;
	if (memcmp(p, f->text, lead) != 0)
		return false;
	if (f->kind == FORM_EXACT)
		return has_digit(behind, len - lead);
	for (size_t i = lead; i < len; i++)
		if (!in_word(p[i]) || (p[i] >= 'a' && p[i] <= 'z'))
			return false;
	return len == lead + f->more;
}

bool form_value(const struct form *f, const char *bytes, const char *p, const char *behind, const char *end, const char **at, size_t *len)
{
	const char *option;
	*at = behind;
	*len = 0;
	switch (f->kind) {
	case FORM_WORD:
		if (p > bytes && in_word(p[-1]))
			return false;
		*len = length_behind(bytes, p, behind, end);
		break;
	case FORM_VALUE:
		*len = length_behind(bytes, p, behind, end);
		break;
	case FORM_OPTION:
		/* BEHIND is past the blank, which may have a backslash before it. */
		option = behind - 1;
		option -= option[-1] == '\\';
		if (form_option(bytes, p, option) && (end - behind < 2 || behind[0] != '-' || behind[1] != '-'))
			*len = value_length(bytes, behind, end);
		break;
	case FORM_TOKEN:
	case FORM_EXACT:
	case FORM_UPPER:
		*at = p;
		*len = p > bytes && in_token(p[-1]) ? 0 : token_length(p, end);
		return *len && is_token(f, p, behind, *len);
	case FORM_USERINFO:
		*at = userinfo(behind, end, len);
		break;
	case FORM_HEADER:
		*at = header(bytes, behind, end, len);
		break;
	case FORM_JSON:
		*at = json(behind, end, len);
		break;
	case FORM_PEM:
		*len = pem_length(behind, end);
		break;
	}
	return *len > 0;
}

/* ---- options of programs ---- */

static const struct command {
	const char *program; /* a program's name begins with it; what follows a blank is its first argument */
	const char *option;
	bool apart;          /* the value may be the next argument, too */
	bool pair;           /* USER:VALUE; where nothing stands behind the colon there is none */
} commands[] = {
	{ "mysql", "-p", false, false },     { "mariadb", "-p", false, false },     { "sshpass", "-p", true, false },
	{ "mongo", "-p", true, false },      { "redis-cli", "-a", true, false },    { "docker login", "-p", true, false },
	{ "podman login", "-p", true, false }, { "ldap", "-w", true, false },       { "sqlcmd", "-P", true, false },
	{ "unzip", "-P", true, false },      { "zip", "-P", true, false },          { "7z", "-p", false, false },
	{ "curl", "-u", true, true },        { "curl", "--user", true, true },      { "curl", "-U", true, true },
	{ "curl", "--proxy-user", true, true },
};

#define COMMANDS (sizeof commands / sizeof commands[0])

/* The part of a value behind its colon. */
static bool behind_colon(const char **at, size_t *len)
{
	const char *colon = memchr(*at, ':', *len);
	if (!colon || colon + 1 == *at + *len)
		return false;
	*len -= (size_t)(colon + 1 - *at);
	*at = colon + 1;
	return true;
}

/* The value of COMMAND's option at P, the beginning of an argument. */
static bool option_at(const struct command *c, const char *args, const char *p, const char *end, const char **at, size_t *len)
{
	size_t n = strlen(c->option);
	if ((size_t)(end - p) <= n || memcmp(p, c->option, n) != 0)
		return false;
	bool joined = p[n] != ' ' && p[n] != '\\';
	n += p[n] == '\\'; /* the blank behind it belongs to a text */
	if (joined ? n > 2 && p[n] != '=' : !c->apart)
		return false;
	*at = p + n + (!joined || n > 2);
	if (*at >= end)
		return false;
	*len = value_length(args, *at, end);
	return *len && (!c->pair || behind_colon(at, len));
}

/* The first argument from P on that is the option, up to the end of the command. */
static bool option_of(const struct command *c, const char *p, const char *end, size_t skip, const char **at, size_t *len)
{
	const char *args = p;
	for (; p < end && !strchr(";|&\n", *p); p++)
		if ((p == args || p[-1] == ' ') && *p == '-' && option_at(c, args, p, end, at, len) && *at >= args + skip)
			return true;
	return false;
}

/* The length of COMMAND's program, where the name at P of at most N bytes begins with it; 0: it is another. */
static size_t program_length(const char *p, size_t n, const char *program)
{
	size_t len = strcspn(program, " ");
	return n >= len && memcmp(p, program, len) == 0 ? len : 0;
}

/* Where the arguments of COMMAND begin in ARGS, or NULL where the first is another than its. */
static const char *arguments(const struct command *c, const char *args, const char *end)
{
	const char *word = strchr(c->program, ' ');
	size_t n = word ? strlen(++word) : 0;
	if ((size_t)(end - args) < n || (n && memcmp(args, word, n) != 0))
		return NULL;
	return args + n + (n && args + n < end && args[n] == ' ');
}

bool command_value(const char *program, size_t program_len, const char *args, size_t n, size_t from, size_t *at, size_t *len)
{
	const char *first = NULL, *value;
	size_t value_len;
	for (size_t i = 0; i < COMMANDS; i++) {
		if (!program_length(program, program_len, commands[i].program))
			continue;
		const char *begin = arguments(&commands[i], args, args + n);
		size_t skip = begin && (size_t)(begin - args) < from ? from - (size_t)(begin - args) : 0;
		if (!begin || !option_of(&commands[i], begin, args + n, skip, &value, &value_len) || (first && first <= value))
			continue;
		first = value;
		*len = value_len;
	}
	*at = first ? (size_t)(first - args) : 0;
	return first != NULL;
}

bool command_argument(char *const *argv, size_t i)
{
	const char *leaf = strrchr(argv[0], '/'), *arg = argv[i], *at;
	size_t len;
	leaf = leaf ? leaf + 1 : argv[0];
	for (size_t k = 0; k < COMMANDS; k++) {
		const struct command *c = &commands[k];
		const char *word = strchr(c->program, ' ');
		if (!program_length(leaf, strlen(leaf), c->program) || (word && (i < 2 || strcmp(argv[1], word + 1) != 0)))
			continue;
		if (option_at(c, arg, arg, arg + strlen(arg), &at, &len))
			return true;
		if (c->apart && i > 1 && strcmp(argv[i - 1], c->option) == 0 && (!c->pair || strchr(arg, ':')))
			return true;
	}
	return false;
}

const char *command_program(size_t i)
{
	return i < COMMANDS ? commands[i].program : NULL;
}

bool command_named(const char *bytes, const char *p, const char *end, const char **at, size_t *len)
{
	const char *blank = memchr(p, ' ', (size_t)(end - p));
	size_t where;
	if (!blank || (p > bytes && !strchr(" \t\n/;|&(\"'`", p[-1])))
		return false;
	const char *args = blank + 1;
	if (!command_value(p, (size_t)(blank - p), args, (size_t)(end - args), 0, &where, len))
		return false;
	*at = args + where;
	return true;
}
