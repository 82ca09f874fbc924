/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/session.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "audit/journal.h"
#include "supervisor/guardian.h"

void session_kill(struct session *s)
{
	const char order = GUARDIAN_KILL;
	ssize_t n;

	do
		n = write(s->control, &order, 1);
	while (n < 0 && errno == EINTR);
}

void session_journal_failed(struct session *s, int error)
{
	int none = 0;

	if (!atomic_compare_exchange_strong(&s->journal_error, &none, -error))
		return;
	fprintf(stderr,
		"usher: the journal in %s cannot be written: %s. Nothing that needs a record is done from here on; "
		"make room there and start again.\n",
		journal_dir(s->journal), strerror(-error));
}
