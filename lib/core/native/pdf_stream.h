/*
 * PDF: streams, the objects in them, and the pages.  Private to core/native.  Layer 3.
 * src: NAT-2, NAT-8; ISO 32000-1 sections 7.4, 7.5.7, 7.7
 */
#ifndef KZ_CORE_NATIVE_PDF_STREAM_H
#define KZ_CORE_NATIVE_PDF_STREAM_H

#include "core/native/pdf.h"

/* How a stream is read. */
enum kz_pdf_care {
	KZ_PDF_SURE,  /* content and structure: too much is a bomb */
	KZ_PDF_LIGHT, /* the rest: what is too much is left unread */
};
/* Where a stream's bytes are. err: native_invalid */
enum kz_rc kz_pdf_extent(struct kz_pdf *f, const struct kz_pdf_value *dict, size_t *from,
			 size_t *size, struct kz_err *err);
/*
 * Expand a stream as far as its filters are known here (ASCII85, ASCIIHex, Flate).
 * in: dict stands in the file. out: into (may be NULL: only judged); known: false, a filter
 *   is not known, into is left empty. err: native_invalid, native_bomb, KZ_E_OS
 */
enum kz_rc kz_pdf_expand(struct kz_pdf *f, const struct kz_pdf_value *dict, enum kz_pdf_care care,
			 struct kz_buf *into, bool *known, struct kz_err *err);
/* The object stream of that number, read once. err: native_invalid, native_bomb, KZ_E_OS */
enum kz_rc kz_pdf_pack(struct kz_pdf *f, int64_t number, const struct kz_pdf_pack **out,
		       struct kz_err *err);
/* A packed object. out: KZ_PDF_NONE when it is not where the entry says */
struct kz_pdf_value kz_pdf_unpack(struct kz_pdf *f, int64_t number, const struct kz_pdf_entry *e);
/* The catalogue and its pages. err: native_invalid, native_bomb, KZ_E_OS */
enum kz_rc kz_pdf_pages(struct kz_pdf *f, struct kz_err *err);
/* Undo a PNG predictor in place. in: columns bytes a row, pixel bytes a sample. out: the new length, or SIZE_MAX when it does not fit */
size_t kz_pdf_unpredict(unsigned char *p, size_t n, size_t columns, size_t pixel);
/* Undo ASCII85 or ASCIIHex. err: native_invalid, KZ_E_OS */
enum kz_rc kz_pdf_ascii(bool is_hex, const unsigned char *p, size_t n, struct kz_buf *into,
			struct kz_err *err);

#endif
