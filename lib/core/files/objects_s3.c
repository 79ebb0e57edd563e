/* Objects in S3: path style, signed, one request each. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "core/files/s3_answer.h"
#include "core/files/s3_call.h"
#include "rule/reason.h"

/* Of a base, a prefix, a name and a query with an encoded token. */
#define URL_BYTES (1024 + 3 * KZ_S3_TOKEN)

enum kz_rc kz_s3_open(const struct kz_conf *c, const struct kz_objects_url *url, struct kz_s3 **out,
		      struct kz_err *err)
{
	struct kz_s3 *s = calloc(1, sizeof(*s));
	enum kz_rc rc;

	if (!s)
		return kz_err_set(err, KZ_E_OS, "out of memory");
	s->url = *url;
	rc = kz_objects_key_read(c->state, &s->key, err);
	if (!rc)
		rc = kz_str_format(s->scope, sizeof(s->scope), err, "aws:amz:%s:s3", url->region);
	if (!rc && (rc = kz_http_new(&s->http, err)) == KZ_E_UNAVAILABLE)
		kz_err_reason(err, kz_reason_code(KZ_R_STORE_UNAVAILABLE));
	if (rc)
		kz_s3_close(s);
	else
		*out = s;
	return rc;
}

void kz_s3_close(struct kz_s3 *s)
{
	if (!s)
		return;
	kz_http_free(s->http);
	kz_objects_key_release(&s->key);
	free(s);
}

/* Every letter of a name and a prefix is one that stands for itself in a URL. */
static enum kz_rc object_url(const struct kz_s3 *s, const char *name, char out[URL_BYTES],
			     struct kz_err *err)
{
	return kz_str_format(out, URL_BYTES, err, "%s/%s%s", s->url.base, s->url.prefix, name);
}

/* SHA-256 of what is to be sent. err: io_failed when fd is shorter */
static enum kz_rc digest(int fd, int64_t size, char out[KZ_SHA256_HEX], struct kz_deadline until,
			 struct kz_err *err)
{
	kz_auto_free char *chunk = malloc(KZ_OBJECT_CHUNK);
	struct kz_sha256 hash;
	enum kz_rc rc;

	if (!chunk)
		return kz_err_set(err, KZ_E_OS, "out of memory");
	kz_sha256_start(&hash);
	for (int64_t at = 0; at < size;) {
		int64_t want = size - at < KZ_OBJECT_CHUNK ? size - at : KZ_OBJECT_CHUNK;
		ssize_t n = pread(fd, chunk, (size_t)want, at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return kz_refuse(err, KZ_R_IO_FAILED, "cannot read what is to be stored");
		if ((rc = kz_objects_in_time(until, err)))
			return rc;
		kz_sha256_add(&hash, chunk, (size_t)n);
		at += n;
	}
	kz_sha256_end(&hash, out);
	return KZ_OK;
}

static enum kz_rc fetch(struct kz_s3 *s, const char *url, int fd, int64_t max, int64_t *size,
			char sha256[KZ_SHA256_HEX], struct kz_deadline until, struct kz_err *err)
{
	struct kz_s3_call q = { .verb = KZ_S3_GET,
				.url = url,
				.from_fd = -1,
				.to_fd = fd,
				.max = max,
				.text = KZ_BUF_INIT(KZ_S3_ERROR_BYTES) };
	enum kz_rc rc = kz_s3_do(s, &q, until, err);

	kz_buf_release(&q.text);
	if (rc)
		return rc;
	*size = q.answer.came;
	kz_sha256_end(&q.hash, sha256);
	return KZ_OK;
}

/* The first try may have made what the second one met. */
static enum kz_rc settle(struct kz_s3 *s, const struct kz_s3_call *q, struct kz_deadline until,
			 struct kz_err *err)
{
	char sha256[KZ_SHA256_HEX];
	int64_t size = -1;
	enum kz_rc rc = fetch(s, q->url, -1, q->size, &size, sha256, until, err);

	if (!rc && size == q->size && strcmp(sha256, q->sha256) == 0)
		return KZ_OK;
	if (!rc || (err && kz_str_eq(err->reason, kz_reason_code(KZ_R_OBJECT_TOO_LARGE))))
		return kz_refuse(err, KZ_R_OBJECT_EXISTS, NULL);
	return rc;
}

static enum kz_rc s3_put(struct kz_objects *o, const char *name, int fd, int64_t size, bool fresh,
			 struct kz_deadline until, struct kz_err *err)
{
	char url[URL_BYTES], sha256[KZ_SHA256_HEX];
	struct kz_s3_call q = { .verb = KZ_S3_PUT,
				.url = url,
				.from_fd = fd,
				.size = size,
				.sha256 = sha256,
				.fresh = fresh,
				.to_fd = -1,
				.text = KZ_BUF_INIT(KZ_S3_ERROR_BYTES) };
	struct kz_err why = KZ_ERR_INIT;
	enum kz_rc rc = object_url(o->s3, name, url, err);

	if (!rc)
		rc = digest(fd, size, sha256, until, err);
	if (rc)
		return rc;
	rc = kz_s3_do(o->s3, &q, until, &why);
	kz_buf_release(&q.text);
	if (rc && q.tries > 1 && strcmp(why.reason, kz_reason_code(KZ_R_OBJECT_EXISTS)) == 0)
		return settle(o->s3, &q, until, err);
	if (rc && err)
		*err = why;
	return rc;
}

static enum kz_rc s3_get(struct kz_objects *o, const char *name, int fd, int64_t max, int64_t *size,
			 char sha256[KZ_SHA256_HEX], struct kz_deadline until, struct kz_err *err)
{
	char url[URL_BYTES];
	enum kz_rc rc = object_url(o->s3, name, url, err);

	return rc ? rc : fetch(o->s3, url, fd, max, size, sha256, until, err);
}

static enum kz_rc s3_remove(struct kz_objects *o, const char *name, struct kz_deadline until,
			    struct kz_err *err)
{
	char url[URL_BYTES];
	struct kz_s3_call q = { .verb = KZ_S3_DELETE,
				.url = url,
				.from_fd = -1,
				.to_fd = -1,
				.text = KZ_BUF_INIT(KZ_S3_ERROR_BYTES) };
	enum kz_rc rc = object_url(o->s3, name, url, err);

