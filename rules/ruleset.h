/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A ruleset is one layer: one rule file with what it includes, compiled.
 *
 * MUST: first matching rule decides; pure once loaded (no descriptor, no clock,
 * no kernel); no allocation and no lock in any function that takes a const
 * struct ruleset.
 */
#ifndef USHER_RULES_RULESET_H
#define USHER_RULES_RULESET_H

#include <stddef.h>
#include <stdio.h>

#include "rules/call.h"
#include "rules/rule.h"
#include "rules/verdict.h"

struct ruleset;

/* A NAME=VALUE that is set before a file is read ($HOME $PWD $TMPDIR $USER $UID). */
struct variable {
	const char *name;
	const char *value;
	char *(*find)(void); /* NULL, or what is asked once a file names the variable: malloc'd; where it knows none (NULL) value stands */
};

enum diagnostic_level { DIAGNOSTIC_ERROR, DIAGNOSTIC_WARNING };

/* One finding about a file. The pointers live until diagnostics_free(). */
struct diagnostic {
	enum diagnostic_level level;
	const char *file;
	uint32_t line;   /* from 1; 0: the file as a whole */
	uint32_t column; /* from 1, in bytes */
	uint32_t indent; /* how many bytes of the line stand before SOURCE */
	const char *source;  /* the offending line, NULL when there is none */
	const char *message; /* what is wrong and what was expected */
};

struct diagnostics {
	struct diagnostic *items;
	size_t count;
	size_t errors;
	void *memory;
};

void diagnostics_free(struct diagnostics *d);

/* Prints all of D in the form FILE:LINE:COLUMN: error: ..., the line and a caret. */
void diagnostics_print(const struct diagnostics *d, FILE *to, bool colour);

struct ruleset_source {
	const char *path;               /* a file, or "builtin:NAME" */
	const struct variable *variables;
	size_t n_variables;
	bool tested; /* what built-in files expect is left out: the program's own tests have held them to it */
};

/*
 * Loads the file, what it includes, and compiles it. All findings are appended to *found
 * (zeroed by the caller before its first use; which the caller frees in every case). Returns 0 with *out set (free with
 * ruleset_free), 1 when the file has errors, or a negative errno when it could
 * not be read, its owner or mode is not safe (-EPERM), or memory ran out; *found then
 * says so too. Not for the hot path; thread safe.
 */
int ruleset_load(const struct ruleset_source *source, struct diagnostics *found, struct ruleset **out);

/* As ruleset_load(), from memory; NAME stands for the file in messages. Never touches the file system but for includes. */
int ruleset_parse(const char *name, const char *text, size_t len, const struct ruleset_source *variables,
		  struct diagnostics *found, struct ruleset **out);

/* As ruleset_parse() without variables; forbidden literal names that are files with other names (hard links) are pinned. */
int ruleset_parse_guard(const char *name, const char *text, size_t len, struct diagnostics *found, struct ruleset **out);

void ruleset_free(struct ruleset *rs);

/*
 * What this layer says of CALL as a whole: each object and each operation it
 * needs is decided by the first rule that matches, the strictest of them wins.
 * kind is VERDICT_NONE where no rule and no default of this file speaks. rewrite is
 * given only for the operations it names.
 */
void ruleset_decide(const struct ruleset *rs, const struct call *call, struct verdict *out);

/*
 * What this layer says of each operation that CALL needs on one object: out[bit] is filled
 * for the bits in object[OBJECT].ops, the others are left alone. An operation that no rule
 * and no default speaks of is VERDICT_NONE (stat has no default: unnamed it is never refused).
 * Layers must be joined per operation with this where one layer leaves open what another rules on.
 */
void ruleset_decide_object(const struct ruleset *rs, const struct call *call, uint32_t object,
			   struct verdict out[OP_COUNT]);

/*
 * Joins the per-operation verdicts of one object (of one layer, or the strictest of all
 * layers) into *into, which holds what earlier objects gave: the strictest wins. An
 * operation left open closes what is merely allowed or rewritten (VERDICT_NONE: no opinion on the whole), but
 * never an open stat. A rewrite of some operations of an object, where others go to the
 * object itself, is refused.
 */
void verdicts_join(struct verdict *into, const struct call *call, uint32_t object, const struct verdict each[OP_COUNT]);

/* The errno of a refusal of OP (one operation) on O by a rule without errno=, or by none. */
int refusal_errno(const struct object *o, op_set op);

/*
 * The first rule that refuses, asks about, limits or leads elsewhere an address of the internet, NULL when there is none: where there
 * is one, kinds of sockets that no rule of the file names are refused.
 */
const struct rule *ruleset_restricts(const struct ruleset *rs);

