/* SPDX-License-Identifier: Apache-2.0 */
/* Following the symbolic links in a name, each place looked at once. */
#ifndef USHER_RULES_LINKS_H
#define USHER_RULES_LINKS_H

#include <limits.h>
#include <stdbool.h>

#include "rules/compiled.h"

struct links;

/* FROM's variables say which directories a program may have laid links in, and whose own links are the person's. */
int links_new(const struct ruleset_source *from, struct links **out);
void links_free(struct links *l);

/*
 * PATH (absolute) with links resolved into TO; what does not exist is kept as it is. *trusted: no link
 * on the way was laid by anybody but root or the person who set the variables. Returns 0, 1 when there
 * is no such name (too long, too many links), or a negative errno when it cannot be known.
 */
int links_follow(struct links *l, const char *path, char to[PATH_MAX], bool *trusted);

/* The links in /proc that lead to whoever looks, and what they may lead to. */
#define OWN_LINKS 2
struct own_link {
	const char *link, *each;
};
extern const struct own_link own_links[OWN_LINKS];

/* PATH begins with one of them: whoever looks is somewhere else by it, and no object is called so. */
bool links_of_self(const char *path, size_t len);

/* There is nothing of the name PATH that the command, of the same user, would get to. False where it cannot be known. */
bool links_missing(struct links *l, const char *path);

/* The same, or what is there is no file with another name besides. */
bool links_single(struct links *l, const char *path);

#endif
