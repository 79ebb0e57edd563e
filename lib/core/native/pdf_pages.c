/* PDF: the catalogue, the tree of pages, and what stands on them. */
#include "core/native/pdf_stream.h"

/* Mark an object as met. out: false: it was before */
static bool meet(struct kz_pdf *f, const struct kz_pdf_value *ref)
{
	if (ref->num >= f->count)
		return true;
	if (f->entries[ref->num].is_seen)
		return false;
	return f->entries[ref->num].is_seen = true;
}

static enum kz_rc judge_content(struct kz_pdf *f, const struct kz_pdf_value *ref,
				struct kz_err *err)
{
	struct kz_pdf_value dict;
	bool known;
	enum kz_rc rc;

	if (ref->kind != KZ_PDF_REF)
		return KZ_INVALID(err, "a page's content is no stream");
	if (!meet(f, ref))
		return KZ_OK;
	dict = kz_pdf_follow(f, *ref);
	if (dict.kind == KZ_PDF_NULL)
		return KZ_OK;
	rc = kz_pdf_expand(f, &dict, KZ_PDF_SURE, NULL, &known, err);
	return rc == KZ_OK ? rc :
			     kz_err_wrap(err, "a page's content, object %lld", (long long)ref->num);
}

static enum kz_rc judge_page(struct kz_pdf *f, const struct kz_pdf_value *page, struct kz_err *err)
{
	struct kz_pdf_value contents = kz_pdf_get(f, page, "Contents"), item;
	struct kz_pdf_value what = kz_pdf_follow(f, contents);
	size_t at = 0;

	f->doc->found->pages++;
	if (contents.kind == KZ_PDF_NONE || what.kind == KZ_PDF_NULL)
		return KZ_OK;
	if (what.kind != KZ_PDF_ARRAY)
		return judge_content(f, &contents, err);
	while (kz_pdf_each(f, &what, &at, &item)) {
		enum kz_rc rc = judge_content(f, &item, err);
		if (rc != KZ_OK)
			return rc;
	}
	return KZ_OK;
}

static enum kz_rc judge_node(struct kz_pdf *f, const struct kz_pdf_value *ref, int depth,
			     struct kz_err *err)
{
	struct kz_pdf_value node = kz_pdf_follow(f, *ref), kids, item;
	bool is_new = ref->kind == KZ_PDF_REF && meet(f, ref);
	size_t at = 0;

	if (node.kind == KZ_PDF_NONE && ref->kind == KZ_PDF_REF && f->is_encrypted) {
		f->is_unreadable = true;
		return KZ_OK;
	}
	if (node.kind != KZ_PDF_DICT || ref->kind != KZ_PDF_REF)
		return KZ_INVALID(err, "the tree of pages is damaged");
	kids = kz_pdf_find(f, &node, "Kids");
	if (kids.kind != KZ_PDF_ARRAY) {
		if (is_new)
			return judge_page(f, &node, err);
		f->doc->found->pages++;
		kz_native_warn(f->doc, "page object %lld is there twice", (long long)ref->num);
		return KZ_OK;
	}
	if (!is_new)
		return KZ_INVALID(err, "the tree of pages goes round in a circle");
	if (depth == KZ_PDF_TREE_MAX)
		return KZ_INVALID(err, "the tree of pages is too deep");
	while (kz_pdf_each(f, &kids, &at, &item)) {
		enum kz_rc rc = judge_node(f, &item, depth + 1, err);
		if (rc != KZ_OK)
			return rc;
		if (f->work > KZ_PDF_WORK_MAX)
			return KZ_BOMB(err, "the document takes too long to read");
	}
	return KZ_OK;
}

enum kz_rc kz_pdf_pages(struct kz_pdf *f, struct kz_err *err)
{
	struct kz_pdf_value root = kz_pdf_find(f, &f->trailer, "Root"), type, pages, count;
	enum kz_rc rc;

	if (f->is_encrypted && root.kind == KZ_PDF_NONE)
		return KZ_OK; /* in a stream that needs the password */
	type = kz_pdf_find(f, &root, "Type");
	if (!kz_pdf_is_name(&type, "Catalog"))
		return KZ_INVALID(err, "the document has no catalogue");
	pages = kz_pdf_get(f, &root, "Pages");
	f->doc->found->pages = 0;
	rc = judge_node(f, &pages, 0, err);
	if (rc != KZ_OK || f->is_unreadable) {
		f->doc->found->pages = -1;
		return rc;
	}
	if (f->doc->found->pages == 0)
		return KZ_INVALID(err, "the document has no page");
	root = kz_pdf_follow(f, pages);
	count = kz_pdf_find(f, &root, "Count");
	if (count.kind != KZ_PDF_INT || count.num != f->doc->found->pages)
		kz_native_warn(f->doc, "the document has %lld pages and says otherwise",
			       (long long)f->doc->found->pages);
	return KZ_OK;
}
