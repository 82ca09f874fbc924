/* SPDX-License-Identifier: Apache-2.0 */
/*
 *   architecture not native -> ENOSYS;  number -1 (a tracer skips the call) -> allow;
 *   sockets that are not to exist (net_filter.h);
 *   else a tree over the numbers (filter_tree.h), which ends in the table's action or in its tests of registers;
 *   holes of the table and all numbers above it -> ENOSYS.
 *
 * MUST: allowed calls are decided without loading an argument, so that the kernel's cache of
 * constantly allowed numbers serves them without running the program.
 */
#include "supervisor/filter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "rules/cleanup.h"
#include "supervisor/compiled_down.h"
#include "supervisor/disposition.h"
#include "supervisor/filter_share.h"
#include "supervisor/filter_tree.h"
#include "supervisor/kernel.h"
#include "supervisor/likeness.h"
#include "supervisor/limits.h"
#include "supervisor/net_shown.h"

#define MAX_CALLS 1024
#define MAX_LENGTH 2048
#define O_TMPFILE_ALONE (O_TMPFILE & ~O_DIRECTORY)

static unsigned mode_of(const struct filter_options *o)
{
	unsigned mode = (o->privileged ? WHEN_PRIVILEGED : 0) | (o->sighted ? 0 : WHEN_BLIND);

	if (o->trap_stat)
		mode |= WHEN_STAT;
	if (!o->scoped)
		mode |= WHEN_UNSCOPED;
	if (!o->changes)
		mode |= WHEN_KEPT;
	if (!o->groups)
		mode |= WHEN_ADDRESSED;
	if (!o->anywhere || likeness_loopback(o->policy))
		mode |= WHEN_ROUTED;
	if (!(o->domain || o->scoped) || !likeness_holds(o->policy))
		mode |= WHEN_APART;
	if (likeness_descent(o->policy) || limits_count_forks(o->policy))
		mode |= WHEN_DESCENT;
	if (o->policy && shown_wanted(o->policy))
		mode |= WHEN_SHOWN;
	if (likeness_own(o->policy))
		mode |= WHEN_OWN;
	return mode;
}

/* What the functions below share for one program. */
struct making {
	const struct filter_options *options;
	unsigned mode;
};

/* Jumps to the next condition are set when it is known where that begins. */
struct exits {
	unsigned at[6];
	bool when[6]; /* taken when the comparison is true */
	unsigned n;
};

static void leave(struct code *c, struct exits *x, struct sock_filter jump, bool when)
{
	x->at[x->n] = c->n;
	x->when[x->n++] = when;
	code_add(c, jump);
}

static void land(struct code *c, const struct exits *x)
{
	for (unsigned i = 0; i < x->n && !c->too_long; i++) {
		uint8_t far = (uint8_t)(c->n - x->at[i] - 1);

		if (x->when[i])
			c->at[x->at[i]].jt = far;
		else
			c->at[x->at[i]].jf = far;
	}
}

static void test_all_bits(struct code *c, struct exits *x, const struct comparison *t)
{
	code_add(c, STATEMENT(BPF_LD | BPF_W | BPF_ABS, LOW_HALF(t->arg)));
	leave(c, x, JUMP(BPF_JEQ, t->value, 0, 0), false);
	code_add(c, STATEMENT(BPF_LD | BPF_W | BPF_ABS, HIGH_HALF(t->arg)));
	leave(c, x, JUMP(BPF_JEQ, t->value >> 32, 0, 0), false);
}

static void test_differs(struct code *c, struct exits *x, const struct comparison *t)
{
	code_add(c, STATEMENT(BPF_LD | BPF_W | BPF_ABS, LOW_HALF(t->arg)));
	code_add(c, JUMP(BPF_JEQ, t->value, 0, 2));
	code_add(c, STATEMENT(BPF_LD | BPF_W | BPF_ABS, HIGH_HALF(t->arg)));
	leave(c, x, JUMP(BPF_JEQ, t->value >> 32, 0, 0), true);
}