/* What conditions of rules want to know of a call beside its objects' names, each a bit. */
enum wanted {
	WANTS_BY = 1, WANTS_TREE = 2, WANTS_UID = 4, WANTS_DEPTH = 8,
	WANTS_ENV = 16, WANTS_SHA256 = 32, WANTS_TRUSTED = 64, WANTS_OWN = 128,
	WANTS_ARGV = 256, WANTS_VACANT = 512,
	WANTS_LOOPBACK = 1024, /* no condition: some rule has what listens be heard on the loopback interface alone */
};

unsigned ruleset_wants(const struct ruleset *rs);

/* The word of a statement that is about a session, and not about a call: "default", "env", "limit" or "redact". NULL: none is there. */
const char *ruleset_states(const struct ruleset *rs);

/* Whether rules pin devices and inodes: objects must be identified before they are decided on. */
bool ruleset_pins(const struct ruleset *rs);

/* Whether one of those may get another identity by being opened for writing, changed or moved. */
bool ruleset_parts(const struct ruleset *rs);

/* Whether a rule pins DEV, INO: of any other object the name says all that rules see. No allocation, no lock. */
bool ruleset_pins_object(const struct ruleset *rs, uint64_t dev, uint64_t ino);

/*
 * The object a rewrite leads to: for a file the new name into *name (not
 * terminated; length into *len, PATH_MAX bytes of room), for a socket the new
 * endpoint into *to (to->kind tells which; a unix path or abstract name goes to *name).
 * RULE is the verdict's. Returns 0, or -ENAMETOOLONG.
 */
int rule_rewrite(const struct rule *rule, const struct object *from, char *name, size_t *len, struct object *to);

/*
 * The reverse, where RULE leads a whole tree elsewhere: what pattern INDEX of RULE calls the name TO, which lies where the rule leads, into *name (as
 * above). Returns 1, 0 where there is no such name, or -ENAMETOOLONG.
 */
int rule_rewritten(const struct rule *rule, uint32_t index, struct span to, char *name, size_t *len);

/*
 * The same for the word of a person or a helper, who leads FROM elsewhere: TEXT is a name, and of a socket an endpoint as rules write one
 * ("tcp:ADDRESS:PORT", "unix:/NAME", "unix:@NAME"). Returns 0, -ENAMETOOLONG, or -EINVAL where FROM cannot be led to what it says.
 */
int object_answered(const char *text, const struct object *from, char *name, size_t *len, struct object *to);

/* Number of rules with limit=; their limit_slot values are below it. */
uint32_t ruleset_limit_slots(const struct ruleset *rs);

/* Whether any rule can ever give a verdict of KIND (used to warn when nobody can answer). */
bool ruleset_can(const struct ruleset *rs, enum verdict_kind kind);

/* The operations that some rule names. stat is mediated only where some layer names it. */
op_set ruleset_ops(const struct ruleset *rs);

/* Whether the layer says nothing at all: comments, and names that nothing uses. */
bool ruleset_silent(const struct ruleset *rs);

/* The name the layer was loaded under, its text in full and all files read, for the journal's start record. */
struct ruleset_file {
	const char *path;
	const char *text;
	size_t len;
};
size_t ruleset_files(const struct ruleset *rs, const struct ruleset_file **out);

/* Iterates over the rules in order: INDEX from 0; NULL past the end. */
const struct rule *ruleset_rule(const struct ruleset *rs, size_t index);

/* Whether RULE matches OBJECT for one of OPS when asked by BY with ARGV; the matcher behind explain. */
bool rule_matches(const struct ruleset *rs, const struct rule *rule, const struct call *call, uint32_t object, op_set op);

/* One pattern of a rule, for lint, for the kernel floor and for people. */
struct rule_pattern {
	enum object_kind kind;
	const char *prefix; /* name kinds: the literal beginning as an absolute name ("/usr" of a pattern for /usr and all below), whole components, not terminated */
	uint32_t prefix_len; /* abstract names and memfd: without the first slash */
	bool exact;         /* the prefix is the one name it matches */
	bool tree;          /* it matches the prefix and all below it, and nothing else */
	bool alias;         /* not written: where the links in the pattern before it lead */
	uint32_t column;    /* of the word it comes from, from 1; 0 when unknown */
	struct inet_endpoint inet; /* OBJECT_INET: the lowest address and port, */
	uint8_t inet_prefix;       /* the leading bits of the address that count, */
	uint16_t inet_port_hi;     /* and the highest port; */
	bool inet_cut;             /* other bits were written, too, and say nothing */
};

/* Pattern INDEX (from 0) of RULE into *out; false past the end. The pointers live as long as the rule. */
bool rule_pattern(const struct rule *rule, uint32_t index, struct rule_pattern *out);

