/* SPDX-License-Identifier: Apache-2.0 */
/* Queries for names from any bytes: what is shown of one is plain, and of two that are not the same never the same. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "supervisor/lookups.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool shown(const uint8_t *data, size_t size, const uint8_t **name, size_t *len, char text[1100])
{
	if (!lookup_query(data, size, name, len))
		return false;
	if (*name < data || *len > LOOKUP_NAME || *name + *len > data + size)
		abort();
	size_t n = lookup_show(*name, *len, text, 1100);
	for (size_t i = 0; i < n; i++) {
		if (text[i] <= ' ' || text[i] > '~')
			abort();
	}
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char a[1100], b[1100], cut[8];
	const uint8_t *x, *y;
	size_t n, m;

	/* as long as said and not longer: reading past it shows */
	uint8_t *first = malloc(size / 2 + 1), *second = malloc(size - size / 2 + 1);
	memcpy(first, data, size / 2);
	memcpy(second, data + size / 2, size - size / 2);
	if (shown(first, size / 2, &x, &n, a)) {
		(void)lookup_show(x, n, cut, sizeof(cut));
		if (shown(second, size - size / 2, &y, &m, b) && !strcmp(a, b) != (n == m && !memcmp(x, y, n)))
			abort();
	}
	free(first);
	free(second);
	return 0;
}
