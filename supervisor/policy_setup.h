/* SPDX-License-Identifier: Apache-2.0 */
/* From the command line to the session's policy: variables, files, what is guarded. */
#ifndef USHER_SUPERVISOR_POLICY_SETUP_H
#define USHER_SUPERVISOR_POLICY_SETUP_H

#include "policy/policy.h"
#include "supervisor/run.h"

/*
 * Loads the policy of O, with EXECUTABLE (usher's own, canonical; NULL: it has no name), JOURNAL (a canonical name, which need not exist) and TERMINAL (may be
 * NULL) out of the tree's reach; prints what was found.
 * With *out not NULL, which it was loaded to before, the files stay as they were read and TERMINAL is taken out of reach. Returns 0, or -1 (told) with *out NULL.
 */
int policy_setup(const struct run_options *o, const char *executable, const char *journal, const char *terminal, struct policy **out);

#endif