	if (!rc)
		rc = kz_s3_do(o->s3, &q, until, err);
	kz_buf_release(&q.text);
	return rc;
}

/* Every byte but the unreserved ones as %XX, which is the form that is signed. */
static enum kz_rc add_encoded(struct kz_buf *b, const char *s, struct kz_err *err)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "-._~";
	enum kz_rc rc = KZ_OK;

	for (; !rc && *s; s++)
		rc = strchr(plain, *s) ? kz_buf_add(b, s, 1, err) :
					 kz_buf_printf(b, err, "%%%02X", (unsigned char)*s);
	return rc;
}

/* One list of names under way. */
struct listing {
	struct kz_s3 *s3;
	const char *prefix;    /* as asked for, below that of the store */
	char after[KZ_S3_KEY]; /* the last key of the page before */
	char token[KZ_S3_TOKEN];
	kz_object_each each;
	void *arg;
	struct kz_deadline until;
};

static enum kz_rc page_url(const struct listing *l, struct kz_buf *url, struct kz_err *err)
{
	enum kz_rc rc = kz_buf_printf(url, err, "%s?", l->s3->url.base);

	if (!rc && *l->token) {
		rc = kz_buf_puts(url, "continuation-token=", err);
		if (!rc)
			rc = add_encoded(url, l->token, err);
		if (!rc)
			rc = kz_buf_puts(url, "&", err);
	}
	if (!rc)
		rc = kz_buf_puts(url, "list-type=2&prefix=", err);
	if (!rc)
		rc = add_encoded(url, l->s3->url.prefix, err);
	return rc ? rc : add_encoded(url, l->prefix, err);
}

static enum kz_rc hand_out(struct listing *l, const struct kz_s3_page *page, struct kz_err *err)
{
	size_t base = strlen(l->s3->url.prefix);
	enum kz_rc rc = KZ_OK;

	for (size_t i = 0; i < page->count; i++) {
		const char *key = page->items[i].key;

		if (strncmp(key, l->s3->url.prefix, base) != 0 ||
		    !kz_str_has_prefix(key + base, l->prefix))
			return kz_refuse(err, KZ_R_STORE_UNAVAILABLE,
					 "the S3 server lists names that were not asked for");
	}
	for (size_t i = 0; !rc && i < page->count; i++) {
		const struct kz_s3_item *it = &page->items[i];
		struct kz_object x = { it->key + base, it->size, it->mtime_s };

		/* Somebody else's, where the bucket has others. */
		if (kz_object_name_ok(x.name, false))
			rc = l->each(l->arg, &x, err);
	}
	return rc;
}

static enum kz_rc list_page(struct listing *l, bool *is_cut, struct kz_err *err)
{
	kz_auto_buf struct kz_buf url = KZ_BUF_INIT(URL_BYTES);
	struct kz_s3_call q = { .verb = KZ_S3_LIST,
				.from_fd = -1,
				.to_fd = -1,
				.text = KZ_BUF_INIT(KZ_S3_PAGE_BYTES) };
	kz_auto(kz_s3_page_release) struct kz_s3_page page = { .items = NULL };
	struct kz_err why = KZ_ERR_INIT;
	enum kz_rc rc = page_url(l, &url, err);

	if (rc)
		return rc;
	q.url = kz_buf_str(&url);
	rc = kz_s3_do(l->s3, &q, l->until, err);
	if (!rc && (rc = kz_s3_page_read(q.text.data, q.text.len, l->after, &page, &why)))
		rc = rc == KZ_E_DATA ?
			     kz_refuse(err, KZ_R_STORE_UNAVAILABLE,
				       "the S3 server's listing is malformed: %s", why.text) :
			     kz_err_set(err, rc, "%s", why.text);
	kz_buf_release(&q.text);
	if (!rc)
		rc = hand_out(l, &page, err);
	if (rc)
		return rc;
	*is_cut = page.is_cut;
	kz_str_copy(l->token, sizeof(l->token), page.token, NULL);
	if (page.count > 0)
		kz_str_copy(l->after, sizeof(l->after), page.items[page.count - 1].key, NULL);
	return KZ_OK;
}

/* Names ascend from page to page, so that a server that turns in circles is found out. */
static enum kz_rc s3_list(struct kz_objects *o, const char *prefix, kz_object_each each, void *arg,
			  struct kz_deadline until, struct kz_err *err)
{
	struct listing l = {
		.s3 = o->s3, .prefix = prefix, .each = each, .arg = arg, .until = until
	};
	bool is_cut = true;
	enum kz_rc rc = KZ_OK;

	while (!rc && is_cut) {
		rc = kz_objects_in_time(until, err);
		if (!rc)
			rc = list_page(&l, &is_cut, err);
	}
	return rc;
}

static enum kz_rc s3_sweep(struct kz_objects *o, int64_t *count, struct kz_deadline until,
			   struct kz_err *err)
{
	(void)o;
	(void)count;
	(void)until;
	(void)err;
	return KZ_OK;
}

const struct kz_objects_kind kz_objects_s3 = {
	.put = s3_put,
	.get = s3_get,
	.list = s3_list,
	.remove = s3_remove,
	.sweep = s3_sweep,
};
