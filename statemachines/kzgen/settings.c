/* policy/settings.tbl -> struct, table and defaults (C), packaged.env, table in the docs. */
#include "kzgen.h"

#include <string.h>

enum kind { KIND_INT, KIND_BOOL, KIND_TEXT, KIND_CHOICE, KIND_POLICY };

static const char *const kind_names[] = { [KIND_INT] = "int",
					  [KIND_BOOL] = "bool",
					  [KIND_TEXT] = "text",
					  [KIND_CHOICE] = "choice",
					  [KIND_POLICY] = "policy" };

struct setting {
	int line;
	enum kind kind;
	int64_t least, most;
	char *name, *unit, *value, *choices, *what;
};

static enum kind find_kind(const char *file, int line, const char *s)
{
	for (size_t i = 0; i < sizeof(kind_names) / sizeof(*kind_names); i++)
		if (strcmp(kind_names[i], s) == 0)
			return (enum kind)i;
	fail(file, line, "type %s is not int, bool, text, choice or policy", s);
}

/* Is value one of the comma-separated choices? out: length of the longest */
static bool choice_has(const char *choices, const char *value, int64_t *longest)
{
	bool found = false;

	*longest = 0;
	for (const char *s = choices; *s;) {
		size_t n = strcspn(s, ",");

		if ((int64_t)n > *longest)
			*longest = (int64_t)n;
		if (n == strlen(value) && strncmp(s, value, n) == 0)
			found = true;
		s += n + (s[n] == ',');
	}
	return found;
}

static void check_bounds(const char *file, struct setting *s)
{
	int64_t v;

	if (s->least > s->most)
		fail(file, s->line, "%s: least is over most", s->name);
	v = s->kind == KIND_INT ? number(file, s->line, s->value) : (int64_t)strlen(s->value);
	/* An empty default means "not set" and may be under the least length. */
	if ((v < s->least && (s->kind == KIND_INT || v > 0)) || v > s->most)
		fail(file, s->line, "%s: the default is out of bounds", s->name);
}

static void read_setting(const char *file, const struct line *l, struct setting *s)
{
	char *field[7];

	split_row(file, l, field, 7);
	*s = (struct setting){ .line = l->no,
			       .name = field[0],
			       .unit = field[2],
			       .value = field[3],
			       .choices = copy(""),
			       .what = field[6] };
	check_name(file, l->no, lower(s->name));
	if (strcmp(s->name, upper(s->name)) != 0)
		fail(file, l->no, "%s is not upper case", s->name);
	s->kind = find_kind(file, l->no, field[1]);
	if (s->kind == KIND_INT || s->kind == KIND_TEXT || s->kind == KIND_POLICY) {
		s->least = number(file, l->no, field[4]);
		s->most = number(file, l->no, field[5]);
		check_bounds(file, s);
	} else if (s->kind == KIND_BOOL) {
		if (strcmp(s->value, "true") != 0 && strcmp(s->value, "false") != 0)
			fail(file, l->no, "%s: the default is not true or false", s->name);
	} else {
		s->choices = field[4];
		if (!choice_has(s->choices, s->value, &s->most))
			fail(file, l->no, "%s: the default is not a choice", s->name);
	}
	if (*s->what == '\0')
		fail(file, l->no, "%s: nothing says what it is for", s->name);
}

static void write_header(const char *file, const struct setting *all, int count)
{
	FILE *f = out_open("statemachines/gen", "settings.h", COMMENT_C, file);

	fputs("#ifndef KZ_GEN_SETTINGS_H\n#define KZ_GEN_SETTINGS_H\n\n"
	      "#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n\n"
	      "/* All settings but those of the policy, one typed member each. */\nstruct kz_settings {\n",
	      f);
	for (int i = 0; i < count; i++) {
		const struct setting *s = &all[i];

		if (s->kind == KIND_INT)
			fprintf(f, "\tint64_t %s; /* %s */\n", lower(s->name), s->unit);
		else if (s->kind == KIND_BOOL)
			fprintf(f, "\tbool %s;\n", lower(s->name));
		else if (s->kind != KIND_POLICY)
			fprintf(f, "\tchar %s[%lld]; /* %s */\n", lower(s->name),
				(long long)s->most + 1, s->unit);
	}
	fputs("};\n\nenum kz_setting_id {\n", f);
	for (int i = 0; i < count; i++)
		fprintf(f, "\tKZ_SETTING_%s,\n", all[i].name);
	fputs("\tKZ_SETTING_COUNT\n};\n\n"
	      "/* INT: int64_t in [least, most]. BOOL: \"true\" or \"false\". TEXT: least..most bytes.\n"
	      " * CHOICE: one of choices, separated by commas. An empty default means not set.\n"
	      " * POLICY: least..most bytes of any text, without a default and without a member. */\n"
	      "enum kz_setting_type { KZ_SETTING_INT, KZ_SETTING_BOOL, KZ_SETTING_TEXT, KZ_SETTING_CHOICE, KZ_SETTING_POLICY };\n\n"
	      "struct kz_setting {\n\tconst char *name;\n\tconst char *unit;\n"
	      "\tconst char *default_text;\n\tconst char *choices; /* \"\" unless CHOICE */\n"
	      "\tconst char *packaged; /* what a new state directory gets; NULL unless POLICY */\n"
	      "\tconst char *what;\n\tint64_t least;\n\tint64_t most;\n"
	      "\tsize_t offset; /* in struct kz_settings */\n"
	      "\tsize_t size;   /* of the member; for text with the final 0 */\n"
	      "\tenum kz_setting_type type;\n};\n\n"
	      "extern const struct kz_setting kz_setting_table[KZ_SETTING_COUNT];\n\n"
	      "/* Fill s with the default of every setting. */\n"
	      "void kz_settings_default(struct kz_settings *s);\n\n#endif\n",
	      f);
	out_close(f);
}

