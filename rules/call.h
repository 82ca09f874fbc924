/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The call: what somebody wants to do, to which objects, as copied and resolved.
 * It is what every rule, question and record speaks of. An open value: whoever
 * fills it keeps the bytes that the spans point to alive while it is in use.
 */
#ifndef USHER_RULES_CALL_H
#define USHER_RULES_CALL_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#include "rules/op.h"

/* Bytes, not a C string: may hold anything but its own end. NULL bytes = absent. */
struct span {
	const char *bytes;
	uint32_t len;
};

/* Of the same bytes. What is absent equals only what is: no argument is not an empty one. */
static inline bool span_equal(struct span a, struct span b)
{
	return !a.bytes == !b.bytes && a.len == b.len && (a.len == 0 || memcmp(a.bytes, b.bytes, a.len) == 0);
}

#define SPAN_LITERAL(s) ((struct span){(s), sizeof(s) - 1})

enum object_kind {
	OBJECT_NONE = 0,
	OBJECT_FILE,     /* a canonical absolute name, links resolved */
	OBJECT_MEMFD,    /* a file without a name: memfd, O_TMPFILE, deleted; name is "memfd:NAME" */
	OBJECT_INET,     /* an address and a port */
	OBJECT_UNIX,     /* a unix socket with a canonical pathname */
	OBJECT_ABSTRACT, /* a unix socket with an abstract name (name excludes the leading NUL) */
	OBJECT_SOCKET,   /* a kind of socket, by its name: "raw:icmp" (rules/socket_kinds.h) */
};

/* What a create makes, or gives a name to. */
enum makes {
	MAKES_FILE = 0,
	MAKES_DIRECTORY,
	MAKES_LINK, /* a symbolic one */
	MAKES_NODE, /* a FIFO, a socket, a device */
};

/* By a mode with its type (0: a file, as mknod(2) has it). */
enum makes makes_of(mode_t mode);

/* By its name in rules ("file", "directory", "link", "node"). False where WORD is none. */
bool makes_parse(const char *word, enum makes *out);

enum proto {
	PROTO_TCP = 1,
	PROTO_UDP,
	PROTO_UNIX, /* stream, datagram or seqpacket */
	PROTO_OTHER,
};

/* An internet endpoint. IPv4 is kept v4-mapped (::ffff:a.b.c.d), so one address has one form. */
struct inet_endpoint {
	uint8_t addr[16];
	uint16_t port;      /* host order */
	uint32_t scope;     /* interface index of a link-local address, else 0 */
	enum proto proto;
};

struct object {
	enum object_kind kind;
	op_set ops;         /* all operations the call needs on this object */
	struct span name;   /* canonical; for OBJECT_INET absent */
	struct span named;  /* what the program said, absent where equal to name */
	struct span to;     /* in a record's: where a rule or an answer led it, else absent */
	struct inet_endpoint inet;
	bool trusted;       /* exec, where a rule asks: it and all directories above it are root's, and nobody else's to write */
	bool own;           /* a terminal of the command's, where a rule asks; false while that is not known */
	bool vacant;        /* connect: nobody listens there, where a rule asks; likewise */
	enum makes makes;   /* create */
	bool of_type;       /* socket: of a type that the usual ones of its family are not of, and a kernel without it says so (socket_of_type()) */
	bool own_argv;      /* exec: a script's interpreter, what a loader is told to run: it gets other arguments than the call's */
	bool identified;    /* dev, ino and nlink are known (the object exists) */
	bool deleted;       /* it has lost the name that it goes by, which may be another object's now */
	struct span sha256; /* exec: of its content, in lower-case hexadecimal; absent where no rule asks or it cannot be read */
	struct span argv;   /* exec, with own_argv: what it gets, absent where that is nothing */
	uint64_t dev;       /* identity_of() in rules/device.h: st_dev, but of a device node */
	uint64_t ino;
	uint64_t nlink;
};

/* One process image in the caller's ancestry, nearest first. */
struct image {
	struct span exe; /* canonical name of the executable */
	uint64_t dev;
	uint64_t ino;
	pid_t pid;
};

/* Who asks. */
struct subject {
	pid_t pid; /* thread group */
	pid_t tid;
	uid_t uid; /* effective */
	struct image image;              /* the caller's own */
	const struct image *ancestors;   /* parent first, up to the command; may be NULL */
	uint32_t n_ancestors;
};

