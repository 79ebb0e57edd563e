/*
 * Names of packages and of their files, and the paths of the package broker.  One normal
 * form each, and nothing that a registry, a client or a file system could read as
 * another: a name that is not of the grammar is refused, never mended.  Pure.  Layer 2.
 * src: BRK-1, BRK-6, BRK-7; PEP 427, PEP 503, PEP 625, PEP 658
 */
#ifndef KZ_RULE_PACKAGE_H
#define KZ_RULE_PACKAGE_H

#include <stdbool.h>
#include <stddef.h>

#define KZ_PKG_NAME 215 /* of a package, with the final 0 */
#define KZ_PKG_FILE 256 /* of a file, with the final 0 */
#define KZ_PKG_LINK (32 + KZ_PKG_NAME + 3 * KZ_PKG_FILE)

enum kz_registry { KZ_REGISTRY_PYPI, KZ_REGISTRY_NPM };
#define KZ_REGISTRIES 2
/* "pypi", "npm"; static */
const char *kz_registry_name(enum kz_registry r);

/* How reading an index goes. */
enum kz_pkg_read {
	KZ_PKG_READ,
	KZ_PKG_READ_BAD,   /* it is no index of this package */
	KZ_PKG_READ_LARGE, /* what is to be handed out is over its bound, or memory is out */
};

struct kz_jsonflow;
/* The next piece of an index in JSON. in: so_far: what its owner found until now, and may change meanwhile. out: so_far, and BAD for no JSON */
void kz_pkg_read_json(enum kz_pkg_read *so_far, struct kz_jsonflow *j, const void *p, size_t n);

enum kz_pkg_what { KZ_PKG_AN_INDEX, KZ_PKG_A_FILE, KZ_PKG_A_METADATA };

/* What a path of the broker asks for. */
struct kz_pkg_path {
	enum kz_registry registry;
	enum kz_pkg_what what;
	char name[KZ_PKG_NAME]; /* normal: PEP 503, or NAME and @SCOPE/NAME of npm */
	char file[KZ_PKG_FILE]; /* decoded, of a metadata without ".metadata"; "" of an index */
};

/*
 * Read a path, still encoded, without query: /pypi/simple/NAME/, /pypi/files/NAME/FILE[.metadata],
 * /npm/NAME, /npm/@SCOPE%2fNAME, /npm/NAME/-/FILE, /npm/@SCOPE/NAME/-/FILE.  Encoded may be
 * the '/' of a scope, '@', '+' and '!', nothing else.  out: false for anything else
 */
bool kz_pkg_path_parse(const char *p, size_t n, struct kz_pkg_path *out);

/* The normal form of a Python project's name, any spelling of it. out: false when it is none */
bool kz_pkg_normal(const char *p, size_t n, char out[KZ_PKG_NAME]);
/* Is this a name of npm, "NAME" or "@SCOPE/NAME"? */
bool kz_pkg_is_npm(const char *p, size_t n);
/* Is file a wheel or a source archive of this project (normal form)? in: is_wheel may be NULL */
bool kz_pkg_is_file_of(const char *file, const char *project, bool *is_wheel);
/* The file that we give a version of an npm package: NAME-VERSION.tgz. out: false for a version that is none */
bool kz_pkg_npm_file(const char *name, const char *version, char out[KZ_PKG_FILE]);
/* The path of a file at the broker: what kz_pkg_path_parse reads back. */
void kz_pkg_link(enum kz_registry r, const char *name, const char *file, char out[KZ_PKG_LINK]);

#endif
