/* SPDX-License-Identifier: Apache-2.0 */
/* The first and the last record of a session. */
#ifndef USHER_SUPERVISOR_RECORDS_H
#define USHER_SUPERVISOR_RECORDS_H

#include "audit/record.h"
#include "supervisor/run.h"
#include "supervisor/session.h"
#include "supervisor/supervise.h"

struct environment;

/* Writes what the session is: version, kernel, command, rules in full, mechanisms in force (ISOLATION: the namespaces, NULL: none). 0 or a negative errno (told). */
int records_start(struct session *s, const struct run_options *o, const struct environment *e, const char *isolation);

/*
 * Writes the fields command, cwd, environment and environment_dropped to R. Of what is too long for a record the beginning, with command_len
 * and command_hash, environment_count and environment_dropped_count of the whole. Leaves R without a redactor.
 */
void records_command(struct record *r, const struct session *s, char *const *argv, const struct environment *e);

/* Writes how it ended and closes the journal. Returns 0, or a negative errno (told) when the journal stays without its end. */
int records_end(struct session *s, const struct supervise_result *r);

#endif
