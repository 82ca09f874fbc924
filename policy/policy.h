/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The session's policy: the guard layer, the rule files as layers, grants and limits.
 *
 * MUST: across layers the strictest verdict wins; the guard layer cannot be
 * loosened; a grant turns an ask into its answer and nothing else; policy_decide()
 * neither allocates nor takes a lock that all workers share.
 */
#ifndef USHER_POLICY_POLICY_H
#define USHER_POLICY_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rules/call.h"
#include "rules/ruleset.h"
#include "rules/verdict.h"

struct policy;

struct policy_options {
	const char *const *files; /* each a layer: a path or builtin:NAME */
	size_t n_files;
	const struct variable *variables;
	size_t n_variables;
	const char *const *guarded; /* absolute names nothing in the tree may read or change, each with all below it */
	size_t n_guarded;
	const char *const *pinned; /* absolute names (usher's program) that may be read but not changed */
	size_t n_pinned;
	const char *const *links; /* absolute names of symbolic links by which guarded ones are known: nothing in the tree may put something else there */
	size_t n_links;
	bool makes_places;         /* what is missing of usher's own places is made: a session is about to begin */
	const char *grants_file;   /* standing grants: its rules answer asks and do nothing else; need not exist; NULL: none */
};

/*
 * Loads and compiles all layers. Findings of all files go to *found. Returns 0, 1
 * when a file has errors, or a negative errno.
 */
int policy_new(const struct policy_options *options, struct diagnostics *found, struct policy **out);

/* Makes the guard layer of P anew from OPTIONS; the files' layers stay as they were read. Before anything is decided. Returns 0 or -ENOMEM, P as it was. */
int policy_guard_anew(struct policy *p, const struct policy_options *options);
void policy_free(struct policy *p);

/*
 * Decides CALL: every layer, the strictest wins; then grants answer an ask. Pure
 * but for reading the grants; may be called more than once for the same call (a name
 * that may turn out to be a link). out->kind is never VERDICT_NONE. Any thread.
 */
void policy_decide(struct policy *p, const struct call *call, struct verdict *out);

/* The same for a call that a person has allowed: what asks allows, and what is led elsewhere by another layer is led. */
void policy_decide_answered(struct policy *p, const struct call *call, struct verdict *out);

/* Whether the guard layer, usher's own, denies CALL: what not even a rule's rewrite leads to. */
bool policy_guards(const struct policy *p, const struct call *call);

#define CHARGED_MAX 16

/* What one call has been charged for; all zero before. */
struct charged {
	const struct rule *rule[CHARGED_MAX]; /* within their limits: a rule that decides more than one thing of a call is charged once */
	uint32_t n;
	uint32_t used; /* the count in the current period, of a rule with a limit; 0: there was none */
};

/*
 * Called just before the effect, and again where that is decided anew (a name that turned out to be a link): takes limit= tokens, for each rule once
 * in what *DONE stands for. Beyond a limit *verdict becomes deny (or ask, where the rule's else says so, and then none is taken). Any thread.
 * Returns 0 within the limit, 1 when the verdict was changed.
 */
int policy_charge(struct policy *p, const struct call *call, struct verdict *verdict, struct charged *done);

/* The same for a call that a question was answered in favour of, with what the answer is in *verdict: limits that ask are answered, the others hold. */
int policy_charge_answered(struct policy *p, const struct call *call, struct verdict *verdict, struct charged *done);

/*
 * The directory of the desk's sockets: $XDG_RUNTIME_DIR/usher, else $XDG_STATE_HOME/usher/desk, else
 * ~/.local/state/usher/desk. Not made by this call; policy_new() guards it by itself. Returns 0, or -ENAMETOOLONG, -ENOENT.
 */
int policy_desk_dir(char *out, size_t cap);

/*
 * Where standing grants are kept: $XDG_CONFIG_HOME/usher/grants.rules, else ~/.config/usher/grants.rules. For
 * policy_options.grants_file. Returns 0, or -ENAMETOOLONG, -ENOENT.
 */
int policy_grants_path(char *out, size_t cap);

/* The rules of the grants file as they were at the start, NULL when there are none. Not a layer: they answer asks. */
const struct ruleset *policy_standing(const struct policy *p);

/* The layers, guard first, for explain, plan and the start record. INDEX from 0, NULL past the end. */
const struct ruleset *policy_layer(const struct policy *p, size_t index);

/* Operations named by any layer: stat calls are mediated only when OP_STAT is among them. */
op_set policy_ops(const struct policy *p);

/* Whether some rule or default may ask. */
bool policy_may_ask(const struct policy *p);

/*
 * What conditions ask of a call (enum wanted): of the layers' rules, which give programs their rights; and of these and the file
 * of grants together, so that an answer of that file finds what it asks for.
 */
unsigned policy_wants(const struct policy *p);
unsigned policy_wants_known(const struct policy *p);

/* Whether some layer, or a grant of the file, pins devices and inodes. Takes no lock. */
bool policy_pins(const struct policy *p);

/* Whether one of those may get another identity by being opened for writing, changed or moved. Takes no lock. */
bool policy_parts(const struct policy *p);

/* Whether one of them pins DEV, INO: only then does knowing an object's identity change what is decided of it. Takes no lock. */
bool policy_pins_object(const struct policy *p, uint64_t dev, uint64_t ino);

#endif
