/* SPDX-License-Identifier: Apache-2.0 */
/* Proves a journal: see verify.h. Every line is checked before the next is looked at. */
#include "audit/verify.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit/epoch.h"
#include "audit/field.h"
#include "audit/intents.h"
#include "audit/reader.h"
#include "audit/record.h"
#include "audit/stamp.h"
#include "audit/stray.h"
#include "rules/cleanup.h"

/* Files grow by whole pages until they are closed. */
#define PAGE 4096

/* Where the proof stands. */
struct state {
	struct proof *proof;
	const struct anchor *anchors;
	size_t n_anchors;
	size_t met; /* of them: their records have been there, or they name none */
	uint8_t key[crypto_sign_PUBLICKEYBYTES]; /* of the present epoch */
	uint64_t epoch;
	uint64_t first; /* seq of its first record */
	struct merkle tree;
	struct intents intents;
};

/* The parts of a line that come first. */
struct head {
	uint64_t seq;
	const char *prev;
	const char *rest; /* what follows prev's comma */
};

__attribute__((format(printf, 3, 4))) static int damage(struct state *s, const struct line *l, const char *format, ...)
{
	struct proof *p = s->proof;
	va_list args;
	va_start(args, format);
	vsnprintf(p->what, sizeof p->what, format, args);
	va_end(args);
	p->damaged = true;
	p->seq = p->records + 1;
	if (l) {
		snprintf(p->file, sizeof p->file, "%s", l->file);
		p->line = l->number;
	}
	return 1;
}

static bool take(const char **p, const char *end, const char *text)
{
	size_t n = strlen(text);
	if ((size_t)(end - *p) < n || memcmp(*p, text, n) != 0)
		return false;
	*p += n;
	return true;
}

static bool take_number(const char **p, const char *end, uint64_t *out)
{
	const char *from = *p;
	uint64_t v = 0;
	while (*p < end && **p >= '0' && **p <= '9' && *p - from < 19)
		v = v * 10 + (uint64_t)(*(*p)++ - '0');
	*out = v;
	return *p > from && (*from != '0' || *p == from + 1);
}

static bool take_hex(const char **p, const char *end, uint8_t *out, size_t n)
{
	if ((size_t)(end - *p) < 2 * n || !hex_read(out, n, *p))
		return false;
	*p += 2 * n;
	return true;
}

static bool parse_head(const struct line *l, struct head *h)
{
	const char *p = l->bytes, *end = p + l->len;
	uint64_t ns;
	if (!take(&p, end, "{\"seq\":") || !take_number(&p, end, &h->seq) || !take(&p, end, ",\"time\":\"") ||
	    end - p < STAMP_LEN || !stamp_read(p, STAMP_LEN, &ns))
		return false;
	p += STAMP_LEN;
	if (!take(&p, end, "\",\"prev\":\"") || end - p < DIGEST_HEX)
		return false;
	h->prev = p;
	p += DIGEST_HEX;
	h->rest = p + 2;
	return take(&p, end, "\",");
}

/* Whether the journal has to have what A says: a file of anchors may be of several sessions. Before its first record nobody knows whose it is. */
static bool concerns(const struct state *s, const struct anchor *a)
{
	return !a->has_key || !s->proof->records || memcmp(a->key, s->proof->key, sizeof a->key) == 0;
}

/* Where keys are named one must be the journal's. */
static bool check_anchored_key(struct state *s)
{
	bool named = false, own = false;
	for (size_t i = 0; i < s->n_anchors; i++) {
		const struct anchor *a = &s->anchors[i];
		bool same = a->has_key && memcmp(a->key, s->key, sizeof s->key) == 0;
		named |= a->has_key;
		own |= same;
		s->proof->among_others |= a->has_key && !same;
	}
	return own || !named;
}

/* A journal of another version is not one that somebody changed; nor can it be proved here. */
static int check_format(struct state *s, const struct line *l, const struct head *h)
{
	static const char name[] = "\"format\":\"usher-journal/";
	const char *p = h->rest, *end = l->bytes + l->len;
	uint64_t version;
	bool own = take(&p, end, "\"format\":\"" JOURNAL_FORMAT "\"");
	if (!own && take(&p, end, name) && take_number(&p, end, &version) && take(&p, end, "\""))
		return damage(s, l, "the journal's format is usher-journal/%" PRIu64 ", and this usher verifies " JOURNAL_FORMAT ": take the usher that"
			      " wrote it, or somebody changed the record", version);
	return damage(s, l, "the first record does not name the journal's format and key");
}

