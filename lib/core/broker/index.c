/* Jobs for an index. */
#include "core/broker/job.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/base64.h"
#include "base/str.h"

#define INPUT_MOST (64 << 20) /* bytes of an index as it comes, decoded */
#define RATIO_FROM (1 << 20)  /* beyond so many a coding may not make ... */
#define RATIO_MOST 200        /* ... so many of one */
#define UNSENT 65536
#define NPM_SHORT "application/vnd.npm.install-v1+json"

/* SHA-512 out of "sha512-BASE64 sha1-...". out: "" without one */
static void sha512_of(const char *integrity, char out[129])
{
	unsigned char bytes[64];
	size_t len;

	out[0] = '\0';
	while (*integrity) {
		size_t n = strcspn(integrity, " ");

		if (n > 7 && strncmp(integrity, "sha512-", 7) == 0 &&
		    kz_base64_decode(KZ_BASE64_STANDARD, integrity + 7,
				     strcspn(integrity + 7, " ?"), bytes, sizeof bytes, &len) &&
		    len == sizeof bytes) {
			kz_hex_encode(bytes, sizeof bytes, out);
			return;
		}
		integrity += n + (integrity[n] != 0);
	}
}

/* Where a link leads, and what is known of the file. out: false: nowhere */
static bool keep_file(struct kz_job *j, const struct kz_url *page, const char *link,
		      const char *name, struct kz_brk_book_file *f)
{
	char text[KZ_URL_TEXT];
	struct kz_url u;

	if (!kz_url_resolve(page, link, strlen(link), &u))
		return false;
	kz_url_print(&u, text);
	f->url = text;
	if (!kz_brk_book_add(j->pages, name, f))
		j->why = KZ_R_INDEX_TOO_LARGE;
	f->url = NULL;
	return true;
}

static bool on_npm(void *arg, const struct kz_packument_file *p)
{
	struct kz_brk_book_file f = { .size = -1 };

	sha512_of(p->integrity, f.digest_hex);
	f.digest = *f.digest_hex ? KZ_DIGEST_SHA512 : KZ_DIGEST_NONE;
	return keep_file(arg, &((struct kz_job *)arg)->page, p->tarball, p->file, &f);
}

static bool on_pypi(void *arg, const struct kz_simple_file *p, const char *base)
{
	struct kz_job *j = arg;
	struct kz_brk_book_file f = { .size = p->size, .has_metadata = p->has_metadata };
	struct kz_url page = j->page;

	if (*base && !kz_url_resolve(&j->page, base, strlen(base), &page))
		return false;
	f.digest = *p->sha256 ? KZ_DIGEST_SHA256 : KZ_DIGEST_NONE;
	(void)kz_str_copy(f.digest_hex, sizeof f.digest_hex, p->sha256, NULL);
	(void)kz_str_copy(f.metadata_sha256, sizeof f.metadata_sha256, p->metadata_sha256, NULL);
	return keep_file(j, &page, p->url, p->name, &f);
}

static bool is_json(const char *type)
{
	size_t n = strcspn(type, "; \t");

	return (n == strlen(NPM_SHORT) && strncasecmp(type, NPM_SHORT, n) == 0) ||
	       (n == 16 && strncasecmp(type, "application/json", n) == 0);
}

static void on_head(void *arg, const struct kz_get_head *head, const struct kz_url *url)
{
	struct kz_job *j = arg;
	enum kz_simple_form from;

	j->page = *url;
	(void)kz_str_copy(j->host, sizeof j->host, url->at.host, NULL);
	if (head->length > INPUT_MOST) {
		j->why = KZ_R_INDEX_TOO_LARGE;
	} else if (j->path.registry == KZ_REGISTRY_NPM) {
		j->packument = is_json(head->type) ? calloc(1, sizeof *j->packument) : NULL;
		if (j->packument)
			kz_packument_init(j->packument, j->path.name, j->base, &j->out, on_npm, j);
		else
			j->why = KZ_R_REGISTRY_ANSWER;
	} else {
		j->simple =
			kz_simple_is_form(head->type, &from) ? calloc(1, sizeof *j->simple) : NULL;
		if (j->simple)
			kz_simple_init(j->simple, j->path.name, j->base, from, j->to, &j->out,
				       on_pypi, j);
		else
			j->why = KZ_R_REGISTRY_ANSWER;
	}
}

static void judge_read(struct kz_job *j, enum kz_pkg_read read)
{
	if (j->why == KZ_R_NONE && read == KZ_PKG_READ_BAD)
		j->why = KZ_R_REGISTRY_ANSWER;
	else if (j->why == KZ_R_NONE && read == KZ_PKG_READ_LARGE)
		j->why = KZ_R_INDEX_TOO_LARGE;
}

static bool on_body(void *arg, const void *p, size_t n)
{
	struct kz_job *j = arg;

	if (j->why != KZ_R_NONE)
		return false;
	j->came += (int64_t)n;
	if (j->came > INPUT_MOST)
		j->why = KZ_R_INDEX_TOO_LARGE;
	else if (j->came > RATIO_FROM && j->came / RATIO_MOST > kz_fetch_wire(j->fetch))
		j->why = KZ_R_REGISTRY_ANSWER;
	else
		judge_read(j, j->packument ? kz_packument_add(j->packument, p, n) :
					     kz_simple_add(j->simple, p, n));
	return j->why == KZ_R_NONE;
}

