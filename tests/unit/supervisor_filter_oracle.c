/* SPDX-License-Identifier: Apache-2.0 */
/* The filter against the one that libseccomp makes of the same tables: every number, registers around every value that is looked for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "supervisor/disposition.h"
#include "supervisor/filter.h"
#include "supervisor/kernel.h"
#include "tests/unit/bpf_run.h"

struct mode {
	struct filter_options o;
	unsigned when;
};

static const struct mode modes[] = {
	{ { .domain = true, .scoped = true, .changes = true, .groups = true, .anywhere = true, .sockets = { .udp = true } }, WHEN_BLIND },
	{ { .domain = true, .scoped = true, .privileged = true, .sighted = true }, WHEN_PRIVILEGED | WHEN_KEPT | WHEN_ADDRESSED | WHEN_ROUTED },
	{ { .domain = true, .scoped = true, .trap_stat = true }, WHEN_BLIND | WHEN_STAT | WHEN_KEPT | WHEN_ADDRESSED | WHEN_ROUTED },
	{ { 0 }, WHEN_BLIND | WHEN_UNSCOPED | WHEN_APART | WHEN_KEPT | WHEN_ADDRESSED | WHEN_ROUTED },
	{ { .privileged = true, .trap_stat = true }, WHEN_PRIVILEGED | WHEN_BLIND | WHEN_STAT | WHEN_UNSCOPED | WHEN_APART | WHEN_KEPT | WHEN_ADDRESSED | WHEN_ROUTED },
};

static struct scmp_arg_cmp compare(const struct comparison *c)
{
	if (c->how == COMPARE_INT)
		return SCMP_CMP64(c->arg, SCMP_CMP_MASKED_EQ, 0xffffffffU, c->value);
	if (c->how == COMPARE_BITS)
		return SCMP_CMP64(c->arg, SCMP_CMP_MASKED_EQ, c->mask, c->value);
	if (c->how == COMPARE_NOT)
		return SCMP_CMP64(c->arg, SCMP_CMP_NE, c->value, 0);
	return SCMP_CMP64(c->arg, SCMP_CMP_EQ, c->value, 0);
}

static void add_condition(scmp_filter_ctx ctx, const struct condition *k)
{
	struct scmp_arg_cmp args[CONDITION_TESTS];
	unsigned n = 0;

	while (n < CONDITION_TESTS && k->test[n].how != COMPARE_NONE) {
		args[n] = compare(&k->test[n]);
		n++;
	}
	assert_int_equal(seccomp_rule_add_array(ctx, k->error == CONDITION_TRAP ? SCMP_ACT_NOTIFY : SCMP_ACT_ERRNO((unsigned)k->error), k->nr, n, args), 0);
}

static void add_call(scmp_filter_ctx ctx, int nr, unsigned when)
{
	const struct disposition *d = disposition_of(nr);

	if (d->kind == CALL_UNKNOWN)
		assert_int_equal(seccomp_rule_add_array(ctx, SCMP_ACT_ERRNO(ENOSYS), nr, 0, NULL), 0);
	if ((d->when & when) != d->when)
		return;
	if (d->kind == CALL_REFUSED)
		assert_int_equal(seccomp_rule_add_array(ctx, SCMP_ACT_ERRNO((unsigned)d->error), nr, 0, NULL), 0);
	else if (d->kind == CALL_MEDIATED)
		assert_int_equal(seccomp_rule_add_array(ctx, SCMP_ACT_NOTIFY, nr, 0, NULL), 0);
}

static bool stands_alone(const struct condition *k)
{
	return k->test[0].how == COMPARE_HIGH || k->test[0].how == COMPARE_ANY || k->test[0].how == COMPARE_SOME;
}

/* What libseccomp cannot say stays out: "any of these bits" and what comes before it, "these bits, but not all" (here_alone()) and the kinds of sockets. */
static void oracle(unsigned when, struct sock_fprog *out)
{
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ALLOW);
	int fd = memfd_create("oracle", MFD_CLOEXEC);
	const struct condition *k;
	struct stat st;

	assert_non_null(ctx);
	for (int nr = 0; nr < disposition_end(); nr++)
		add_call(ctx, nr, when);
	for (unsigned i = 0; (k = condition_at(i)); i++) {
		if ((k->when & when) == k->when && !stands_alone(k))
			add_condition(ctx, k);
	}
	assert_int_equal(seccomp_export_bpf(ctx, fd), 0);
	seccomp_release(ctx);
	assert_int_equal(fstat(fd, &st), 0);
	out->filter = malloc((size_t)st.st_size);
	out->len = (unsigned short)((size_t)st.st_size / sizeof(out->filter[0]));
	assert_int_equal(pread(fd, out->filter, (size_t)st.st_size, 0), st.st_size);
	close(fd);
}

