/* Packages: content types, relationships, targets. */
#include "core/native/package.h"

#include <stdio.h>
#include <string.h>

#define PACKAGE "http://schemas.openxmlformats.org/package/2006/"
#define TYPES PACKAGE "content-types "
#define RELATIONS PACKAGE "relationships "

static enum kz_rc feed(void *arg, const void *p, size_t n, struct kz_err *err)
{
	return kz_xml_add(arg, p, n, err);
}

enum kz_rc kz_package_xml(const struct kz_package *k, const struct kz_zip_entry *e,
			  const struct kz_xml_sink *to, struct kz_err *err)
{
	struct kz_err why = KZ_ERR_INIT;
	struct kz_xml *x = NULL;
	enum kz_rc rc = kz_xml_open(to, &x, err);

	if (rc != KZ_OK)
		return rc;
	rc = kz_zip_read(&k->zip, e, feed, x, &why);
	if (rc == KZ_OK)
		rc = kz_xml_end(x, &why);
	kz_xml_free(x);
	if (rc == KZ_E_DATA && !*why.reason)
		return KZ_INVALID(err, "%s: %s", KZ_ZIP_SHOWN(e), why.text);
	if (rc != KZ_OK && err)
		*err = why;
	return rc;
}

/* The value of an attribute of no namespace; NULL when it is absent. */
static const char *attribute(const char *const *attributes, const char *name)
{
	for (; *attributes; attributes += 2) {
		if (strcmp(attributes[0], name) == 0)
			return attributes[1];
	}
	return NULL;
}

static enum kz_rc on_type(void *arg, const char *name, const char *const *attributes,
			  struct kz_err *err)
{
	struct kz_package *k = arg;
	bool is_default = strcmp(name, TYPES "Default") == 0;
	const char *fields[KZ_PACKAGE_FIELDS] = { 0 };

	if (!is_default && strcmp(name, TYPES "Override") != 0)
		return strcmp(name, TYPES "Types") == 0 ?
			       KZ_OK :
			       KZ_INVALID(err, "[Content_Types].xml: an element %s",
					  kz_native_shown(name, strlen(name)));
	fields[0] = attribute(attributes, is_default ? "Extension" : "PartName");
	fields[1] = attribute(attributes, "ContentType");
	if (!fields[0] || !fields[1] || (!is_default && fields[0][0] != '/'))
		return KZ_INVALID(err, "[Content_Types].xml: a type without a name");
	if (!is_default)
		fields[0]++;
	return kz_package_list_add(is_default ? &k->defaults : &k->overrides, fields, err);
}

enum kz_rc kz_package_types(struct kz_package *k, struct kz_err *err)
{
	static const char name[] = "[Content_Types].xml";
	const struct kz_xml_sink to = { .arg = k, .start = on_type };
	const struct kz_zip_entry *e = kz_zip_find(&k->zip, name, sizeof name - 1);
	const char *twice;
	enum kz_rc rc;

	if (!e)
		return KZ_INVALID(err, "no Office document: it has no [Content_Types].xml");
	rc = kz_package_xml(k, e, &to, err);
	if (rc != KZ_OK)
		return rc;
	twice = kz_package_list_sort(&k->defaults, true);
	if (!twice)
		twice = kz_package_list_sort(&k->overrides, true);
	if (twice)
		return KZ_INVALID(err, "[Content_Types].xml: %s is named twice",
				  kz_native_shown(twice, strlen(twice)));
	return KZ_OK;
}

const char *kz_package_type_of(const struct kz_package *k, const struct kz_zip_entry *e)
{
	char name[KZ_ZIP_NAME_MAX + 1];
	const char *dot;
	size_t row;

	memcpy(name, e->name, e->name_size);
	name[e->name_size] = '\0';
	row = kz_package_list_find(&k->overrides, name, true);
	if (row < k->overrides.count)
		return kz_package_field(&k->overrides, row, 1);
	dot = strrchr(name, '.');
	if (!dot || strchr(dot, '/'))
		return NULL;
	row = kz_package_list_find(&k->defaults, dot + 1, true);
	return row < k->defaults.count ? kz_package_field(&k->defaults, row, 1) : NULL;
}

