// SPDX-License-Identifier: Apache-2.0
/* The built-in rule sets: the files of rules/builtin, put into the program as they are. */
#include <string.h>

#include "rules/ruleset.h"

/* One file's bytes with a NUL behind, under a name of its own. */
#define EMBED(name)                                                                                             \
	extern const char usher_rules_##name[];                                                                 \
	__asm__(".pushsection .rodata\n"                                                                        \
		"usher_rules_" #name ":\n"                                                                      \
		".incbin \"rules/builtin/" #name ".rules\"\n"                                                   \
		".byte 0\n"                                                                                     \
		".popsection\n")

EMBED(agent);
EMBED(secrets);
EMBED(deferred);
EMBED(readonly);
EMBED(audit);
EMBED(trusted);

static const char *const names[] = { "agent", "secrets", "deferred", "readonly", "audit", "trusted", NULL };
static const char *const texts[] = { usher_rules_agent, usher_rules_secrets, usher_rules_deferred, usher_rules_readonly,
				     usher_rules_audit, usher_rules_trusted };

const char *const *builtin_names(void)
{
	return names;
}

const char *builtin_text(const char *name)
{
	for (size_t i = 0; names[i]; i++)
		if (strcmp(names[i], name) == 0)
			return texts[i];
	return NULL;
}
