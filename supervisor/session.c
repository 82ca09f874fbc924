/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/session.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "audit/journal.h"
#include "supervisor/guardian.h"
#include "supervisor/run.h"
#include "supervisor/voice.h"

#define TRIES 8

static void tell_guardian(struct session *s, char order)
{
	ssize_t n = -1;

	for (int i = 0; i < TRIES && n < 0; i++) {
		n = write(s->control, &order, 1);
		if (n < 0 && errno == EPIPE)
			return; /* who would read it has gone, and the tree with it */
	}
	if (n < 0)
		_exit(RUN_FAILED); /* the pipe's closing is the same order */
}

void session_kill(struct session *s)
{
	atomic_store(&s->killed, true);
	tell_guardian(s, GUARDIAN_KILL);
}

void session_end(struct session *s)
{
	tell_guardian(s, GUARDIAN_KILL);
}

void session_command_runs(struct session *s)
{
	if (!atomic_exchange(&s->command_runs, true))
		tell_guardian(s, GUARDIAN_ALONE);
}

/* Room does not help a device that fails, nor a journal that was taken away. */
static const char *remedy(int error)
{
	return error == -ENOSPC || error == -EDQUOT || error == -EFBIG ? "make room there and start again" :
	       error == -ENOENT ? "somebody has removed it or a file of it" : "what failed is below it: the file system, or its device";
}

void session_journal_failed(struct session *s, int error)
{
	int none = 0;

	if (error == -EMSGSIZE)
		return; /* the record is too long, of names that are hardly possible: that call is refused, and no other */
	if (!atomic_compare_exchange_strong(&s->journal_error, &none, -error))
		return;
	voice_say(s->voice,
		"usher: the journal in %s cannot be written: %s%s. Nothing that needs a record is done from here on; "
		"%s.\n",
		journal_dir(s->journal), strerror(-error),
		error == -ENOSPC ? " (one of more than 256 MB leaves others a twentieth of the file system, or 1 GB)" : "", remedy(error));
}
