/* SPDX-License-Identifier: Apache-2.0 */
/* What is redacted, and the file that can open it: see redact.h. */
#include "audit/redact.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/escape.h"
#include "audit/journal.h"
#include "audit/redact_forms.h"
#include "rules/cleanup.h"
#include "rules/plain_file.h"

#define LEAD_MIN 3
#define SALT_BYTES 32
#define LOOK_BACK 512U
#define CUT_LOOK 4U /* times what is kept: where a secret that begins in it is expected to end */

struct lead {
	struct form form;
	size_t len;
	size_t next;  /* of those in the same list: index + 1, 0 at the end */
	bool command; /* a program whose options are known, not a form */
};

/* Leads are found by their first three bytes. */
#define TRIPLE_BITS 13U /* a kilobyte of bits: the caches are cold */
#define LISTS 512U
/* Any three bytes hold two at an even place: of these every second is looked at, and the three only where they may be of a lead. */
#define PAIR_BITS 12U

struct redactor {
	struct lead *lead;
	size_t n;
	char *salts;
	pthread_mutex_t lock;
	int fd;
	atomic_uint lost;                         /* values that could not be kept, */
	atomic_int error;                         /* and why the first of them: a positive errno */
	uint64_t first[(1U << TRIPLE_BITS) / 64]; /* a bit for each three bytes that a lead begins with */
	uint64_t pair[(1U << PAIR_BITS) / 64];    /* and for each two of these that stand together */
	size_t begins[LISTS];                     /* the first lead of a list: index + 1 */
};

static unsigned char fold(char c)
{
	return (unsigned char)(c >= 'A' && c <= 'Z' ? c + 32 : c);
}

/* Two and three bytes as they are looked up: capitals as small letters, and some others alike too, which the comparison tells apart. */
static unsigned two_at(const char *p)
{
	uint16_t two;
	memcpy(&two, p, sizeof two);
	return two | 0x2020U;
}

static unsigned pair_at(const char *p)
{
	unsigned two = two_at(p);
	return (two ^ two >> 3) & ((1U << PAIR_BITS) - 1);
}

static unsigned triple_at(const char *p)
{
	unsigned two = two_at(p), third = (unsigned char)p[2] | 0x20U;
	return (two ^ two >> 4 ^ third << 8) & ((1U << TRIPLE_BITS) - 1);
}

/* The list that leads with these three bytes are in. */
static unsigned list_of(unsigned three)
{
	return three * 40503U >> 7 & (LISTS - 1);
}

static void enlist(struct redactor *r, size_t i, const char start[LEAD_MIN])
{
	unsigned three = triple_at(start), front = pair_at(start), back = pair_at(start + 1);
	size_t *link = &r->begins[list_of(three)];
	while (*link && *link != i + 1)
		link = &r->lead[*link - 1].next;
	*link = i + 1;
	r->first[three / 64] |= UINT64_C(1) << three % 64;
	r->pair[front / 64] |= UINT64_C(1) << front % 64;
	r->pair[back / 64] |= UINT64_C(1) << back % 64;
}

/* FORM is found where text begins with START. */
static int add_beginning(struct redactor *r, const struct form *form, bool command, const char start[LEAD_MIN])
{
	struct lead *grown = realloc(r->lead, (r->n + 1) * sizeof *grown);
	char *copy = strdup(form->text);
	if (grown)
		r->lead = grown;
	if (!grown || !copy) {
		free(copy);
		return -ENOMEM;
	}
	size_t len = command ? strcspn(copy, " ") : strlen(copy);
	r->lead[r->n] = (struct lead){ .form = { copy, form->kind, form->more }, .len = len, .command = command };
	enlist(r, r->n, start);
	r->n++;
	return 0;
}

/* Each way in which behind() lets the first bytes be written: T is what of the text is left, N bytes of START are there. */
static int add_spellings(struct redactor *r, const struct form *form, bool command, const char *t, char start[LEAD_MIN + 1], size_t n)
{
	char c = *t;
	if (n >= LEAD_MIN)
		return add_beginning(r, form, command, start);
	start[n] = (char)fold(c);
	int rc = add_spellings(r, form, command, t + (c != '\0'), start, n + 1);
	if (rc == 0 && c == ' ') {
		memcpy(start + n, "\\ ", 2);
		rc = add_spellings(r, form, command, t + 1, start, n + 2);
	}
	if (rc == 0 && c == '"') {
		start[n] = '\'';
		rc = add_spellings(r, form, command, t + 1, start, n + 1);
	}
	if (rc == 0 && c == '"') {
		start[n] = '\\';
		rc = add_spellings(r, form, command, t, start, n + 1);
	}
	return rc;
}

