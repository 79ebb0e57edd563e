/*
 * PDF: values as they stand in the bytes, and the table of objects.  Nothing is built:
 * a value is a place, and is read again each time it is asked.  What is looked at is
 * counted and bounded.  Private to core/native.  Layer 3.
 * src: NAT-2, NAT-8; ISO 32000-1 sections 7.2, 7.3, 7.5
 */
#ifndef KZ_CORE_NATIVE_PDF_H
#define KZ_CORE_NATIVE_PDF_H

#include "base/buf.h"
#include "core/native/parts.h"

#define KZ_PDF_OBJECTS_MAX (1 << 20)
#define KZ_PDF_SECTIONS_MAX 1024           /* of cross-references: one an update */
#define KZ_PDF_NEST_MAX 200                /* arrays and dictionaries in each other */
#define KZ_PDF_TREE_MAX 100                /* levels of pages */
#define KZ_PDF_HOPS_MAX 32                 /* references to references */
#define KZ_PDF_WORK_MAX ((int64_t)1 << 30) /* bytes looked at */

enum kz_pdf_kind {
	KZ_PDF_NONE, /* absent, or not readable */
	KZ_PDF_NULL,
	KZ_PDF_BOOL,
	KZ_PDF_INT,
	KZ_PDF_REAL,
	KZ_PDF_NAME,
	KZ_PDF_STRING,
	KZ_PDF_ARRAY,
	KZ_PDF_DICT,
	KZ_PDF_REF,
};
struct kz_pdf_value {
	enum kz_pdf_kind kind;
	const unsigned char *p; /* the bytes it stands in, the file's or an object stream's */
	size_t n, at, end;      /* p[at..end) is the value */
	int64_t num;            /* of an int; the object of a reference */
	int64_t gen;            /* of a reference */
};

enum kz_pdf_state { KZ_PDF_UNSET, KZ_PDF_FREE, KZ_PDF_PLAIN, KZ_PDF_PACKED };
struct kz_pdf_entry {
	uint64_t at;    /* place of a plain one; object of the stream that a packed one is in */
	uint32_t index; /* in that stream */
	uint16_t gen;
	uint8_t state; /* enum kz_pdf_state */
	bool is_seen;  /* by the walk through the pages */
};
/* An object stream that was read. */
struct kz_pdf_pack {
	int64_t number;
	struct kz_buf bytes;
	int64_t count;
	int64_t (*heads)[2]; /* number and place of each object */
};
struct kz_pdf {
	struct kz_native_doc *doc;
	size_t base; /* what places are counted from */
	struct kz_pdf_entry *entries;
	int64_t count;             /* of entries */
	struct kz_pdf_pack *packs; /* in order of their numbers */
	size_t pack_count;
	struct kz_pdf_value trailer; /* the newest one: a dictionary */
	bool is_encrypted;
	bool is_unreadable;    /* some of its pages need the password */
	bool is_unpacking;     /* an object stream is being read: nothing it needs may be packed */
	int64_t work, skipped; /* bytes looked at; streams left unread for their length */
};

/* Skip white space and comments. out: the place of what follows */
size_t kz_pdf_blank(struct kz_pdf *f, const unsigned char *p, size_t n, size_t at);
/* Is that word there, and ends there? Moves at behind it. */
bool kz_pdf_word(struct kz_pdf *f, const unsigned char *p, size_t n, size_t *at, const char *word);
/* Read the value at a place, whole. out: KZ_PDF_NONE when there is none, it is malformed, or nested too deep */
struct kz_pdf_value kz_pdf_read(struct kz_pdf *f, const unsigned char *p, size_t n, size_t at);
/* A member of a dictionary, references as they are. out: KZ_PDF_NONE when absent, or dict is none */
struct kz_pdf_value kz_pdf_get(struct kz_pdf *f, const struct kz_pdf_value *dict, const char *key);
/* Walk an array: *at starts at 0. out: false at its end */
bool kz_pdf_each(struct kz_pdf *f, const struct kz_pdf_value *array, size_t *at,
		 struct kz_pdf_value *item);
/* Is it that name? */
bool kz_pdf_is_name(const struct kz_pdf_value *v, const char *name);

/* Follow references. out: KZ_PDF_NULL for what is not there, KZ_PDF_NONE for what cannot be read */
struct kz_pdf_value kz_pdf_follow(struct kz_pdf *f, struct kz_pdf_value v);
/* kz_pdf_get, followed. */
struct kz_pdf_value kz_pdf_find(struct kz_pdf *f, const struct kz_pdf_value *dict, const char *key);
/* The head "N G obj" of an indirect object. out: the value; at: behind it; false when that is not there */
bool kz_pdf_object(struct kz_pdf *f, size_t at, int64_t *num, int64_t *gen,
		   struct kz_pdf_value *value);

/* Read the cross-references. err: native_invalid, native_bomb, KZ_E_OS */
enum kz_rc kz_pdf_xref(struct kz_pdf *f, size_t start, struct kz_err *err);
/* Read those that stand in a stream; returns its dictionary. err: as kz_pdf_xref */
enum kz_rc kz_pdf_xref_stream(struct kz_pdf *f, size_t at, struct kz_pdf_value *dict,
			      struct kz_err *err);
/* Set an entry, unless a newer section did. err: native_bomb, KZ_E_OS */
enum kz_rc kz_pdf_enter(struct kz_pdf *f, int64_t number, const struct kz_pdf_entry *e,
			struct kz_err *err);

#endif
