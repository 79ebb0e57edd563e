/* Paths of the package broker. */
#include <string.h>
#include <strings.h>

#include "base/str.h"
#include "rule/package.h"

#define PATH_MOST (KZ_PKG_NAME + 3 * KZ_PKG_FILE)

/* Decode the few bytes that may be encoded, once; a '/' only where a scope ends. */
static bool decode(const char *p, size_t n, char out[PATH_MOST])
{
	static const struct {
		const char *code;
		char is;
	} known[] = { { "2f", '/' }, { "40", '@' }, { "2b", '+' }, { "21", '!' } };
	size_t at = 0;

	if (n >= PATH_MOST)
		return false;
	for (size_t i = 0; i < n; i++) {
		char c = p[i];

		if (c == '%') {
			c = 0;
			for (size_t k = 0; i + 2 < n && k < 4; k++)
				if (strncasecmp(p + i + 1, known[k].code, 2) == 0)
					c = known[k].is;
			/* An encoded '/' stands after an encoded or plain "@SCOPE", before anything else. */
			if (c == 0 ||
			    (c == '/' && (at == 0 || out[0] != '@' || memchr(out, '/', at))))
				return false;
			i += 2;
		}
		if (c <= ' ' || c >= 0x7f)
			return false;
		out[at++] = c;
	}
	out[at] = '\0';
	return at > 0;
}

/* NAME/FILE behind "/pypi/files/". */
static bool pypi_file(char *text, struct kz_pkg_path *out)
{
	static const char metadata[] = ".metadata";
	char *file = strchr(text, '/');
	size_t n;
	bool is_wheel;

	if (!file || !kz_pkg_normal(text, (size_t)(file - text), out->name))
		return false;
	n = strlen(++file);
	out->what = KZ_PKG_A_FILE;
	if (n > sizeof metadata && strcmp(file + n - (sizeof metadata - 1), metadata) == 0) {
		file[n - (sizeof metadata - 1)] = '\0';
		out->what = KZ_PKG_A_METADATA;
	}
	return kz_pkg_is_file_of(file, out->name, &is_wheel) &&
	       (is_wheel || out->what == KZ_PKG_A_FILE) &&
	       kz_str_copy(out->file, sizeof out->file, file, NULL) == KZ_OK;
}

static bool pypi(const char *p, size_t n, struct kz_pkg_path *out)
{
	char text[PATH_MOST];

	out->registry = KZ_REGISTRY_PYPI;
	if (n > 7 && memcmp(p, "simple/", 7) == 0 && p[n - 1] == '/') {
		out->what = KZ_PKG_AN_INDEX;
		return kz_pkg_normal(p + 7, n - 8, out->name);
	}
	return n > 6 && memcmp(p, "files/", 6) == 0 && p[6] != '@' && decode(p + 6, n - 6, text) &&
	       pypi_file(text, out);
}

static bool npm_file(const char *name, const char *file)
{
	const char *slash = strchr(name, '/');
	const char *base = slash ? slash + 1 : name;
	size_t n = strlen(base), len = strlen(file);
	char version[KZ_PKG_FILE], made[KZ_PKG_FILE];

	if (len <= n + 5 || len >= KZ_PKG_FILE || memcmp(file, base, n) != 0 || file[n] != '-' ||
	    strcmp(file + len - 4, ".tgz") != 0)
		return false;
	memcpy(version, file + n + 1, len - n - 5);
	version[len - n - 5] = '\0';
	return kz_pkg_npm_file(name, version, made) && strcmp(made, file) == 0;
}

static bool npm(const char *p, size_t n, struct kz_pkg_path *out)
{
	char text[PATH_MOST];
	char *mark;

	out->registry = KZ_REGISTRY_NPM;
	out->what = KZ_PKG_AN_INDEX;
	if (!decode(p, n, text))
		return false;
	/* A scoped index comes as one segment: a plain '/' would be a path of two. */
	mark = strstr(text, "/-/");
	if (!mark)
		return !memchr(p, '/', n) && kz_pkg_is_npm(text, strlen(text)) &&
		       kz_str_copy(out->name, sizeof out->name, text, NULL) == KZ_OK;
	*mark = '\0';
	out->what = KZ_PKG_A_FILE;
	return kz_pkg_is_npm(text, strlen(text)) && npm_file(text, mark + 3) &&
	       kz_str_copy(out->name, sizeof out->name, text, NULL) == KZ_OK &&
	       kz_str_copy(out->file, sizeof out->file, mark + 3, NULL) == KZ_OK;
}

bool kz_pkg_path_parse(const char *p, size_t n, struct kz_pkg_path *out)
{
	memset(out, 0, sizeof *out);
	if (n > 6 && memcmp(p, "/pypi/", 6) == 0)
		return pypi(p + 6, n - 6, out);
	if (n > 5 && memcmp(p, "/npm/", 5) == 0)
		return npm(p + 5, n - 5, out);
	return false;
}
