/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usher log prove SEQ: one record with what proves it to somebody who has not the journal: the path from its hash to
 * the root in the seal of its epoch, that seal, the key that signed it, and the seals before, by which that key comes from the
 * session's first one. Other records are not shown.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/field.h"
#include "audit/journal.h"
#include "audit/merkle.h"
#include "audit/redact.h"
#include "rules/cleanup.h"
#include "rules/plain_file.h"
#include "tools/log.h"

struct prover {
	const char *dir;
	int64_t seq;
	char *record;
	size_t record_len;
	char *seal; /* the first seal behind the record */
	size_t seal_len;
	char key[DIGEST_HEX + 1];
	char first_key[DIGEST_HEX + 1];
	char *before; /* the seals of earlier epochs, one a line */
	size_t before_len, before_cap;
	struct digest *leaf; /* of the present epoch */
	size_t n, cap, index;
	bool failed;
};

static void keep_key(struct prover *p, const char *text, size_t len, const char *name)
{
	struct field f;
	if (field_find(text, len, name, &f) && f.len == DIGEST_HEX)
		memcpy(p->key, f.value, DIGEST_HEX);
}

static void keep_seal(struct prover *p, const char *text, size_t len)
{
	size_t need = p->before_len + len + 1;
	if (need > p->before_cap) {
		char *grown = realloc(p->before, 2 * need);
		if (!grown) {
			p->failed = true;
			return;
		}
		p->before = grown;
		p->before_cap = 2 * need;
	}
	memcpy(p->before + p->before_len, text, len);
	p->before[need - 1] = '\n';
	p->before_len = need;
}

static void print_before(const struct prover *p)
{
	if (!p->before_len)
		return;
	printf(",\"first_key\":\"%s\",\"seals\":[", p->first_key);
	for (const char *at = p->before, *end = at + p->before_len; at < end;) {
		const char *eol = memchr(at, '\n', (size_t)(end - at));
		if (at != p->before)
			putchar(',');
		log_put(at, (size_t)(eol - at));
		at = eol + 1;
	}
	putchar(']');
}

static void add_leaf(struct prover *p, const char *text, size_t len)
{
	if (p->n == p->cap) {
		size_t cap = p->cap ? 2 * p->cap : 4096;
		struct digest *grown = realloc(p->leaf, cap * sizeof *grown);
		if (!grown) {
			p->failed = true;
			return;
		}
		p->leaf = grown;
		p->cap = cap;
	}
	digest_of(&p->leaf[p->n++], text, len);
}

static void note_line(void *context, const char *text, size_t len)
{
	struct prover *p = context;
	struct field f;
	int64_t seq;
	if (p->seal || p->failed || !field_find(text, len, "seq", &f) || !field_number(&f, &seq))
		return;
	if (seq == 1)
		keep_key(p, text, len, "key");
	if (seq == 1)
		memcpy(p->first_key, p->key, sizeof p->first_key);
	bool seal = field_find(text, len, "type", &f) && field_is(&f, "seal");
	if (seal && p->record) {
		p->seal = log_copy(text, len);
		p->seal_len = len;
		p->failed |= !p->seal;
		return;
	}
	if (seal) {
		keep_key(p, text, len, "next");
		keep_seal(p, text, len);
		p->n = 0;
	}
	if (seq == p->seq && !p->record) { /* of two in a damaged journal the first */
		p->record = log_copy(text, len);
		p->record_len = len;
		p->failed |= !p->record;
		p->index = p->n;
	}
	add_leaf(p, text, len);
}

static FILE *open_kept(const char *dir)
{
	char name[PATH_MAX];

	journal_salts(name, sizeof name, dir);
	return plain_lines(name, 0);
}

/* What was redacted, for its holder: whoever is given salt and value can make the commitment again. */
static void print_opened(const struct prover *p)
{
	char commitment[DIGEST_HEX + 1] = "";
	const char *separator = ",\"opened\":[";
	CLEANUP_FREE char *line = NULL;
	ssize_t n;
	FILE *f = memmem(p->record, p->record_len, REDACT_OPEN, strlen(REDACT_OPEN)) ? open_kept(p->dir) : NULL;
	while (f && (n = plain_line(f, &line)) > 1) {
		struct field c;
		if (!field_valid(line, (size_t)n - 1) || !field_find(line, (size_t)n - 1, "commitment", &c) || c.len != DIGEST_HEX)
			continue;
		memcpy(commitment, c.value, DIGEST_HEX);
		if (!memmem(p->record, p->record_len, commitment, DIGEST_HEX))
			continue;
		fputs(separator, stdout);
		log_put(line, (size_t)n - 1);
		separator = ",";
	}
	if (*separator == ',' && !separator[1])
		putchar(']');
	if (f)
		fclose(f);
}

/* The path must lead to the root that the seal signs: otherwise the journal is damaged, and nothing is printed. */
static int print(const struct prover *p)
{
	struct digest path[64], root;
	char hex[DIGEST_HEX + 1] = "";
	struct field f;
	size_t n = merkle_path(p->leaf, p->n, p->index, path);
	if (!merkle_climb(&p->leaf[p->index], p->index, p->n, path, n, &root))
		return -EINVAL;
	hex_write(hex, root.bytes, sizeof root.bytes);
	if (!field_find(p->seal, p->seal_len, "root", &f) || !field_is(&f, hex)) {
		fprintf(stderr, "usher log: the seal has another root: the journal is damaged\n");
		return 1;
	}
	fputs("{\"record\":", stdout);
	log_put(p->record, p->record_len);
	printf(",\"index\":%zu,\"count\":%zu,\"path\":[", p->index, p->n);
	for (size_t i = 0; i < n; i++) {
		hex_write(hex, path[i].bytes, sizeof path[i].bytes);
		printf("%s\"%s\"", i ? "," : "", hex);
	}
	printf("],\"key\":\"%s\",\"seal\":", p->key);
	log_put(p->seal, p->seal_len);
	print_before(p);
	print_opened(p);
	puts("}");
	return 0;
}

int log_prove(struct log *l, uint64_t seq)
{
	struct prover p = { .dir = l->dir, .seq = (int64_t)seq };
	int rc = log_walk(l->dir, false, note_line, &p);
	if (rc == 0 && p.failed)
		rc = -ENOMEM;
	if (rc == 0 && p.seal)
		rc = print(&p);
	else if (rc == 0) {
		fprintf(stderr, "usher log: record %" PRIu64 " %s\n", seq, p.record ? "is not sealed yet" : "is not there");
		rc = 1;
	}
	free(p.record);
	free(p.seal);
	free(p.leaf);
	free(p.before);
	return rc;
}
