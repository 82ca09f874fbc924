/* SPDX-License-Identifier: Apache-2.0 */
/* Leads a call's objects where a rule, or a person, wants them. */
#ifndef USHER_SUPERVISOR_REDIRECT_H
#define USHER_SUPERVISOR_REDIRECT_H

#include "rules/call.h"

struct worker;

/*
 * Points the object of W's job that decided CALL at the other one of the verdict's rule, or at ANSWERED_NAME, a person's (NULL: the rule's). Returns 0, or
 * the negative errno of the refusal, which the job's verdict is then where rules refuse it.
 */
int redirect(struct worker *w, const struct call *call, const char *answered_name);

/*
 * A person has allowed CALL for one of its objects: what a rule leads elsewhere is led all the same, as with an answer that was given before. Returns as
 * redirect() does.
 */
int redirect_rest(struct worker *w, const struct call *call);

#endif
