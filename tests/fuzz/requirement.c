/*
 * Requirements: whatever the text is, what is taken is printable, has one form, no form of an option, path or
 * address, and asks for the same again.  Imports: each found once, a name that is none of the interpreter's.
 * The first byte chooses the ecosystem [BRK-9, BRK-10].
 */
#include <string.h>

#include "fuzz.h"
#include "rule/imports.h"
#include "rule/requirement.h"
#include "rule/version.h"

static void check_requirement(enum kz_ecosystem eco, const char *p, size_t n)
{
	struct kz_requirement r, again;
	struct kz_err err = KZ_ERR_INIT;

	if (kz_requirement_parse(eco, p, n, &r, &err) != KZ_OK) {
		CLAIM(!strcmp(err.reason, "dependency_request_invalid") && !r.text[0]);
		return;
	}
	CLAIM(r.text[0] && r.text[0] != '-' && r.text[0] != '.' && r.text[0] != '/' && r.key[0]);
	CLAIM(!strpbrk(r.text, "\\;:#?%$&'\"`(){}") && strlen(r.text) <= n);
	CLAIM(eco == KZ_ECO_NODE || !strpbrk(r.text, "@/ "));
	for (const char *c = r.text; *c; c++)
		CLAIM(*c >= ' ' && *c <= '~');
	CLAIM(kz_requirement_parse(eco, r.text, strlen(r.text), &again, &err) == KZ_OK);
	CLAIM(!strcmp(again.text, r.text) && !strcmp(again.key, r.key) && again.is_pin == r.is_pin);
	/* a pin holds for what it names */
	if (r.is_pin)
		CLAIM(kz_requirement_allows(&r, r.versions + (eco == KZ_ECO_PYTHON ? 2 : 0)));
}

static void check_version(const char *p, size_t n)
{
	struct kz_version v;

	if (kz_version_parse(p, n, &v))
		CLAIM(!kz_version_compare(&v, &v) && kz_version_holds(&v, ""));
}

static void check_imports(enum kz_ecosystem eco, const char *p, size_t n)
{
	static struct kz_imports found;

	kz_imports_find(eco, p, n, &found);
	CLAIM(found.count <= KZ_IMPORTS_MOST);
	for (size_t i = 0; i < found.count; i++) {
		CLAIM(found.list[i].module[0] && found.list[i].package[0]);
		CLAIM(!kz_imports_is_builtin(eco, found.list[i].module));
		for (size_t k = 0; k < i; k++)
			CLAIM(strcmp(found.list[i].module, found.list[k].module));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum kz_ecosystem eco = size && data[0] & 1 ? KZ_ECO_NODE : KZ_ECO_PYTHON;
	char *text;

	if (!size)
		return 0;
	size--;
	text = malloc(size ? size : 1);
	CLAIM(text);
	memcpy(text, data + 1, size);
	check_requirement(eco, text, size);
	check_version(text, size);
	check_imports(eco, text, size);
	free(text);
	return 0;
}
