/* Office documents: the package, its main part, and every other part. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "core/native/package.h"

/* The main part, as it is read. */
struct main_part {
	struct kz_native_doc *doc;
	const struct kz_package *package;
	const struct kz_zip_entry *rels; /* NULL: it has none */
	struct kz_package_list relations;
	int depth;
	size_t listed;
};

static enum kz_rc level_1(struct kz_native_doc *d, const struct kz_zip *z, struct kz_err *err)
{
	if (!kz_zip_find(z, "[Content_Types].xml", 19))
		return KZ_INVALID(err, "no Office document: it has no [Content_Types].xml");
	for (int k = KZ_NATIVE_DOCX; k < KZ_NATIVE_KINDS; k++) {
		const char *part = kz_native_main_part((enum kz_native_kind)k);
		if (!kz_zip_find(z, part, strlen(part)))
			continue;
		return (enum kz_native_kind)k == d->kind ?
			       KZ_OK :
			       kz_refuse(err, KZ_R_NATIVE_MISMATCH, "a %s document by its parts",
					 kz_native_kind_word((enum kz_native_kind)k));
	}
	return KZ_INVALID(err, "no %s", kz_native_main_part(d->kind));
}

/* The one part that the package is about. */
static enum kz_rc find_main(struct kz_package *k, const struct kz_zip_entry **out,
			    struct kz_err *err)
{
	kz_auto_package_list struct kz_package_list l;
	const struct kz_zip_entry *rels = kz_zip_find(&k->zip, "_rels/.rels", 11);
	const char *target = NULL;
	enum kz_rc rc;

	kz_package_list_start(&l);
	if (!rels)
		return KZ_INVALID(err, "no Office document: it has no _rels/.rels");
	rc = kz_package_relations(k, rels, &l, err);
	for (size_t i = 0; rc == KZ_OK && i < l.count; i++) {
		if (!kz_native_relation_is(kz_package_field(&l, i, KZ_RELATION_TYPE),
					   "officeDocument"))
			continue;
		if (target)
			return KZ_INVALID(err, "the package has two main parts");
		target = kz_package_field(&l, i, KZ_RELATION_TARGET);
	}
	if (rc != KZ_OK)
		return rc;
	if (!target)
		return KZ_INVALID(err, "the package has no main part");
	*out = kz_package_target(k, rels, target);
	return *out ? KZ_OK :
		      KZ_INVALID(err, "the main part %s is missing",
				 kz_native_shown(target, strlen(target)));
}

static enum kz_rc judge_main_type(const struct kz_package *k, const struct kz_zip_entry *e,
				  enum kz_native_kind wanted, struct kz_err *err)
{
	const char *type = kz_package_type_of(k, e);
	enum kz_native_kind kind;

	if (!type)
		return KZ_INVALID(err, "%s: it has no content type", KZ_ZIP_SHOWN(e));
	kind = kz_native_kind_of_main_type(type);
	if (kind == wanted)
		return KZ_OK;
	if (kind != KZ_NATIVE_NONE)
		return kz_refuse(err, KZ_R_NATIVE_MISMATCH, "a %s document by its main part",
				 kz_native_kind_word(kind));
	return kz_refuse(err, KZ_R_NATIVE_MISMATCH, "the main part is %s",
			 kz_native_shown(type, strlen(type)));
}

/* A slide or sheet that the main part lists is there, and is one. */
static enum kz_rc judge_listed(const struct main_part *m, const char *type_begins, const char *id,
			       struct kz_err *err)
{
	const struct kz_zip_entry *e = NULL;
	const char *type, *shown = kz_native_shown(id ? id : "", id ? strlen(id) : 0);
	size_t row = id ? kz_package_list_find(&m->relations, id, false) : m->relations.count;

	if (row < m->relations.count)
		e = kz_package_target(m->package, m->rels,
				      kz_package_field(&m->relations, row, KZ_RELATION_TARGET));
	if (!e)
		return KZ_INVALID(err, "the main part lists %s, which is missing", shown);
	type = kz_package_type_of(m->package, e);
	if (!type || strncasecmp(type, type_begins, strlen(type_begins)) != 0)
		return KZ_INVALID(err, "the main part lists %s, which is of another type", shown);
	return KZ_OK;
}

static enum kz_rc on_main(void *arg, const char *name, const char *const *attributes,
			  struct kz_err *err)
{
	struct main_part *m = arg;
	const char *type_begins = kz_native_listed(m->doc->kind, name), *id = NULL;

	if (m->depth++ == 0 && !kz_native_root_fits(m->doc->kind, name))
		return KZ_INVALID(err, "the main part is an element %s",
				  kz_native_shown(name, strlen(name)));
	if (!type_begins)
		return KZ_OK;
	m->listed++;
	for (; *attributes; attributes += 2) {
		if (kz_native_is_relation_id(attributes[0]))
			id = attributes[1];
	}
	return judge_listed(m, type_begins, id, err);
}

