/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what was kept outside of a journal: a head, a first key, or a file of them. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/record.h"
#include "audit/verify.h"

static bool parse_hex(const char *text, uint8_t out[32])
{
	return strlen(text) == DIGEST_HEX && hex_read(out, 32, text);
}

/* SEQ and HASH with SEPARATOR between them. */
static bool parse_head(const char *text, char separator, struct anchor *out)
{
	uint64_t seq = 0;
	const char *p = text;
	for (; *p >= '0' && *p <= '9' && p - text < 19; p++)
		seq = seq * 10 + (uint64_t)(*p - '0');
	*out = (struct anchor){ .seq = seq };
	return p > text && seq && *p == separator && parse_hex(p + 1, out->hash.bytes);
}

static bool parse_key(const char *text, struct anchor *out)
{
	*out = (struct anchor){ .has_key = true };
	return parse_hex(text, out->key);
}

struct list {
	struct anchor *at;
	size_t n, room;
};

static bool add(struct list *l, const struct anchor *a)
{
	if (l->n == l->room) {
		size_t room = l->room ? 2 * l->room : 16;
		struct anchor *more = reallocarray(l->at, room, sizeof *more);
		if (!more)
			return false;
		l->at = more;
		l->room = room;
	}
	l->at[l->n++] = *a;
	return true;
}

/*
 * One file may serve many sessions. A head is of the session whose key stands right behind it, as in a checkpoint; else of the one whose key
 * came last; where there was none, of whichever is looked at. The heads from FROM on are without a key.
 */
static void give_key(struct list *l, size_t from, const struct anchor *key)
{
	for (; key && from < l->n; from++) {
		l->at[from].has_key = true;
		memcpy(l->at[from].key, key->key, sizeof key->key);
	}
}

/* Lines that say something else (a checkpoint has such) are passed over; a file without any anchor is refused. */
static int parse_file(FILE *f, struct list *out)
{
	static const char key[] = JOURNAL_FORMAT " ed25519 ", head[] = "head ";
	char line[512];
	struct anchor a, last;
	size_t waiting = 0; /* the heads from here on are right before this line */
	bool any = false;
	while (fgets(line, sizeof line, f)) {
		bool torn = !strchr(line, '\n') && feof(f); /* its writer was stopped, or what is whole of it was written by hand */
		line[strcspn(line, "\r\n")] = '\0';
		bool is_key = !strncmp(line, key, sizeof key - 1), is_head = !strncmp(line, head, sizeof head - 1);
		if (!is_head && !is_key)
			give_key(out, waiting, any ? &last : NULL);
		if (!is_key && !is_head) {
			waiting = out->n;
			continue;
		}
		if (!(is_key ? parse_key(line + sizeof key - 1, &a) : parse_head(line + sizeof head - 1, ' ', &a))) {
			if (torn)
				break;
			return -EINVAL;
		}
		if (is_key) {
			give_key(out, waiting, &a);
			last = a;
			any = true;
		}
		if (!add(out, &a))
			return -ENOMEM;
		if (is_key)
			waiting = out->n;
	}
	if (ferror(f))
		return -EIO;
	give_key(out, waiting, any ? &last : NULL);
	return out->n ? 0 : -EINVAL;
}

static int parse_named(const char *text, struct list *out)
{
	FILE *f = fopen(text, "re");
	if (!f)
		return errno == ENOENT && !strchr(text, '/') && strchr(text, ':') ? -EINVAL : -errno;
	int rc = parse_file(f, out);
	fclose(f);
	return rc;
}

static int by_record(const void *a, const void *b)
{
	const struct anchor *x = a, *y = b;
	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

int anchor_parse(const char *text, struct anchor **out, size_t *n)
{
	struct list l = { 0 };
	struct anchor a;
	int rc = 0;
	*out = NULL;
	*n = 0;
	if (parse_head(text, ':', &a) || parse_key(text, &a))
		rc = add(&l, &a) ? 0 : -ENOMEM;
	else
		rc = parse_named(text, &l);
	if (rc != 0) {
		free(l.at);
		return rc;
	}
	qsort(l.at, l.n, sizeof *l.at, by_record);
	*out = l.at;
	*n = l.n;
	return 0;
}
