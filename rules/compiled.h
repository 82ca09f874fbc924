/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a ruleset. Only files of this folder include it. */
#ifndef USHER_RULES_COMPILED_H
#define USHER_RULES_COMPILED_H

#include "rules/arena.h"
#include "rules/glob.h"
#include "rules/ruleset.h"

/* Addresses and ports of tcp: and udp:. Both ends of a range belong to it. */
struct inet_pattern {
	enum proto proto;
	uint8_t addr[16]; /* masked */
	uint8_t prefix;   /* leading bits that count, 0 .. 128 */
	bool cut;         /* the address had others, which were masked out */
	uint16_t port_lo;
	uint16_t port_hi;
};

/* One form of an object, braces expanded. */
struct pattern {
	enum object_kind kind;
	bool every;      /* a bare globstar: every path there is, and for all but exec and stat what has no path */
	bool alias;      /* not written: where the links of the one before it lead */
	uint32_t column;
	const char *name; /* name kinds: '/' and the literal bytes it begins with */
	union {
		struct glob glob; /* FILE, UNIX: without the leading slash; MEMFD, ABSTRACT: the name */
		struct inet_pattern inet;
	};
};

struct range {
	uint32_t lo, hi;
};

/* Conditions: all that are given must hold; of several forms of one, any. */
struct conditions {
	const struct glob *by, *tree, *argv, *env, *sha256;
	uint32_t n_by, n_tree, n_argv, n_env, n_sha256;
	bool has_by, has_tree, has_argv, has_env, has_sha256, has_trusted, has_own, has_vacant, has_uid, has_depth, has_makes;
	enum makes makes;
	struct range uid, depth;
};

/* One word of an env statement. */
struct env_statement {
	enum env_says says;
	const struct glob *glob; /* keep, drop */
	uint32_t n;
	const char *setting;     /* set */
};

/* Where a rewrite leads. */
struct rewrite {
	enum object_kind kind;
	bool subtree;    /* what is below FROM keeps its name below TO */
	const char *name; /* absolute path or abstract name */
	uint32_t len;
	struct inet_endpoint inet;
	bool keep_addr;  /* '*' as the host */
	bool keep_port;  /* '*' as the port */
};

struct compiled_rule {
	struct rule pub; /* first: a struct rule given out is the beginning of one of these */
	uint32_t index;
	uint32_t column;
	bool builtin;    /* the text comes from a built-in set */
	uint32_t depth;  /* 0: written in the file that was loaded, else included */
	const struct pattern *pattern;
	uint32_t n_patterns;
	const struct conditions *when; /* NULL: none */
	const struct rewrite *to;      /* NULL unless a rewrite */
	struct exec_edit *edit;        /* what pub.edit points to, while it is made */
};

/* Which condition of its rules a fork asks. As bits: those that are known to hold. */
enum fork_by { FORK_NONE, FORK_BY = 1, FORK_TREE = 2, FORK_SHA256 = 4 };

/* A rule's pattern, chained in the order of the file per place of the index; or a fork, which stands for many. */
struct term {
	uint32_t rule;    /* of a fork: the first of those behind it */
	uint32_t pattern;
	uint32_t next;    /* index of the next term, 0: none */
	uint32_t tail_of; /* first term of a chain of endpoints: its last, 0: itself */
	uint32_t fork;    /* the place where the names of its condition begin, 0: an ordinary term */
	enum fork_by by;
};

struct chain {
	uint32_t head, tail;
};

/* A place in the index of names. Number 0 is no place. */
struct place_node {
	uint64_t children; /* a bit for each hash of a literal child: most lookups end here */
	uint32_t deep;     /* the place behind globstar, 0: none */
	uint32_t star;     /* the place behind a component that is one star */
	uint32_t parts;    /* the edges of its component patterns, 0: none */
	uint32_t rests;    /* the edges that match the whole rest, 0: none */
	uint32_t name;     /* literal: offset into names */
	uint16_t name_len;
	bool loops;        /* behind globstar: stays while components pass */
	bool grows;        /* has any edge */
	struct chain here; /* rules that match when the name ends here (behind globstar: from here on) */
};

/* Edges by a literal part of what they match, so that few of many are tried. */
struct edge_set {
	uint64_t prefixes; /* lengths of the literal prefixes that lists are kept for */
	uint64_t suffixes;
	uint32_t other;    /* first of those without any literal byte */
	uint8_t infixes;   /* bit K: by 1 << K bytes anywhere in it */
};

