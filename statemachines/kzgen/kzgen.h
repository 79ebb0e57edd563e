/*
 * kzgen: what its parts share.  A host tool: it prints "FILE:LINE: message" and
 * exits 1 at the first thing that is wrong, and writes a file only when its
 * content changes.  Memory lives until the end.
 */
#ifndef KZGEN_H
#define KZGEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define NAME_MOST 48 /* longest name of anything; a reason must fit into struct kz_err too */

/* Stop with "file:line: text" (line 0: "file: text"). */
void fail(const char *file, int line, const char *fmt, ...)
	__attribute__((format(printf, 3, 4), noreturn));
/* Memory or the end. */
void *need(size_t n);
char *copy(const char *s);
/* The word in upper case, '-' and '.' as '_' (new). */
char *upper(const char *s);
char *lower(const char *s);
/* [a-z][a-z0-9_]* of at most NAME_MOST bytes, else fail. */
void check_name(const char *file, int line, const char *name);

/* -- reading -- */

struct line {
	int no;
	char *text; /* trimmed, comments and empty lines left out */
};
/* All lines of a file that hold something. out: count. */
struct line *read_lines(const char *file, int *count);
/* Split at '|' into exactly n trimmed fields, else fail. */
void split_row(const char *file, const struct line *l, char **field, int n);
/* Split at blanks into at most most words; returns how many, fails on more. */
int split_words(const char *file, const struct line *l, char **word, int most);
/* A whole decimal integer, else fail. */
int64_t number(const char *file, int line, const char *s);

/* -- writing -- */

/* Start the file OUT/dir/name; the first line says that it was made here from source. */
enum comment { COMMENT_C, COMMENT_LUA, COMMENT_SQL, COMMENT_HASH, COMMENT_HTML, COMMENT_PML };
FILE *out_open(const char *dir, const char *name, enum comment style, const char *source);
/* Write it unless it is there with the same content. */
void out_close(FILE *f);
/* s as a C string literal, with quotes. */
void put_c_string(FILE *f, const char *s);
/* s as an SQL literal, with quotes. */
void put_sql_string(FILE *f, const char *s);
/* Where OUT is; set by -o. */
extern const char *out_root;

/* -- the kinds of table -- */

void make_settings(const char *file);
void make_reasons(const char *file);
void make_addresses(const char *file);
void make_imports(const char *file);
void make_bundled(const char *file);

#endif