static void test(struct code *c, struct exits *x, const struct comparison *t)
{
	switch ((enum compare)t->how) {
	case COMPARE_LONG:
		test_all_bits(c, x, t);
		return;
	case COMPARE_NOT:
		test_differs(c, x, t);
		return;
	case COMPARE_HIGH:
		code_add(c, STATEMENT(BPF_LD | BPF_W | BPF_ABS, HIGH_HALF(t->arg)));
		leave(c, x, JUMP(BPF_JEQ, 0, 0, 0), true);
		return;
	case COMPARE_ANY:
		code_add(c, STATEMENT(BPF_LD | BPF_W | BPF_ABS, LOW_HALF(t->arg)));
		leave(c, x, JUMP(BPF_JSET, t->mask, 0, 0), false);
		return;
	case COMPARE_SOME:
		code_add(c, STATEMENT(BPF_LD | BPF_W | BPF_ABS, LOW_HALF(t->arg)));
		leave(c, x, JUMP(BPF_JEQ, UINT32_MAX, 0, 0), true);
		code_add(c, STATEMENT(BPF_ALU | BPF_AND | BPF_K, (uint32_t)t->mask));
		leave(c, x, JUMP(BPF_JEQ, t->mask, 0, 0), false);
		return;
	case COMPARE_BITS:
		code_add(c, STATEMENT(BPF_LD | BPF_W | BPF_ABS, LOW_HALF(t->arg)));
		code_add(c, STATEMENT(BPF_ALU | BPF_AND | BPF_K, (uint32_t)t->mask));
		leave(c, x, JUMP(BPF_JEQ, t->value, 0, 0), false);
		return;
	case COMPARE_INT:
	case COMPARE_NONE:
		break;
	}
	code_add(c, STATEMENT(BPF_LD | BPF_W | BPF_ABS, LOW_HALF(t->arg)));
	leave(c, x, JUMP(BPF_JEQ, t->value, 0, 0), false);
}

static bool holds(const struct condition *c, uint32_t nr, unsigned mode)
{
	return (uint32_t)c->nr == nr && (c->when & mode) == c->when;
}

static uint32_t action_of(const struct condition *k)
{
	return k->error == CONDITION_TRAP ? SECCOMP_RET_USER_NOTIF : RET_ERRNO(k->error);
}

/* Nothing but the value of one register. */
static bool is_value(const struct condition *k)
{
	return k->test[0].how == COMPARE_INT && k->test[1].how == COMPARE_NONE;
}

#define VALUES_MOST 200 /* a jump reaches 255 instructions */

/* From the I-th condition on, how many ask for another value of the same register and do the same; *next is the first one after them. */
static unsigned values_from(const struct making *m, uint32_t nr, unsigned i, uint32_t value[VALUES_MOST], unsigned *next)
{
	const struct condition *first = condition_at(i), *k;
	unsigned n = 0;

	for (; (k = condition_at(i)); i++) {
		if (!holds(k, nr, m->mode))
			continue;
		if (n == VALUES_MOST || !is_value(k) || k->test[0].arg != first->test[0].arg || k->error != first->error)
			break;
		value[n++] = (uint32_t)k->test[0].value;
	}
	*next = i;
	return n;
}

/* The register is loaded once, and one return serves all: each instruction costs each start, and each ioctl passes dozens of values. */
static void test_values(struct code *c, const uint32_t *value, unsigned n, uint32_t action)
{
	for (unsigned i = 0; i + 1 < n; i++)
		code_add(c, JUMP(BPF_JEQ, value[i], (uint8_t)(n - 1 - i), 0));
	code_add(c, JUMP(BPF_JEQ, value[n - 1], 0, 1));
	code_add(c, STATEMENT(BPF_RET | BPF_K, action));
}

