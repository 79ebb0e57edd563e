/* Jobs for a file or its companion: passed on as it comes, but for its last piece, which waits for the digest. */
#include "core/broker/job.h"

#include <string.h>

#include "base/str.h"

#define UNSENT (256 << 10)

static int64_t bound(const struct kz_job *j)
{
	return j->path.what == KZ_PKG_A_METADATA ? j->b->world.max_index : j->b->world.max_file;
}

static enum kz_reason too_large(const struct kz_job *j)
{
	return j->path.what == KZ_PKG_A_METADATA ? KZ_R_INDEX_TOO_LARGE : KZ_R_PACKAGE_TOO_LARGE;
}

/* The request is over, whoever ended it; the job goes with its download. */
static void over(struct kz_job *j)
{
	j->r = NULL;
	if (!j->fetch)
		kz_job_free(j);
}

/* As late as can be: before it there is a reason to be told for what is wrong. */
static bool begin(struct kz_job *j)
{
	j->is_begun = true;
	if (kz_gw_begin(j->r, 200, "application/octet-stream", j->length,
			"Cache-Control: no-cache\r\n", NULL) == KZ_OK)
		return true;
	over(j);
	return false;
}

static void on_head(void *arg, const struct kz_get_head *head, const struct kz_url *url)
{
	struct kz_job *j = arg;

	(void)kz_str_copy(j->host, sizeof j->host, url->at.host, NULL);
	if (head->length > bound(j)) {
		j->why = too_large(j);
		return;
	}
	j->length = head->length;
	if (!j->r->is_head || !begin(j))
		return;
	kz_gw_end(j->r);
	over(j);
}

/* What is held is not the last of it. */
static bool put_held(struct kz_job *j)
{
	if (!j->is_begun && !begin(j))
		return false;
	if (j->held.len && kz_gw_write(j->r, j->held.data, j->held.len, NULL) != KZ_OK) {
		over(j);
		return false;
	}
	*j->b->bytes[j->path.registry] += j->held.len;
	kz_buf_clear(&j->held);
	return true;
}

static bool on_body(void *arg, const void *p, size_t n)
{
	struct kz_job *j = arg;

	if (!j->r || j->why != KZ_R_NONE)
		return false;
	j->came += (int64_t)n;
	if (j->came > bound(j)) {
		j->why = too_large(j);
		return false;
	}
	if (j->digest == KZ_DIGEST_SHA256)
		kz_sha256_add(&j->sha256, p, n);
	else if (j->digest == KZ_DIGEST_SHA512)
		kz_sha512_add(&j->sha512, p, n);
	if (j->held.len && !put_held(j))
		return false;
	if (kz_buf_add(&j->held, p, n, NULL) != KZ_OK) {
		j->why = KZ_R_SYSTEM_FAILED;
		return false;
	}
	if (kz_gw_unsent(j->r) > UNSENT) {
		j->held_ms = j->held_ms ? j->held_ms : kz_time_boot_ms();
		kz_fetch_hold(j->fetch, true);
	}
	return true;
}

void kz_job_file_drained(struct kz_job *j)
{
	j->held_ms = 0;
	if (j->fetch && j->is_begun)
		kz_fetch_hold(j->fetch, false);
}

static bool is_right(struct kz_job *j)
{
	char is[129] = "";

	if (j->digest == KZ_DIGEST_SHA256)
		kz_sha256_end(&j->sha256, is);
	else if (j->digest == KZ_DIGEST_SHA512)
		kz_sha512_end(&j->sha512, is);
	return kz_str_eq(is, j->want);
}

static void on_end(void *arg, enum kz_reason why, int status, int64_t wire)
{
	struct kz_job *j = arg;

	(void)wire;
	j->fetch = NULL;
	if (!j->r) {
		kz_job_fared(j, j->why == KZ_R_NONE ? why : j->why, status);
		kz_job_free(j);
		return;
	}
	if (j->why == KZ_R_NONE)
		j->why = why != KZ_R_NONE || is_right(j) ? why : KZ_R_PACKAGE_DIGEST;
	kz_job_fared(j, j->why, status);
	if (j->why != KZ_R_NONE) {
		kz_job_refuse(j, j->why);
		return;
	}
	if (!put_held(j))
		return;
	kz_gw_end(j->r);
	over(j);
}

void kz_job_file_release(struct kz_job *j)
{
	kz_buf_release(&j->held);
}

/* What the index said of it. out: false: no index of this run named it */
static bool find(struct kz_job *j, struct kz_url *u)
{
	struct kz_brk_book_file *f = &j->file;
	bool is_metadata = j->path.what == KZ_PKG_A_METADATA;

	if (!kz_brk_book_find(j->run, j->path.registry, j->path.name, j->path.file, f) ||
	    (is_metadata && !f->has_metadata) || !kz_url_parse(f->url, strlen(f->url), u))
		return false;
	f->url = NULL; /* borrowed */
	j->digest =
		is_metadata ? (*f->metadata_sha256 ? KZ_DIGEST_SHA256 : KZ_DIGEST_NONE) : f->digest;
	(void)kz_str_copy(j->want, sizeof j->want, is_metadata ? f->metadata_sha256 : f->digest_hex,
			  NULL);
	if (j->digest == KZ_DIGEST_NONE)
		j->want[0] = '\0';
	return !is_metadata || kz_url_append(u, ".metadata");
}

void kz_job_file(struct kz_job *j)
{
	struct kz_fetch_ask ask = {
		.accept = "Accept: */*",
		.on_head = on_head,
		.on_body = on_body,
		.on_end = on_end,
	};

	j->came = 0;
	if (!find(j, &ask.url)) {
		kz_job_refuse(j, KZ_R_PACKAGE_UNAPPROVED);
		return;
	}
	kz_sha256_start(&j->sha256);
	kz_sha512_start(&j->sha512);
	kz_job_fetch(j, &ask);
}
