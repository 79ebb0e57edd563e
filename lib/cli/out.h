/*
 * Output: the only writer of standard output.  A program builds JSON objects;
 * with -j each is a line, without it a table of columns makes text of them for
 * people.  A failed write is kept in cli and told by kz_main_end.  Layer 4.
 */
#ifndef KZ_CLI_OUT_H
#define KZ_CLI_OUT_H

#include <stddef.h>

#include "base/auto.h"
#include "cli/main.h"
#include "port/json.h"

/* A new object {"v":1,"type":TYPE}. own: new, NULL when memory is out (kz_json_set and kz_out_json accept that). */
struct kz_json *kz_out_object(const char *type);
/* Print one object as a line, whatever cli->json says. own: takes j. err: KZ_E_OS when it could not be built */
enum kz_rc kz_out_json(struct kz_cli *cli, struct kz_json *j);
/* Print text; control characters are as given, so give only what is ours. */
void kz_out_text(struct kz_cli *cli, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Print bytes as they are. */
void kz_out_bytes(struct kz_cli *cli, const void *p, size_t n);
/* Hand everything to the kernel now (follow modes); true while stdout can be written. */
bool kz_out_flush(struct kz_cli *cli);

/* One column of the text form. */
struct kz_column {
	const char *key; /* member of the object; NULL ends the table */
	const char *title;
	/* Text of a value; NULL: strings as they are, numbers decimal, null and absent "-". value may be NULL */
	void (*format)(const struct kz_json *value, char *out, size_t size);
};
/* For .format: milliseconds since the epoch as "2026-01-31 23:59:59" UTC; bytes as "1.5 MiB"; milliseconds as "1.250 s". */
void kz_out_format_time(const struct kz_json *value, char *out, size_t size);
void kz_out_format_bytes(const struct kz_json *value, char *out, size_t size);
void kz_out_format_ms(const struct kz_json *value, char *out, size_t size);

/* Rows of one kind: lines with -j, else an aligned table printed at the end. */
struct kz_table {
	struct kz_cli *cli;
	const struct kz_column *columns;
	struct kz_json *rows;
};
void kz_table_start(struct kz_table *t, struct kz_cli *cli, const struct kz_column *columns);
/* own: takes row, which kz_out_object made. */
enum kz_rc kz_table_row(struct kz_table *t, struct kz_json *row);
/* Print what is kept, and release it. in: empty is printed instead of a table without rows (text only), NULL nothing */
enum kz_rc kz_table_end(struct kz_table *t, const char *empty);
void kz_table_release(struct kz_table *t);
#define kz_auto_table kz_auto(kz_table_release)

/* Print one object: a line with -j, else "title: value" a column. own: takes j. */
enum kz_rc kz_out_record(struct kz_cli *cli, const struct kz_column *columns, struct kz_json *j);

#endif