/* An edge that must be tried: a component pattern, or a program for the whole rest. */
struct edge {
	const struct glob *glob;
	const struct glob_token *token;
	uint32_t n;
	uint32_t next;
	uint32_t to; /* place; for a rest: 0 */
	struct chain here;
};

struct slot {
	uint64_t key;
	uint32_t value;
};

/* Open addressing, at most half full; key 0 is empty. */
struct slots {
	struct slot *slot;
	uint32_t mask;
	uint32_t used;
};

struct index {
	struct place_node *node;
	struct edge *edge;
	struct edge_set *set;
	struct term *term;
	char *names;
	uint32_t nodes, nodes_room, edges, edges_room, sets, sets_room, terms, terms_room, names_used, names_room;
	struct slots slots;
	uint32_t root[OBJECT_SOCKET + 1]; /* by object kind */
	uint64_t net_prefixes[3];           /* prefix lengths 0 .. 128 in use */
	struct slots pins;                  /* key: mixed device and inode; value: index into ruleset.pin */
};

/* A device and inode that a rule names. */
struct pin {
	uint64_t dev, ino;
	uint32_t rule;
	op_set parting; /* operations by which another of the file's names would get a file of its own */
};

struct ruleset {
	struct arena arena;
	struct compiled_rule *rule;
	uint32_t n_rules, room_rules;
	struct ruleset_file *file;
	uint32_t n_files, room_files;
	struct expectation *expect;
	uint32_t n_expect, room_expect;
	struct env_statement *env;
	uint32_t n_env, room_env;
	struct pin *pin;
	uint32_t n_pins, room_pins;
	const char **redact; /* what stands before a value that is kept out of the journal */
	uint32_t n_redact, room_redact;
	struct index index;
	enum verdict_kind otherwise; /* default; VERDICT_NONE: none given */
	const char *otherwise_where;
	uint32_t otherwise_depth;
	op_set ops;
	uint32_t limit_slots;
	uint32_t can; /* a bit for each verdict kind */
	unsigned wants; /* what its conditions ask: enum wanted */
	bool firm;    /* some rule is firm */
	uint32_t restricts; /* the first rule that does more than allow an address, plus one; 0: none */
	uint64_t limit[LIMIT_KINDS]; /* 0: none */
};

static inline const struct compiled_rule *compiled(const struct rule *rule)
{
	return (const struct compiled_rule *)rule;
}

/* Makes room for NEED items of SIZE bytes, the new ones zeroed. 0 or -ENOMEM. (index.c) */
int reserve(void **array, uint32_t *room, uint32_t need, size_t size);

/* object_parser.c: sets the name from the program; 0 or -ENOMEM. */
int pattern_name(struct arena *a, struct pattern *pattern);

/* index.c: builds the index over all rules; 0 or -ENOMEM. */
int index_build(struct ruleset *rs);
void index_free(struct index *ix);

/*
 * match.c: tells SEEN of the chains of terms whose patterns match the object, in no order.
 * Returns false when it had no room to follow all of them.
 */
typedef void (*seen_fn)(void *context, const struct term *first);
bool index_walk(const struct ruleset *rs, const struct object *object, seen_fn seen, void *context);

/* As above, for the condition of a fork: NAME (of a program: without its first slash) from the place ROOT on. */
bool index_walk_fork(const struct ruleset *rs, uint32_t root, const char *name, size_t len, seen_fn seen, void *context);

/* Whether one pattern matches the object for an operation; the slow twin of the index. */
bool pattern_matches(const struct pattern *p, const struct object *object, op_set op);

/* The operations for which PIN speaks of OBJECT, which it pins, beside those of RULE, its rule. */
op_set pin_parting(const struct pin *pin, const struct compiled_rule *rule, const struct object *object);

/* conditions.c: whether they hold for this call and this object of it. KNOWN: kinds of forks that were asked already. */
bool conditions_hold(const struct conditions *when, const struct call *call, const struct object *object, unsigned known);

/* conditions.c: tells whether the image has a name that programs of conditions can match, and gives it without its first slash. */
bool image_name(const struct image *image, struct span *out);

/* names.c: adds what the links of literal beginnings lead to, and the identity of literal names that are forbidden. */
struct ruleset_source;
int names_resolve(struct ruleset *rs, const struct ruleset_source *from);

/* Pins of the literal names that are forbidden those which are files with another name (hard links). Returns 0 or a negative errno. */
int names_pin_linked(struct ruleset *rs);

#endif