/* The first condition whose tests are all true decides; none: the kernel does the call. */
static void decided(struct code *c, uint32_t nr, const void *context)
{
	const struct making *m = context;
	const struct condition *k;
	uint32_t value[VALUES_MOST];
	int loaded = -1;
	unsigned i = 0;

	while ((k = condition_at(i))) {
		struct exits next = { .n = 0 };

		if (!holds(k, nr, m->mode)) {
			i++;
		} else if (is_value(k)) {
			unsigned n = values_from(m, nr, i, value, &i);
			if (loaded != k->test[0].arg)
				code_add(c, STATEMENT(BPF_LD | BPF_W | BPF_ABS, LOW_HALF(k->test[0].arg)));
			loaded = k->test[0].arg;
			test_values(c, value, n, action_of(k));
		} else {
			for (unsigned j = 0; j < CONDITION_TESTS && k->test[j].how != COMPARE_NONE; j++)
				test(c, &next, &k->test[j]);
			code_add(c, STATEMENT(BPF_RET | BPF_K, action_of(k)));
			land(c, &next);
			loaded = -1;
			i++;
		}
	}
	code_add(c, STATEMENT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
}

/* Opens that can do nothing but read have none of these in their flags, which the kernel takes as an int. */
#define MORE_THAN_READS (O_ACCMODE | O_CREAT | O_TRUNC | O_PATH | O_TMPFILE_ALONE)

static unsigned flags_of(uint32_t nr)
{
	return nr == __NR_openat ? 2 : 1;
}

static void reads(struct code *c, uint32_t nr, const void *context)
{
	code_add(c, STATEMENT(BPF_LD | BPF_W | BPF_ABS, LOW_HALF(flags_of(nr))));
	code_add(c, JUMP(BPF_JSET, MORE_THAN_READS, 1, 0));
	code_add(c, STATEMENT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
	code_add(c, STATEMENT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF));
}

static bool is_open(uint32_t nr)
{
#ifdef __NR_open
	if (nr == __NR_open)
		return true;
#endif
	return nr == __NR_openat;
}

bool filter_leaves_open(int nr, const uint64_t arg[FILTER_OPEN_ARGS])
{
	return is_open((uint32_t)nr) && !((uint32_t)arg[flags_of((uint32_t)nr)] & MORE_THAN_READS);
}

static bool has_condition(uint32_t nr, unsigned mode)
{
	const struct condition *k;

	for (unsigned i = 0; (k = condition_at(i)); i++) {
		if (holds(k, nr, mode))
			return true;
	}
	return false;
}

static struct range mediated(uint32_t nr, const struct filter_options *o)
{
	struct range r = { .first = nr, .action = SECCOMP_RET_USER_NOTIF };
	op_set op;
	int error = compiled_down(o->policy, (int)nr, &op);

	if (error > 0)
		r.action = RET_ERRNO(error);
	else if (o->reads && is_open(nr))
		r.tests = reads;
	return r;
}

static struct range range_of(uint32_t nr, const struct making *m)
{
	const struct disposition *d = disposition_of((int)nr);
	struct range r = { .first = nr, .action = RET_ERRNO(ENOSYS) };

	if (d->kind == CALL_UNKNOWN)
		return r;
	r.action = SECCOMP_RET_ALLOW;
	if (d->kind == CALL_ALLOWED || (d->when & m->mode) != d->when)
		return r;
	if (m->options->lacks && m->options->lacks((int)nr))
		r.action = RET_ERRNO(ENOSYS);
	else if (d->kind == CALL_REFUSED)
		r.action = RET_ERRNO(d->error);
	else if (d->kind == CALL_MEDIATED)
		r = mediated(nr, m->options);
	else if (d->kind == CALL_DECIDED && has_condition(nr, m->mode))
		r.tests = decided;
	return r;
}

static unsigned add_range(struct range *all, unsigned n, struct range r)
{
	if (n && !r.tests && !all[n - 1].tests && all[n - 1].action == r.action)
		return n;
	all[n] = r;
	return n + 1;
}

static void tree(struct code *c, const struct making *m)
{
	struct range all[MAX_CALLS + 1];
	int end = disposition_end();
	unsigned n = 0;

	if (end > MAX_CALLS) {
		c->too_long = true;
		return;
	}
	for (int nr = 0; nr < end; nr++)
		n = add_range(all, n, range_of((uint32_t)nr, m));
	n = add_range(all, n, (struct range){ .first = (uint32_t)end, .action = RET_ERRNO(ENOSYS) });
	filter_tree(c, all, n, m);
}

static void front(struct code *c, const struct filter_options *o)
{
	struct sock_filter sockets[NET_FILTER_LEN];

	code_add(c, STATEMENT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)));
	code_add(c, JUMP(BPF_JEQ, NATIVE_AUDIT_ARCH, 1, 0));
	code_add(c, STATEMENT(BPF_RET | BPF_K, RET_ERRNO(ENOSYS)));
	code_add(c, STATEMENT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)));
	code_add(c, JUMP(BPF_JEQ, UINT32_MAX, 0, 1));
	code_add(c, STATEMENT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
	net_filter(&o->sockets, sockets);
	for (unsigned i = 0; i < NET_FILTER_LEN; i++)
		code_add(c, sockets[i]);
}

int filter_build(const struct filter_options *options, struct sock_fprog *out, const char **why)
{
	CLEANUP_FREE struct sock_filter *all = malloc(MAX_LENGTH * sizeof(*all));
	struct code code = { .at = all, .room = MAX_LENGTH };
	struct making making = { options, mode_of(options) };

	*why = "no memory for the filter";
	if (!all)
		return -ENOMEM;
	front(&code, options);
	tree(&code, &making);
	*why = "the filter is longer than it may be";
	if (code.too_long)
		return -E2BIG;
	filter_share(&code);
	out->len = (unsigned short)code.n;
	out->filter = steal_pointer(&all);
	return 0;
}

void filter_free(struct sock_fprog *program)
{
	free(program->filter);
	*program = (struct sock_fprog){ 0 };
}

int filter_install(const struct sock_fprog *program, int *listener)
{
	const unsigned long flags = SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;

	/* usher is not dumpable; its command must be, or an ordinary user's usher could not read even the first call. */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) < 0)
		return -errno;
	long fd = syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, flags, program);
	if (fd < 0)
		return -errno;
	*listener = (int)fd;
	return 0;
}

bool filter_flags_known(unsigned flags)
{
	/* The flags are looked at before the program: EFAULT for a null one means that they are known. */
	return syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, (unsigned long)flags, NULL) < 0 && errno == EFAULT;
}

bool filter_inside(void)
{
	/* As above, but that usher's filter answers by the flag alone. */
	return syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, NULL) < 0 && errno == EBUSY;
}
