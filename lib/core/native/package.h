/*
 * Packages: what the parts of an Office document are called, typed and related.  Private
 * to core/native.  Layer 3.
 * src: ECMA-376 part 2 (OPC)
 */
#ifndef KZ_CORE_NATIVE_PACKAGE_H
#define KZ_CORE_NATIVE_PACKAGE_H

#include "base/buf.h"
#include "core/native/zip.h"
#include "port/xml.h"

#define KZ_PACKAGE_LIST_MAX 65536 /* types, or relationships of one part */
#define KZ_PACKAGE_TEXT_MAX ((size_t)16 << 20)
#define KZ_PACKAGE_FIELDS 4

/* A list of short texts in fields, in the order of the first one, case aside. */
struct kz_package_list {
	size_t (*rows)[KZ_PACKAGE_FIELDS]; /* places in text */
	size_t count, room;
	struct kz_buf text;
};
/* Make it empty; own: kz_package_list_release. */
void kz_package_list_start(struct kz_package_list *l);
void kz_package_list_release(struct kz_package_list *l);
#define kz_auto_package_list kz_auto(kz_package_list_release)
/* Append a row; NULL fields are "". err: native_bomb, KZ_E_OS */
enum kz_rc kz_package_list_add(struct kz_package_list *l,
			       const char *const fields[KZ_PACKAGE_FIELDS], struct kz_err *err);
/* Put it in order. out: the field of the first row that has the same first field as another, or NULL */
const char *kz_package_list_sort(struct kz_package_list *l, bool fold);
/* A field of a row; borrowed until the next change. */
const char *kz_package_field(const struct kz_package_list *l, size_t row, size_t field);
/* The row with that first field; count when there is none. in: sorted with the same fold */
size_t kz_package_list_find(const struct kz_package_list *l, const char *first, bool fold);

struct kz_package {
	struct kz_zip zip;
	struct kz_package_list defaults;  /* extension, content type */
	struct kz_package_list overrides; /* part name, content type */
};

/* The fields of a relationship. */
enum { KZ_RELATION_ID, KZ_RELATION_TYPE, KZ_RELATION_TARGET, KZ_RELATION_MODE };

/* Read [Content_Types].xml. err: native_invalid, native_bomb, KZ_E_OS */
enum kz_rc kz_package_types(struct kz_package *k, struct kz_err *err);
/* The content type of an entry; NULL when it has none. */
const char *kz_package_type_of(const struct kz_package *k, const struct kz_zip_entry *e);
/* Read a .rels part; ids are unique. out: l, started by the caller. err: as kz_package_types */
enum kz_rc kz_package_relations(const struct kz_package *k, const struct kz_zip_entry *e,
				struct kz_package_list *l, struct kz_err *err);
/*
 * The entry a target names, seen from the part that a .rels part belongs to.
 * in: rels: the .rels part. out: NULL when there is none
 */
const struct kz_zip_entry *kz_package_target(const struct kz_package *k,
					     const struct kz_zip_entry *rels, const char *target);
/* Read an XML part into a sink; what the sink or the reader refuses names the part. err: native_invalid, KZ_E_OS, the sink's */
enum kz_rc kz_package_xml(const struct kz_package *k, const struct kz_zip_entry *e,
			  const struct kz_xml_sink *to, struct kz_err *err);

#endif
