// SPDX-License-Identifier: Apache-2.0
/* by=, tree=, argv=, env=, sha256=, trusted, own, vacant, makes=, uid=, depth=. What is not known does not hold. */
#include <string.h>

#include "rules/compiled.h"

static bool any_matches(const struct glob *glob, uint32_t n, const char *name, size_t len)
{
	for (uint32_t i = 0; i < n; i++)
		if (glob_match(&glob[i], name, len))
			return true;
	return false;
}

/* Names of images are absolute; programs are compiled without the first slash. */
bool image_name(const struct image *image, struct span *out)
{
	if (!image->exe.bytes || !image->exe.len || image->exe.bytes[0] != '/')
		return false;
	*out = (struct span){ image->exe.bytes + 1, image->exe.len - 1 };
	return true;
}

static bool image_matches(const struct glob *glob, uint32_t n, const struct image *image)
{
	struct span name;
	return image_name(image, &name) && any_matches(glob, n, name.bytes, name.len);
}

static bool tree_matches(const struct conditions *when, const struct subject *by)
{
	if (image_matches(when->tree, when->n_tree, &by->image))
		return true;
	for (uint32_t i = 0; by->ancestors && i < by->n_ancestors; i++)
		if (image_matches(when->tree, when->n_tree, &by->ancestors[i]))
			return true;
	return false;
}

static bool within(const struct range *r, uint32_t value)
{
	return value >= r->lo && value <= r->hi;
}

static bool env_matches(const struct conditions *when, const struct span *env)
{
	const char *at = env->bytes, *end = at ? at + env->len : NULL;
	while (at && at < end) {
		size_t len = strnlen(at, (size_t)(end - at));
		if (any_matches(when->env, when->n_env, at, len))
			return true;
		at += len + 1;
	}
	return false;
}

/* The empty pattern is for no arguments, and only that: an argument that is empty is one. */
static bool argv_matches(const struct conditions *when, struct span argv)
{
	for (uint32_t i = 0; i < when->n_argv; i++) {
		const struct glob *g = &when->argv[i];
		if (g->n == 0 ? !argv.bytes : argv.bytes && glob_match(g, argv.bytes, argv.len))
			return true;
	}
	return false;
}

bool conditions_hold(const struct conditions *when, const struct call *call, const struct object *object, unsigned known)
{
	if (!when)
		return true;
	if (when->has_uid && !within(&when->uid, call->by.uid))
		return false;
	if (when->has_depth && !within(&when->depth, call->by.n_ancestors))
		return false;
	if (when->has_by && !(known & FORK_BY) && !image_matches(when->by, when->n_by, &call->by.image))
		return false;
	if (when->has_tree && !(known & FORK_TREE) && !tree_matches(when, &call->by))
		return false;
	if (when->has_trusted && !object->trusted)
		return false;
	if (when->has_own && !object->own)
		return false;
	if (when->has_vacant && !object->vacant)
		return false;
	if (when->has_makes && (!(object->ops & OP_CREATE) || object->makes != when->makes))
		return false;
	if (when->has_sha256 && !(known & FORK_SHA256) &&
	    !(object->sha256.bytes && any_matches(when->sha256, when->n_sha256, object->sha256.bytes, object->sha256.len)))
		return false;
	if (when->has_env && !env_matches(when, &call->env))
		return false;
	return !when->has_argv || argv_matches(when, call_argv(call, object));
}
