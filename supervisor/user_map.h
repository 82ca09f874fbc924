/* SPDX-License-Identifier: Apache-2.0 */
/* In a new user namespace everybody is who he was. */
#ifndef USHER_SUPERVISOR_USER_MAP_H
#define USHER_SUPERVISOR_USER_MAP_H

struct user_map {
	char user[40], group[40]; /* lines for the files of the namespace */
};

/* For the caller as it is now: before the namespace is made. */
void user_map_make(struct user_map *out);

/* In the namespace, as the caller's own: once. No heap, no stdio. Returns 0 or a negative errno. */
int user_map_set(const struct user_map *map);

#endif