static int add(struct redactor *r, const struct form *form, bool command)
{
	char start[LEAD_MIN + 1];
	size_t len = command ? strcspn(form->text, " ") : strlen(form->text);
	if (len < (command ? 2 : LEAD_MIN))
		return -EINVAL;
	return add_spellings(r, form, command, form->text, start, 0);
}

int redactor_add(struct redactor *r, const char *lead)
{
	return add(r, &(struct form){ lead, FORM_VALUE, 0 }, false);
}

int redactor_new(const char *salts, struct redactor **out)
{
	struct redactor *r = calloc(1, sizeof *r);
	int rc = r ? 0 : -ENOMEM;
	if (!r)
		return rc;
	r->fd = -1;
	pthread_mutex_init(&r->lock, NULL);
	r->salts = strdup(salts);
	for (const struct form *f = redact_forms; rc == 0 && f->text; f++)
		rc = add(r, f, false);
	for (size_t i = 0; rc == 0 && command_program(i); i++)
		rc = add(r, &(struct form){ command_program(i), FORM_VALUE, 0 }, true);
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
		free((void *)(uintptr_t)r->lead[i].form.text);
	free(r->lead);
	free(r->salts);
	if (r->fd >= 0)
		close(r->fd);
	pthread_mutex_destroy(&r->lock);
	free(r);
}

/* The end of LEAD at P, or NULL. A blank in it may have a backslash before it, a quote several, and one quote is as good as the other. */
static const char *behind(const struct lead *l, const char *p, const char *end)
{
	for (size_t i = 0; i < l->len; i++, p++) {
		char c = l->form.text[i];
		if (c == ' ' && end - p > 1 && p[0] == '\\' && p[1] == ' ')
			p++;
		while (c == '"' && p < end && *p == '\\')
			p++;
		if (p == end || (fold(*p) != fold(c) && !(c == '"' && *p == '\'')))
			return NULL;
	}
	return p;
}

/* What there is to find, the earliest of it. */
struct search {
	const struct redactor *r;
	const char *bytes, *from, *end;
	const char *stop; /* where leads that are of interest do not begin any more */
	const char *at;   /* NULL: nothing yet */
	size_t len;
};

static void take(struct search *s, const char *at, size_t len)
{
	if (at < s->from || (s->at && s->at <= at))
		return;
	s->at = at;
	s->len = len;
	if (at < s->stop)
		s->stop = at;
}

/* What P is the lead of. */
static void look_at(struct search *s, const char *p, unsigned three)
{
	const struct redactor *r = s->r;
	const struct lead *l;
	const char *value;
	size_t len;
	for (size_t i = r->begins[list_of(three)]; i; i = l->next) {
		l = &r->lead[i - 1];
		const char *q = behind(l, p, s->end);
		if (q && l->command) {
			if (command_named(s->bytes, p, s->end, &value, &len))
				take(s, value, len);
			continue;
		}
		if (!q || !form_value(&l->form, s->bytes, p, q, s->end, &value, &len))
			continue;
		take(s, value, len);
	}
}

static bool holds(const uint64_t *set, unsigned bit)
{
	return set[bit / 64] >> bit % 64 & 1;
}

bool redact_find(const struct redactor *r, const char *bytes, size_t n, size_t from, size_t *at, size_t *len)
{
	if (from > n || n - from < 1 || n < LEAD_MIN)
		return false;
	const char *end = bytes + n;
	struct search s = { .r = r, .bytes = bytes, .from = bytes + from, .end = end, .stop = end - LEAD_MIN + 1 };
	/* A command's options may follow a value that was found already: then its name lies before FROM. */
	const char *begin = from > LOOK_BACK ? s.from - LOOK_BACK : bytes;
	for (const char *p = begin; p <= s.stop && end - p > 1; p += 2) {
		if (!holds(r->pair, pair_at(p)))
			continue;
		for (const char *lead = p > begin ? p - 1 : p; lead <= p && lead < s.stop; lead++) {
			unsigned three = triple_at(lead);
			if (holds(r->first, three))
				look_at(&s, lead, three);
		}
	}
	if (!s.at)
		return false;
	*at = (size_t)(s.at - bytes);
	*len = s.len;
	return true;
}