/* The file that a rewrite leads to; of NAME and all below it NAME, which is empty for the root. False when RULE leads to no file. */
bool rule_leads_to(const struct rule *rule, struct span *out);

/*
 * Program INDEX (from 0) that by= or tree= of RULE names literally: an absolute name without its first
 * slash. *out is absent for one that is a pattern; false past the end.
 */
bool rule_program(const struct rule *rule, uint32_t index, struct span *out);

/* Whether RULE has a condition: by=, tree=, argv=, own ... */
bool rule_conditional(const struct rule *rule);

/*
 * Whether every object of NARROW's pattern INDEX is one of WIDE's. Never says yes wrongly; may say no
 * where the truth is yes. Operations and conditions are the caller's business.
 */
bool rule_covers(const struct rule *wide, const struct rule *narrow, uint32_t index);

/* The same where some pattern of RULE is one address, with all its bits: OTHER's pattern INDEX is that very address, then. */
bool rule_names(const struct rule *rule, const struct rule *other, uint32_t index);

/*
 * Whether RULE's pattern INDEX counts beside a firm rule of RS that may speak of the same endpoints: it refuses, or is one address. What opens
 * them without naming the address is as if it were not there, then.
 */
bool rule_beside_firm(const struct ruleset *rs, const struct rule *rule, uint32_t index);

/* Whether some pattern of RULE matches OBJECT, conditions and operations aside. */
bool rule_speaks(const struct rule *rule, const struct object *object);

/*
 * Tells EACH of every rule of RS one of whose patterns covers NARROW's pattern INDEX (as rule_covers() says; NARROW may be of
 * another ruleset), some more than once; rules with conditions, which cover nothing for certain, are left out. Those of one place
 * come in order, and no more of that place when EACH returns false. Costs what matches, not what there is.
 */
void rules_covering(const struct ruleset *rs, const struct rule *narrow, uint32_t index,
		    bool (*each)(void *context, const struct rule *wide), void *context);

/* Whether RULE was written in the file that was loaded itself, not in one it includes or a built-in set. */
bool rule_own(const struct rule *rule);

/* Whether A stands before B, both of one ruleset. */
bool rule_before(const struct rule *a, const struct rule *b);

/* The column RULE begins at, from 1. */
uint32_t rule_column(const struct rule *rule);

/*
 * What the env statements of this layer say of variable NAME (LEN bytes): the first that matches. And the
 * settings in order, "NAME=VALUE", INDEX from 0; NULL past the end.
 */
enum env_says { ENV_SILENT = 0, ENV_KEEP, ENV_DROP, ENV_SET };
enum env_says ruleset_env(const struct ruleset *rs, const char *name, size_t len);
const char *ruleset_env_setting(const struct ruleset *rs, size_t index);

/*
 * What the limit statements of this layer let the whole tree use: milliseconds, bytes, or processes; for files and filesize
 * what each of its processes may have: descriptors, bytes of one file. 0 where
 * there is none. limit_name() is the word of the statement.
 */
enum limit_kind { LIMIT_WALL, LIMIT_CPU, LIMIT_MEMORY, LIMIT_PROCESSES, LIMIT_FILES, LIMIT_FILESIZE, LIMIT_KINDS };
uint64_t ruleset_limit(const struct ruleset *rs, enum limit_kind kind);
const char *limit_name(enum limit_kind kind);

/* What stands before a value that the journal does not keep as it is (redact token=*: "token="). INDEX from 0; NULL past the end. */
const char *ruleset_redact(const struct ruleset *rs, size_t index);

/* An expect line: what CALL (one object) is to be decided as by this layer alone. */
struct expectation {
	enum verdict_kind kind;
	const char *file;
	uint32_t line;
	uint32_t column;
	const char *text;
	struct call call;
	uint32_t depth; /* 0: written in the file itself, else in one that it includes */
};

/* The expect lines in order: INDEX from 0; NULL past the end. */
const struct expectation *ruleset_expectation(const struct ruleset *rs, size_t index);

/* A question put in words, for explain: "OP OBJECT [by EXE] [tree EXE] [uid N] [own] [vacant] [argv WORD...]". */
struct query {
	struct call call; /* one object, names as written */
	bool uid;         /* it says whose call it is; 0 else */
	void *memory;
};

/* Returns 0 (free with query_free), 1 with the reason in FOUND, or -ENOMEM. */
int query_parse(const char *text, const struct ruleset_source *variables, struct diagnostics *found, struct query *out);
void query_free(struct query *q);

/* The default of this file, VERDICT_NONE when it has none, and its "FILE:LINE". */
enum verdict_kind ruleset_default(const struct ruleset *rs, const char **where);

/* Names of the built-in rule sets, NULL-terminated, and the text of one (NULL when unknown). */
const char *const *builtin_names(void);
const char *builtin_text(const char *name);

#endif
