/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/call.h"

/* CALLED is NAME, or what stands behind its last slash. */
static bool names(struct span called, struct span name)
{
	if (!name.bytes || called.len == 0 || called.len > name.len ||
	    memcmp(name.bytes + (name.len - called.len), called.bytes, called.len) != 0)
		return false;
	return called.len == name.len || (name.bytes[name.len - called.len - 1] == '/' && !memchr(called.bytes, '/', called.len));
}

struct span call_called(const struct call *c)
{
	const struct object *o = &c->object[0];
	if (!c->argv0.bytes || c->n_objects == 0 || names(c->argv0, o->name) || names(c->argv0, o->named))
		return (struct span){ NULL, 0 };
	return c->argv0;
}
