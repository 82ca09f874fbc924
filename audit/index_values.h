/* SPDX-License-Identifier: Apache-2.0 */
/* The values of the fields of many records, each with the list of records that have it: what a part of the index is made of. */
#ifndef USHER_AUDIT_INDEX_VALUES_H
#define USHER_AUDIT_INDEX_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bytes {
	uint8_t *at;
	size_t len, cap;
};

/* Each returns false when there is no memory; then nothing was added. */
bool bytes_put(struct bytes *b, const void *data, size_t n);
bool bytes_number(struct bytes *b, uint64_t v); /* LEB128 */

/* A LEB128 number at *p; false when it does not end before END. */
bool index_number(const uint8_t **p, const uint8_t *end, uint64_t *out);

struct values;

int values_new(struct values **out);
void values_free(struct values *v);

/* RECORD (not below any noted before) has the value TEXT of KIND in row ROW. False when there is no memory. */
bool values_note(struct values *v, uint32_t row, uint8_t kind, const char *text, size_t len, uint32_t record);

typedef int (*row_fn)(void *context, uint32_t row, const uint8_t *data, size_t len);

/* Gives every row that has values, in the order of their numbers. Returns 0, the first that PUT returned that was not, or -ENOMEM. */
int values_rows(struct values *v, row_fn put, void *context);

#endif
