/*
 * Paths of the package broker: what is read is of the grammar, and the link made of it reads the same again; links of
 * registries resolve to what reads the same when printed [BRK-1, BRK-6, BRK-8].
 */
#include <string.h>

#include "fuzz.h"
#include "rule/package.h"
#include "rule/url.h"

static void check_path(const char *p, size_t n)
{
	struct kz_pkg_path a, b;
	char link[KZ_PKG_LINK];

	if (!kz_pkg_path_parse(p, n, &a))
		return;
	CLAIM(strlen(a.name) > 0);
	CLAIM(!strchr(a.file, '/') && !strchr(a.file, '\\') && strcmp(a.file, "..") != 0);
	if (a.registry == KZ_REGISTRY_NPM)
		CLAIM(kz_pkg_is_npm(a.name, strlen(a.name)));
	if (a.what == KZ_PKG_AN_INDEX) {
		CLAIM(!*a.file);
		return;
	}
	kz_pkg_link(a.registry, a.name, a.file, link);
	CLAIM(kz_pkg_path_parse(link, strlen(link), &b));
	CLAIM(b.registry == a.registry && b.what == KZ_PKG_A_FILE);
	CLAIM(strcmp(a.name, b.name) == 0 && strcmp(a.file, b.file) == 0);
}

static void check_url(const char *p, size_t n)
{
	struct kz_url base, u, again;
	char text[KZ_URL_TEXT], twice[KZ_URL_TEXT];

	if (!kz_url_parse("https://registry.test/simple/x/?q", 33, &base))
		return;
	if (!kz_url_resolve(&base, p, n, &u))
		return;
	CLAIM(u.path[0] == '/' && u.at.port != 0);
	kz_url_print(&u, text);
	CLAIM(kz_url_parse(text, strlen(text), &again));
	kz_url_print(&again, twice);
	CLAIM(strcmp(text, twice) == 0 && kz_url_same_origin(&u, &again));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *p = (const char *)data;

	check_path(p, size);
	check_url(p, size);
	return 0;
}
