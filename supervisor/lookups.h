/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names that a process asked name servers for, for the person who is asked about its connection: a hint, and the program's own
 * word. Only what usher sends for it is seen (SECURITY.md says what that leaves out). The answers are not read: which address came from which name is
 * not known.
 */
#ifndef USHER_SUPERVISOR_LOOKUPS_H
#define USHER_SUPERVISOR_LOOKUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOOKUP_PORT 53
#define LOOKUP_NAME 255 /* bytes of a name as it is sent */
#define LOOKUP_TEXT 600

struct lookups;
struct proc;

/*
 * Whether the packet is a query for a name. *name points into it: its *len bytes as they are sent, labels with their lengths, the root's included; not the
 * root alone. From any bytes.
 */
bool lookup_query(const void *packet, size_t size, const uint8_t **name, size_t *len);

/* NAME (as lookup_query() gave it) in the usual form, odd bytes as \DDD, cut at CAP. Returns the length written, without the NUL. */
size_t lookup_show(const uint8_t *name, size_t len, char *out, size_t cap);

/* P sends PACKET to a name server. Nothing happens when it is no query, or when memory is short. Any thread. */
void lookups_note(struct proc *p, const void *packet, size_t size);

/* The last minute's names, newest first, with their age, and whose word they are. Returns the length, 0 when there are none. Any thread. */
size_t lookups_text(struct proc *p, char out[LOOKUP_TEXT]);

/* Safe on NULL. */
void lookups_free(struct lookups *l);

#endif
