/* SPDX-License-Identifier: Apache-2.0 */
/* Questions and grants as text. Everything is printable ASCII. */
#ifndef USHER_TOOLS_DESK_TEXT_H
#define USHER_TOOLS_DESK_TEXT_H

#include <stddef.h>
#include <sys/types.h>

struct json_object;

#define DESK_TEXT (256 * 1024) /* room for all there is of a question, with the longest names */

/* "123:4": the session's pid and the question's number in it. */
void desk_text_id(pid_t session, struct json_object *question, char *buf, size_t cap);

/* One line without its end: "read /etc/x by /usr/bin/cat (2 times)". Returns how long it is without the program, less than CAP: both names are anything. */
size_t desk_text_line(struct json_object *question, char *buf, size_t cap);

/* All there is, several lines; of a value of 20000 characters and more the beginning and the end, with its length and hash. */
void desk_text_all(struct json_object *question, char *buf, size_t cap);

/* One line without its end: "allow read /x by /usr/bin/cat, for the session (uid 0 pid 1)". */
void desk_text_grant(struct json_object *grant, char *buf, size_t cap);

/* One line without its end: "open 2x create /x/y by /usr/bin/cp (a.rules:3)". */
void desk_text_review(struct json_object *review, char *buf, size_t cap);

/* One line without its end: "deny once read /x by /usr/bin/cat (desk uid 0 pid 1)". */
void desk_text_past(struct json_object *past, char *buf, size_t cap);

#endif
