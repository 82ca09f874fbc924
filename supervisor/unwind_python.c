/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MUST: an object is believed only when its type is what it should be; every walk has a bound.
 */
#include "supervisor/unwind_python.h"

#include <string.h>

#define THREADS_MAX 64
#define FRAMES_SEEN 64
#define TABLE_MAX 16384

/* Where things lie in 3.11, on 64 bits (Include/internal/pycore_*.h). */
enum offset {
	RUNTIME_INTERPRETERS = 40,
	INTERPRETER_THREADS = 16,
	THREAD_NEXT = 8,
	THREAD_CFRAME = 56,
	THREAD_NATIVE_ID = 160,
	CFRAME_FRAME = 8,
	FRAME_CODE = 32,
	FRAME_PREVIOUS = 48,
	FRAME_INSTRUCTION = 56,
	OBJECT_TYPE = 8,
	BYTES_SIZE = 16,
	BYTES_DATA = 32,
	STRING_LENGTH = 16,
	STRING_STATE = 32,
	STRING_ASCII = 48,
	CODE_FIRST_LINE = 72,
	CODE_FILE = 112,
	CODE_QUALIFIED = 128,
	CODE_LINES = 136,
	CODE_INSTRUCTIONS = 184,
};

#define STATE_COMPACT_ASCII 0x60 /* both bits: the bytes follow the header */

struct python {
	struct view *v;
	uint64_t runtime, code_type, string_type;
};

static uint64_t word(struct view *v, uint64_t at)
{
	uint64_t value;

	return at && view_read(v, at, &value, sizeof(value)) ? value : 0;
}

/* "python3.11", "libpython3.11.so.1.0". */
static bool is_interpreter(const struct module *m)
{
	const char *slash = strrchr(m->name, '/');

	if (!slash || !m->file || !m->file->python.runtime)
		return false;
	slash += strncmp(slash + 1, "lib", 3) == 0 ? 4 : 1;
	return strncmp(slash, "python3.11", 10) == 0 && (slash[10] < '0' || slash[10] > '9');
}

static bool find_python(struct view *v, struct python *out)
{
	for (unsigned i = 0; i < v->n_modules; i++) {
		const struct module *m = &v->module[i];

		if (!is_interpreter(m))
			continue;
		*out = (struct python){ v, m->bias + m->file->python.runtime, m->bias + m->file->python.code_type,
					m->bias + m->file->python.string_type };
		return true;
	}
	return false;
}

static uint64_t find_thread(const struct python *p)
{
	uint64_t interpreter = word(p->v, p->runtime + RUNTIME_INTERPRETERS);
	uint64_t thread = interpreter ? word(p->v, interpreter + INTERPRETER_THREADS) : 0;

	for (unsigned i = 0; thread && i < THREADS_MAX; i++) {
		if (word(p->v, thread + THREAD_NATIVE_ID) == (uint64_t)p->v->tid)
			return thread;
		thread = word(p->v, thread + THREAD_NEXT);
	}
	return 0;
}

static bool read_string(const struct python *p, uint64_t at, char out[PYTHON_TEXT])
{
	uint64_t length = word(p->v, at + STRING_LENGTH);
	uint32_t state;

	if (!at || word(p->v, at + OBJECT_TYPE) != p->string_type || !view_read(p->v, at + STRING_STATE, &state, sizeof(state)))
		return false;
	if ((state & STATE_COMPACT_ASCII) != STATE_COMPACT_ASCII || length > 1u << 20)
		return false;
	uint64_t skip = length >= PYTHON_TEXT ? length - (PYTHON_TEXT - 1) : 0;
	if (!view_read(p->v, at + STRING_ASCII + skip, out, (size_t)(length - skip)))
		return false;
	out[length - skip] = '\0';
	return true;
}

/* A number of six bits a byte. False at the end of the table. */
static bool varint(const uint8_t *table, size_t len, size_t *at, uint64_t *value)
{
	unsigned shift = 0;
	uint8_t byte;

	*value = 0;
	do {
		if (*at >= len || shift > 56)
			return false;
		byte = table[(*at)++];
		*value |= (uint64_t)(byte & 63) << shift;
		shift += 6;
	} while (byte & 64);
	return true;
}

/* What one entry adds to the line; *none: its instructions have no line. */
static bool entry_delta(const uint8_t *table, size_t len, size_t *at, unsigned kind, int64_t *delta, bool *none)
{
	uint64_t value, rest;

	*delta = 0;
	*none = kind == 15;
	if (kind == 13 || kind == 14) {
		if (!varint(table, len, at, &value))
			return false;
		*delta = value & 1 ? -(int64_t)(value >> 1) : (int64_t)(value >> 1);
		for (int i = 0; kind == 14 && i < 3; i++) {
			if (!varint(table, len, at, &rest))
				return false;
		}
	} else if (kind >= 10 && kind <= 12) {
		*delta = kind - 10;
		*at += 2;
	} else if (kind < 10) {
		*at += 1;
	}
	return true;
}

int python_line(const uint8_t *table, size_t len, int first, int64_t lasti)
{
	int64_t line = first, address = 0, delta;
	size_t at = 0;
	bool none;

	while (at < len) {
		uint8_t head = table[at++];

		if (!(head & 0x80) || !entry_delta(table, len, &at, head >> 3 & 15, &delta, &none))
			return 0;
		line += delta;
		if (line < INT32_MIN || line > INT32_MAX)
			return 0; /* far from any line, and more would be beyond any number */
		address += ((head & 7) + 1) * 2;
		if (lasti < address)
			return none || line < 0 ? 0 : (int)line;
	}
	return 0;
}

static int read_line(const struct python *p, uint64_t code, uint64_t instruction)
{
	uint64_t lines = word(p->v, code + CODE_LINES), size = lines ? word(p->v, lines + BYTES_SIZE) : 0;
	uint8_t table[TABLE_MAX];
	int first;

	if (!size || size > sizeof(table) || instruction < code + CODE_INSTRUCTIONS)
		return 0;
	if (!view_read(p->v, code + CODE_FIRST_LINE, &first, sizeof(first)) || !view_read_block(p->v, lines + BYTES_DATA, table, (size_t)size))
		return 0;
	return python_line(table, (size_t)size, first, (int64_t)(instruction - code - CODE_INSTRUCTIONS));
}

static bool read_frame(const struct python *p, uint64_t frame, struct python_frame *out)
{
	uint64_t code = word(p->v, frame + FRAME_CODE);

	if (!code || word(p->v, code + OBJECT_TYPE) != p->code_type)
		return false;
	if (!read_string(p, word(p->v, code + CODE_FILE), out->file) || !read_string(p, word(p->v, code + CODE_QUALIFIED), out->function))
		return false;
	out->line = read_line(p, code, word(p->v, frame + FRAME_INSTRUCTION));
	return true;
}

unsigned python_frames(struct view *v, struct python_frame out[PYTHON_FRAMES])
{
	struct python p;
	unsigned n = 0;

	if (!find_python(v, &p))
		return 0;
	uint64_t thread = find_thread(&p);
	uint64_t cframe = thread ? word(v, thread + THREAD_CFRAME) : 0;
	uint64_t frame = cframe ? word(v, cframe + CFRAME_FRAME) : 0;
	for (unsigned i = 0; frame && n < PYTHON_FRAMES && i < FRAMES_SEEN; i++) {
		n += read_frame(&p, frame, &out[n]);
		frame = word(v, frame + FRAME_PREVIOUS);
	}
	return n;
}
