/*
 * System call filters: rules in, a BPF program out, which needs no memory and no
 * library to install.  The only user of libseccomp.  Layer 1.
 */
#ifndef KZ_PORT_FILTER_H
#define KZ_PORT_FILTER_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* How an argument is looked at ("denied": allowed, in a filter that allows). */
enum kz_filter_test {
	KZ_FILTER_ALWAYS, /* the call is denied whatever its arguments are */
	KZ_FILTER_MASK,   /* (argument & value) == value */
	KZ_FILTER_CLEAR,  /* (argument & value) == 0 */
	KZ_FILTER_EQ,     /* argument == value */
	KZ_FILTER_NOT,    /* argument != value */
	KZ_FILTER_OVER,   /* argument > value */
	KZ_FILTER_LOW,    /* argument == value, as 32 bits: what the kernel looks at of an int */
	KZ_FILTER_SET,    /* argument == value, as 32 bits, and the argument after it is not 0 */
	KZ_FILTER_PAIR, /* argument == value >> 32 and the argument after it == the rest, as 32 bits */
};

/* One denial. A name that this machine does not have is skipped; a number is used when name is NULL. */
struct kz_filter_rule {
	const char *name;
	int number;
	int deny_errno;
	enum kz_filter_test test;
	unsigned arg; /* 0..5; 0..4 where the one after it is looked at too */
	uint64_t value;
};

/*
 * Build a filter that allows everything but the rules; a call of another
 * architecture (i386, x32) kills the process.
 * out: program[0..*count) in BPF instructions of 8 bytes, new (free).
 * err: KZ_E_SOFTWARE for a rule that cannot be made
 */
enum kz_rc kz_filter_build(const struct kz_filter_rule *rules, size_t n, void **program,
			   size_t *count, struct kz_err *err);
/*
 * The other way round: a filter that allows the rules alone, whatever deny_errno they
 * carry; every other call fails with other_errno.  out, err: as kz_filter_build
 */
enum kz_rc kz_filter_build_allow(const struct kz_filter_rule *rules, size_t n, int other_errno,
				 void **program, size_t *count, struct kz_err *err);
/* Install it for this thread and its children; no_new_privs must be set. safe: async-signal-safe. out: 0, or -1 and errno */
int kz_filter_install(const void *program, size_t count);

#endif
