/* SPDX-License-Identifier: Apache-2.0 */
/* What is redacted, and the file that can open it: see redact.h. */
#include "audit/redact.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit/escape.h"
#include "audit/journal.h"
#include "rules/cleanup.h"

#define LEAD_MIN 3
#define SALT_BYTES 32

struct lead {
	const char *text;
	size_t len;
	size_t next;  /* of those with the same first byte: index + 1, 0 at the end */
	size_t token; /* 0: a value follows; else the lead begins a token with that many more letters, digits, '_', '-' or '.'; or USERINFO */
};

/* What stands between USER: and @ in an address, or before the @ where it is long. */
#define USERINFO SIZE_MAX
#define USERINFO_LONG 20

struct redactor {
	struct lead *lead;
	size_t n;
	char *salts;
	pthread_mutex_t lock;
	int fd;
	uint64_t first[1024];    /* a bit for each pair of bytes that a lead begins with */
	size_t begins[256];      /* the first lead that begins with this byte: index + 1 */
	unsigned char fold[256]; /* as fold(), for the scan that every record takes */
};

/* Forms that their makers gave them so that they can be found, and the usual names of what is secret. */
static const struct {
	const char *text;
	size_t token;
} always[] = {
	{ REDACT_OPEN, 0 }, { "ghp_", 20 },	{ "gho_", 20 },	      { "ghu_", 20 },	   { "ghs_", 20 },
	{ "ghr_", 20 },	    { "github_pat_", 20 }, { "glpat-", 16 },   { "sk-", 20 },	   { "sk_live_", 16 },
	{ "xoxb-", 10 },    { "xoxp-", 10 },	{ "xoxa-", 10 },      { "xapp-", 10 },	   { "akia", 16 },
	{ "asia", 16 },	    { "aiza", 30 },	{ "npm_", 30 },	      { "pypi-", 30 },	   { "hf_", 30 },
	{ "eyj", 30 },	    { "password=", 0 }, { "passwd=", 0 },     { "secret=", 0 },	   { "token=", 0 },
	{ "api_key=", 0 },  { "apikey=", 0 },	{ "api-key=", 0 },    { "access_key=", 0 }, { "--password ", 0 },
	{ "--token ", 0 },  { "--secret ", 0 }, { "--api-key ", 0 },  { "bearer ", 0 },	   { "authorization: basic ", 0 },
	{ "api-key: ", 0 }, { "private-token: ", 0 }, { "secret_key=", 0 }, { "passphrase=", 0 }, { "signature=", 0 },
	{ "&sig=", 0 },	    { "cookie: ", 0 },	{ "://", USERINFO },
};

static unsigned char fold(char c)
{
	return (unsigned char)(c >= 'A' && c <= 'Z' ? c + 32 : c);
}

static unsigned pair(const char *p)
{
	return (unsigned)fold(p[0]) << 8 | fold(p[1]);
}

static int add(struct redactor *r, const char *text, size_t token)
{
	size_t len = strlen(text);
	if (len < LEAD_MIN)
		return -EINVAL;
	struct lead *grown = realloc(r->lead, (r->n + 1) * sizeof *grown);
	char *copy = strdup(text);
	if (grown)
		r->lead = grown;
	if (!grown || !copy) {
		free(copy);
		return -ENOMEM;
	}
	r->lead[r->n++] = (struct lead){ .text = copy, .len = len, .token = token };
	size_t *link = &r->begins[fold(text[0])];
	while (*link)
		link = &r->lead[*link - 1].next;
	*link = r->n;
	r->first[pair(text) / 64] |= UINT64_C(1) << pair(text) % 64;
	return 0;
}

int redactor_add(struct redactor *r, const char *lead)
{
	return add(r, lead, 0);
}

int redactor_new(const char *salts, struct redactor **out)
{
	struct redactor *r = calloc(1, sizeof *r);
	int rc = r ? 0 : -ENOMEM;
	if (!r)
		return rc;
	r->fd = -1;
	for (unsigned c = 0; c < 256; c++)
		r->fold[c] = fold((char)c);
	pthread_mutex_init(&r->lock, NULL);
	r->salts = strdup(salts);
	for (size_t i = 0; rc == 0 && i < sizeof always / sizeof always[0]; i++)
		rc = add(r, always[i].text, always[i].token);
	if (rc != 0 || !r->salts) {
		redactor_free(r);
		return -ENOMEM;
	}
	*out = r;
	return 0;
}

void redactor_free(struct redactor *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->n; i++)
		free((void *)(uintptr_t)r->lead[i].text);
	free(r->lead);
	free(r->salts);
	if (r->fd >= 0)
		close(r->fd);
	pthread_mutex_destroy(&r->lock);
	free(r);
}