static enum kz_rc judge_main(struct kz_native_doc *d, struct kz_package *k,
			     const struct kz_zip_entry *e, struct kz_err *err)
{
	struct main_part m = { .doc = d, .package = k };
	const struct kz_xml_sink to = { .arg = &m, .start = on_main };
	char rels[KZ_ZIP_NAME_MAX + 16];
	size_t base = e->name_size;
	enum kz_rc rc = judge_main_type(k, e, d->kind, err);

	while (base > 0 && e->name[base - 1] != '/')
		base--;
	(void)snprintf(rels, sizeof rels, "%.*s_rels/%.*s.rels", (int)base, e->name,
		       (int)(e->name_size - base), e->name + base);
	m.rels = kz_zip_find(&k->zip, rels, strlen(rels));
	kz_package_list_start(&m.relations);
	if (rc == KZ_OK && m.rels)
		rc = kz_package_relations(k, m.rels, &m.relations, err);
	if (rc == KZ_OK)
		rc = kz_package_xml(k, e, &to, err);
	kz_package_list_release(&m.relations);
	if (rc == KZ_OK && d->kind == KZ_NATIVE_XLSX && m.listed == 0)
		return KZ_INVALID(err, "the workbook has no sheet");
	return rc;
}

/* Relationships inside the package that lead nowhere are odd, not wrong: real programs write some. */
static enum kz_rc judge_relations(struct kz_native_doc *d, const struct kz_package *k,
				  const struct kz_zip_entry *e, struct kz_err *err)
{
	kz_auto_package_list struct kz_package_list l;
	enum kz_rc rc;

	kz_package_list_start(&l);
	rc = kz_package_relations(k, e, &l, err);
	for (size_t i = 0; rc == KZ_OK && i < l.count; i++) {
		const char *target = kz_package_field(&l, i, KZ_RELATION_TARGET);
		if (strcmp(kz_package_field(&l, i, KZ_RELATION_MODE), "External") != 0 &&
		    *target != '#' && *target && !kz_package_target(k, e, target))
			kz_native_warn(d, "%s: %s is missing", KZ_ZIP_SHOWN(e),
				       kz_native_shown(target, strlen(target)));
	}
	return rc;
}

static bool ends_with(const char *p, size_t n, const char *end)
{
	size_t size = strlen(end);

	return n >= size && strncasecmp(p + n - size, end, size) == 0;
}

/* Every part: its bytes are what the archive says, and XML where it is typed so. */
static enum kz_rc judge_part(struct kz_native_doc *d, const struct kz_package *k,
			     const struct kz_zip_entry *e, struct kz_err *err)
{
	static const struct kz_xml_sink nothing = { 0 };
	const char *type;

	if (ends_with(e->name, e->name_size, ".rels"))
		return judge_relations(d, k, e, err);
	type = kz_package_type_of(k, e);
	if (!type && !ends_with(e->name, e->name_size, "/") &&
	    e != kz_zip_find(&k->zip, "[Content_Types].xml", 19))
		kz_native_warn(d, "%s: it has no content type", KZ_ZIP_SHOWN(e));
	if (type &&
	    (ends_with(type, strlen(type), "+xml") || ends_with(type, strlen(type), "/xml")))
		return kz_package_xml(k, e, &nothing, err);
	return kz_zip_read(&k->zip, e, NULL, NULL, err);
}

static enum kz_rc level_2(struct kz_native_doc *d, struct kz_package *k, struct kz_err *err)
{
	const struct kz_zip_entry *main_entry = NULL;
	enum kz_rc rc = kz_zip_verify(&k->zip, err);

	if (rc == KZ_OK)
		rc = kz_package_types(k, err);
	if (rc == KZ_OK)
		rc = find_main(k, &main_entry, err);
	if (rc == KZ_OK)
		rc = judge_main(d, k, main_entry, err);
	for (size_t i = 0; rc == KZ_OK && i < k->zip.count; i++) {
		if (&k->zip.entries[i] != main_entry)
			rc = judge_part(d, k, &k->zip.entries[i], err);
	}
	return rc;
}

enum kz_rc kz_native_office(struct kz_native_doc *d, int level, struct kz_err *err)
{
	struct kz_package k = { 0 };
	enum kz_rc rc = kz_zip_open(d, level >= 2, &k.zip, err);

	kz_package_list_start(&k.defaults);
	kz_package_list_start(&k.overrides);
	if (rc == KZ_OK)
		rc = level >= 2 ? level_2(d, &k, err) : level_1(d, &k.zip, err);
	kz_package_list_release(&k.defaults);
	kz_package_list_release(&k.overrides);
	kz_zip_release(&k.zip);
	return rc;
}
