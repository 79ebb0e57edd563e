/* Names of packages and their files. */
#include "rule/package.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "rule/jsonflow.h"

static bool is_alnum(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static bool is_of(const char *p, size_t n, const char *also)
{
	for (size_t i = 0; i < n; i++)
		if (!is_alnum(p[i]) && (p[i] == '\0' || !strchr(also, p[i])))
			return false;
	return n > 0;
}

const char *kz_registry_name(enum kz_registry r)
{
	return r == KZ_REGISTRY_PYPI ? "pypi" : "npm";
}

bool kz_pkg_normal(const char *p, size_t n, char out[KZ_PKG_NAME])
{
	size_t at = 0;

	if (n >= KZ_PKG_NAME || !is_of(p, n, "-_.") || !is_alnum(p[0]) || !is_alnum(p[n - 1]))
		return false;
	for (size_t i = 0; i < n; i++) {
		bool is_mark = !is_alnum(p[i]);

		if (is_mark && out[at - 1] == '-')
			continue;
		out[at++] = (char)(is_mark ? '-' : p[i] >= 'A' && p[i] <= 'Z' ? p[i] + 32 : p[i]);
	}
	out[at] = '\0';
	return true;
}

/* One part of a name of npm; capitals are those of packages older than the rule against them. */
static bool is_npm_part(const char *p, size_t n)
{
	return is_of(p, n, "-_.~") && p[0] != '.' && p[0] != '_' && p[0] != '-';
}

bool kz_pkg_is_npm(const char *p, size_t n)
{
	const char *slash;

	if (n == 0 || n >= KZ_PKG_NAME)
		return false;
	if (p[0] != '@')
		return is_npm_part(p, n);
	slash = memchr(p, '/', n);
	return slash && is_npm_part(p + 1, (size_t)(slash - p) - 1) &&
	       is_npm_part(slash + 1, n - (size_t)(slash - p) - 1);
}

static bool ends_in(const char *file, const char *end, size_t *stem)
{
	size_t n = strlen(file), len = strlen(end);

	if (n <= len || strcmp(file + n - len, end) != 0)
		return false;
	*stem = n - len;
	return true;
}

static bool is_project(const char *p, size_t n, const char *project)
{
	char name[KZ_PKG_NAME];

	return kz_pkg_normal(p, n, name) && kz_str_eq(name, project);
}

/* NAME-VERSION[-BUILD]-PYTHON-ABI-PLATFORM; no part is empty and the build begins with a digit. */
static bool is_wheel_of(const char *p, size_t n, const char *project)
{
	size_t parts = 1, begin[6] = { 0 };

	for (size_t i = 0; i < n; i++)
		if (p[i] == '-') {
			if (parts == 6 || i + 1 == n || p[i + 1] == '-' || i == 0)
				return false;
			begin[parts++] = i + 1;
		}
	if (parts < 5 || !is_project(p, begin[1] - 1, project) || !is_alnum(p[begin[1]]))
		return false;
	return parts == 5 || (p[begin[2]] >= '0' && p[begin[2]] <= '9');
}

/* NAME-VERSION, where a name may hold hyphens too. */
static bool is_source_of(const char *p, size_t n, const char *project)
{
	for (size_t i = 1; i + 1 < n; i++)
		if (p[i] == '-' && is_alnum(p[i + 1]) && is_project(p, i, project))
			return true;
	return false;
}

bool kz_pkg_is_file_of(const char *file, const char *project, bool *is_wheel)
{
	static const char *const sources[] = { ".tar.gz", ".zip", ".tar.bz2", ".tgz", ".tar.xz" };
	size_t n = strlen(file), stem;

	if (is_wheel)
		*is_wheel = false;
	if (n >= KZ_PKG_FILE || !is_of(file, n, "-_.+!"))
		return false;
	if (ends_in(file, ".whl", &stem)) {
		if (is_wheel)
			*is_wheel = true;
		return is_wheel_of(file, stem, project);
	}
	for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++)
		if (ends_in(file, sources[i], &stem))
			return is_source_of(file, stem, project);
	return false;
}

bool kz_pkg_npm_file(const char *name, const char *version, char out[KZ_PKG_FILE])
{
	const char *slash = strchr(name, '/');

	out[0] = '\0';
	return is_of(version, strlen(version), ".-+") && is_alnum(version[0]) &&
	       kz_str_format(out, KZ_PKG_FILE, NULL, "%s-%s.tgz", slash ? slash + 1 : name,
			     version) == KZ_OK;
}

void kz_pkg_link(enum kz_registry r, const char *name, const char *file, char out[KZ_PKG_LINK])
{
	int at = snprintf(out, KZ_PKG_LINK,
			  r == KZ_REGISTRY_PYPI ? "/pypi/files/%s/" : "/npm/%s/-/", name);

	for (; *file && at < KZ_PKG_LINK - 4; file++) {
		if (*file == '+' || *file == '!')
			at += snprintf(out + at, (size_t)(KZ_PKG_LINK - at), "%%%02X",
				       (unsigned)*file);
		else
			out[at++] = *file;
	}
	out[at] = '\0';
}

void kz_pkg_read_json(enum kz_pkg_read *so_far, struct kz_jsonflow *j, const void *p, size_t n)
{
	if (!kz_jsonflow_add(j, p, n) && *so_far == KZ_PKG_READ)
		*so_far = KZ_PKG_READ_BAD;
}
