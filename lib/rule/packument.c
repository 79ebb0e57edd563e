/* Packuments, filtered while they come. */
#include "rule/packument.h"

#include <string.h>

#include "base/str.h"

enum place { OUTSIDE, ROOT, VERSIONS, VERSION, DIST, COPY };
enum want { NOTHING, NAME, TARBALL, INTEGRITY };

/* What an installer reads of a version; all else is none of its business. */
static const char *const of_version[] = {
	"name",
	"version",
	"deprecated",
	"dependencies",
	"optionalDependencies",
	"devDependencies",
	"bundleDependencies",
	"bundledDependencies",
	"peerDependencies",
	"peerDependenciesMeta",
	"acceptDependencies",
	"bin",
	"directories",
	"engines",
	"os",
	"cpu",
	"libc",
	"_hasShrinkwrap",
	"hasInstallScript",
	"scripts",
	NULL,
};
static const char *const of_dist[] = { "integrity", "shasum", "fileCount", "unpackedSize", NULL };

static bool is_in(const char *const *list, const char *key, size_t n)
{
	for (; *list; list++)
		if (strlen(*list) == n && memcmp(*list, key, n) == 0)
			return true;
	return false;
}

static bool is_key(const char *key, size_t n, const char *text)
{
	return n == strlen(text) && memcmp(key, text, n) == 0;
}

static bool put(struct kz_packument *p, const char *text, size_t n)
{
	if (kz_buf_add(p->out, text, n, NULL) == KZ_OK)
		return true;
	p->read = KZ_PKG_READ_LARGE;
	return false;
}

static bool puts_(struct kz_packument *p, const char *text)
{
	return put(p, text, strlen(text));
}

static bool quote(struct kz_packument *p, const char *text, size_t n)
{
	if (kz_jsonflow_quote(p->out, text, n, NULL) == KZ_OK)
		return true;
	p->read = KZ_PKG_READ_LARGE;
	return false;
}

static bool has_item(const struct kz_packument *p, unsigned depth)
{
	return p->has_item[depth >> 6 & 1] >> (depth & 63) & 1;
}

static void set_item(struct kz_packument *p, unsigned depth, bool on)
{
	uint64_t bit = (uint64_t)1 << (depth & 63);

	if (on)
		p->has_item[depth >> 6 & 1] |= bit;
	else
		p->has_item[depth >> 6 & 1] &= ~bit;
}

/* A member or an element begins at this depth. */
static bool comma(struct kz_packument *p)
{
	bool had = has_item(p, p->depth);

	set_item(p, p->depth, true);
	return !had || puts_(p, ",");
}

static bool put_key(struct kz_packument *p, const char *key, size_t n)
{
	return comma(p) && quote(p, key, n) && puts_(p, ":");
}

static enum kz_jsonflow_say say(bool is_fine)
{
	return is_fine ? KZ_JSON_GO : KZ_JSON_STOP;
}

/* The member goes out as it comes. */
static enum kz_jsonflow_say copy(struct kz_packument *p, const char *key, size_t n)
{
	p->copied = p->depth;
	p->place = COPY;
	return say(put_key(p, key, n));
}

static enum kz_jsonflow_say root_key(struct kz_packument *p, const char *key, size_t n)
{
	if (is_key(key, n, "name")) {
		p->want = NAME;
		return say(put_key(p, key, n));
	}
	if (is_key(key, n, "versions")) {
		if (p->has_versions)
			return KZ_JSON_STOP;
		p->has_versions = true;
		p->place = VERSIONS;
		return say(put_key(p, key, n));
	}
	if (is_key(key, n, "dist-tags") || is_key(key, n, "modified"))
		return copy(p, key, n);
	return KZ_JSON_PASS;
}

static enum kz_jsonflow_say versions_key(struct kz_packument *p, const char *key, size_t n)
{
	char file[KZ_PKG_FILE];