static bool in_token(char c)
{
	return (fold(c) >= 'a' && fold(c) <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
}

static size_t token_length(const char *p, const char *end)
{
	const char *q = p;
	while (q < end && in_token(*q))
		q++;
	return (size_t)(q - p);
}

/* Arguments stand joined by blanks; a blank or quote in one is behind a backslash. */
static size_t value_length(const char *p, const char *end)
{
	const char *q = p;
	for (; q < end; q++) {
		if (*q == '\\' && q + 1 < end)
			q++;
		else if ((unsigned char)*q <= ' ' || strchr("\"'&;<>", *q))
			break;
	}
	return (size_t)(q - p);
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

/* The end of LEAD at P, or NULL. */
static const char *behind(const struct lead *l, const char *p, const char *end)
{
	for (size_t i = 0; i < l->len; i++, p++) {
		if (l->text[i] == ' ' && end - p > 1 && p[0] == '\\' && p[1] == ' ')
			p++;
		if (p == end || fold(*p) != fold(l->text[i]))
			return NULL;
	}
	return p;
}

static bool value_at(const struct redactor *r, const char *bytes, const char *p, const char *end, const char **at, size_t *len)
{
	const struct lead *l;
	for (size_t i = r->begins[fold(*p)]; i; i = l->next) {
		l = &r->lead[i - 1];
		const char *q = fold(l->text[1]) == fold(p[1]) ? behind(l, p, end) : NULL;
		if (q && l->token == USERINFO) {
			*at = userinfo(q, end, len);
			if (*len)
				return true;
			continue;
		}
		if (!q || (l->token && p > bytes && in_token(p[-1])))
			continue;
		*at = l->token ? p : q;
		*len = l->token ? token_length(p, end) : value_length(q, end);
		if (*len && (!l->token || *len >= l->len + l->token))
			return true;
	}
	return false;
}

bool redact_find(const struct redactor *r, const char *bytes, size_t n, size_t from, size_t *at, size_t *len)
{
	const char *end = bytes + n, *value;
	for (const char *p = bytes + from; end - p >= LEAD_MIN; p++) {
		unsigned two = (unsigned)r->fold[(unsigned char)p[0]] << 8 | r->fold[(unsigned char)p[1]];
		if (!(r->first[two / 64] >> two % 64 & 1) || !value_at(r, bytes, p, end, &value, len))
			continue;
		*at = (size_t)(value - bytes);
		return true;
	}
	return false;
}

bool redact_follows(const struct redactor *r, const char *bytes, size_t n)
{
	for (size_t i = 0; i < r->n; i++) {
		struct lead l = r->lead[i];
		if (l.text[l.len - 1] != ' ' || --l.len > n)
			continue;
		if (behind(&l, bytes + n - l.len, bytes + n))
			return true;
	}
	return false;
}

static int open_salts(struct redactor *r)
{
	pthread_mutex_lock(&r->lock);
	if (r->fd < 0)
		r->fd = open(r->salts, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	int fd = r->fd;
	pthread_mutex_unlock(&r->lock);
	return fd;
}

int redactor_open(struct redactor *r)
{
	return open_salts(r) < 0 ? -errno : 0;
}

/* One line in one write. Where it cannot be kept the value stays out of the journal all the same: it can only not be shown later. */
static void keep(struct redactor *r, const char *commitment, const char *salt, const char *value, size_t n)
{
	size_t room = n * ESCAPE_GROWTH + 3 * DIGEST_HEX;
	CLEANUP_FREE char *line = malloc(room);
	int fd = open_salts(r);
	if (!line || fd < 0)
		return;
	size_t at = (size_t)snprintf(line, room, "{\"commitment\":\"%s\",\"salt\":\"%s\",\"value\":\"", commitment, salt);
	ssize_t len = escape(line + at, room - at - 3, value, n);
	if (len < 0)
		return;
	at += (size_t)len;
	memcpy(line + at, "\"}\n", 3);
	ssize_t done = write(fd, line, at + 3);
	(void)done;
}

void redact_commit(struct redactor *r, const char *value, size_t n, char *out)
{
	uint8_t salt[SALT_BYTES], hash[DIGEST_BYTES];
	char salt_hex[2 * SALT_BYTES + 1] = "", hash_hex[DIGEST_HEX + 1] = "";
	randombytes_buf(salt, sizeof salt);
	crypto_generichash(hash, sizeof hash, (const uint8_t *)value, n, salt, sizeof salt);
	hex_write(salt_hex, salt, sizeof salt);
	hex_write(hash_hex, hash, sizeof hash);
	keep(r, hash_hex, salt_hex, value, n);
	memcpy(out, REDACT_OPEN, sizeof REDACT_OPEN - 1);
	memcpy(out + sizeof REDACT_OPEN - 1, hash_hex, DIGEST_HEX);
	out[REDACT_LEN - 1] = '>';
}

void journal_salts(char *out, size_t cap, const char *dir)
{
	snprintf(out, cap, "%s.salts", dir);
}
