/* SPDX-License-Identifier: Apache-2.0 */
/* What a person should know before answering: facts about the caller and the object. */
#ifndef USHER_SUPERVISOR_FACTS_H
#define USHER_SUPERVISOR_FACTS_H

#include "policy/question.h"
#include "supervisor/job.h"

struct facts;

/* Gathers what can be had; what cannot is left out. *out may be NULL when memory is short. Free with facts_free(). */
void facts_gather(const struct job *j, const struct call *call, struct facts **out);

/* STACK: the caller's frames in words, "" when unknown. F may be NULL. */
void facts_stack(struct facts *f, const char *stack);

/* The fact of that name, absent when there is none. F may be NULL. */
struct span facts_find(const struct facts *f, const char *key);
size_t facts_list(const struct facts *f, const struct fact **out);
void facts_free(struct facts *f);

#endif
