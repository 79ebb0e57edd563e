/* The JSON form of an index (PEP 691). */
#include <string.h>

#include "base/str.h"
#include "rule/simple_parts.h"

enum place { OUTSIDE, ROOT, META, STATUS, VERSIONS, FILES, A_FILE, HASHES, CORE };

static enum kz_jsonflow_say root_key(struct kz_simple *s, const char *key)
{
	static const struct {
		const char *key;
		enum place place;
	} known[] = { { "meta", META },
		      { "project-status", STATUS },
		      { "versions", VERSIONS },
		      { "files", FILES },
		      { "name", ROOT } };

	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
		if (kz_str_eq(key, known[i].key)) {
			s->want = (int)known[i].place;
			return KZ_JSON_GO;
		}
	return KZ_JSON_PASS;
}

static enum kz_jsonflow_say file_key(struct kz_simple *s, const char *key)
{
	static const char *const texts[] = { "filename", "url",         "requires-python",
					     "yanked",   "upload-time", "size",
					     NULL };

	s->want = A_FILE;
	for (size_t i = 0; texts[i]; i++)
		if (kz_str_eq(key, texts[i]))
			return KZ_JSON_GO;
	s->want = kz_str_eq(key, "hashes") ? HASHES : CORE;
	if (s->want == HASHES || kz_str_eq(key, "core-metadata"))
		return KZ_JSON_GO;
	/* The older name counts where the newer is not there. */
	if ((kz_str_eq(key, "dist-info-metadata") || kz_str_eq(key, "data-dist-info-metadata")) &&
	    !s->file.has_metadata)
		return KZ_JSON_GO;
	return KZ_JSON_PASS;
}

static enum kz_jsonflow_say on_key(struct kz_simple *s, const char *key, size_t n)
{
	if (strlen(key) != n)
		return KZ_JSON_PASS;
	if (kz_str_copy(s->key, sizeof s->key, key, NULL) != KZ_OK)
		return KZ_JSON_PASS;
	switch ((enum place)s->place) {
	case ROOT: return root_key(s, key);
	case A_FILE: return file_key(s, key);
	case META: return kz_str_eq(key, "api-version") ? KZ_JSON_GO : KZ_JSON_PASS;
	case STATUS:
		return kz_str_eq(key, "status") || kz_str_eq(key, "reason") ? KZ_JSON_GO :
									      KZ_JSON_PASS;
	case HASHES:
	case CORE: return KZ_JSON_GO;
	case OUTSIDE:
	case VERSIONS:
	case FILES: break;
	}
	return KZ_JSON_STOP;
}

static enum kz_jsonflow_say on_object(struct kz_simple *s)
{
	switch ((enum place)s->place) {
	case OUTSIDE:
		/* A second value is no JSON: kz_jsonflow sees to it. */
		s->place = ROOT;
		return KZ_JSON_GO;
	case ROOT:
		if (s->want != META && s->want != STATUS)
			return KZ_JSON_STOP;
		s->place = s->want;
		return KZ_JSON_GO;
	case FILES:
		kz_simple_file_begin(s);
		s->place = A_FILE;
		return KZ_JSON_GO;
	case A_FILE:
		if (s->want != HASHES && s->want != CORE)
			return KZ_JSON_STOP;
		if (s->want == CORE)
			s->file.has_metadata = true;
		s->place = s->want;
		return KZ_JSON_GO;
	case META:
	case STATUS:
	case VERSIONS:
	case HASHES:
	case CORE: break;
	}
	return KZ_JSON_STOP;
}

static enum kz_jsonflow_say on_object_end(struct kz_simple *s)
{
	switch ((enum place)s->place) {
	case ROOT: s->place = OUTSIDE; return KZ_JSON_GO;
	case META:
	case STATUS: s->place = ROOT; return KZ_JSON_GO;
	case HASHES:
	case CORE: s->place = A_FILE; return KZ_JSON_GO;
	case A_FILE: s->place = FILES; return kz_simple_file_end(s) ? KZ_JSON_GO : KZ_JSON_STOP;
	case OUTSIDE:
	case VERSIONS:
	case FILES: break;
	}
	return KZ_JSON_STOP;
}

static enum kz_jsonflow_say on_array(struct kz_simple *s)
{
	if (s->place != ROOT || (s->want != VERSIONS && s->want != FILES))
		return KZ_JSON_STOP;
	if (s->want == FILES) {
		if (s->has_files)
			return KZ_JSON_STOP;
		s->has_files = true;
	}
	s->place = s->want;
	return KZ_JSON_GO;
}

