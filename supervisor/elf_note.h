/* SPDX-License-Identifier: Apache-2.0 */
/* The notes of an ELF file, as they lie in it or in memory. Pure. */
#ifndef USHER_SUPERVISOR_ELF_NOTE_H
#define USHER_SUPERVISOR_ELF_NOTE_H

#include <stddef.h>
#include <stdint.h>

/*
 * The build-id among NOTES (N bytes, whoever wrote them), at most CAP bytes of it into OUT. Returns its length, 0: there is none. Ends, whatever
 * the lengths say.
 */
size_t elf_note_build_id(const char *notes, size_t n, uint8_t *out, size_t cap);

#endif