static void write_table(FILE *f, const struct setting *s)
{
	fprintf(f, "\t[KZ_SETTING_%s] = {\n\t\t.name = \"%s\", .unit = ", s->name, s->name);
	put_c_string(f, s->unit);
	fputs(", .default_text = ", f);
	put_c_string(f, s->kind == KIND_POLICY ? "" : s->value);
	fputs(", .choices = ", f);
	put_c_string(f, s->choices);
	if (s->kind == KIND_POLICY) {
		fputs(",\n\t\t.packaged = ", f);
		put_c_string(f, s->value);
	}
	fputs(",\n\t\t.what = ", f);
	put_c_string(f, s->what);
	fprintf(f, ",\n\t\t.least = %lld, .most = %lld, .type = KZ_SETTING_%s,\n",
		(long long)s->least, (long long)s->most, upper(kind_names[s->kind]));
	if (s->kind == KIND_POLICY) {
		fputs("\t},\n", f);
		return;
	}
	fprintf(f,
		"\t\t.offset = offsetof(struct kz_settings, %s),\n"
		"\t\t.size = sizeof(((struct kz_settings *)0)->%s) },\n",
		lower(s->name), lower(s->name));
}

static void write_source(const char *file, const struct setting *all, int count)
{
	FILE *f = out_open("statemachines/gen", "settings.c", COMMENT_C, file);

	fputs("#include \"gen/settings.h\"\n\n"
	      "const struct kz_setting kz_setting_table[KZ_SETTING_COUNT] = {\n",
	      f);
	for (int i = 0; i < count; i++)
		write_table(f, &all[i]);
	fputs("};\n\nvoid kz_settings_default(struct kz_settings *s)\n{\n"
	      "\t*s = (struct kz_settings){\n",
	      f);
	for (int i = 0; i < count; i++) {
		if (all[i].kind == KIND_POLICY)
			continue;
		fprintf(f, "\t\t.%s = ", lower(all[i].name));
		if (all[i].kind == KIND_INT || all[i].kind == KIND_BOOL)
			fputs(all[i].value, f);
		else
			put_c_string(f, all[i].value);
		fputs(",\n", f);
	}
	fputs("\t};\n}\n", f);
	out_close(f);
}

static void write_docs(const char *file, const struct setting *all, int count)
{
	FILE *f = out_open("docs/tables", "settings.md", COMMENT_HTML, file);

	fputs("\n| setting | unit | default | least | most | what for |\n|---|---|---|---|---|---|\n",
	      f);
	for (int i = 0; i < count; i++) {
		const struct setting *s = &all[i];

		fprintf(f, "| `%s` | %s | %s%s | ", s->name, s->unit,
			s->kind == KIND_POLICY ? "none; new installation: " : "",
			*s->value ? s->value : "(empty)");
		if (s->kind == KIND_INT)
			fprintf(f, "%lld | %lld", (long long)s->least, (long long)s->most);
		else if (s->kind == KIND_TEXT || s->kind == KIND_POLICY)
			fprintf(f, "%lld bytes | %lld bytes", (long long)s->least,
				(long long)s->most);
		else
			fprintf(f, "%s | ", s->kind == KIND_BOOL ? "true, false" : s->choices);
		fprintf(f, " | %s |\n", s->what);
	}
	out_close(f);
}

void make_settings(const char *file)
{
	int count;
	struct line *lines = read_lines(file, &count);
	struct setting *all = need(sizeof(*all) * (size_t)count);
	FILE *f;

	if (count == 0)
		fail(file, 0, "no rows");
	for (int i = 0; i < count; i++) {
		read_setting(file, &lines[i], &all[i]);
		for (int k = 0; k < i; k++)
			if (strcmp(all[k].name, all[i].name) == 0)
				fail(file, all[i].line, "%s is there already (line %d)",
				     all[i].name, all[k].line);
	}
	write_header(file, all, count);
	write_source(file, all, count);
	f = out_open("policy", "packaged.env", COMMENT_HASH, file);
	for (int i = 0; i < count; i++)
		fprintf(f, "# %s (%s)\n%s=%s\n", all[i].what, all[i].unit, all[i].name,
			all[i].value);
	out_close(f);
	write_docs(file, all, count);
}
