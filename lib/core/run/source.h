/*
 * The program of a run: where its code comes from, its language, its digest, and
 * the command that starts it inside the worker.  Layer 3.
 */
#ifndef KZ_CORE_RUN_SOURCE_H
#define KZ_CORE_RUN_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "port/seal.h"

/* Longest program text, in bytes. */
#define KZ_SOURCE_MAX (16 << 20)
/* Directory of program files inside the worker (KZ_WK_CODE). */
#define KZ_SOURCE_DIR "/work/code"

enum kz_language { KZ_LANG_PYTHON, KZ_LANG_NODE, KZ_LANG_SHELL };

struct kz_source {
	int fd; /* a file of the code, whole; -1 when it goes by argument */
	int64_t size;
	const char *text; /* by argument: the code, borrowed; else NULL */
	char name[256];   /* its name below KZ_SOURCE_DIR, when a file */
	char sha256[KZ_SHA256_HEX];
	enum kz_language language;
};

/*
 * Read the program.
 * in: path FILE or "-" (standard input to its end), or NULL and code the text of -c;
 *   language NULL: by suffix, else "#!", else Python; cancel_fd readable: give up.
 * own: kz_source_release.
 * err: code_unreadable, unsupported_language, cancelled
 */
enum kz_rc kz_source_read(struct kz_source *s, const char *path, const char *code,
			  const char *language, int cancel_fd, struct kz_err *err);
void kz_source_release(struct kz_source *s);
const char *kz_language_name(enum kz_language l);

/*
 * The argument vector inside the worker.
 * in: args[0..count) of the program. out: new array, NULL-terminated, of borrowed strings and of path (own storage). NULL: memory is out
 */
const char **kz_source_argv(const struct kz_source *s, const char *const *args, size_t count,
			    char path[300]);

/* A file that must stand beside the program as KZ_SOURCE_SHIM for argv to work. out: static text and its length, NULL: none */
#define KZ_SOURCE_SHIM ".kz-require.cjs"
const char *kz_source_shim(const struct kz_source *s, size_t *n);

/* The preload that lets every node of a run use the proxy: its name in KZ_SOURCE_DIR, and its text. */
#define KZ_SOURCE_PROXY ".kz-proxy.cjs"
const char *kz_source_proxy(size_t *n);

/* Copy what fd gives to its end into a new sealed memory file. err: KZ_E_DATA over max bytes, KZ_E_IO, cancelled */
enum kz_rc kz_source_copy(int fd, int64_t max, int cancel_fd, int *out, int64_t *size,
			  struct kz_err *err);

#endif
