/* Answers of S3 servers, from XML. */
#include "core/files/s3_answer.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/date.h"
#include "base/str.h"
#include "port/xml.h"

/* Where a reader stands: names of the elements around, by depth. */
struct reader {
	int depth;
	bool is_right;     /* the outermost element is the one that was asked for */
	bool is_item;      /* inside ListBucketResult/Contents */
	bool has_cut_flag; /* IsTruncated was there */
	char field[32];    /* the innermost element, where its text is wanted */
	struct kz_buf text;
	const char *after;
	struct kz_s3_page *page;
	struct kz_s3_item item;
	bool has_size;
	char *code; /* of an error */
};

/* The name without its namespace. */
static const char *bare(const char *name)
{
	const char *space = strrchr(name, ' ');

	return space ? space + 1 : name;
}

static enum kz_rc malformed(struct kz_err *err, const char *what)
{
	return kz_err_set(err, KZ_E_DATA, "%s", what);
}

static enum kz_rc on_start(void *arg, const char *name, const char *const *attributes,
			   struct kz_err *err)
{
	struct reader *r = arg;

	(void)attributes;
	name = bare(name);
	r->depth++;
	kz_buf_clear(&r->text);
	kz_str_copy(r->field, sizeof(r->field), name, NULL);
	if (r->depth == 1)
		r->is_right = strcmp(name, r->code ? "Error" : "ListBucketResult") == 0;
	if (!r->is_right)
		return malformed(err, "it is no such answer");
	if (r->page && r->depth == 2 && strcmp(name, "Contents") == 0) {
		r->is_item = true;
		r->has_size = false;
		r->item = (struct kz_s3_item){ NULL, 0, 0 };
	}
	return KZ_OK;
}

static enum kz_rc on_text(void *arg, const char *p, size_t n, struct kz_err *err)
{
	struct reader *r = arg;

	return *r->field ? kz_buf_add(&r->text, p, n, err) : KZ_OK;
}

static enum kz_rc take_item(struct reader *r, struct kz_err *err)
{
	struct kz_s3_page *page = r->page;
	const char *last = page->count > 0 ? page->items[page->count - 1].key : r->after;

	r->is_item = false;
	if (!r->item.key || !r->has_size)
		return malformed(err, "an entry without a name or a size");
	if (strcmp(r->item.key, last) <= 0)
		return malformed(err, "names that do not ascend");
	if (page->count == KZ_S3_PAGE_NAMES)
		return malformed(err, "too many names on a page");
	if (!page->items) {
		page->items = calloc(KZ_S3_PAGE_NAMES, sizeof(*page->items));
		if (!page->items)
			return kz_err_set(err, KZ_E_OS, "out of memory");
	}
	page->items[page->count++] = r->item;
	r->item.key = NULL;
	return KZ_OK;
}

/* "2026-01-31T23:59:59.000Z", with or without the fraction. */
static int64_t read_time(const char *s)
{
	char text[32];
	int64_t t = 0;

	if (strlen(s) < 20 || kz_str_format(text, sizeof(text), NULL, "%.19sZ", s) ||
	    !kz_date_parse(text, &t))
		return 0;
	return t;
}

/* An element of Contents ended. */
static enum kz_rc item_field(struct reader *r, struct kz_err *err)
{
	const char *text = kz_buf_str(&r->text);

	if (strcmp(r->field, "Key") == 0) {
		if (r->item.key || r->text.len == 0 || r->text.len >= KZ_S3_KEY)
			return malformed(err, "an entry with two names, none, or one too long");
		r->item.key = kz_str_dup(text);
		return r->item.key ? KZ_OK : kz_err_set(err, KZ_E_OS, "out of memory");
	}
	if (strcmp(r->field, "Size") == 0) {
		if (r->has_size ||
		    kz_str_int(text, 0, (int64_t)1 << 53, &r->item.size, NULL) != KZ_OK)
			return malformed(err, "an entry with a size that is none");
		r->has_size = true;
	}
	if (strcmp(r->field, "LastModified") == 0)
		r->item.mtime_s = read_time(text);
	return KZ_OK;
}

/* An element of ListBucketResult ended. */
static enum kz_rc page_field(struct reader *r, struct kz_err *err)
{
	const char *text = kz_buf_str(&r->text);

	if (strcmp(r->field, "IsTruncated") == 0) {
		r->page->is_cut = strcmp(text, "true") == 0;
		if (r->has_cut_flag || (!r->page->is_cut && strcmp(text, "false") != 0))
			return malformed(err, "it does not say whether there is more");
		r->has_cut_flag = true;
	}
	if (strcmp(r->field, "NextContinuationToken") == 0 &&
	    (r->page->token[0] || strlen(text) != r->text.len ||
	     kz_str_copy(r->page->token, sizeof(r->page->token), text, NULL)))
		return malformed(err, "a token that is too long, or two of them");
	return KZ_OK;
}

static enum kz_rc on_end(void *arg, const char *name, struct kz_err *err)
{
	struct reader *r = arg;
	int depth = r->depth--;
	enum kz_rc rc = KZ_OK;

	if (r->code && depth == 2 && strcmp(r->field, "Code") == 0 && !*r->code)
		kz_str_copy(r->code, KZ_S3_CODE, kz_buf_str(&r->text), NULL);
	else if (r->page && depth == 3 && r->is_item)
		rc = item_field(r, err);
	else if (r->page && depth == 2 && r->is_item && strcmp(bare(name), "Contents") == 0)
		rc = take_item(r, err);
	else if (r->page && depth == 2)
		rc = page_field(r, err);
	/* Text behind a closed element belongs to nobody. */
	r->field[0] = '\0';
	kz_buf_clear(&r->text);
	return rc;
}

static enum kz_rc parse(struct reader *r, const void *p, size_t n, struct kz_err *err)
{
	const struct kz_xml_sink sink = { r, on_start, on_end, on_text };
	struct kz_xml *x = NULL;
	enum kz_rc rc = kz_xml_open(&sink, &x, err);

	if (!rc)
		rc = kz_xml_add(x, p, n, err);
	if (!rc)
		rc = kz_xml_end(x, err);
	kz_xml_free(x);
	kz_buf_release(&r->text);
	free(r->item.key);
	return rc;
}

enum kz_rc kz_s3_page_read(const void *p, size_t n, const char *after, struct kz_s3_page *out,
			   struct kz_err *err)
{
	struct reader r = { .after = after, .page = out, .text = KZ_BUF_INIT(8192) };
	enum kz_rc rc;

	memset(out, 0, sizeof(*out));
	rc = parse(&r, p, n, err);
	if (rc)
		return rc;
	if (!r.has_cut_flag)
		return malformed(err, "it does not say whether there is more");
	if (out->is_cut && (!out->token[0] || out->count == 0))
		return malformed(err, "there is more, and no way to it");
	if (!out->is_cut)
		out->token[0] = '\0';
	return KZ_OK;
}

void kz_s3_page_release(struct kz_s3_page *page)
{
	for (size_t i = 0; i < page->count; i++)
		free(page->items[i].key);
	free(page->items);
	memset(page, 0, sizeof(*page));
}

void kz_s3_error_code(const void *p, size_t n, char out[KZ_S3_CODE])
{
	struct reader r = { .code = out, .after = "", .text = KZ_BUF_INIT(8192) };

	out[0] = '\0';
	/* Cut or not: the code comes first. */
	parse(&r, p, n, NULL);
	for (const char *c = out; *c; c++)
		if (!isalnum((unsigned char)*c)) {
			out[0] = '\0';
			return;
		}
}
