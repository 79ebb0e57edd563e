/*
 * Indexes as registries send them: the first byte says which kind and how it is cut.  In pieces as at once; what is handed
 * out is an index of the broker's own that reads as such, with no link that leads elsewhere [BRK-3, BRK-6].
 */
#include <string.h>

#include "fuzz.h"
#include "rule/packument.h"
#include "rule/simple.h"

#define BASE "http://127.0.0.1:8000"

struct seen {
	struct kz_buf head, out;
	enum kz_pkg_read read;
	size_t files;
};

static bool on_npm(void *arg, const struct kz_packument_file *f)
{
	struct seen *s = arg;

	CLAIM(*f->file && *f->tarball && !strchr(f->file, '/'));
	s->files++;
	return f->tarball[0] != 'x';
}

static bool on_pypi(void *arg, const struct kz_simple_file *f, const char *page)
{
	struct seen *s = arg;

	CLAIM(kz_pkg_is_file_of(f->name, "a", NULL) && *f->url && !strchr(f->url, '#') && page);
	s->files++;
	return f->url[0] != 'x';
}

static size_t next(size_t left, unsigned cut)
{
	return cut == 0 || cut > left ? left : cut;
}

static void read_npm(const char *p, size_t n, unsigned cut, struct seen *s)
{
	struct kz_packument k;

	kz_packument_init(&k, "a", BASE, &s->out, on_npm, s);
	for (size_t i = 0; i < n; i += next(n - i, cut))
		(void)kz_packument_add(&k, p + i, next(n - i, cut));
	s->read = kz_packument_end(&k);
	kz_packument_release(&k);
}

static void read_pypi(const char *p, size_t n, unsigned cut, enum kz_simple_form from,
		      enum kz_simple_form to, struct seen *s)
{
	struct kz_simple k;

	kz_simple_init(&k, "a", BASE, from, to, &s->out, on_pypi, s);
	for (size_t i = 0; i < n; i += next(n - i, cut))
		(void)kz_simple_add(&k, p + i, next(n - i, cut));
	s->read = kz_simple_end(&k);
	CLAIM(kz_buf_add(&s->head, k.head.data, k.head.len, NULL) == KZ_OK);
	kz_simple_release(&k);
}

static void read_one(unsigned kind, const char *p, size_t n, unsigned cut, struct seen *s)
{
	kz_buf_init(&s->head, 1 << 20);
	kz_buf_init(&s->out, 1 << 16);
	s->files = 0;
	if (kind == 0)
		read_npm(p, n, cut, s);
	else
		read_pypi(p, n, cut, kind & 1 ? KZ_SIMPLE_JSON : KZ_SIMPLE_HTML,
			  kind & 2 ? KZ_SIMPLE_JSON : KZ_SIMPLE_HTML, s);
	CLAIM(s->out.len <= s->out.max);
}

static enum kz_jsonflow_say go_on(void *arg, enum kz_jsonflow_what what, const char *text, size_t n)
{
	(void)arg;
	(void)what;
	(void)text;
	(void)n;
	return KZ_JSON_GO;
}

/* What goes out is whole JSON. */
static void check_json(const struct seen *s)
{
	struct kz_jsonflow j;

	kz_jsonflow_init(&j, 1 << 20, go_on, NULL);
	CLAIM(kz_jsonflow_add(&j, s->head.data, s->head.len));
	CLAIM(kz_jsonflow_add(&j, s->out.data, s->out.len));
	CLAIM(kz_jsonflow_end(&j));
	kz_jsonflow_release(&j);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned kind, cut;
	struct seen a, b;

	if (size < 1)
		return 0;
	kind = data[0] % 5;
	cut = data[0] / 5 % 7 + 1;
	read_one(kind, (const char *)data + 1, size - 1, 0, &a);
	read_one(kind, (const char *)data + 1, size - 1, cut, &b);
	CLAIM(a.read == b.read);
	if (a.read == KZ_PKG_READ) {
		CLAIM(a.files == b.files && a.out.len == b.out.len && a.head.len == b.head.len);
		CLAIM(!a.out.len || memcmp(a.out.data, b.out.data, a.out.len) == 0);
		if (kind == 0 || kind & 2)
			check_json(&a);
	}
	kz_buf_release(&a.head);
	kz_buf_release(&a.out);
	kz_buf_release(&b.head);
	kz_buf_release(&b.out);
	return 0;
}
