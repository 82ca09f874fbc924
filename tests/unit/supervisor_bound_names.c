/* SPDX-License-Identifier: Apache-2.0 */
/* Which sockets' files are the tree's: one that got the number of another at once is not, though the clock of files stands still for milliseconds. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "rules/cleanup.h"
#include "supervisor/bound_names.h"
#include "supervisor/sock_diag.h"

#define ROUNDS 30000

static char place[] = "/tmp/usher-names-XXXXXX";
static int dir;

static int made(const char *leaf)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(un.sun_path, sizeof(un.sun_path), "%s/%s", place, leaf);
	assert_int_equal(bind(s, (struct sockaddr *)&un, sizeof(un)), 0);
	return s;
}

static bool has(struct bound_names *b, const char *leaf, ino_t *ino)
{
	int file CLEANUP_FD = openat(dir, leaf, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	assert_int_equal(fstat(file, &st), 0);
	*ino = st.st_ino;
	return bound_names_has(b, file);
}

static void given_again(void **state)
{
	struct sock_diag *diag = NULL;
	struct bound_names *b = NULL;
	unsigned same = 0;
	ino_t ours, others;

	assert_int_equal(sock_diag_new(&diag), 0);
	assert_int_equal(bound_names_new(diag, &b), 0);
	for (int i = 0; i < ROUNDS; i++) {
		int s = made("ours");
		bound_names_add(b, s, dir, "ours");
		assert_true(has(b, "ours", &ours));
		unlinkat(dir, "ours", 0);
		close(s);
		s = made("others");
		bool found = has(b, "others", &others);
		unlinkat(dir, "others", 0);
		close(s);
		assert_false(found);
		same += ours == others;
	}
	if (!same)
		skip();
	free(b);
	sock_diag_free(diag);
}

static int begin(void **state)
{
	if (!mkdtemp(place))
		return -1;
	dir = open(place, O_DIRECTORY | O_CLOEXEC);
	return dir < 0 ? -1 : 0;
}

static int end(void **state)
{
	close(dir);
	return rmdir(place);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(given_again),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