#define CALL_OBJECTS 4

/* What a call says beside its objects, for people: no rule sees it. */
enum call_says {
	SAYS_FLAGS = 0, /* its flag word, if it has one */
	SAYS_OPEN,      /* O_*, and above them the mode of what it creates */
	SAYS_MODE,      /* a mode, of a node with its type */
	SAYS_OWNER,     /* a group, and above it a user: UINT32_MAX where it stays as it is */
	SAYS_LENGTH,    /* how long a file is to be, in bytes */
	SAYS_LINK,      /* what a symbolic link is to say */
	SAYS_ATTRIBUTE, /* an extended attribute's name, and the value that it gets: XATTR_* flags, and above them how long the value is */
	SAYS_TIMES,     /* when a file was read and changed last: two struct timespec, as utimensat(2) has them, or none: both now */
	SAYS_MARKS,     /* a file's flags, as chattr(1) sets them, and its project: as enum call_marks tells */
};

#define SAYS_ABOVE 32 /* bits */

/* How the text of SAYS_MARKS is laid out. */
enum call_marks {
	MARKS_INT = 0, /* FS_IOC_SETFLAGS: an int of FS_*_FL */
	MARKS_FSX,     /* FS_IOC_FSSETXATTR: struct fsxattr */
	MARKS_ATTR,    /* file_setattr(2): struct file_attr, or more */
};

struct call {
	const char *syscall;    /* "openat"; static storage */
	struct subject by;
	uint32_t n_objects;
	enum call_says says;
	struct object object[CALL_OBJECTS];
	union {
		struct span argv0; /* exec: argv[0], by which some programs tell what to be; no rule sees it */
		struct span text;  /* with SAYS_LINK, SAYS_ATTRIBUTE, SAYS_TIMES and SAYS_MARKS */
	};
	struct span value;      /* with SAYS_ATTRIBUTE; absent where it is removed, or empty; of a question's the beginning alone may be here */
	struct span argv;       /* exec: arguments after argv[0], joined as the rule language says; else absent */
	struct span env;        /* exec: names of the new program's variables, each with a NUL behind; absent where no rule asks */
	uint64_t said;          /* as SAYS tells */
};

/* The arguments that the image O of the exec C gets. */
static inline struct span call_argv(const struct call *c, const struct object *o)
{
	return o->own_argv ? o->argv : c->argv;
}

#define SAYS_TEXT 24

/* The mode that C gives what it changes or creates ("0644"), as it says it: the umask may take from it. Returns the length, 0 where it gives none. */
size_t call_mode_text(const struct call *c, char out[SAYS_TEXT]);

/* The owner that C gives, as chown(1) takes it ("1000:1000", "1000:", ":1000"). Returns the length, 0 where it gives none. */
size_t call_owner_text(const struct call *c, char out[SAYS_TEXT]);

/* How long C makes a file: truncate's length, or 0 by O_TRUNC. False where it says nothing of it. */
bool call_length(const struct call *c, uint64_t *out);

#define CALL_FLAGS_TEXT 320

/*
 * What flags of C say that no other field tells: of a rename, of what is removed or opened, and those that a file is to have, in words with commas
 * between, bits without a word in hexadecimal, "none" where a file is to have none. Returns the length, 0 where there is nothing to say.
 */
size_t call_flags_text(const struct call *c, char out[CALL_FLAGS_TEXT]);

/* The project that C gives a file. False where it gives none. */
bool call_project(const struct call *c, uint32_t *out);

#define CALL_TIME_TEXT 48

enum call_time { CALL_ACCESSED = 0, CALL_MODIFIED };

/*
 * The time WHICH that C gives a file: RFC 3339 in UTC with nanoseconds, "now", or "@SECONDS.NANOSECONDS" for what is no date behind 1970. Returns
 * the length, 0 where that time stays as it is, and where both are the present one, which is the usual case.
 */
size_t call_time_text(const struct call *c, enum call_time which, char out[CALL_TIME_TEXT]);

/* The argv[0] of an exec, for people: absent where it is the program's name, as resolved or as said, or the last component of that. */
struct span call_called(const struct call *c);

#endif