	if (n >= sizeof p->version || strlen(key) != n || !kz_pkg_npm_file(p->name, key, file))
		return KZ_JSON_PASS;
	memcpy(p->version, key, n + 1);
	p->mark = p->out->len;
	p->mark_item = has_item(p, p->depth);
	kz_buf_clear(&p->tarball);
	kz_buf_clear(&p->integrity);
	p->place = VERSION;
	return say(put_key(p, key, n));
}

static enum kz_jsonflow_say dist_key(struct kz_packument *p, const char *key, size_t n)
{
	if (is_key(key, n, "tarball")) {
		p->want = TARBALL;
		return KZ_JSON_GO;
	}
	if (!is_in(of_dist, key, n))
		return KZ_JSON_PASS;
	if (is_key(key, n, "integrity")) {
		p->want = INTEGRITY;
		return say(put_key(p, key, n));
	}
	return copy(p, key, n);
}

static enum kz_jsonflow_say key_of(struct kz_packument *p, const char *key, size_t n)
{
	switch ((enum place)p->place) {
	case ROOT: return root_key(p, key, n);
	case VERSIONS: return versions_key(p, key, n);
	case VERSION:
		if (is_key(key, n, "dist")) {
			if (p->tarball.len)
				return KZ_JSON_STOP; /* two of them: which one counts? */
			p->place = DIST;
			return say(put_key(p, key, n));
		}
		return is_in(of_version, key, n) ? copy(p, key, n) : KZ_JSON_PASS;
	case DIST: return dist_key(p, key, n);
	case COPY: return say(put_key(p, key, n));
	case OUTSIDE: break;
	}
	return KZ_JSON_STOP;
}

/* A copied member is over: back to what it stood in. */
static void copied_over(struct kz_packument *p)
{
	if (p->place == COPY && p->depth == p->copied)
		p->place = p->depth == 1 ? ROOT : p->depth == 3 ? VERSION : DIST;
}

static enum kz_jsonflow_say string_of(struct kz_packument *p, const char *text, size_t n)
{
	enum want want = (enum want)p->want;
	bool is_fine = true;

	p->want = NOTHING;
	if (p->place == COPY) {
		is_fine = (p->depth == p->copied || !p->flow.is_array[p->depth] || comma(p)) &&
			  quote(p, text, n);
		copied_over(p);
		return say(is_fine);
	}
	switch (want) {
	case NAME:
		p->is_named = is_key(text, n, p->name);
		return say(p->is_named && quote(p, text, n));
	case TARBALL:
		kz_buf_clear(&p->tarball);
		return say(strlen(text) == n && kz_buf_add(&p->tarball, text, n, NULL) == KZ_OK);
	case INTEGRITY:
		kz_buf_clear(&p->integrity);
		return say(strlen(text) == n && kz_buf_add(&p->integrity, text, n, NULL) == KZ_OK &&
			   quote(p, text, n));
	case NOTHING: break;
	}
	return KZ_JSON_STOP;
}

static enum kz_jsonflow_say other_of(struct kz_packument *p, const char *text, size_t n)
{
	bool is_fine;

	if (p->place != COPY)
		return KZ_JSON_STOP;
	is_fine = (p->depth == p->copied || !p->flow.is_array[p->depth] || comma(p)) &&
		  put(p, text, n);
	copied_over(p);
	return say(is_fine);
}

static enum kz_jsonflow_say begin(struct kz_packument *p, bool is_array)
{
	bool is_fine = true;

	if (p->place == OUTSIDE && p->depth == 0 && !is_array)
		p->place = ROOT;
	else if (p->place == COPY)
		is_fine = p->depth == p->copied || !p->flow.is_array[p->depth] || comma(p);
	else if (is_array || p->want != NOTHING || p->depth != (unsigned)p->place - 1)
		return KZ_JSON_STOP; /* an array where an object is due, or one where a text is */
	p->depth++;
	set_item(p, p->depth, false);
	return say(is_fine && puts_(p, is_array ? "[" : "{"));
}

