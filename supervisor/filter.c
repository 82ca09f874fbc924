/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libseccomp turns the table into a program; in front of it stand a few instructions of our own, because rules for
 * all numbers that do not exist would cost more at start than everything else:
 *
 *   architecture not native -> ENOSYS;  number -1 (a tracer skips the call) -> allow;
 *   open for reading, where that is left to the kernel -> allow;
 *   number above the table, or in one of its holes -> ENOSYS;  sockets that are not to exist (net_filter.h);
 *   else libseccomp's program.
 *
 * MUST: allowed calls are decided without loading an argument, so that the kernel's cache of
 * constantly allowed numbers serves them without running the program.
 */
#include "supervisor/filter.h"

#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rules/cleanup.h"
#include "supervisor/compiled_down.h"
#include "supervisor/disposition.h"
#include "supervisor/kernel.h"
#include "supervisor/likeness.h"
#include "supervisor/limits.h"
#include "supervisor/net_shown.h"

#define FRONT_MAX 128
#define O_TMPFILE_ALONE (O_TMPFILE & ~O_DIRECTORY)
#define RET_ERRNO(e) (SECCOMP_RET_ERRNO | ((uint32_t)(e) & SECCOMP_RET_DATA))
#define STATEMENT(code, k) ((struct sock_filter)BPF_STMT((code), (k)))
#define JUMP(how, k, yes, no) ((struct sock_filter)BPF_JUMP(BPF_JMP | (how) | BPF_K, (uint32_t)(k), (yes), (no)))

static unsigned mode_of(const struct filter_options *o)
{
	unsigned mode = (o->privileged ? WHEN_PRIVILEGED : 0) | (o->sighted ? 0 : WHEN_BLIND);

	if (o->trap_stat)
		mode |= WHEN_STAT;
	if (!o->scoped)
		mode |= WHEN_UNSCOPED;
	if (!(o->domain || o->scoped) || !likeness_holds(o->policy))
		mode |= WHEN_APART;
	if (likeness_descent(o->policy) || limits_count_forks(o->policy))
		mode |= WHEN_DESCENT;
	if (o->policy && shown_wanted(o->policy))
		mode |= WHEN_SHOWN;
	return mode;
}

static struct scmp_arg_cmp compare(const struct comparison *c)
{
	switch ((enum compare)c->how) {
	case COMPARE_INT:
		return SCMP_CMP64(c->arg, SCMP_CMP_MASKED_EQ, 0xffffffffU, c->value);
	case COMPARE_BITS:
		return SCMP_CMP64(c->arg, SCMP_CMP_MASKED_EQ, c->mask, c->value);
	case COMPARE_NOT:
		return SCMP_CMP64(c->arg, SCMP_CMP_NE, c->value, 0);
	case COMPARE_LONG:
	case COMPARE_ANY:
	case COMPARE_NONE:
		break;
	}
	return SCMP_CMP64(c->arg, SCMP_CMP_EQ, c->value, 0);
}

static int add_condition(scmp_filter_ctx ctx, const struct condition *c)
{
	struct scmp_arg_cmp args[2];
	unsigned n = 0;
	uint32_t action = c->error == CONDITION_TRAP ? SCMP_ACT_NOTIFY : SCMP_ACT_ERRNO((unsigned)c->error);

	while (n < 2 && c->test[n].how != COMPARE_NONE) {
		args[n] = compare(&c->test[n]);
		n++;
	}
	return seccomp_rule_add_array(ctx, action, c->nr, n, args);
}