/* Moves h->rest behind what only the first record has. */
static int check_first(struct state *s, const struct line *l, struct head *h)
{
	const char *p = h->rest, *end = l->bytes + l->len;
	if (!take(&p, end, "\"format\":\"" JOURNAL_FORMAT "\",\"key\":\"") ||
	    !take_hex(&p, end, s->key, sizeof s->key) || !take(&p, end, "\","))
		return check_format(s, l, h);
	if (take(&p, end, "\"checkpoints\":\"")) {
		const char *quote = memchr(p, '"', (size_t)(end - p));
		if (!quote || !take(&quote, end, "\","))
			return damage(s, l, "the first record does not name the key of its checkpoints");
		p = quote;
	}
	h->rest = p;
	memcpy(s->proof->key, s->key, sizeof s->proof->key);
	if (!check_anchored_key(s))
		return damage(s, l, "the session began with another key than the anchor's: this is another journal");
	s->epoch = s->first = 1;
	return 0;
}

/* What a seal says; false when it is not written as one. */
struct seal {
	uint64_t epoch, first, count;
	struct digest root;
	bool final;
	uint8_t next[crypto_sign_PUBLICKEYBYTES];
	uint8_t sig[crypto_sign_BYTES];
	size_t signed_len;
};

static bool parse_seal(const struct line *l, const struct head *h, struct seal *out)
{
	const char *p = h->rest, *end = l->bytes + l->len;
	if (!take(&p, end, "\"type\":\"seal\",\"epoch\":") || !take_number(&p, end, &out->epoch) ||
	    !take(&p, end, ",\"first\":") || !take_number(&p, end, &out->first) || !take(&p, end, ",\"count\":") ||
	    !take_number(&p, end, &out->count) || !take(&p, end, ",\"root\":\"") ||
	    !take_hex(&p, end, out->root.bytes, sizeof out->root.bytes) || !take(&p, end, "\""))
		return false;
	out->final = take(&p, end, ",\"final\":true");
	if (!out->final && (!take(&p, end, ",\"next\":\"") || !take_hex(&p, end, out->next, sizeof out->next) ||
			    !take(&p, end, "\"")))
		return false;
	out->signed_len = (size_t)(p - l->bytes);
	return take(&p, end, SEAL_SIG) && take_hex(&p, end, out->sig, sizeof out->sig) && take(&p, end, "\"}") &&
	       p == end;
}

static int check_seal(struct state *s, const struct line *l, const struct head *h)
{
	struct proof *p = s->proof;
	struct seal seal;
	struct digest root, leaf;
	if (!parse_seal(l, h, &seal))
		return damage(s, l, "the seal is not written as one");
	if (seal.epoch != s->epoch || seal.first != s->first || seal.count != s->tree.count)
		return damage(s, l, "the seal speaks of other records than those before it");
	merkle_root(&s->tree, &root);
	if (memcmp(&root, &seal.root, sizeof root) != 0)
		return damage(s, l, "the seal's root is not that of records %" PRIu64 " to %" PRIu64, s->first, h->seq - 1);
	if (crypto_sign_verify_detached(seal.sig, (const uint8_t *)l->bytes, seal.signed_len, s->key) != 0)
		return damage(s, l, "the signature is not by the key of epoch %" PRIu64, s->epoch);
	merkle_leaf(&leaf, l->bytes, l->len);
	merkle_add(&p->log, &leaf);
	p->proven = h->seq;
	p->seals++;
	p->closed = seal.final;
	memcpy(s->key, seal.next, sizeof s->key);
	s->epoch++;
	s->first += s->tree.count;
	s->tree = (struct merkle){ 0 };
	return 0;
}

static bool rest_begins(const struct line *l, const struct head *h, const char *text)
{
	const char *p = h->rest;
	return take(&p, l->bytes + l->len, text);
}

static int check_anchors(struct state *s, const struct line *l, uint64_t seq)
{
	for (; s->met < s->n_anchors && s->anchors[s->met].seq <= seq; s->met++) {
		const struct anchor *a = &s->anchors[s->met];
		if (a->seq == seq && concerns(s, a) && memcmp(&a->hash, &s->proof->head, DIGEST_BYTES) != 0)
			return damage(s, l, "record %" PRIu64 " is not the one that was anchored", seq);
	}
	return 0;
}

/* At the end, of a closed journal as well: another, shorter one may have been put in its place. */
static int check_anchors_met(struct state *s, const struct line *l)
{
	size_t last = s->n_anchors;
	while (last > s->met && !concerns(s, &s->anchors[last - 1]))
		last--;
	if (s->met == last)
		return 0;
	uint64_t seq = s->anchors[last - 1].seq;
	if (!seq) /* the key of its first record */
		seq = 1;
	if (seq <= s->proof->records)
		return 0;
	return damage(s, l, "the journal ends before record %" PRIu64 ", which was anchored", seq);
}