static enum kz_jsonflow_say dist_over(struct kz_packument *p)
{
	char file[KZ_PKG_FILE], link[KZ_PKG_LINK];

	(void)kz_pkg_npm_file(p->name, p->version, file);
	kz_pkg_link(KZ_REGISTRY_NPM, p->name, file, link);
	p->depth++; /* it is the last member of what has just ended */
	if (!comma(p) || !puts_(p, "\"tarball\":\"") || !puts_(p, p->base) || !puts_(p, link) ||
	    !puts_(p, "\"}"))
		return KZ_JSON_STOP;
	p->depth--;
	p->place = VERSION;
	return KZ_JSON_GO;
}

static enum kz_jsonflow_say version_over(struct kz_packument *p)
{
	char file[KZ_PKG_FILE];
	struct kz_packument_file f = { file, kz_buf_str(&p->tarball), kz_buf_str(&p->integrity) };

	p->place = VERSIONS;
	(void)kz_pkg_npm_file(p->name, p->version, file);
	if (p->tarball.len && p->on_file(p->arg, &f))
		return say(puts_(p, "}"));
	p->out->len = p->mark;
	set_item(p, p->depth, p->mark_item);
	return KZ_JSON_GO;
}

static enum kz_jsonflow_say end(struct kz_packument *p, bool is_array)
{
	p->depth--;
	switch ((enum place)p->place) {
	case COPY:
		if (!puts_(p, is_array ? "]" : "}"))
			return KZ_JSON_STOP;
		copied_over(p);
		return KZ_JSON_GO;
	case DIST: return dist_over(p);
	case VERSION: return version_over(p);
	case VERSIONS: p->place = ROOT; return say(puts_(p, "}"));
	case ROOT: p->place = OUTSIDE; return say(puts_(p, "}"));
	case OUTSIDE: break;
	}
	return KZ_JSON_STOP;
}

static enum kz_jsonflow_say on_json(void *arg, enum kz_jsonflow_what what, const char *text,
				    size_t n)
{
	struct kz_packument *p = arg;

	switch (what) {
	case KZ_JSON_OBJECT: return begin(p, false);
	case KZ_JSON_ARRAY: return begin(p, true);
	case KZ_JSON_OBJECT_END: return end(p, false);
	case KZ_JSON_ARRAY_END: return end(p, true);
	case KZ_JSON_KEY: return key_of(p, text, n);
	case KZ_JSON_STRING: return string_of(p, text, n);
	case KZ_JSON_OTHER: return other_of(p, text, n);
	}
	return KZ_JSON_STOP;
}

void kz_packument_init(struct kz_packument *p, const char *name, const char *base,
		       struct kz_buf *out,
		       bool (*on_file)(void *arg, const struct kz_packument_file *f), void *arg)
{
	*p = (struct kz_packument){ name, base, out, .on_file = on_file, .arg = arg };
	kz_jsonflow_init(&p->flow, KZ_PACKUMENT_TEXT, on_json, p);
	kz_buf_init(&p->tarball, 2048);
	kz_buf_init(&p->integrity, 2048);
}

void kz_packument_release(struct kz_packument *p)
{
	kz_jsonflow_release(&p->flow);
	kz_buf_release(&p->tarball);
	kz_buf_release(&p->integrity);
}

enum kz_pkg_read kz_packument_add(struct kz_packument *p, const void *data, size_t n)
{
	kz_pkg_read_json(&p->read, &p->flow, data, n);
	return p->read;
}

enum kz_pkg_read kz_packument_end(struct kz_packument *p)
{
	if (p->read == KZ_PKG_READ &&
	    (!kz_jsonflow_end(&p->flow) || !p->is_named || !p->has_versions))
		p->read = KZ_PKG_READ_BAD;
	return p->read;
}
