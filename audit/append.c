/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The locked path: number, time and previous hash in front, room, hash, copy.
 *
 * MUST: the hash is made of the caller's bytes, not of the mapping; number and head move only after the line is in.
 */
#include <errno.h>
#include <string.h>

#include "audit/journal_state.h"
#include "audit/put.h"
#include "audit/stamp.h"

static char *put_hex(char *out, const uint8_t *bytes, size_t n)
{
	hex_write(out, bytes, n);
	return out + 2 * n;
}

static size_t make_head(struct journal *j, uint64_t now, unsigned flags, uint64_t after, char head[HEAD_MAX])
{
	char *o = put_literal(head, "{\"seq\":");
	o = put_number(o, j->seq + 1);
	o = put_literal(o, ",\"time\":\"");
	stamp_write_memo(&j->stamp, o, now);
	o = put_literal(o + STAMP_LEN, "\",\"prev\":\"");
	o = put_hex(o, j->head.bytes, sizeof j->head.bytes);
	o = put_literal(o, "\",");
	if (j->seq == 0) {
		o = put_literal(o, "\"format\":\"" JOURNAL_FORMAT "\",\"key\":\"");
		o = put_hex(o, epoch_key(j->epoch), crypto_sign_PUBLICKEYBYTES);
		o = put_literal(o, "\",");
		if (j->anchors) {
			o = put_literal(o, "\"checkpoints\":\"");
			o = put_literal(o, anchors_verifier_key(j->anchors));
			o = put_literal(o, "\",");
		}
	}
	if (flags & APPEND_INTENT)
		o = put_literal(o, "\"intent\":true,");
	if (after && after < j->seq) {
		o = put_literal(o, "\"after\":");
		o = put_number(o, after);
		*o++ = ',';
	}
	return (size_t)(o - head);
}

int journal_stop(struct journal *j, int rc)
{
	int none = 0;
	atomic_compare_exchange_strong(&j->failed, &none, rc);
	return rc;
}

static int make_room(struct journal *j, size_t need, bool reserved)
{
	if (j->seg->used + need > SEGMENT_MAX) {
		int rc = keeper_rotate(j);
		if (rc != 0)
			return rc;
	}
	if (need + (reserved ? 0 : j->reserved) <= j->room)
		return 0;
	int rc = keeper_make_room(j, need);
	if (rc == 0 || (reserved && need <= j->room))
		return 0;
	return rc;
}

/* Most lines are shorter: they are hashed and copied in one piece. */
#define LINE_WHOLE 1024

static int put_whole(struct journal *j, const char *head, size_t head_len, const char *body, size_t len, struct digest *hash)
{
	uint8_t line[LINE_WHOLE + DIGEST_PAD];
	memcpy(line, head, head_len);
	memcpy(line + head_len, body, len);
	digest_padded(hash, line, head_len + len);
	return segment_put(j->seg, (const char *)line, head_len + len, NULL, 0);
}

static int put_parts(struct journal *j, const char *head, size_t head_len, const char *body, size_t len, struct digest *hash)
{
	struct sha256_ctx ctx;
	sha256_init(&ctx);
	sha256_update(&ctx, head_len, (const uint8_t *)head);
	sha256_update(&ctx, len, (const uint8_t *)body);
	sha256_digest(&ctx, sizeof hash->bytes, hash->bytes);
	return segment_put(j->seg, head, head_len, body, len);
}

/* Puts the line, whose room is there, and moves the chain. */
static int put_line(struct journal *j, const char *head, size_t head_len, const char *body, size_t len)
{
	struct digest hash;
	int rc = (head_len + len <= LINE_WHOLE ? put_whole : put_parts)(j, head, head_len, body, len, &hash);
	if (rc != 0)
		return rc;
	j->room -= head_len + len + 1;
	j->seq++;
	j->head = hash;
	epoch_add(j->epoch, &hash);
	return 0;
}

int append_line(struct journal *j, const char *body, size_t len, unsigned flags, uint64_t after)
{
	char head[HEAD_MAX];
	uint64_t now = stamp_now();
	size_t head_len = make_head(j, now, flags, after, head);
	int rc = make_room(j, head_len + len + 1, flags & APPEND_RESERVED);
	if (rc == 0)
		rc = put_line(j, head, head_len, body, len);
	if (rc != 0)
		return journal_stop(j, rc);
	uint32_t unsealed = ++j->unsealed;
	if (unsealed == 1)
		j->first_unsealed = keeper_now();
	if (unsealed == 1 || unsealed == SEAL_RECORDS || keeper_wants_room(j))
		keeper_wake(j);
	return 0;
}

int append_seal(struct journal *j, bool final)
{
	char line[SEAL_MAX];
	if (j->unsealed_for_good)
		return j->failed;
	int rc = make_room(j, SEAL_MAX, final);
	if (rc != 0)
		return journal_stop(j, rc);
	size_t head_len = make_head(j, stamp_now(), 0, 0, line);
	size_t n = epoch_seal(j->epoch, line, head_len, final);
	j->first_unsealed = 0;
	j->unsealed = 0;
	rc = put_line(j, line, head_len, line + head_len, n - head_len);
	j->unsealed_for_good = rc != 0;
	if (rc == 0 && j->anchors) {
		struct digest leaf;
		merkle_leaf(&leaf, line, n);
		merkle_add(&j->seals, &leaf);
	}
	return rc == 0 ? 0 : journal_stop(j, rc);
}

void journal_checkpoint(const struct journal *j, struct checkpoint *out)
{
	*out = (struct checkpoint){ .seals = j->seals.count, .seq = j->seq, .head = j->head };
	merkle_root(&j->seals, &out->root);
}
