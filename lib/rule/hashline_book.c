/* Pages and their versions. */
#include "rule/hashline_book.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "rule/path.h"
#include "rule/tag.h"

static enum kz_rc no_memory(struct kz_err *err)
{
	return kz_err_set(err, KZ_E_OS, "no memory for the record of shown lines");
}

static void version_release(struct kz_version *v)
{
	free(v->own);
	kz_spans_release(&v->seen);
	memset(v, 0, sizeof *v);
}

static void page_free(struct kz_page *p)
{
	for (unsigned i = 0; i < p->count; i++)
		version_release(&p->version[i]);
	free(p->path);
	free(p);
}

void kz_book_release(struct kz_book *b)
{
	for (size_t i = 0; i < b->pages; i++)
		page_free(b->page[i]);
	for (size_t i = 0; i < b->registers; i++)
		free(b->reg[i].own);
	free(b->backing);
	memset(b, 0, sizeof *b);
}

struct kz_page *kz_book_find(const struct kz_book *b, const char *path)
{
	for (size_t i = 0; i < b->pages; i++)
		if (strcmp(b->page[i]->path, path) == 0)
			return b->page[i];
	return NULL;
}

static bool has_tag(const struct kz_page *p, uint16_t tag)
{
	for (unsigned i = 0; i < p->count; i++)
		if (p->version[i].tag == tag)
			return true;
	return false;
}

const struct kz_page *kz_book_alike(const struct kz_book *b, const char *base, uint16_t tag)
{
	const struct kz_page *found = NULL;

	for (size_t i = 0; i < b->pages; i++) {
		const struct kz_page *p = b->page[i];

		if (strcmp(kz_path_base(p->path), base) != 0 || !has_tag(p, tag))
			continue;
		if (found)
			return NULL;
		found = p;
	}
	return found;
}

static void remove_page(struct kz_book *b, size_t i)
{
	page_free(b->page[i]);
	b->page[i] = b->page[--b->pages];
}

void kz_book_forget(struct kz_book *b, const char *path)
{
	for (size_t i = 0; i < b->pages; i++)
		if (strcmp(b->page[i]->path, path) == 0) {
			remove_page(b, i);
			return;
		}
}

static size_t oldest_page(const struct kz_book *b)
{
	size_t at = 0;

	for (size_t i = 1; i < b->pages; i++)
		if (b->page[i]->used < b->page[at]->used)
			at = i;
	return at;
}

static enum kz_rc new_page(struct kz_book *b, const char *path, struct kz_page **out,
			   struct kz_err *err)
{
	struct kz_page *p = calloc(1, sizeof *p);

	if (p)
		p->path = kz_str_dup(path);
	if (!p || !p->path) {
		free(p);
		return no_memory(err);
	}
	if (b->pages == KZ_BOOK_PAGES)
		remove_page(b, oldest_page(b));
	b->page[b->pages++] = p;
	*out = p;
	return KZ_OK;
}

/* A number only where the order changes, so that showing the same again changes nothing. */
static void touch(struct kz_book *b, struct kz_page *p)
{
	if (p->used == 0 || p->used != b->seq)
		p->used = ++b->seq;
}

/* Make the i-th version the newest. */
static void to_front(struct kz_page *p, unsigned i)
{
	struct kz_version v = p->version[i];

	memmove(p->version + 1, p->version, i * sizeof *p->version);
	p->version[0] = v;
}

static enum kz_rc push(struct kz_page *p, const char *text, size_t n, struct kz_err *err)
{
	struct kz_version v = { .n = n };

	v.own = malloc(n ? n : 1);
	if (!v.own)
		return no_memory(err);
	if (n)
		memcpy(v.own, text, n);
	v.text = v.own;
	v.tag = kz_tag(text, n);
	v.is_ended = n == 0 || text[n - 1] == '\n';
	if (p->count == KZ_BOOK_VERSIONS)
		version_release(&p->version[--p->count]);
	p->version[p->count++] = v;
	to_front(p, p->count - 1);
	return KZ_OK;
}

enum kz_rc kz_book_show(struct kz_book *b, const char *path, const char *text, size_t n,
			bool has_bom, uint32_t lines, const struct kz_spans *seen,
			struct kz_version **out, struct kz_err *err)
{
	struct kz_page *p = kz_book_find(b, path);
	enum kz_rc rc = p ? KZ_OK : new_page(b, path, &p, err);
	struct kz_version *v;
	unsigned i;

	if (rc != KZ_OK)
		return rc;
	touch(b, p);
	for (i = 0; i < p->count; i++)
		if (p->version[i].n == n && (n == 0 || memcmp(p->version[i].text, text, n) == 0))
			break;
	if (i < p->count)
		to_front(p, i);
	else
		rc = push(p, text, n, err);
	if (rc != KZ_OK)
		return rc;
	v = &p->version[0];
	if (i > 0 || v->seq == 0)
		v->seq = p->used;
	v->has_bom = has_bom;
	v->lines = lines;
	for (size_t k = 0; k < seen->count && rc == KZ_OK; k++)
		rc = kz_spans_add(&v->seen, seen->span[k].from, seen->span[k].to, err);
	if (out)
		*out = v;
	return rc;
}

enum kz_rc kz_book_move(struct kz_book *b, const char *path, const char *to, struct kz_err *err)
{
	struct kz_page *p = kz_book_find(b, path);
	char *name = kz_str_dup(to);

	if (!name)
		return no_memory(err);
	if (!p || strcmp(path, to) == 0) {
		free(name);
		return KZ_OK;
	}
	kz_book_forget(b, to);
	free(p->path);
	p->path = name;
	touch(b, p);
	return KZ_OK;
}

bool kz_book_shrink(struct kz_book *b, uint64_t since)
{
	struct kz_page *from = NULL;
	size_t at;

	if (b->pages == 0)
		return false;
	at = oldest_page(b);
	if (b->page[at]->used < since) {
		remove_page(b, at);
		return true;
	}
	for (size_t i = 0; i < b->pages; i++)
		if (b->page[i]->count > 1 && (!from || b->page[i]->used < from->used))
			from = b->page[i];
	if (!from)
		return false;
	version_release(&from->version[--from->count]);
	return true;
}
