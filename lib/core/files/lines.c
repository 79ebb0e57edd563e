/* The record as bytes. */
#include "core/files/lines.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "port/seal.h"
#include "rule/path.h"
#include "rule/reason.h"
#include "rule/tag.h"

#define HEAD 48
#define VERSION 1
#define DIGEST 16 /* where it begins */

struct reader {
	const unsigned char *p;
	size_t left;
	bool is_bad;
};

static enum kz_rc damaged(struct kz_err *err, const char *what)
{
	return kz_refuse(err, KZ_R_OBJECT_DAMAGED, "the record of shown lines is damaged: %s",
			 what);
}

static const char *take(struct reader *r, size_t n)
{
	const char *p = (const char *)r->p;

	if (n > r->left) {
		r->is_bad = true;
		r->left = 0;
		return NULL;
	}
	r->p += n;
	r->left -= n;
	return p;
}

static uint64_t number(struct reader *r, size_t bytes)
{
	const unsigned char *p = (const unsigned char *)take(r, bytes);
	uint64_t v = 0;

	for (size_t i = bytes; p && i > 0; i--)
		v = v << 8 | p[i - 1];
	return v;
}

static enum kz_rc read_spans(struct reader *r, struct kz_version *v, struct kz_err *err)
{
	uint32_t n = (uint32_t)number(r, 4);

	if (r->is_bad || n > r->left / 8)
		return damaged(err, "ranges");
	v->seen.span = malloc((n + (size_t)1) * sizeof *v->seen.span);
	if (!v->seen.span)
		return kz_err_set(err, KZ_E_OS, "no memory for the record of shown lines");
	v->seen.room = n + (size_t)1;
	for (; v->seen.count < n; v->seen.count++) {
		v->seen.span[v->seen.count].from = (uint32_t)number(r, 4);
		v->seen.span[v->seen.count].to = (uint32_t)number(r, 4);
	}
	return kz_spans_sound(&v->seen, v->lines) ? KZ_OK : damaged(err, "ranges");
}

/* Is it a normal form of so many lines? */
static bool is_normal(const struct kz_version *v)
{
	uint64_t lines = 0;
	const char *p = v->text, *end = v->text + v->n, *lf;

	if (v->n > KZ_TEXT_MAX || (v->n && (memchr(p, '\r', v->n) || memchr(p, 0, v->n))))
		return false;
	for (; p < end && (lf = memchr(p, '\n', (size_t)(end - p))) != NULL; p = lf + 1)
		lines++;
	lines += p < end;
	return lines == v->lines && lines <= KZ_TEXT_LINES_MAX && v->is_ended == (p == end) &&
	       kz_tag(v->text, v->n) == v->tag;
}

static enum kz_rc read_version(struct reader *r, struct kz_book *b, struct kz_version *v,
			       struct kz_err *err)
{
	uint64_t flags[2];

	v->tag = (uint16_t)number(r, 2);
	v->seq = number(r, 8);
	flags[0] = number(r, 1);
	flags[1] = number(r, 1);
	v->has_bom = flags[0] == 1;
	v->is_ended = flags[1] == 1;
	v->lines = (uint32_t)number(r, 4);
	v->n = (size_t)number(r, 4);
	v->text = take(r, v->n);
	if (r->is_bad || flags[0] > 1 || flags[1] > 1 || v->seq > b->seq || !is_normal(v))
		return damaged(err, "a text");
	return read_spans(r, v, err);
}

static enum kz_rc read_page(struct reader *r, struct kz_book *b, struct kz_err *err)
{
	size_t n = (size_t)number(r, 4);
	const char *path = n <= KZ_PATH_MAX ? take(r, n) : NULL;
	char name[KZ_PATH_MAX + 1];
	struct kz_page *p;
	uint64_t versions;

	if (!path || kz_path_normal(path, n, name) != KZ_PATH_OK || strlen(name) != n ||
	    memcmp(name, path, n) != 0 || kz_book_find(b, name))
		return damaged(err, "a path");
	p = calloc(1, sizeof *p);
	if (p)
		p->path = kz_str_dup(name);
	if (!p || !p->path) {
		free(p);
		return kz_err_set(err, KZ_E_OS, "no memory for the record of shown lines");
	}
	b->page[b->pages++] = p;
	p->used = number(r, 8);
	versions = number(r, 1);
	if (r->is_bad || p->used > b->seq || versions < 1 || versions > KZ_BOOK_VERSIONS)
		return damaged(err, "a path");
	while (p->count < versions) {
		enum kz_rc rc = read_version(r, b, &p->version[p->count++], err);

		if (rc != KZ_OK)
			return rc;
	}
	return KZ_OK;
}

static bool is_rows(const struct kz_register *g)
{
	uint32_t lines = 0;

	for (size_t i = 0; i < g->n; i++)
		lines += g->text[i] == '\n';
	return g->n && g->text[g->n - 1] == '\n' && lines == g->lines &&
	       !memchr(g->text, '\r', g->n) && !memchr(g->text, 0, g->n);
}

static enum kz_rc read_register(struct reader *r, struct kz_book *b, size_t *all,
				struct kz_err *err)
{
	struct kz_register *g = &b->reg[b->registers];
	size_t n = (size_t)number(r, 1);
	const char *name = take(r, n);

	if (!name || !kz_register_is_name(name, n))
		return damaged(err, "a register");
	memcpy(g->name, name, n);
	g->name[n] = 0;
	g->seq = number(r, 8);
	g->lines = (uint32_t)number(r, 4);
	g->n = (size_t)number(r, 4);
	g->text = take(r, g->n);
	*all += g->n;
	if (r->is_bad || g->n > KZ_REGISTER_MAX || *all > KZ_REGISTERS_MAX || g->seq > b->seq ||
	    !is_rows(g))
		return damaged(err, "a register");
	if (b->registers && strcmp(b->reg[b->registers - 1].name, g->name) >= 0)
		return damaged(err, "the order of registers");
	b->registers++;
	return KZ_OK;
}

