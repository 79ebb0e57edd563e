/*
 * Native documents: which files are judged as PDF or Office documents, what such a
 * document must say it is, and when an answer may claim one.  The readers of the bytes
 * are core/native.  Layer 2, pure.
 * src: NAT-1 to NAT-9, INV-45
 */
#ifndef KZ_RULE_NATIVE_H
#define KZ_RULE_NATIVE_H

#include <stdbool.h>
#include <stddef.h>

enum kz_native_kind {
	KZ_NATIVE_NONE, /* not ours to judge [NAT-9] */
	KZ_NATIVE_PDF,
	KZ_NATIVE_DOCX,
	KZ_NATIVE_PPTX,
	KZ_NATIVE_XLSX,
	KZ_NATIVE_KINDS,
};

/*
 * The kind that a name claims: its last extension in any case.  Dots and spaces at the
 * end, and characters that cannot be seen, count for nothing [NAT-7].
 * in: name: a file name or path; NULL is no kind
 */
enum kz_native_kind kz_native_kind_of_name(const char *name);
/* The kind of a media type, parameters and case aside; NULL is none. */
enum kz_native_kind kz_native_kind_of_media(const char *media_type);
/* By its own word ("pdf"); KZ_NATIVE_NONE when there is none of that name. */
enum kz_native_kind kz_native_kind_find(const char *word);
/* "pdf", "docx", "pptx", "xlsx", or NULL for none; static. */
const char *kz_native_kind_word(enum kz_native_kind k);

/* The names of the parts of an Office document, without a leading slash; NULL when k is none of them. */
const char *kz_native_main_part(enum kz_native_kind k);
/* The kind whose main part has this content type; KZ_NATIVE_NONE for all others (macros, templates). */
enum kz_native_kind kz_native_kind_of_main_type(const char *content_type);
/* Is that the root element ("NAMESPACE NAME") of the main part of k, transitional or strict? */
bool kz_native_root_fits(enum kz_native_kind k, const char *element);
/* Is it a relationship of that last word ("officeDocument", "slide"), transitional or strict? */
bool kz_native_relation_is(const char *type, const char *word);
/*
 * What the main part lists by relationship: is this element ("NAMESPACE NAME") one that
 * must resolve (slides and their masters, sheets)?
 * out: the content type that the target must have begins with this, or NULL for no such element; static
 */
const char *kz_native_listed(enum kz_native_kind k, const char *element);
/* Is that attribute ("NAMESPACE NAME") the relationship's id? */
bool kz_native_is_relation_id(const char *attribute);

/* One attachment of an answer, as its reference says. */
struct kz_native_attachment {
	const char *name;       /* may be NULL */
	const char *media_type; /* may be NULL */
	bool is_durable;
	bool is_validated;
};
/*
 * May an answer claim a document of this kind?  Only with an attachment that is durable,
 * was validated, and is of the kind by extension or media type; and none that is of
 * another kind by its extension counts [NAT-6, INV-45].  Nothing asked for: yes.
 */
bool kz_native_gate(enum kz_native_kind requested, const struct kz_native_attachment *a,
		    size_t count);

#endif
