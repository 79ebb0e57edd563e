/* What the indexes of a run named. */
#include "core/broker/book.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/str.h"

/* One file in a project's buffer; name and URL follow, each with its final 0. */
struct row {
	int64_t size;
	uint32_t bytes; /* of all of it */
	uint8_t digest, has_metadata, has_metadata_digest;
	uint8_t hash[64], metadata[32];
};

struct kz_brk_book_pages {
	struct kz_buf rows;
};

struct project {
	struct project *next; /* the next one was asked for less lately */
	enum kz_registry registry;
	char name[KZ_PKG_NAME];
	struct kz_buf rows;
};

struct kz_brk_book_run {
	struct kz_brk_book_run *next;
	char execution[KZ_ID_HEX];
	struct kz_deadline until;
	struct project *first;
	size_t bytes;
	uint64_t used; /* when, by count */
	struct kz_brk_book_fare fare;
};

struct kz_brk_book {
	struct kz_brk_book_run *first;
	size_t bytes, count;
	uint64_t clock;
};

struct kz_brk_book *kz_brk_book_new(void)
{
	return calloc(1, sizeof(struct kz_brk_book));
}

static size_t weight(const struct project *p)
{
	return sizeof *p + p->rows.cap;
}

static void project_free(struct kz_brk_book *b, struct kz_brk_book_run *r, struct project **at)
{
	struct project *p = *at;

	*at = p->next;
	r->bytes -= weight(p);
	b->bytes -= weight(p);
	kz_buf_release(&p->rows);
	free(p);
}

static void run_free(struct kz_brk_book *b, struct kz_brk_book_run **at)
{
	struct kz_brk_book_run *r = *at;

	while (r->first)
		project_free(b, r, &r->first);
	*at = r->next;
	b->count--;
	free(r);
}

void kz_brk_book_free(struct kz_brk_book *b)
{
	if (!b)
		return;
	while (b->first)
		run_free(b, &b->first);
	free(b);
}

static struct kz_brk_book_run *run_new(struct kz_brk_book *b, const char *execution)
{
	struct kz_brk_book_run *r;

	if (b->count == KZ_BRK_BOOK_EXECUTIONS)
		kz_brk_book_sweep(b);
	if (b->count == KZ_BRK_BOOK_EXECUTIONS || !(r = calloc(1, sizeof *r)))
		return NULL;
	(void)kz_str_copy(r->execution, sizeof r->execution, execution, NULL);
	r->fare.last = KZ_R_NONE;
	r->next = b->first;
	b->first = r;
	b->count++;
	return r;
}

struct kz_brk_book_run *kz_brk_book_run(struct kz_brk_book *b, const char *execution,
					struct kz_deadline until)
{
	struct kz_brk_book_run *r = b->first;

	while (r && !kz_str_eq(r->execution, execution))
		r = r->next;
	if (!r && !(r = run_new(b, execution)))
		return NULL;
	if (r->until.boot_ms < until.boot_ms)
		r->until = until;
	r->used = ++b->clock;
	return r;
}

void kz_brk_book_sweep(struct kz_brk_book *b)
{
	struct kz_brk_book_run **at = &b->first;

	/* Who still has a request under way is left until it is over. */
	while (*at)
		if (kz_deadline_passed((*at)->until) && !(*at)->fare.jobs)
			run_free(b, at);
		else
			at = &(*at)->next;
}

struct kz_brk_book_pages *kz_brk_book_open(void)
{
	struct kz_brk_book_pages *p = calloc(1, sizeof *p);

	if (p)
		kz_buf_init(&p->rows, KZ_BRK_BOOK_OF_ONE / 2);
	return p;
}

void kz_brk_book_drop(struct kz_brk_book_pages *p)
{
	if (!p)
		return;
	kz_buf_release(&p->rows);
	free(p);
}

bool kz_brk_book_add(struct kz_brk_book_pages *p, const char *name,
		     const struct kz_brk_book_file *f)
{
	static const char zeros[8];
	size_t name_n = strlen(name) + 1, url_n = strlen(f->url) + 1;
	size_t fill = (8 - (sizeof(struct row) + name_n + url_n) % 8) % 8;
	struct row row;

	memset(&row, 0, sizeof row);
	row.size = f->size;
	row.bytes = (uint32_t)(sizeof row + name_n + url_n + fill);
	row.digest = (uint8_t)f->digest;
	row.has_metadata = f->has_metadata;
	row.has_metadata_digest =
		kz_hex_decode(f->metadata_sha256, row.metadata, sizeof row.metadata, NULL) == KZ_OK;
	if (f->digest != KZ_DIGEST_NONE &&
	    kz_hex_decode(f->digest_hex, row.hash, f->digest == KZ_DIGEST_SHA256 ? 32 : 64, NULL) !=
		    KZ_OK)
		return false;
	return kz_buf_add(&p->rows, &row, sizeof row, NULL) == KZ_OK &&
	       kz_buf_add(&p->rows, name, name_n, NULL) == KZ_OK &&
	       kz_buf_add(&p->rows, f->url, url_n, NULL) == KZ_OK &&
	       kz_buf_add(&p->rows, zeros, fill, NULL) == KZ_OK;
}

