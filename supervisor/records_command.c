/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command and its environment in the first record. Both may be as long as the kernel lets them be, a record may not: what is too much
 * is left out, with what it was in all.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit/digest.h"
#include "audit/redact.h"
#include "rules/cleanup.h"
#include "supervisor/environment.h"
#include "supervisor/records.h"

#define COMMAND_ROOM ((size_t)20480)    /* of the record, for the arguments */
#define ENVIRONMENT_ROOM ((size_t)8192) /* of the record, for each list of names */
#define BEGINNING 1024u                 /* bytes of the argument that no longer fits */

static struct span span_of(const char *text)
{
	return (struct span){ text, (uint32_t)strlen(text) };
}

static bool is_secret(const struct session *s, char *const *argv, size_t i)
{
	struct span item = span_of(argv[i]);
	size_t at, len;

	return redact_argument(s->redactor, argv, i) || redact_find(s->redactor, item.bytes, item.len, 0, &at, &len);
}

static void write_argument(struct record *r, const struct session *s, char *const *argv, size_t i)
{
	if (redact_argument(s->redactor, argv, i))
		record_secret(r, span_of(argv[i]));
	else
		record_item(r, span_of(argv[i]));
}

/* Of what may hold secrets no beginning is shown: it could end within one, which then is not found. */
static void write_beginning(struct record *r, const struct session *s, char *const *argv, size_t i)
{
	struct span item = span_of(argv[i]);

	if (is_secret(s, argv, i)) {
		record_secret(r, item);
		return;
	}
	if (item.len > BEGINNING)
		item.len = BEGINNING;
	record_item(r, item);
}

/* Whether all of it went in. */
static bool write_arguments(struct record *r, const struct session *s, char *const *argv)
{
	size_t from = r->len;

	for (size_t i = 0; argv[i]; i++) {
		struct record before = *r;
		write_argument(r, s, argv, i);
		if (!r->broken && r->len - from <= COMMAND_ROOM)
			continue;
		*r = before;
		write_beginning(r, s, argv, i);
		return false;
	}
	return true;
}

/* As of an exec's arguments that are kept in part: length and hash of all, each with the NUL behind it. */
static void write_whole(struct record *r, const struct session *s, char *const *argv)
{
	struct sha256_ctx ctx;
	struct digest whole;
	char hex[DIGEST_HEX];
	bool secret = false;
	size_t len = 0;

	sha256_init(&ctx);
	for (size_t i = 0; argv[i]; i++) {
		size_t n = strlen(argv[i]) + 1;
		sha256_update(&ctx, n, (const uint8_t *)argv[i]);
		len += n;
		secret = secret || is_secret(s, argv, i);
	}
	record_int(r, "command_len", (int64_t)len);
	/* A hash without a salt could be tried out. */
	if (secret)
		return;
	sha256_digest(&ctx, DIGEST_BYTES, whole.bytes);
	hex_write(hex, whole.bytes, sizeof whole.bytes);
	record_bytes(r, "command_hash", (struct span){ hex, sizeof hex });
}

static void write_names(struct record *r, const char *key, const char *count, char *const *list)
{
	int64_t n = 0;
	bool all = true;

	record_list(r, key);
	for (size_t from = r->len; list[n]; n++) {
		struct record before = *r;
		if (!all)
			continue;
		record_item(r, (struct span){ list[n], (uint32_t)strcspn(list[n], "=") });
		all = !r->broken && r->len - from <= ENVIRONMENT_ROOM;
		if (!all)
			*r = before;
	}
	record_close(r);
	if (!all)
		record_int(r, count, n);
}

void records_command(struct record *r, const struct session *s, char *const *argv, const struct environment *e)
{
	char cwd[4096];

	record_list(r, "command");
	r->redactor = s->redactor;
	bool all = write_arguments(r, s, argv);
	record_close(r);
	if (getcwd(cwd, sizeof(cwd)))
		record_bytes(r, "cwd", span_of(cwd));
	r->redactor = NULL;
	if (!all)
		write_whole(r, s, argv);
	write_names(r, "environment", "environment_count", e->list);
	if (*e->dropped)
		write_names(r, "environment_dropped", "environment_dropped_count", e->dropped);
}