static void note_end(struct proof *p, const struct line *l)
{
	struct field f;
	p->ended = true;
	if (field_find(l->bytes, l->len, "unwritten", &f) && f.len < sizeof p->unwritten)
		memcpy(p->unwritten, f.value, f.len);
}

static int check_line(struct state *s, const struct line *l)
{
	struct proof *p = s->proof;
	struct head h;
	char expected[DIGEST_HEX];
	if (p->closed)
		return damage(s, l, "something follows the final seal");
	if (l->blanks)
		return damage(s, l, "%" PRIu64 " blank lines before the record", l->blanks);
	if (!l->ended)
		return damage(s, l, "the last line is cut short");
	if (!parse_head(l, &h))
		return damage(s, l, "the line is no record");
	hex_write(expected, p->head.bytes, sizeof p->head.bytes);
	if (h.seq != p->records + 1)
		return damage(s, l, "it is number %" PRIu64 ", where %" PRIu64 " belongs", h.seq, p->records + 1);
	if (memcmp(expected, h.prev, sizeof expected) != 0)
		return h.seq == 1 ? damage(s, l, "the first record has a predecessor") :
				    damage(s, l, "it does not continue the record before it: one of the two was changed");
	int rc = h.seq == 1 ? check_first(s, l, &h) : 0;
	if (rc == 0 && rest_begins(l, &h, "\"type\":\"seal\""))
		rc = check_seal(s, l, &h);
	if (rc != 0)
		return rc;
	if (rest_begins(l, &h, "\"type\":\"end\""))
		note_end(p, l);
	digest_of(&p->head, l->bytes, l->len);
	merkle_add(&s->tree, &p->head);
	p->records++;
	if (s->intents.n || rest_begins(l, &h, "\"intent\":true,"))
		(void)intents_note(&s->intents, l->bytes, l->len);
	return s->n_anchors ? check_anchors(s, l, h.seq) : 0;
}

/* The end of the file. A killed session leaves its blank filling; a closed one leaves nothing behind the final seal. */
static int check_tail(struct state *s, struct reader *r)
{
	struct proof *p = s->proof;
	struct tail tail;
	reader_tail(r, &tail);
	struct line here = { .file = tail.file, .number = tail.number };
	if (p->closed)
		return tail.torn ? damage(s, &here, "something follows the final seal") : check_anchors_met(s, &here);
	if (!p->writer && !tail.fill)
		return damage(s, &here, "%s%s", tail.torn ? "the last record is cut short" : "the end of the journal was cut off",
			      tail.zeros       ? ", and zeros end it: a power cut before the file was on the disk leaves it so (see --sync), and so can a person" :
			      tail.size % PAGE ? "" : ", at a page of the disk: a power cut that took the file's size leaves it so (see --sync), and"
						      " so can a person");
	p->torn = tail.torn;
	return check_anchors_met(s, &here);
}

static uint64_t count_intents(const char *dir)
{
	struct reader *r;
	struct line l;
	uint64_t n = 0;
	if (reader_open_inflight(dir, &r) != 0)
		return 0;
	while (reader_next(r, &l) == 1)
		n += l.ended && field_valid(l.bytes, l.len);
	reader_close(r);
	return n;
}

/*
 * What no seal covers is held by the chain, but for the last line: nothing follows that could show a change in it. It
 * must at least be a record in itself. Where it has no end, and filling follows, that was not written: pages reach the disk
 * one by one, and a write that a kill interrupts ends with one. LAST holds LEN bytes of the line and its last one, RECORDS what was whole before it.
 */
static int check_last(struct state *s, struct reader *r, const struct line *l, const char *last, size_t len, uint64_t records)
{
	struct proof *p = s->proof;
	struct tail tail;
	struct head h;
	if (p->closed || !len || field_valid(last, len))
		return p->damaged;
	reader_tail(r, &tail);
	bool counted = p->records > records;
	if (counted)
		p->records--;
	if (last[len - 1] == '}' || !tail.fill || tail.torn || l->blanks || (counted && p->damaged))
		return p->damaged ? 1 : damage(s, l, "the line is no record");
	const struct line whole = { .bytes = last, .len = len };
	if (counted && parse_head(&whole, &h))
		hex_read(p->head.bytes, sizeof p->head.bytes, h.prev);
	p->damaged = false;
	p->line = p->seq = 0;
	p->file[0] = '\0';
	check_tail(s, r);
	p->torn = l->len;
	return 1;
}

static const char is_no_file[] = "it is no file but a link, a directory or the like, which may say something else to whoever reads it next";