bool redact_find_given(const struct redactor *r, const struct span program[2], const char *bytes, size_t n, size_t from, size_t *at,
		       size_t *len)
{
	size_t other, other_len;
	bool found = redact_find(r, bytes, n, from, at, len);
	for (unsigned i = 0; i < 2 && program[i].len; i++) {
		const char *slash = memrchr(program[i].bytes, '/', program[i].len);
		const char *leaf = slash ? slash + 1 : program[i].bytes;
		size_t leaf_len = program[i].len - (size_t)(leaf - program[i].bytes);
		if (!command_value(leaf, leaf_len, bytes, n, from, &other, &other_len) || (found && *at <= other))
			continue;
		found = true;
		*at = other;
		*len = other_len;
	}
	return found;
}

size_t redact_cut(const struct redactor *r, const struct span program[2], const char *bytes, size_t n, size_t most)
{
	size_t look = n < CUT_LOOK * most ? n : CUT_LOOK * most, at, len;
	if (n <= most)
		return n;
	for (size_t from = 0; r && redact_find_given(r, program, bytes, look, from, &at, &len) && at < most; from = at + len)
		if (at + len >= most) /* the byte behind it may be what tells it: the @ of an address */
			return at;
	return most;
}

bool redact_follows(const struct redactor *r, const char *bytes, size_t n)
{
	for (size_t i = 0; i < r->n; i++) {
		struct lead l = r->lead[i];
		if (l.form.text[l.len - 1] != ' ' || --l.len > n || !behind(&l, bytes + n - l.len, bytes + n))
			continue;
		if (l.form.kind != FORM_OPTION || form_option(bytes, bytes + n - l.len, bytes + n))
			return true;
	}
	return false;
}

bool redact_argument(const struct redactor *r, char *const *argv, size_t i)
{
	return i && (redact_follows(r, argv[i - 1], strlen(argv[i - 1])) || command_argument(argv, i));
}

/* The user's own, with no other name, and nobody else may open it: what another session's tree has left there may be anything. */
static bool keeps_secrets(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_uid == geteuid() && st.st_nlink == 1 && !(st.st_mode & (S_IRWXG | S_IRWXO));
}

int journal_salts_open(const char *salts)
{
	CLEANUP_FD int fd = plain_open(AT_FDCWD, salts, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW);

	if (fd < 0)
		return fd == -EINVAL ? -EEXIST : fd;
	return keeps_secrets(fd) ? steal_fd(&fd) : -EEXIST;
}

/* The descriptor, or a negative errno. */
static int open_salts(struct redactor *r)
{
	pthread_mutex_lock(&r->lock);
	int fd = r->fd >= 0 ? r->fd : journal_salts_open(r->salts);
	if (fd >= 0)
		r->fd = fd;
	pthread_mutex_unlock(&r->lock);
	return fd;
}

int redactor_open(struct redactor *r)
{
	int fd = open_salts(r);

	return fd < 0 ? fd : 0;
}

/* Where it cannot be kept the value stays out of the journal all the same: it can only not be shown later. */
static void lose(struct redactor *r, int error)
{
	int none = 0;
	atomic_fetch_add(&r->lost, 1);
	atomic_compare_exchange_strong(&r->error, &none, error);
}

unsigned redactor_lost(const struct redactor *r, int *error)
{
	*error = r ? atomic_load(&r->error) : 0;
	return r ? atomic_load(&r->lost) : 0;
}

/* One line in one write. */
static void keep(struct redactor *r, const char *commitment, const char *salt, const char *value, size_t n)
{
	size_t room = n * ESCAPE_GROWTH + 3 * DIGEST_HEX;
	CLEANUP_FREE char *line = malloc(room);
	int fd = line ? open_salts(r) : -ENOMEM;
	if (fd < 0) {
		lose(r, -fd);
		return;
	}
	size_t at = (size_t)snprintf(line, room, "{\"commitment\":\"%s\",\"salt\":\"%s\",\"value\":\"", commitment, salt);
	ssize_t len = escape(line + at, room - at - 3, value, n);
	if (len < 0) {
		lose(r, EMSGSIZE);
		return;
	}
	at += (size_t)len;
	memcpy(line + at, "\"}\n", 3);
	ssize_t done = write(fd, line, at + 3);
	if (done != (ssize_t)at + 3)
		lose(r, done < 0 ? errno : ENOSPC);
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
