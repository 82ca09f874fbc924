/* SPDX-License-Identifier: Apache-2.0 */
/* What was found of a stack: between unwind.c, which fills it, and unwind_record.c, which tells it. */
#ifndef USHER_SUPERVISOR_UNWIND_INTERNAL_H
#define USHER_SUPERVISOR_UNWIND_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "supervisor/unwind_python.h"

#define FRAMES_MAX 64
#define TEXT_MAX 12288

/* Strings are places in text, 0: none. */
struct frame {
	uint32_t object, build_id, function;
	uint64_t in_function, offset;
};

struct unwound {
	unsigned n, n_python;
	bool known;    /* there was something to begin with */
	bool complete; /* the outermost frame was reached */
	bool lacks;    /* a register was asked for that is not known */
	uint32_t used;
	struct frame frame[FRAMES_MAX];
	struct {
		uint32_t file, function;
		int line;
	} python[PYTHON_FRAMES];
	char text[TEXT_MAX];
};

#endif
