/* SPDX-License-Identifier: Apache-2.0 */
/* The first command's environment, as the env statements of all layers leave it. */
#ifndef USHER_SUPERVISOR_ENVIRONMENT_H
#define USHER_SUPERVISOR_ENVIRONMENT_H

struct policy;

struct environment {
	char **list;     /* what the command gets, NULL-terminated; the strings are FROM's or the rules' */
	char **dropped;  /* what it does not get, NULL-terminated */
};

/*
 * A variable is dropped when any layer drops it; within a layer the first statement that matches decides. env set comes after
 * that and replaces; of several layers the first that sets a name has it, unless another layer drops the name. Returns 0 (the lists stay until the
 * program ends) or -ENOMEM.
 */
int environment_make(const struct policy *policy, char *const *from, struct environment *out);

#endif