static void no_file(struct state *s, const struct reader *r)
{
	struct tail tail;
	reader_tail(r, &tail);
	damage(s, &(struct line){ .file = tail.file }, "%s", is_no_file);
}

/* The same of the first one: there is no reader of it. */
static void first_is_no_file(struct state *s, const char *dir)
{
	char name[SEGMENT_NAME_MAX];
	CLEANUP_FD int at = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	segment_name(name, at < 0 ? 1 : segment_after(at, 0));
	damage(s, &(struct line){ .file = name }, "%s", is_no_file);
}

/* What a record can hold of it, with its end. */
static size_t keep(const struct line *l, char *last)
{
	size_t len = l->len < RECORD_MAX + HEAD_MAX ? l->len : RECORD_MAX + HEAD_MAX;
	memcpy(last, l->bytes, len);
	if (len)
		last[len - 1] = l->bytes[l->len - 1];
	return len;
}

static void blank_first(struct state *s, uint32_t segment)
{
	char name[SEGMENT_NAME_MAX];
	segment_name(name, segment);
	damage(s, &(struct line){ .file = name, .number = 1 }, "it is blank, and another segment follows");
}

static int walk(struct state *s, struct reader *r, char *last)
{
	struct line l = { 0 }, place = { 0 };
	size_t len = 0;
	uint64_t records = 0;
	int rc;
	struct tail first;
	reader_tail(r, &first);
	while ((rc = reader_next(r, &l)) == 1) {
		if (!s->proof->records && l.segment != first.segment)
			return blank_first(s, first.segment), 0;
		if (s->proof->damaged) /* more follows: it was not the last */
			return 0;
		records = s->proof->records;
		place = l;
		len = keep(&l, last);
		if (len < l.len)
			damage(s, &l, "the line is longer than a record can be");
		else
			check_line(s, &l);
	}
	if (rc == READER_NO_FILE && !s->proof->damaged)
		return no_file(s, r), 0;
	if (rc < 0)
		return s->proof->damaged ? 0 : rc;
	if (check_last(s, r, &place, last, len, records) == 0)
		check_tail(s, r);
	return 0;
}

/* While a session lives its writer may go on to the next segment at any moment: what is there then is not looked at. */
static int check_strays(struct state *s, const struct reader *r, const char *dir)
{
	char name[SEGMENT_NAME_MAX];
	struct tail tail;
	if (s->proof->damaged || (s->proof->writer && !s->proof->closed))
		return 0;
	reader_tail(r, &tail);
	int rc = stray_find(dir, tail.segment, name);
	if (rc > 0)
		damage(s, &(struct line){ .file = name }, "the file is no part of the journal, and has lines that would pass for its records");
	return rc < 0 ? rc : 0;
}

/*
 * The directory's own anchor, written before the first record. A copy may go without it, and a power cut can leave it empty or filled with zeros; one
 * with another key was not written with these records.
 */
static void check_own_anchor(struct state *s, const char *dir)
{
	struct proof *p = s->proof;
	char is[160] = "", expected[160], key[DIGEST_HEX + 1] = "";
	if (p->damaged || !p->records)
		return;
	CLEANUP_FD int at = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CLEANUP_FD int fd = at < 0 ? -1 : openat(at, "anchor", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0 || read(fd, is, sizeof is - 1) <= 0 || !is[0])
		return;
	hex_write(key, p->key, sizeof p->key);
	snprintf(expected, sizeof expected, JOURNAL_FORMAT " ed25519 %s\n", key);
	if (!strcmp(is, expected))
		return;
	damage(s, &(struct line){ .file = "anchor", .number = 1 }, "it does not name the key of the first record: the records were not written with it");
	p->seq = 1;
}

int verify_journal(const char *dir, const struct anchor *anchors, size_t n, struct proof *out)
{
	struct reader *r;
	struct state s = { .proof = out, .anchors = anchors, .n_anchors = n };
	*out = (struct proof){ 0 };
	if (sodium_init() < 0)
		return -ENOSYS;
	out->writer = journal_writer(dir);
	int rc = reader_open(dir, &r);
	if (rc == READER_NO_FILE)
		return first_is_no_file(&s, dir), 0;
	if (rc != 0)
		return rc;
	CLEANUP_FREE char *last = malloc(RECORD_MAX + HEAD_MAX);
	rc = last ? walk(&s, r, last) : -ENOMEM;
	if (rc == 0)
		check_own_anchor(&s, dir);
	if (rc == 0)
		rc = check_strays(&s, r, dir);
	reader_close(r);
	out->intents = out->closed ? 0 : count_intents(dir) + s.intents.n;
	if (rc == 0 && s.intents.failed)
		rc = -ENOMEM;
	intents_free(&s.intents);
	return rc;
}
