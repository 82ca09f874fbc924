/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/user.h"

#include <pwd.h>
#include <stdio.h>
#include <string.h>

/* Lines that begin with a sign are no users but what nsswitch.conf(5) calls compat. */
static bool find_in(FILE *f, uid_t uid, struct user *out)
{
	const struct passwd *pw;

	while ((pw = fgetpwent(f))) {
		if (pw->pw_uid != uid || !pw->pw_name[0] || strchr("+-", pw->pw_name[0]))
			continue;
		/* What is too long is cut: it stands for nobody and no place. */
		snprintf(out->name, sizeof(out->name), "%s", pw->pw_name);
		snprintf(out->home, sizeof(out->home), "%s", pw->pw_dir);
		return true;
	}
	return false;
}

bool user_find_local(uid_t uid, struct user *out)
{
	FILE *f = fopen("/etc/passwd", "re");
	bool found = f && find_in(f, uid, out);

	if (f)
		fclose(f);
	return found;
}

bool user_find(uid_t uid, struct user *out)
{
	char command[64];

	if (user_find_local(uid, out))
		return true;
	snprintf(command, sizeof(command), "/usr/bin/getent passwd %u 2>/dev/null", (unsigned)uid);
	FILE *f = popen(command, "re");
	bool found = f && find_in(f, uid, out);
	if (f)
		(void)pclose(f);
	return found;
}
