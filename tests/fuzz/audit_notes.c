/* SPDX-License-Identifier: Apache-2.0 */
/* Anchors, checkpoints and tombstones of any bytes: their readers stay within them, and within what they were given room for. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit/tombstone.h"
#include "audit/verify.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char name[] = "/tmp/usher-fuzz-XXXXXX";
	struct anchor *anchors;
	uint64_t lines;
	bool all;
	size_t n = 0;
	int fd = mkstemp(name);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	close(fd);
	if (anchor_parse(name, &anchors, &n) == 0 && !n)
		abort();
	free(anchors);
	if (tombstone_verify(name, &lines, &all) == 0 && lines && size < 200)
		abort(); /* a line with a signature is longer */
	char *text = strndup((const char *)data, size);
	if (!strchr(text, '/')) { /* not the name of somebody's file */
		(void)anchor_parse(text, &anchors, &n);
		free(anchors);
	}
	free(text);
	unlink(name);
	return 0;
}
