/* SPDX-License-Identifier: Apache-2.0 */
/* Epochs and their keys: see epoch.h. */
#include "audit/epoch.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "rules/cleanup.h"

#define KEY_PAGE 4096

/* The page that no dump, no child and no swap gets. */
struct keys {
	uint8_t secret[crypto_sign_SECRETKEYBYTES];
	uint8_t next[crypto_sign_SECRETKEYBYTES];
};

struct epoch {
	uint64_t number; /* from 1 */
	uint64_t first;  /* seq of its first record */
	struct merkle tree;
	struct keys *keys;
	uint8_t public[crypto_sign_PUBLICKEYBYTES];
	uint8_t public_next[crypto_sign_PUBLICKEYBYTES];
	bool have_next;
};

int key_page_new(void **out)
{
	void *page = mmap(NULL, KEY_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED)
		return -errno;
	if (mlock(page, KEY_PAGE) != 0 || madvise(page, KEY_PAGE, MADV_DONTDUMP) != 0 ||
	    madvise(page, KEY_PAGE, MADV_WIPEONFORK) != 0) {
		int rc = -errno;
		munmap(page, KEY_PAGE);
		return rc;
	}
	*out = page;
	return 0;
}

void key_page_free(void *page)
{
	if (!page)
		return;
	sodium_memzero(page, KEY_PAGE);
	munmap(page, KEY_PAGE);
}

int epoch_new(struct epoch **out)
{
	CLEANUP_FREE struct epoch *e = calloc(1, sizeof *e);
	if (!e)
		return -ENOMEM;
	int rc = key_page_new((void **)&e->keys);
	if (rc != 0)
		return rc;
	e->number = 1;
	e->first = 1;
	crypto_sign_keypair(e->public, e->keys->secret);
	*out = steal_pointer(&e);
	return 0;
}

void epoch_free(struct epoch *e)
{
	if (!e)
		return;
	key_page_free(e->keys);
	free(e);
}

const uint8_t *epoch_key(const struct epoch *e)
{
	return e->public;
}

void epoch_add(struct epoch *e, const struct digest *record)
{
	merkle_add(&e->tree, record);
}

void epoch_prepare(struct epoch *e)
{
	if (e->have_next)
		return;
	crypto_sign_keypair(e->public_next, e->keys->next);
	e->have_next = true;
}

/* The present key is wiped; the next takes its place. */
static void turn(struct epoch *e)
{
	e->first += e->tree.count;
	e->number++;
	e->tree = (struct merkle){ 0 };
	memcpy(e->keys->secret, e->keys->next, sizeof e->keys->secret);
	memcpy(e->public, e->public_next, sizeof e->public);
	sodium_memzero(e->keys->next, sizeof e->keys->next);
	e->have_next = false;
}

size_t epoch_seal(struct epoch *e, char line[SEAL_MAX], size_t head_len, bool final)
{
	struct digest root;
	char root_hex[DIGEST_HEX + 1] = "", next_hex[DIGEST_HEX + 1] = "";
	uint8_t sig[crypto_sign_BYTES];
	merkle_root(&e->tree, &root);
	hex_write(root_hex, root.bytes, sizeof root.bytes);
	if (!final)
		epoch_prepare(e);
	hex_write(next_hex, e->public_next, sizeof e->public_next);
	size_t n = head_len;
	n += (size_t)snprintf(line + n, SEAL_MAX - n,
			      "\"type\":\"seal\",\"epoch\":%" PRIu64 ",\"first\":%" PRIu64 ",\"count\":%" PRIu64
			      ",\"root\":\"%s\"",
			      e->number, e->first, e->tree.count, root_hex);
	n += (size_t)(final ? snprintf(line + n, SEAL_MAX - n, ",\"final\":true") :
			      snprintf(line + n, SEAL_MAX - n, ",\"next\":\"%s\"", next_hex));
	crypto_sign_detached(sig, NULL, (const uint8_t *)line, n, e->keys->secret);
	n += (size_t)snprintf(line + n, SEAL_MAX - n, SEAL_SIG);
	hex_write(line + n, sig, sizeof sig);
	n += 2 * sizeof sig;
	memcpy(line + n, "\"}", 2);
	if (final)
		sodium_memzero(e->keys, sizeof *e->keys);
	else
		turn(e);
	return n + 2;
}