static enum kz_rc on_relation(void *arg, const char *name, const char *const *attributes,
			      struct kz_err *err)
{
	const char *fields[KZ_PACKAGE_FIELDS] = { 0 };

	if (strcmp(name, RELATIONS "Relationship") != 0)
		return strcmp(name, RELATIONS "Relationships") == 0 ?
			       KZ_OK :
			       KZ_INVALID(err, "relationships with an element %s",
					  kz_native_shown(name, strlen(name)));
	fields[KZ_RELATION_ID] = attribute(attributes, "Id");
	fields[KZ_RELATION_TYPE] = attribute(attributes, "Type");
	fields[KZ_RELATION_TARGET] = attribute(attributes, "Target");
	fields[KZ_RELATION_MODE] = attribute(attributes, "TargetMode");
	if (!fields[KZ_RELATION_ID] || !fields[KZ_RELATION_TYPE] || !fields[KZ_RELATION_TARGET])
		return KZ_INVALID(err, "a relationship without id, type or target");
	return kz_package_list_add(arg, fields, err);
}

enum kz_rc kz_package_relations(const struct kz_package *k, const struct kz_zip_entry *e,
				struct kz_package_list *l, struct kz_err *err)
{
	const struct kz_xml_sink to = { .arg = l, .start = on_relation };
	enum kz_rc rc = kz_package_xml(k, e, &to, err);
	const char *twice = rc == KZ_OK ? kz_package_list_sort(l, false) : NULL;

	return twice ? KZ_INVALID(err, "%s: two relationships %s", KZ_ZIP_SHOWN(e),
				  kz_native_shown(twice, strlen(twice))) :
		       rc;
}

/* Append a target's components to a path that is "" or ends with '/'. out: false: too long, or above the root */
static bool join(char *path, size_t size, const char *target, size_t n)
{
	size_t have = strlen(path);

	for (const char *end = target + n; target < end;) {
		const char *slash = memchr(target, '/', (size_t)(end - target));
		size_t part = (size_t)((slash ? slash : end) - target);
		if (part == 2 && memcmp(target, "..", 2) == 0) {
			if (have == 0)
				return false;
			for (have--; have > 0 && path[have - 1] != '/';)
				have--;
		} else if (part > 0 && !(part == 1 && *target == '.')) {
			if (part + 2 > size - have)
				return false;
			memcpy(path + have, target, part);
			have += part;
			if (slash)
				path[have++] = '/';
		}
		target += part + (slash ? 1 : 0);
	}
	path[have] = '\0';
	return true;
}

static int hex(char c)
{
	const char *digits = "0123456789abcdef", *at = c ? strchr(digits, c | 0x20) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* %41 is A. */
static void unescape(char *p)
{
	char *to = p;

	for (; *p; p++) {
		if (*p == '%' && hex(p[1]) >= 0 && hex(p[2]) >= 0) {
			*to++ = (char)(hex(p[1]) * 16 + hex(p[2]));
			p += 2;
		} else {
			*to++ = *p;
		}
	}
	*to = '\0';
}

const struct kz_zip_entry *kz_package_target(const struct kz_package *k,
					     const struct kz_zip_entry *rels, const char *target)
{
	char path[2 * KZ_ZIP_NAME_MAX] = "";
	const struct kz_zip_entry *found;
	size_t base = rels->name_size, n = strcspn(target, "#");

	/* "word/_rels/document.xml.rels" belongs to "word/document.xml". */
	for (int up = 0; base > 0 && up < 2; up += rels->name[base] == '/')
		base--;
	if (*target != '/' && base > 0) {
		memcpy(path, rels->name, base + 1);
		path[base + 1] = '\0';
	}
	if (!join(path, sizeof path, target, n))
		return NULL;
	found = kz_zip_find(&k->zip, path, strlen(path));
	if (found)
		return found;
	unescape(path);
	return kz_zip_find(&k->zip, path, strlen(path));
}
