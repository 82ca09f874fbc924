/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what was kept outside of a journal: a head, a first key, or a file of them. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
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

/* Lines that say something else (a checkpoint has such) are passed over; a file without any anchor is refused. */
static int parse_file(FILE *f, struct anchor *out, size_t cap, size_t *n)
{
	static const char key[] = JOURNAL_FORMAT " ed25519 ", head[] = "head ";
	char line[512];
	*n = 0;
	while (*n < cap && fgets(line, sizeof line, f)) {
		line[strcspn(line, "\r\n")] = '\0';
		bool is_key = !strncmp(line, key, sizeof key - 1), is_head = !strncmp(line, head, sizeof head - 1);
		if ((is_key && parse_key(line + sizeof key - 1, &out[*n])) ||
		    (is_head && parse_head(line + sizeof head - 1, ' ', &out[*n])))
			++*n;
		else if (is_key || is_head)
			return -EINVAL;
	}
	return *n ? 0 : -EINVAL;
}

int anchor_parse(const char *text, struct anchor *out, size_t cap, size_t *n)
{
	*n = 1;
	if (cap && (parse_head(text, ':', out) || parse_key(text, out)))
		return 0;
	FILE *f = fopen(text, "re");
	if (!f)
		return errno == ENOENT && !strchr(text, '/') && strchr(text, ':') ? -EINVAL : -errno;
	int rc = parse_file(f, out, cap, n);
	fclose(f);
	return rc;
}
