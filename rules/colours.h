/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a person wants colours. */
#ifndef USHER_RULES_COLOURS_H
#define USHER_RULES_COLOURS_H

#include <stdbool.h>

/* Whether FD is a terminal that has colours (TERM), and NO_COLOR does not say that they are not wanted. */
bool colours_on(int fd);

#endif
