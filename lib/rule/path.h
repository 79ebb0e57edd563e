/*
 * Paths: the one normal form of a name inside a workspace, an output directory or
 * a projection [OUT-3].
 *
 * A name is relative, UTF-8, without control characters (C0, DEL, C1), without
 * "..", and at most KZ_PATH_MAX bytes with components of at most
 * KZ_PATH_COMPONENT_MAX.  Names that are not UTF-8 are refused because records are
 * JSON, which could only carry them changed.  Symbolic links are not a matter of
 * names: whoever opens a name does so without following them.  Layer 2, pure.
 */
#ifndef KZ_RULE_PATH_H
#define KZ_RULE_PATH_H

#include <stdbool.h>
#include <stddef.h>

#define KZ_PATH_MAX 1024
#define KZ_PATH_COMPONENT_MAX 255

enum kz_path_fault {
	KZ_PATH_OK,
	KZ_PATH_EMPTY, /* nothing, or nothing but "." and "/" */
	KZ_PATH_NUL,   /* a zero byte inside */
	KZ_PATH_ABSOLUTE,
	KZ_PATH_PARENT, /* a component ".." */
	KZ_PATH_CONTROL,
	KZ_PATH_ENCODING,  /* not UTF-8 */
	KZ_PATH_DIRECTORY, /* ends in "/" or "/.": names no file */
	KZ_PATH_COMPONENT, /* a component over KZ_PATH_COMPONENT_MAX bytes */
	KZ_PATH_LONG,      /* over KZ_PATH_MAX bytes */
};

/*
 * Bring a name into its normal form: "./a//b" becomes "a/b".
 * in: name[0..n), need not be terminated.
 * out: the normal form, terminated; "" unless KZ_PATH_OK is returned.
 */
enum kz_path_fault kz_path_normal(const char *name, size_t n, char out[KZ_PATH_MAX + 1]);
/* What is wrong, for an error text ("is absolute"); static. */
const char *kz_path_fault_text(enum kz_path_fault f);
/* Are two normal forms the same, or the same but for the case of Latin, Greek, Cyrillic or Armenian letters? */
bool kz_path_same_but_case(const char *a, const char *b);
/* The last component of a normal form or of any path; borrowed. */
const char *kz_path_base(const char *path);

#endif
