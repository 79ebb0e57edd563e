/* policy/bundled_python.tbl -> what a worker image promises (C). */
#include "kzgen.h"

#include <string.h>

struct row {
	const char *name, *module;
	bool is_baked;
};

static void write_header(const char *file, int count)
{
	FILE *f = out_open("statemachines/gen", "bundled.h", COMMENT_C, file);

	fprintf(f,
		"#ifndef KZ_GEN_BUNDLED_H\n#define KZ_GEN_BUNDLED_H\n\n#include <stdbool.h>\n\n"
		"/* A Python distribution that a worker image promises, and what it is imported as. */\n"
		"struct kz_bundled_row {\n\tconst char *name, *module;\n\tbool is_baked; /* else the package broker gives it */\n};\n\n"
		"#define KZ_BUNDLED_ROWS %d\n"
		"extern const struct kz_bundled_row kz_bundled_rows[KZ_BUNDLED_ROWS];\n\n#endif\n",
		count);
	out_close(f);
}

static void write_source(const char *file, const struct row *rows, int count)
{
	FILE *f = out_open("statemachines/gen", "bundled.c", COMMENT_C, file);

	fputs("#include \"gen/bundled.h\"\n\nconst struct kz_bundled_row kz_bundled_rows[KZ_BUNDLED_ROWS] = {\n",
	      f);
	for (int i = 0; i < count; i++)
		fprintf(f, "\t{ \"%s\", \"%s\", %s },\n", rows[i].name, rows[i].module,
			rows[i].is_baked ? "true" : "false");
	fputs("};\n", f);
	out_close(f);
}

void make_bundled(const char *file)
{
	int count;
	struct line *lines = read_lines(file, &count);
	struct row *rows = need(sizeof(*rows) * (size_t)(count ? count : 1));

	for (int i = 0; i < count; i++) {
		char *field[4];

		split_row(file, &lines[i], field, 4);
		if (strpbrk(field[0], "\"\\ ") || strpbrk(field[1], "\"\\ ,"))
			fail(file, lines[i].no, "a name with a mark or a blank");
		rows[i] = (struct row){ field[0], field[1], strcmp(field[3], "-") == 0 };
	}
	write_header(file, count);
	write_source(file, rows, count);
}
