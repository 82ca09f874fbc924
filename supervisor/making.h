/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names that are made or removed, and directories that get other names meanwhile: what is decided on as a name is made, and removed, by that name.
 * That is done side by side; a rename has nobody beside it. Where rules allow every name to be made (removed) nothing is held up.
 */
#ifndef USHER_SUPERVISOR_MAKING_H
#define USHER_SUPERVISOR_MAKING_H

#include "supervisor/job.h"

/* Before J's objects are looked up: what was moved and made until then is known to the look. */
void making_looks(struct job *j);

/*
 * Whether something has moved since. What was opened below a held directory by a name that was put together from the directory's own may be what another
 * rename has brought there behind the first: it goes by the name that it has itself then.
 */
bool making_moved(const struct job *j);

/*
 * Before T's name is made. 0: no directory moves until making_end(). PERFORM_AGAIN: the one that T's entry is in has another name by now; -EBUSY: a
 * rename takes too long. Nothing is held then.
 */
int making_begin(struct job *j, const struct target *t);
void making_end(struct job *j);

/* The same for a name that is removed. */
int removing_begin(struct job *j, const struct target *t);
void removing_end(struct job *j);

/* Before a rename, which nothing is made beside until making_go(). 0 or -EBUSY: something else that moves or makes takes too long. */
int making_stop(struct job *j);
/* MOVED: the rename took effect. */
void making_go(struct job *j, bool moved);

/* Whether nothing has moved or been made since J's look. Between making_stop() and making_go(). */
bool making_quiet(const struct job *j);

/* Whether the directory that T's entry is in has the name that was decided on. */
bool making_stands(struct job *j, const struct target *t);

#endif