static void file_text(struct kz_simple *s, const char *text, size_t n)
{
	struct kz_simple_file *f = &s->file;

	if (kz_str_eq(s->key, "filename")) {
		kz_simple_text(f->name, sizeof f->name, text, n);
	} else if (kz_str_eq(s->key, "url")) {
		size_t whole = strcspn(text, "#");

		/* A text with a zero byte inside is none. */
		if (strlen(text) == n)
			kz_simple_text(f->url, sizeof f->url, text, whole);
	} else if (kz_str_eq(s->key, "requires-python")) {
		kz_simple_text(f->requires_python, sizeof f->requires_python, text, n);
	} else if (kz_str_eq(s->key, "upload-time")) {
		kz_simple_text(f->upload_time, sizeof f->upload_time, text, n);
	} else if (kz_str_eq(s->key, "yanked")) {
		/* An empty text is no reason, and no file is taken back by it. */
		f->is_yanked = n > 0;
		kz_simple_text(f->yanked, sizeof f->yanked, text, n);
	}
}

static enum kz_jsonflow_say root_text(struct kz_simple *s, const char *text, size_t n)
{
	char name[KZ_PKG_NAME];

	if (!kz_str_eq(s->key, "name") || !kz_pkg_normal(text, n, name) ||
	    !kz_str_eq(name, s->project))
		return KZ_JSON_STOP;
	s->is_named = true;
	return KZ_JSON_GO;
}

static enum kz_jsonflow_say on_string(struct kz_simple *s, const char *text, size_t n)
{
	switch ((enum place)s->place) {
	case ROOT: return root_text(s, text, n);
	case META: return kz_simple_is_version(text) ? KZ_JSON_GO : KZ_JSON_STOP;
	case STATUS:
		if (kz_str_eq(s->key, "status"))
			kz_simple_text(s->status, sizeof s->status, text, n);
		else
			kz_simple_text(s->status_reason, sizeof s->status_reason, text, n);
		return KZ_JSON_GO;
	case VERSIONS:
		if ((s->versions.len && kz_buf_puts(&s->versions, ",", NULL) != KZ_OK) ||
		    kz_jsonflow_quote(&s->versions, text, n, NULL) != KZ_OK) {
			s->read = KZ_PKG_READ_LARGE;
			return KZ_JSON_STOP;
		}
		return KZ_JSON_GO;
	case A_FILE:
		if (s->want != A_FILE)
			return KZ_JSON_STOP;
		file_text(s, text, n);
		return KZ_JSON_GO;
	case HASHES: kz_simple_hash(&s->file, s->key, text, n); return KZ_JSON_GO;
	case CORE:
		if (kz_str_eq(s->key, "sha256") && n == 64 &&
		    strspn(text, "0123456789abcdef") == 64)
			memcpy(s->file.metadata_sha256, text, 65);
		return KZ_JSON_GO;
	case OUTSIDE:
	case FILES: break;
	}
	return KZ_JSON_STOP;
}

static enum kz_jsonflow_say on_other(struct kz_simple *s, const char *text)
{
	struct kz_simple_file *f = &s->file;

	if (s->place == STATUS)
		return KZ_JSON_GO;
	if (s->place != A_FILE)
		return KZ_JSON_STOP;
	if (s->want == CORE)
		f->has_metadata = kz_str_eq(text, "true");
	else if (kz_str_eq(s->key, "yanked"))
		f->is_yanked = kz_str_eq(text, "true");
	else if (kz_str_eq(s->key, "size"))
		(void)kz_str_int(text, 0, INT64_MAX, &f->size, NULL);
	else if (!kz_str_eq(text, "null"))
		return KZ_JSON_STOP;
	return KZ_JSON_GO;
}

enum kz_jsonflow_say kz_simple_on_json(void *arg, enum kz_jsonflow_what what, const char *text,
				       size_t n)
{
	struct kz_simple *s = arg;

	switch (what) {
	case KZ_JSON_KEY: return on_key(s, text, n);
	case KZ_JSON_STRING: return on_string(s, text, n);
	case KZ_JSON_OTHER: return on_other(s, text);
	case KZ_JSON_OBJECT: return on_object(s);
	case KZ_JSON_OBJECT_END: return on_object_end(s);
	case KZ_JSON_ARRAY: return on_array(s);
	case KZ_JSON_ARRAY_END: s->place = ROOT; return KZ_JSON_GO;
	}
	return KZ_JSON_STOP;
}
