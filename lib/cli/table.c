/* Rows and records: JSON lines, or text by columns. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/str.h"
#include "cli/out.h"

#define CELL_BYTES 256
#define COLUMNS_MAX 24

void kz_out_format_time(const struct kz_json *value, char *out, size_t size)
{
	time_t s;
	struct tm tm;

	if (!kz_json_is_int(value)) {
		snprintf(out, size, "-");
		return;
	}
	s = (time_t)(kz_json_int_value(value) / 1000);
	if (!gmtime_r(&s, &tm) || strftime(out, size, "%Y-%m-%d %H:%M:%S", &tm) == 0)
		snprintf(out, size, "?");
}

void kz_out_format_bytes(const struct kz_json *value, char *out, size_t size)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	double n = (double)kz_json_int_value(value);
	size_t u = 0;

	if (!kz_json_is_int(value)) {
		snprintf(out, size, "-");
		return;
	}
	while (n >= 1024 && u + 1 < sizeof(units) / sizeof(units[0])) {
		n /= 1024;
		u++;
	}
	snprintf(out, size, u == 0 ? "%.0f %s" : "%.1f %s", n, units[u]);
}

void kz_out_format_ms(const struct kz_json *value, char *out, size_t size)
{
	if (!kz_json_is_int(value))
		snprintf(out, size, "-");
	else
		snprintf(out, size, "%.3f s", (double)kz_json_int_value(value) / 1000);
}

/* Text for a person's terminal: what others wrote must not move the cursor. */
static void cell_clean(char *s)
{
	bool utf8 = kz_utf8_valid(s, strlen(s));

	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c < 0x20 || c == 0x7f || (c >= 0x80 && !utf8))
			*s = '?';
		else if (c == 0xc2 && (unsigned char)s[1] < 0xa0)
			s[0] = '?', s[1] = '?';
	}
}

/* A text that did not fit says so, lest half a digest passes for one; it ends with a whole character. */
static void cell_mark(char out[CELL_BYTES], int len)
{
	size_t n = CELL_BYTES - sizeof("...");

	if (len < CELL_BYTES)
		return;
	while (n > 0 && ((unsigned char)out[n] & 0xc0) == 0x80)
		n--;
	memcpy(out + n, "...", sizeof("..."));
}

static void cell(const struct kz_column *col, const struct kz_json *row, char out[CELL_BYTES])
{
	const struct kz_json *v = kz_json_get(row, col->key);
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(64 * 1024);

	if (col->format)
		col->format(v, out, CELL_BYTES);
	else if (!v || kz_json_is_null(v))
		snprintf(out, CELL_BYTES, "-");
	else if (kz_json_is_string(v))
		cell_mark(out, snprintf(out, CELL_BYTES, "%s", kz_json_str_value(v)));
	else if (kz_json_is_bool(v))
		snprintf(out, CELL_BYTES, "%s", kz_json_flag(row, col->key, false) ? "yes" : "no");
	else
		cell_mark(out, snprintf(out, CELL_BYTES, "%s",
					kz_json_write(v, &b, NULL) ? "?" : kz_buf_str(&b)));
	cell_clean(out);
}

/* Columns that a terminal needs for s: one for each character of UTF-8. */
static int cell_width(const char *s)
{
	int n = 0;

	for (; *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

void kz_table_start(struct kz_table *t, struct kz_cli *cli, const struct kz_column *columns)
{
	t->cli = cli;
	t->columns = columns;
	t->rows = cli->json ? NULL : kz_json_array();
}

enum kz_rc kz_table_row(struct kz_table *t, struct kz_json *row)
{
	if (t->cli->json)
		return kz_out_json(t->cli, row);
	kz_json_append(t->rows, row);
	return KZ_OK;
}

static void print_cells(struct kz_cli *cli, const struct kz_column *columns,
			const struct kz_json *row, const int *widths)
{
	char text[CELL_BYTES];

	for (size_t c = 0; columns[c].key && c < COLUMNS_MAX; c++) {
		bool last = !columns[c + 1].key || c + 1 == COLUMNS_MAX;

		if (row)
			cell(&columns[c], row, text);
		else
			snprintf(text, sizeof(text), "%s", columns[c].title);
		/* No blanks at the end of a line. */
		kz_out_text(cli, "%s%*s", text, last ? 0 : widths[c] - cell_width(text) + 2, "");
	}
	kz_out_text(cli, "\n");
}

enum kz_rc kz_table_end(struct kz_table *t, const char *empty)
{
	size_t n = kz_json_count(t->rows);
	int widths[COLUMNS_MAX] = { 0 };
	char text[CELL_BYTES];

	if (n == 0 && empty && !t->cli->json)
		kz_out_text(t->cli, "%s\n", empty);
	for (size_t c = 0; t->columns[c].key && c < COLUMNS_MAX; c++) {
		widths[c] = cell_width(t->columns[c].title);
		for (size_t i = 0; i < n; i++) {
			cell(&t->columns[c], kz_json_at(t->rows, i), text);
			if (cell_width(text) > widths[c])
				widths[c] = cell_width(text);
		}
	}
	if (n > 0)
		print_cells(t->cli, t->columns, NULL, widths);
	for (size_t i = 0; i < n; i++)
		print_cells(t->cli, t->columns, kz_json_at(t->rows, i), widths);
	kz_table_release(t);
	return KZ_OK;
}

void kz_table_release(struct kz_table *t)
{
	kz_json_free(t->rows);
	t->rows = NULL;
}

enum kz_rc kz_out_record(struct kz_cli *cli, const struct kz_column *columns, struct kz_json *j)
{
	kz_auto_json struct kz_json *own = j;
	char text[CELL_BYTES];
	int width = 0;

	if (cli->json)
		return kz_out_json(cli, kz_take(own));
	for (const struct kz_column *c = columns; c->key; c++)
		if (cell_width(c->title) > width)
			width = cell_width(c->title);
	for (const struct kz_column *c = columns; c->key; c++) {
		cell(c, own, text);
		kz_out_text(cli, "%s:%*s%s\n", c->title, width - cell_width(c->title) + 1, "",
			    text);
	}
	return KZ_OK;
}
