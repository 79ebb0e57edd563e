/* policy/imports.tbl -> modules of Python and the distributions that have them (C), table in the docs. */
#include "kzgen.h"

#include <ctype.h>
#include <string.h>

struct row {
	const char *module, *package;
};

static void check_word(const char *file, const struct line *l, const char *s, const char *marks)
{
	if (*s == '\0')
		fail(file, l->no, "a name is missing");
	for (; *s; s++)
		if (!isalnum((unsigned char)*s) && !strchr(marks, *s))
			fail(file, l->no, "%c stands in no name", *s);
}

static void write_header(const char *file, int count)
{
	FILE *f = out_open("statemachines/gen", "imports.h", COMMENT_C, file);

	fprintf(f,
		"#ifndef KZ_GEN_IMPORTS_H\n#define KZ_GEN_IMPORTS_H\n\n"
		"/* A module of Python and the distribution that has it. */\n"
		"struct kz_import_row {\n\tconst char *module, *package;\n};\n\n"
		"#define KZ_IMPORT_ROWS %d\n/* By module. */\n"
		"extern const struct kz_import_row kz_import_rows[KZ_IMPORT_ROWS];\n\n#endif\n",
		count);
	out_close(f);
}

static void write_source(const char *file, const struct row *rows, int count)
{
	FILE *f = out_open("statemachines/gen", "imports.c", COMMENT_C, file);

	fputs("#include \"gen/imports.h\"\n\nconst struct kz_import_row kz_import_rows[KZ_IMPORT_ROWS] = {\n",
	      f);
	for (int i = 0; i < count; i++)
		fprintf(f, "\t{ \"%s\", \"%s\" },\n", rows[i].module, rows[i].package);
	fputs("};\n", f);
	out_close(f);
}

static void write_docs(const char *file, const struct row *rows, int count)
{
	FILE *f = out_open("docs/tables", "imports.md", COMMENT_HTML, file);

	fputs("\n| module | distribution |\n|---|---|\n", f);
	for (int i = 0; i < count; i++)
		fprintf(f, "| `%s` | `%s` |\n", rows[i].module, rows[i].package);
	out_close(f);
}

void make_imports(const char *file)
{
	int count;
	struct line *lines = read_lines(file, &count);
	struct row *rows = need(sizeof(*rows) * (size_t)(count ? count : 1));

	for (int i = 0; i < count; i++) {
		char *field[2];

		split_row(file, &lines[i], field, 2);
		check_word(file, &lines[i], field[0], "_");
		check_word(file, &lines[i], field[1], "_.-");
		if (i && strcmp(rows[i - 1].module, field[0]) >= 0)
			fail(file, lines[i].no, "%s stands behind %s", field[0],
			     rows[i - 1].module);
		rows[i] = (struct row){ field[0], field[1] };
	}
	write_header(file, count);
	write_source(file, rows, count);
	write_docs(file, rows, count);
}
