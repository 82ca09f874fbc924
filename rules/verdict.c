// SPDX-License-Identifier: Apache-2.0
/* Verdicts by name and by strictness. */
#include "rules/verdict.h"

const char *verdict_name(enum verdict_kind kind)
{
	switch (kind) {
	case VERDICT_DENY:
		return "deny";
	case VERDICT_KILL:
		return "kill";
	case VERDICT_ASK:
		return "ask";
	case VERDICT_REWRITE:
		return "rewrite";
	case VERDICT_ALLOW:
		return "allow";
	case VERDICT_NONE:
		return "none";
	}
	return "deny";
}

/* A value out of range is as strict as deny. */
static int rank(enum verdict_kind kind)
{
	switch (kind) {
	case VERDICT_KILL:
		return 5;
	case VERDICT_DENY:
		return 4;
	case VERDICT_ASK:
		return 3;
	case VERDICT_REWRITE:
		return 2;
	case VERDICT_ALLOW:
		return 1;
	case VERDICT_NONE:
		return 0;
	}
	return 4;
}

int verdict_compare(enum verdict_kind a, enum verdict_kind b)
{
	return rank(a) - rank(b);
}
