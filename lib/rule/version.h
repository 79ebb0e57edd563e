/*
 * Versions of Python distributions, in the order of the packaging rules (PEP 440).
 * What cannot be read has no place in the order, and is never taken for a match.
 * Layer 2, pure.
 */
#ifndef KZ_RULE_VERSION_H
#define KZ_RULE_VERSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KZ_VERSION_PARTS 12
#define KZ_VERSION_LOCAL 64

struct kz_version {
	int64_t epoch, part[KZ_VERSION_PARTS]; /* the parts beyond count are 0 */
	int count;
	int phase;              /* dev without more, a, b, rc, none: -1, 0, 1, 2, 3 */
	int64_t pre, post, dev; /* post: -1 none; dev: INT64_MAX none */
	char local[KZ_VERSION_LOCAL];
};

/* Read p[0..n), any spelling. out: false when it is none or too long */
bool kz_version_parse(const char *p, size_t n, struct kz_version *out);
/* Below 0, 0 or above 0. */
int kz_version_compare(const struct kz_version *a, const struct kz_version *b);
/*
 * Does a version hold the clauses ">=1,!=1.5,<2" (canonical: no blanks)?  A pre-release holds
 * only where a clause names one, and "" takes any.
 */
bool kz_version_holds(const struct kz_version *v, const char *clauses);
/* Is it one clause that can be asked for, of p[0..n)? */
bool kz_version_clause_is_valid(const char *p, size_t n);

#endif
