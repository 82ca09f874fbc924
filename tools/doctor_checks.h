/* SPDX-License-Identifier: Apache-2.0 */
#ifndef USHER_TOOLS_DOCTOR_CHECKS_H
#define USHER_TOOLS_DOCTOR_CHECKS_H

#include <stdbool.h>
#include <stddef.h>

enum health { HEALTH_MISSING = 0, HEALTH_WEAKER, HEALTH_GOOD };

struct finding {
	const char *name;
	bool required;       /* usher run cannot work without */
	enum health health;
	char detail[160];    /* what was found */
	const char *meaning; /* what its absence means */
};

#define DOCTOR_MAX 40

/* Tries everything; returns the number of findings. */
size_t doctor_examine(struct finding out[DOCTOR_MAX]);

#endif
