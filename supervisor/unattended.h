/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions with nobody to answer: what is said before, and what is left afterwards. */
#ifndef USHER_SUPERVISOR_UNATTENDED_H
#define USHER_SUPERVISOR_UNATTENDED_H

#include <stdbool.h>
#include <stdio.h>

#include "policy/policy.h"
#include "policy/question.h"

struct voice;

/*
 * Without --ask and without a terminal: rules that a person wrote to be asked would silently be denials. -1, told on TO, when
 * there are any; 0 when only built-in rules ask.
 */
int unattended_refused(const struct policy *p, FILE *to);

/* Says on TO which rules would ask and that they deny. CHOSEN: by --ask=deny; then of rules that are not built in only. */
void unattended_start(const struct policy *p, bool chosen, FILE *to);

/* Before questions_stop(): the rules that would have answered what nobody answered. NULL when there was no such question. Free it. */
char *unattended_rules(struct questions *qs);
void unattended_end(const char *rules, struct voice *to);

/* Before questions_stop(), once the command has ended: a line about what was allowed for review and is not marked, or NULL. Free it. */
char *unattended_reviews(struct questions *qs, const char *journal);

#endif