static enum kz_rc read_body(struct reader *r, struct kz_book *b, struct kz_err *err)
{
	uint64_t pages, registers;
	size_t all = 0;
	enum kz_rc rc = KZ_OK;

	b->seq = number(r, 8);
	pages = number(r, 4);
	registers = number(r, 4);
	if (r->is_bad || pages > KZ_BOOK_PAGES || registers > KZ_BOOK_REGISTERS)
		return damaged(err, "its counts");
	while (b->pages < pages && rc == KZ_OK)
		rc = read_page(r, b, err);
	while (b->registers < registers && rc == KZ_OK)
		rc = read_register(r, b, &all, err);
	if (rc == KZ_OK && (r->is_bad || r->left))
		rc = damaged(err, "its length");
	return rc;
}

enum kz_rc kz_lines_decode(char *p, size_t n, struct kz_book *b, struct kz_err *err)
{
	struct reader r = { (const unsigned char *)p, n, false };
	char hex[KZ_SHA256_HEX], digest[KZ_SHA256_HEX];
	const char *magic;

	memset(b, 0, sizeof *b);
	b->backing = p;
	magic = take(&r, 4);
	if (!magic || n < HEAD || n > KZ_LINES_MAX || memcmp(magic, "KZHL", 4) != 0)
		return damaged(err, "its head");
	if (number(&r, 2) != VERSION || number(&r, 2) != 0 || number(&r, 8) != n - HEAD)
		return damaged(err, "its head");
	kz_hex_encode(take(&r, KZ_SHA256_BYTES), KZ_SHA256_BYTES, hex);
	kz_sha256_hex(r.p, r.left, digest);
	if (strcmp(hex, digest) != 0)
		return damaged(err, "its digest");
	return read_body(&r, b, err);
}

static uint64_t size_of(const struct kz_book *b)
{
	uint64_t n = HEAD + 16;

	for (size_t i = 0; i < b->pages; i++) {
		const struct kz_page *p = b->page[i];

		n += 4 + strlen(p->path) + 8 + 1;
		for (unsigned k = 0; k < p->count; k++)
			n += 20 + p->version[k].n + 4 + 8 * (uint64_t)p->version[k].seen.count;
	}
	for (size_t i = 0; i < b->registers; i++)
		n += 1 + strlen(b->reg[i].name) + 16 + b->reg[i].n;
	return n;
}

/* The buffer has room for all of it. */
static void put(struct kz_buf *b, uint64_t v, size_t bytes)
{
	unsigned char p[8];

	for (size_t i = 0; i < bytes; i++, v >>= 8)
		p[i] = (unsigned char)v;
	(void)kz_buf_add(b, p, bytes, NULL);
}

static void put_page(struct kz_buf *out, const struct kz_page *p)
{
	put(out, strlen(p->path), 4);
	(void)kz_buf_puts(out, p->path, NULL);
	put(out, p->used, 8);
	put(out, p->count, 1);
	for (unsigned i = 0; i < p->count; i++) {
		const struct kz_version *v = &p->version[i];

		put(out, v->tag, 2);
		put(out, v->seq, 8);
		put(out, v->has_bom, 1);
		put(out, v->is_ended, 1);
		put(out, v->lines, 4);
		put(out, v->n, 4);
		(void)kz_buf_add(out, v->text, v->n, NULL);
		put(out, v->seen.count, 4);
		for (size_t k = 0; k < v->seen.count; k++) {
			put(out, v->seen.span[k].from, 4);
			put(out, v->seen.span[k].to, 4);
		}
	}
}

static void put_register(struct kz_buf *out, const struct kz_register *g)
{
	put(out, strlen(g->name), 1);
	(void)kz_buf_puts(out, g->name, NULL);
	put(out, g->seq, 8);
	put(out, g->lines, 4);
	put(out, g->n, 4);
	(void)kz_buf_add(out, g->text, g->n, NULL);
}

enum kz_rc kz_lines_encode(struct kz_book *b, uint64_t since, int64_t max, struct kz_buf *out,
			   struct kz_err *err)
{
	unsigned char digest[KZ_SHA256_BYTES];
	char hex[KZ_SHA256_HEX];
	uint64_t size;

	while ((size = size_of(b)) > (uint64_t)max)
		if (!kz_book_shrink(b, since))
			return kz_refuse(err, KZ_R_LINES_OVER_BOUND, NULL);
	kz_buf_clear(out);
	(void)kz_buf_puts(out, "KZHL", NULL);
	put(out, VERSION, 2);
	put(out, 0, 2);
	put(out, size - HEAD, 8);
	memset(digest, 0, sizeof digest);
	(void)kz_buf_add(out, digest, sizeof digest, NULL);
	put(out, b->seq, 8);
	put(out, b->pages, 4);
	put(out, b->registers, 4);
	for (size_t i = 0; i < b->pages; i++)
		put_page(out, b->page[i]);
	for (size_t i = 0; i < b->registers; i++)
		put_register(out, &b->reg[i]);
	if (out->len != size)
		return kz_err_set(err, KZ_E_OS, "no memory for the record of shown lines");
	kz_sha256_hex(out->data + HEAD, out->len - HEAD, hex);
	if (kz_hex_decode(hex, digest, sizeof digest, err) != KZ_OK)
		return KZ_E_SOFTWARE;
	memcpy(out->data + DIGEST, digest, sizeof digest);
	return KZ_OK;
}
