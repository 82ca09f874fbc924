/* SPDX-License-Identifier: Apache-2.0 */
#ifndef USHER_SUPERVISOR_LIKENESS_H
#define USHER_SUPERVISOR_LIKENESS_H

#include <stdbool.h>

struct policy;

/*
 * Whether the rules give every program of the tree the same rights: no rule says by=, tree=, uid= or depth=.
 * Only then may one process of the tree write into another (ptrace, process_vm_writev, pidfd_getfd)
 * without gaining rights. True for NULL. Answers of the file of grants are not looked at here, and are below.
 */
bool likeness_holds(const struct policy *policy);

/* Whether some rule speaks of the tree's own terminals (own). */
bool likeness_own(const struct policy *policy);
bool likeness_vacant(const struct policy *policy);

/* Whether some rule has what listens be heard on the loopback interface alone. */
bool likeness_loopback(const struct policy *policy);

/* Whether some rule asks for a program's content (sha256=), or whether others could change it (trusted). */
bool likeness_content(const struct policy *policy);
bool likeness_trust(const struct policy *policy);

/* Whether a rule asks who the caller is (uid=). */
bool likeness_uid(const struct policy *policy);

/* Whether some rule asks for the environment of an exec (env=). */
bool likeness_env(const struct policy *policy);

/* Whether some rule asks for the arguments of an exec (argv=). */
bool likeness_argv(const struct policy *policy);

/* Whether some rule asks for a caller's ancestors (tree=, depth=). */
bool likeness_descent(const struct policy *policy);

#endif
