/* policy/reasons.tbl -> enum and table (C), lookup table (SQL), table in the docs. */
#include "kzgen.h"

#include <string.h>

struct reason {
	int line;
	int status;
	char *code, *kind, *text;
};

/* Statuses of refusals and of faults never mix [EXEC-16]. */
static bool status_fits(int status, bool refusal)
{
	static const int refusals[] = { 1, 64, 65, 66, 75, 76, 77, 78 };
	static const int faults[] = { 69, 70, 71, 73, 74 };
	const int *set = refusal ? refusals : faults;
	size_t n =
		refusal ? sizeof(refusals) / sizeof(*refusals) : sizeof(faults) / sizeof(*faults);

	for (size_t i = 0; i < n; i++)
		if (set[i] == status)
			return true;
	return false;
}

static struct reason *read_reasons(const char *file, int *count)
{
	struct line *lines = read_lines(file, count);
	struct reason *all = need(sizeof(*all) * (size_t)*count);

	for (int i = 0; i < *count; i++) {
		struct reason *r = &all[i];
		char *field[4];

		split_row(file, &lines[i], field, 4);
		*r = (struct reason){
			.line = lines[i].no, .code = field[0], .kind = field[2], .text = field[3]
		};
		check_name(file, r->line, r->code);
		r->status = (int)number(file, r->line, field[1]);
		if (strcmp(r->kind, "refusal") != 0 && strcmp(r->kind, "fault") != 0)
			fail(file, r->line, "kind %s is neither refusal nor fault", r->kind);
		if (!status_fits(r->status, r->kind[0] == 'r'))
			fail(file, r->line, "a %s cannot have status %d", r->kind, r->status);
		if (*r->text == '\0')
			fail(file, r->line, "%s has no text", r->code);
		for (int k = 0; k < i; k++)
			if (strcmp(all[k].code, r->code) == 0)
				fail(file, r->line, "%s is there already (line %d)", r->code,
				     all[k].line);
	}
	if (*count == 0)
		fail(file, 0, "no rows");
	return all;
}

static void write_c(const char *file, const struct reason *all, int count)
{
	FILE *f = out_open("statemachines/gen", "reasons.h", COMMENT_C, file);

	fputs("#ifndef KZ_GEN_REASONS_H\n#define KZ_GEN_REASONS_H\n\n#include <stdbool.h>\n\n"
	      "/* Every reason code of kz; KZ_R_NONE: no reason against it. */\nenum kz_reason {\n\tKZ_R_NONE = -1,\n",
	      f);
	for (int i = 0; i < count; i++)
		fprintf(f, "\tKZ_R_%s,\n", upper(all[i].code));
	fputs("\tKZ_REASON_COUNT\n};\n\n"
	      "/* One row: its code, exit status, whether it is a refusal (else a fault), its text. */\n"
	      "struct kz_reason_row {\n\tconst char *code;\n\tconst char *text;\n\tint status;\n"
	      "\tbool is_refusal;\n};\n\nextern const struct kz_reason_row kz_reason_rows[KZ_REASON_COUNT];\n\n"
	      "#endif\n",
	      f);
	out_close(f);
	f = out_open("statemachines/gen", "reasons.c", COMMENT_C, file);
	fputs("#include \"gen/reasons.h\"\n\nconst struct kz_reason_row kz_reason_rows[KZ_REASON_COUNT] = {\n",
	      f);
	for (int i = 0; i < count; i++) {
		fprintf(f,
			"\t[KZ_R_%s] = { .code = \"%s\", .status = %d, .is_refusal = %s,\n\t\t.text = ",
			upper(all[i].code), all[i].code, all[i].status,
			all[i].kind[0] == 'r' ? "true" : "false");
		put_c_string(f, all[i].text);
		fputs(" },\n", f);
	}
	fputs("};\n", f);
	out_close(f);
}

static void write_sql(FILE *f, const struct reason *all, int count, const char *before,
		      const char *after)
{
	fprintf(f,
		"%sCREATE TABLE IF NOT EXISTS reason (code TEXT NOT NULL PRIMARY KEY, status INTEGER NOT NULL,"
		" kind TEXT NOT NULL CHECK (kind IN ('refusal', 'fault'))) STRICT, WITHOUT ROWID;%s",
		before, after);
	for (int i = 0; i < count; i++)
		fprintf(f, "%sINSERT OR IGNORE INTO reason VALUES ('%s', %d, '%s');%s", before,
			all[i].code, all[i].status, all[i].kind, after);
}

static void write_docs(const char *file, const struct reason *all, int count)
{
	FILE *f = out_open("docs/tables", "reasons.md", COMMENT_HTML, file);

	fputs("\n| reason | exit status | kind | meaning |\n|---|---|---|---|\n", f);
	for (int i = 0; i < count; i++)
		fprintf(f, "| `%s` | %d | %s | %s |\n", all[i].code, all[i].status, all[i].kind,
			all[i].text);
	out_close(f);
}

void make_reasons(const char *file)
{
	int count;
	struct reason *all = read_reasons(file, &count);
	FILE *f;

	write_c(file, all, count);
	f = out_open("statemachines/gen", "reasons.sql", COMMENT_SQL, file);
	write_sql(f, all, count, "", "\n");
	out_close(f);
	f = out_open("statemachines/gen", "reasons_sql.h", COMMENT_C, file);
	fputs("#ifndef KZ_GEN_REASONS_SQL_H\n#define KZ_GEN_REASONS_SQL_H\n\n"
	      "/* Makes and fills the lookup table reason(code, status, kind). */\n#define KZ_REASONS_SQL",
	      f);
	write_sql(f, all, count, " \\\n\t\"", "\\n\"");
	fputs("\n\n#endif\n", f);
	out_close(f);
	write_docs(file, all, count);
}