static struct project **place_of(struct kz_brk_book_run *r, enum kz_registry registry,
				 const char *name)
{
	struct project **at = &r->first;

	while (*at && ((*at)->registry != registry || !kz_str_eq((*at)->name, name)))
		at = &(*at)->next;
	return at;
}

static void drop_last(struct kz_brk_book *b, struct kz_brk_book_run *r)
{
	struct project **at = &r->first;

	while (*at && (*at)->next)
		at = &(*at)->next;
	if (*at)
		project_free(b, r, at);
}

/* Who holds most, what it is about to write down included; of two alike who asked for nothing longest. out: NULL: nobody holds anything */
static struct kz_brk_book_run *largest(const struct kz_brk_book *b, const struct kz_brk_book_run *r,
				       size_t need)
{
	struct kz_brk_book_run *found = NULL;
	size_t most = 0;

	for (struct kz_brk_book_run *o = b->first; o; o = o->next) {
		size_t bytes = o->bytes + (o == r ? need : 0);

		if (!o->first || bytes < most || (found && bytes == most && o->used > found->used))
			continue;
		found = o;
		most = bytes;
	}
	return found;
}

/* Make room: first of the same execution, then of the one that has most, so that none takes another's little. out: false: there is none to be made */
static bool make_room(struct kz_brk_book *b, struct kz_brk_book_run *r, size_t need)
{
	struct kz_brk_book_run *o;

	while (r->first && r->bytes + need > KZ_BRK_BOOK_OF_ONE)
		drop_last(b, r);
	while (b->bytes + need > KZ_BRK_BOOK_OF_ALL && (o = largest(b, r, need)))
		drop_last(b, o);
	return r->bytes + need <= KZ_BRK_BOOK_OF_ONE && b->bytes + need <= KZ_BRK_BOOK_OF_ALL;
}

bool kz_brk_book_close(struct kz_brk_book *b, struct kz_brk_book_run *r, enum kz_registry registry,
		       const char *name, struct kz_brk_book_pages *pages)
{
	struct project **at = place_of(r, registry, name);
	struct project *p = calloc(1, sizeof *p);

	if (*at)
		project_free(b, r, at);
	if (!p || !make_room(b, r, sizeof *p + pages->rows.cap)) {
		free(p);
		kz_brk_book_drop(pages);
		return false;
	}
	p->registry = registry;
	(void)kz_str_copy(p->name, sizeof p->name, name, NULL);
	p->rows = pages->rows;
	free(pages);
	p->next = r->first;
	r->first = p;
	r->bytes += weight(p);
	b->bytes += weight(p);
	return true;
}

bool kz_brk_book_has(const struct kz_brk_book_run *r, enum kz_registry registry, const char *name)
{
	const struct project *p = r->first;

	while (p && (p->registry != registry || !kz_str_eq(p->name, name)))
		p = p->next;
	return p != NULL;
}

bool kz_brk_book_find(struct kz_brk_book_run *r, enum kz_registry registry, const char *name,
		      const char *file, struct kz_brk_book_file *out)
{
	struct project **at = place_of(r, registry, name), *p = *at;

	if (!p)
		return false;
	*at = p->next;
	p->next = r->first;
	r->first = p;
	for (size_t i = 0; i < p->rows.len;) {
		struct row row;
		const char *text = p->rows.data + i + sizeof row;

		memcpy(&row, p->rows.data + i, sizeof row);
		i += row.bytes;
		if (!kz_str_eq(text, file))
			continue;
		memset(out, 0, sizeof *out);
		out->url = text + strlen(text) + 1;
		out->size = row.size;
		out->digest = (enum kz_digest)row.digest;
		kz_hex_encode(row.hash, row.digest == KZ_DIGEST_SHA256 ? 32 : 64, out->digest_hex);
		out->has_metadata = row.has_metadata;
		if (row.has_metadata_digest)
			kz_hex_encode(row.metadata, sizeof row.metadata, out->metadata_sha256);
		return true;
	}
	return false;
}

struct kz_brk_book_fare *kz_brk_book_fare(struct kz_brk_book_run *r)
{
	return &r->fare;
}