static bool said(const struct comparison *c, uint64_t arg)
{
	if (c->how == COMPARE_HIGH)
		return arg >> 32;
	return c->how == COMPARE_ANY ? arg & c->mask : (arg & c->mask) == c->mask && (uint32_t)arg != UINT32_MAX;
}

static uint32_t here_alone(const struct seccomp_data *d, unsigned when)
{
	const struct condition *k;

	for (unsigned i = 0; (k = condition_at(i)); i++) {
		if (k->nr == d->nr && (k->when & when) == k->when && stands_alone(k) && said(&k->test[0], d->args[k->test[0].arg]))
			return SECCOMP_RET_ERRNO | (uint32_t)k->error;
	}
	return 0;
}

static void agree(const struct sock_fprog *ours, const struct sock_fprog *theirs, const struct seccomp_data *d, unsigned when)
{
	uint32_t want = here_alone(d, when);

	if (!want)
		want = bpf_run(theirs, d);
	uint32_t got = bpf_run(ours, d);
	if (got != want)
		fail_msg("call %d, registers %#llx %#llx %#llx: %#x, libseccomp %#x", d->nr, (unsigned long long)d->args[0],
			 (unsigned long long)d->args[1], (unsigned long long)d->args[2], got, want);
}

/* The value that C looks for, and what lies beside it. */
static uint64_t around(const struct comparison *c, unsigned i)
{
	static const uint64_t high[] = { 0, 1ULL << 32, 0xdead000000000000ULL };
	uint64_t near = i % 8 < 4 ? c->value ^ (uint64_t)(i % 4) : i % 8 < 6 ? c->mask ^ (i % 8 - 4) : i % 8 == 6 ? 0 : ~c->mask & 0xffffffffU;

	return near | high[i / 8 % 3];
}

static void registers_around(const struct condition *k, const struct sock_fprog *ours, const struct sock_fprog *theirs, unsigned when)
{
	struct seccomp_data d = { .nr = k->nr, .arch = NATIVE_AUDIT_ARCH };

	for (unsigned i = 0; i < 24; i++) {
		for (unsigned j = 0; j < 24; j++) {
			d.args[k->test[2].arg] = around(&k->test[2], (i + j) % 24);
			d.args[k->test[1].arg] = around(&k->test[1], j);
			d.args[k->test[0].arg] = around(&k->test[0], i);
			agree(ours, theirs, &d, when);
		}
	}
}

static void programs_agree(void **state)
{
	for (size_t m = 0; m < sizeof(modes) / sizeof(modes[0]); m++) {
		struct sock_fprog ours = { 0 }, theirs = { 0 };
		const struct condition *k;
		const char *why = "";

		if (filter_build(&modes[m].o, &ours, &why))
			fail_msg("%s", why);
		oracle(modes[m].when, &theirs);
		for (int nr = 0; nr < disposition_end(); nr++) {
			struct seccomp_data d = { .nr = nr, .arch = NATIVE_AUDIT_ARCH };
			if (nr != __NR_socket && nr != __NR_socketpair) /* supervisor_net_filter */
				agree(&ours, &theirs, &d, modes[m].when);
		}
		for (unsigned i = 0; (k = condition_at(i)); i++) {
			if (k->nr != __NR_socket)
				registers_around(k, &ours, &theirs, modes[m].when);
		}
		filter_free(&ours);
		free(theirs.filter);
	}
}

/* What the program could not say, or would leave out without a word. */
static void conditions_can_be_said(void **state)
{
	const struct condition *k;

	for (unsigned i = 0; (k = condition_at(i)); i++) {
		assert_int_equal(disposition_of(k->nr)->kind, CALL_DECIDED);
		for (unsigned j = 0; j < CONDITION_TESTS; j++) {
			if (k->test[j].how == COMPARE_INT || k->test[j].how == COMPARE_BITS || k->test[j].how == COMPARE_ANY || k->test[j].how == COMPARE_SOME)
				assert_int_equal((k->test[j].mask | k->test[j].value) >> 32, 0);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs_agree),
		cmocka_unit_test(conditions_can_be_said),
	};

	return cmocka_run_group_tests_name("supervisor_filter_oracle", tests, NULL, NULL);
}
