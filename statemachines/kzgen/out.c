/* Output files: whole or not at all, and untouched when nothing changed. */
#include "kzgen.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *out_root = ".";

/* The one file being written; kzgen writes them one after the other. */
static struct {
	char *path;
	char *text;
	size_t size;
} current;

static void make_dirs(const char *dir)
{
	char *path = need(strlen(out_root) + strlen(dir) + 3);

	sprintf(path, "%s/%s/", out_root, dir);
	for (char *s = strchr(path + 1, '/'); s; s = strchr(s + 1, '/')) {
		*s = '\0';
		if (mkdir(path, 0777) < 0 && errno != EEXIST)
			fail(path, 0, "cannot make directory: %s", strerror(errno));
		*s = '/';
	}
	free(path);
}

FILE *out_open(const char *dir, const char *name, enum comment style, const char *source)
{
	static const char *const form[] = {
		[COMMENT_C] = "/* Do not edit: made by kzgen from %s. */\n",
		[COMMENT_LUA] = "-- Do not edit: made by kzgen from %s.\n",
		[COMMENT_SQL] = "-- Do not edit: made by kzgen from %s.\n",
		[COMMENT_HASH] = "# Do not edit: made by kzgen from %s.\n",
		[COMMENT_HTML] = "<!-- Do not edit: made by kzgen from %s. -->\n",
		[COMMENT_PML] = "/* Do not edit: made by kzgen from %s. */\n",
	};
	FILE *f;

	make_dirs(dir);
	current.path = need(strlen(out_root) + strlen(dir) + strlen(name) + 3);
	sprintf(current.path, "%s/%s/%s", out_root, dir, name);
	f = open_memstream(&current.text, &current.size);
	if (!f)
		fail(current.path, 0, "cannot write: %s", strerror(errno));
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	fprintf(f, form[style], source);
#pragma GCC diagnostic pop
	return f;
}

static bool is_same(void)
{
	FILE *f = fopen(current.path, "r");
	char *old = need(current.size + 1);
	size_t n = 0;

	if (f) {
		n = fread(old, 1, current.size + 1, f);
		fclose(f);
	}
	n = f && n == current.size && memcmp(old, current.text, n) == 0;
	free(old);
	return n;
}

void out_close(FILE *f)
{
	char *temp = need(strlen(current.path) + 5);

	if (fclose(f) != 0)
		fail(current.path, 0, "cannot write: %s", strerror(errno));
	sprintf(temp, "%s.new", current.path);
	if (!is_same()) {
		FILE *t = fopen(temp, "w");

		if (!t || fwrite(current.text, 1, current.size, t) != current.size ||
		    fclose(t) != 0 || rename(temp, current.path) < 0)
			fail(current.path, 0, "cannot write: %s", strerror(errno));
	}
	free(temp);
	free(current.text);
	free(current.path);
}

void put_c_string(FILE *f, const char *s)
{
	fputc('"', f);
	for (; *s; s++) {
		if (*s == '\n') {
			fputs("\\n", f);
			continue;
		}
		if (*s == '"' || *s == '\\')
			fputc('\\', f);
		fputc(*s, f);
	}
	fputc('"', f);
}

void put_sql_string(FILE *f, const char *s)
{
	fputc('\'', f);
	for (; *s; s++) {
		if (*s == '\'')
			fputc('\'', f);
		fputc(*s, f);
	}
	fputc('\'', f);
}
