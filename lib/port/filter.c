/* Filters with libseccomp, exported as BPF so that a child installs them without it. */
#include "port/filter.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fd.h"

#define API_KILL_PROCESS 3

static void ctx_release(scmp_filter_ctx *ctx)
{
	if (*ctx)
		seccomp_release(*ctx);
}

static struct scmp_arg_cmp masked(unsigned arg, uint64_t mask, uint64_t value)
{
	return (struct scmp_arg_cmp){
		.arg = arg, .op = SCMP_CMP_MASKED_EQ, .datum_a = mask, .datum_b = value
	};
}

/* The kernel ignores what a caller put above an int, so a rule must not be passed by it. */
static struct scmp_arg_cmp low_half(unsigned arg, uint64_t value)
{
	return masked(arg, UINT32_MAX, value & UINT32_MAX);
}

static int add_rule(scmp_filter_ctx ctx, const struct kz_filter_rule *r, bool allows)
{
	int nr = r->name ? seccomp_syscall_resolve_name(r->name) : r->number;
	uint32_t act = allows ? SCMP_ACT_ALLOW : SCMP_ACT_ERRNO((uint32_t)r->deny_errno);
	struct scmp_arg_cmp cmp[2] = { { .arg = r->arg, .datum_a = r->value } };
	unsigned count = 1;

	/* below zero: libseccomp's number for a call that this architecture lacks */
	if (nr < 0)
		return 0;
	switch (r->test) {
	case KZ_FILTER_ALWAYS: return seccomp_rule_add_exact_array(ctx, act, nr, 0, NULL);
	case KZ_FILTER_MASK:
		cmp[0].op = SCMP_CMP_MASKED_EQ;
		cmp[0].datum_b = r->value;
		break;
	case KZ_FILTER_CLEAR: cmp[0] = masked(r->arg, r->value, 0); break;
	case KZ_FILTER_EQ: cmp[0].op = SCMP_CMP_EQ; break;
	case KZ_FILTER_NOT: cmp[0].op = SCMP_CMP_NE; break;
	case KZ_FILTER_OVER: cmp[0].op = SCMP_CMP_GT; break;
	case KZ_FILTER_LOW: cmp[0] = low_half(r->arg, r->value); break;
	case KZ_FILTER_SET:
		cmp[0] = low_half(r->arg, r->value);
		cmp[count++] = (struct scmp_arg_cmp){ .arg = r->arg + 1, .op = SCMP_CMP_NE };
		break;
	case KZ_FILTER_PAIR:
		cmp[0] = low_half(r->arg, r->value >> 32);
		cmp[count++] = low_half(r->arg + 1, r->value);
		break;
	}
	return seccomp_rule_add_exact_array(ctx, act, nr, count, cmp);
}

static enum kz_rc build(const struct kz_filter_rule *rules, size_t n, uint32_t otherwise,
			void **program, size_t *count, struct kz_err *err)
{
	kz_auto(ctx_release) scmp_filter_ctx ctx = seccomp_init(otherwise);
	kz_auto_close int fd = -1;
	kz_auto_free void *p = NULL;
	off_t size;

	if (!ctx)
		return kz_err_sys(err, KZ_E_OS, "cannot make a filter");
	if (kz_memory_file("filter", &fd, err))
		return KZ_E_OS;
	/*
	 * libseccomp asks for this action by a call that gVisor lacks; a kernel that does not
	 * know an action kills the caller, which is what is meant.
	 */
	if (seccomp_api_get() < API_KILL_PROCESS && seccomp_api_set(API_KILL_PROCESS) < 0)
		return kz_err_set(err, KZ_E_SOFTWARE, "libseccomp is too old");
	/* a binary tree instead of a list: the common calls are near the start either way */
	if (seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS) < 0 ||
	    seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2) < 0)
		return kz_err_set(err, KZ_E_SOFTWARE, "cannot set up a filter");
	for (size_t i = 0; i < n; i++) {
		int rc = add_rule(ctx, &rules[i], otherwise != SCMP_ACT_ALLOW);

		if (rc < 0 && rc != -EEXIST)
			return kz_err_set(err, KZ_E_SOFTWARE, "cannot add filter rule %zu (%s)", i,
					  rules[i].name ? rules[i].name : "number");
	}
	if (seccomp_export_bpf(ctx, fd) < 0 || (size = lseek(fd, 0, SEEK_END)) <= 0 ||
	    size % (off_t)sizeof(struct sock_filter))
		return kz_err_set(err, KZ_E_SOFTWARE, "cannot write a filter");
	p = malloc((size_t)size);
	if (!p || pread(fd, p, (size_t)size, 0) != size)
		return kz_err_sys(err, KZ_E_OS, "cannot read a filter");
	*count = (size_t)size / sizeof(struct sock_filter);
	*program = kz_take(p);
	return KZ_OK;
}

enum kz_rc kz_filter_build(const struct kz_filter_rule *rules, size_t n, void **program,
			   size_t *count, struct kz_err *err)
{
	return build(rules, n, SCMP_ACT_ALLOW, program, count, err);
}

enum kz_rc kz_filter_build_allow(const struct kz_filter_rule *rules, size_t n, int other_errno,
				 void **program, size_t *count, struct kz_err *err)
{
	return build(rules, n, SCMP_ACT_ERRNO((uint32_t)other_errno), program, count, err);
}

int kz_filter_install(const void *program, size_t count)
{
	struct sock_fprog prog = { .len = (unsigned short)count };

	prog.filter = (struct sock_filter *)(uintptr_t)program;
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog);
}