/* The type of the answer: the short form's own only to who knows it. */
static const char *type_of(const struct kz_job *j)
{
	const struct kz_slice *accept = kz_httphead_field(j->r->head, "accept");

	if (j->path.registry == KZ_REGISTRY_PYPI)
		return kz_simple_type(j->to);
	return accept && memmem(accept->p, accept->n, NPM_SHORT, strlen(NPM_SHORT)) ?
		       NPM_SHORT :
		       "application/json";
}

static void answer(struct kz_job *j)
{
	const struct kz_buf *head = j->simple ? &j->simple->head : NULL;
	int64_t length = (int64_t)(j->out.len + (head ? head->len : 0));

	j->is_begun = true;
	if (kz_gw_begin(j->r, 200, type_of(j), length,
			"Vary: Accept\r\nCache-Control: no-cache\r\n", NULL) != KZ_OK) {
		j->r = NULL;
		kz_job_free(j);
		return;
	}
	*j->b->bytes[j->path.registry] += (uint64_t)length;
	if (j->r->is_head) {
		kz_gw_end(j->r);
		j->r = NULL;
		kz_job_free(j);
		return;
	}
	if (head && kz_gw_write(j->r, head->data, head->len, NULL) != KZ_OK) {
		j->r = NULL;
		kz_job_free(j);
		return;
	}
	kz_job_index_drained(j);
}

void kz_job_index_drained(struct kz_job *j)
{
	if (!j->is_begun)
		return;
	while (j->sent < j->out.len && kz_gw_unsent(j->r) < UNSENT) {
		size_t n = j->out.len - j->sent;

		if (n > UNSENT)
			n = UNSENT;
		if (kz_gw_write(j->r, j->out.data + j->sent, n, NULL) != KZ_OK) {
			j->r = NULL;
			kz_job_free(j);
			return;
		}
		j->sent += n;
	}
	j->held_ms = kz_time_boot_ms();
	if (j->sent < j->out.len)
		return;
	kz_gw_end(j->r);
	j->r = NULL;
	kz_job_free(j);
}

/* It was the index of a file that is asked for: that comes next, in its turn. */
static void go_on(struct kz_job *j)
{
	kz_job_index_release(j);
	j->b->running[j->class]--;
	kz_brk_book_fare(j->run)->running[j->class]--;
	j->is_running = false;
	j->class = KZ_BRK_FILE;
	kz_job_kick(j->b);
}

static void on_end(void *arg, enum kz_reason why, int status, int64_t wire)
{
	struct kz_job *j = arg;

	(void)wire;
	j->fetch = NULL;
	if (j->why == KZ_R_NONE && why == KZ_R_NONE)
		judge_read(j, j->packument ? kz_packument_end(j->packument) :
					     kz_simple_end(j->simple));
	if (j->why == KZ_R_NONE)
		j->why = why;
	kz_job_fared(j, j->why, status);
	if (j->why != KZ_R_NONE) {
		kz_job_refuse(j, j->why);
		return;
	}
	if (!kz_brk_book_close(j->b->book, j->run, j->path.registry, j->path.name,
			       kz_take(j->pages)))
		kz_job_refuse(j, KZ_R_INDEX_TOO_LARGE);
	else if (j->path.what == KZ_PKG_AN_INDEX)
		answer(j);
	else
		go_on(j);
}

void kz_job_index_release(struct kz_job *j)
{
	if (j->packument)
		kz_packument_release(j->packument);
	if (j->simple)
		kz_simple_release(j->simple);
	free(j->packument);
	free(j->simple);
	j->packument = NULL;
	j->simple = NULL;
	kz_brk_book_drop(j->pages);
	j->pages = NULL;
	kz_buf_release(&j->out);
}

/* "NAME/" of Python, "NAME" or "@SCOPE%2fNAME" of npm. */
static bool url_of(const struct kz_job *j, struct kz_url *u)
{
	const char *slash = strchr(j->path.name, '/');
	char name[KZ_PKG_NAME + 4];

	*u = j->b->world.registries.of[j->path.registry].index;
	if (j->path.registry == KZ_REGISTRY_PYPI)
		(void)kz_str_format(name, sizeof name, NULL, "%s/", j->path.name);
	else if (slash)
		(void)kz_str_format(name, sizeof name, NULL, "%.*s%%2f%s",
				    (int)(slash - j->path.name), j->path.name, slash + 1);
	else
		(void)kz_str_copy(name, sizeof name, j->path.name, NULL);
	return kz_url_append(u, name);
}

void kz_job_index(struct kz_job *j)
{
	const struct kz_slice *accept = kz_httphead_field(j->r->head, "accept");
	struct kz_fetch_ask ask = {
		.accept = j->path.registry == KZ_REGISTRY_NPM ?
				  "Accept: " NPM_SHORT ", application/json;q=0.8" :
				  "Accept: application/vnd.pypi.simple.v1+json, "
				  "application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1",
		.is_coded = true,
		.on_head = on_head,
		.on_body = on_body,
		.on_end = on_end,
	};

	kz_buf_init(&j->out, (size_t)j->b->world.max_index);
	j->pages = kz_brk_book_open();
	j->to = kz_simple_accepts(accept ? accept->p : "", accept ? accept->n : 0);
	if (!j->pages || !url_of(j, &ask.url))
		kz_job_refuse(j, KZ_R_SYSTEM_FAILED);
	else
		kz_job_fetch(j, &ask);
}
