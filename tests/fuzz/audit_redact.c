/* SPDX-License-Identifier: Apache-2.0 */
/* What is redacted in any bytes lies within them, one value behind the other, and the search for more comes to an end. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "audit/redact.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const programs[] = { "/usr/bin/mysql", "/usr/bin/curl", "/usr/bin/docker", "" };
	static struct redactor *r;
	size_t at, len, from = 0;
	if (!size || size > 4096)
		return 0;
	if (!r && redactor_new("/dev/null", &r) != 0)
		abort();
	const char *name = programs[data[0] % 4];
	const struct span program[2] = { { name, (uint32_t)strlen(name) } };
	char *exact = malloc(size - 1 ? size - 1 : 1);
	if (!exact)
		abort();
	memcpy(exact, data + 1, size - 1);
	while (redact_find_given(r, program, exact, size - 1, from, &at, &len)) {
		if (at < from || !len || len > size - 1 - at)
			abort();
		from = at + len;
	}
	(void)redact_follows(r, exact, size - 1);
	free(exact);
	return 0;
}