static int add_conditions(scmp_filter_ctx ctx, unsigned mode)
{
	const struct condition *c;

	for (unsigned i = 0; (c = condition_at(i)); i++) {
		if ((c->when & mode) != c->when || c->test[0].how == COMPARE_ANY)
			continue;
		int rc = add_condition(ctx, c);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int add_calls(scmp_filter_ctx ctx, unsigned mode, const struct policy *policy)
{
	for (int nr = 0; nr < disposition_end(); nr++) {
		const struct disposition *d = disposition_of(nr);
		int rc = 0, error;
		op_set op;

		if ((d->when & mode) != d->when)
			continue;
		if (d->kind == CALL_REFUSED)
			rc = seccomp_rule_add_array(ctx, SCMP_ACT_ERRNO((unsigned)d->error), nr, 0, NULL);
		else if (d->kind == CALL_MEDIATED && (error = compiled_down(policy, nr, &op)) > 0)
			rc = seccomp_rule_add_array(ctx, SCMP_ACT_ERRNO((unsigned)error), nr, 0, NULL);
		else if (d->kind == CALL_MEDIATED)
			rc = seccomp_rule_add_array(ctx, SCMP_ACT_NOTIFY, nr, 0, NULL);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int fill(scmp_filter_ctx ctx, const struct filter_options *o, const char **why)
{
	unsigned mode = mode_of(o);
	int rc = seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(ENOSYS));

	if (rc == 0)
		rc = seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	*why = "libseccomp does not take the filter's attributes (2.5 or newer is needed)";
	if (rc < 0)
		return rc;
	*why = "libseccomp does not take a rule of the call table";
	rc = add_calls(ctx, mode, o->policy);
	return rc < 0 ? rc : add_conditions(ctx, mode);
}

static unsigned front_holes(struct sock_filter *f, unsigned n)
{
	int end = disposition_end();

	for (int nr = 0; nr < end && n + 3 + NET_FILTER_LEN <= FRONT_MAX; nr++) {
		int first = nr;

		while (nr < end && disposition_of(nr)->kind == CALL_UNKNOWN)
			nr++;
		if (nr == first)
			continue;
		f[n++] = JUMP(BPF_JGE, first, 0, 2);
		f[n++] = JUMP(BPF_JGE, nr, 1, 0);
		f[n++] = STATEMENT(BPF_RET | BPF_K, RET_ERRNO(ENOSYS));
	}
	return n;
}

/* "Any of these bits" takes libseccomp a rule for each bit. */
static unsigned front_bits(struct sock_filter *f, unsigned n, unsigned room)
{
	const struct condition *c;

	for (unsigned i = 0; (c = condition_at(i)); i++) {
		if (c->test[0].how != COMPARE_ANY)
			continue;
		if (n + 5 > room)
			return room + 1;
		f[n++] = JUMP(BPF_JEQ, c->nr, 0, 4);
		f[n++] = STATEMENT(BPF_LD | BPF_W | BPF_ABS, LOW_HALF(c->test[0].arg));
		f[n++] = JUMP(BPF_JSET, c->test[0].mask, 0, 1);
		f[n++] = STATEMENT(BPF_RET | BPF_K, RET_ERRNO(c->error));
		f[n++] = STATEMENT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	}
	return n;
}

/* Opens that can do nothing but read, by the flags in their register, which the kernel takes as an int. */
static unsigned front_reads(struct sock_filter *f, unsigned n)
{
	static const struct {
		int nr;
		unsigned flags;
	} opens[] = {
#ifdef __NR_open
		{ __NR_open, 1 },
#endif
		{ __NR_openat, 2 },
	};

	for (size_t i = 0; i < sizeof(opens) / sizeof(opens[0]); i++) {
		f[n++] = JUMP(BPF_JEQ, opens[i].nr, 0, 4);
		f[n++] = STATEMENT(BPF_LD | BPF_W | BPF_ABS, LOW_HALF(opens[i].flags));
		f[n++] = JUMP(BPF_JSET, O_ACCMODE | O_CREAT | O_TRUNC | O_PATH | O_TMPFILE_ALONE, 1, 0);
		f[n++] = STATEMENT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
		f[n++] = STATEMENT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	}
	return n;
}

/* Returns the number of instructions, more than FRONT_MAX when they do not fit. */
static unsigned front(const struct filter_options *o, struct sock_filter *f)
{
	unsigned n = 0;

	f[n++] = STATEMENT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
	f[n++] = JUMP(BPF_JEQ, NATIVE_AUDIT_ARCH, 1, 0);
	f[n++] = STATEMENT(BPF_RET | BPF_K, RET_ERRNO(ENOSYS));
	f[n++] = STATEMENT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	f[n++] = JUMP(BPF_JEQ, UINT32_MAX, 0, 1);
	f[n++] = STATEMENT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	f[n++] = JUMP(BPF_JGE, disposition_end(), 0, 1);
	f[n++] = STATEMENT(BPF_RET | BPF_K, RET_ERRNO(ENOSYS));
	if (o->reads)
		n = front_reads(f, n);
	n = front_holes(f, n);
	n = front_bits(f, n, FRONT_MAX - NET_FILTER_LEN);
	if (n + NET_FILTER_LEN > FRONT_MAX)
		return FRONT_MAX + 1;
	net_filter(&o->sockets, f + n);
	return n + NET_FILTER_LEN;
}

static int join(int fd, const struct filter_options *o, struct sock_fprog *out)
{
	struct sock_filter head[FRONT_MAX];
	unsigned n = front(o, head);
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	size_t body = (size_t)st.st_size;
	if (n > FRONT_MAX || body == 0 || body % sizeof(head[0]) || n + body / sizeof(head[0]) > BPF_MAXINSNS)
		return -E2BIG;
	CLEANUP_FREE struct sock_filter *all = malloc(n * sizeof(head[0]) + body);
	if (!all)
		return -ENOMEM;
	memcpy(all, head, n * sizeof(head[0]));
	if (pread(fd, all + n, body, 0) != (ssize_t)body)
		return -EIO;
	out->len = (unsigned short)(n + body / sizeof(head[0]));
	out->filter = steal_pointer(&all);
	return 0;
}

int filter_build(const struct filter_options *options, struct sock_fprog *out, const char **why)
{
	CLEANUP_FD int fd = memfd_create("usher-filter", MFD_CLOEXEC);
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ALLOW);
	int rc = ctx && fd >= 0 ? 0 : -ENOMEM;

	*why = "no memory for the filter";
	if (rc == 0)
		rc = fill(ctx, options, why);
	if (rc == 0) {
		*why = "the filter could not be compiled";
		rc = seccomp_export_bpf(ctx, fd);
	}
	if (rc == 0)
		rc = join(fd, options, out);
	if (ctx)
		seccomp_release(ctx);
	return rc;
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
