/* Media types: a small table of extensions and first bytes. */
#include "rule/media.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "base/str.h"

#define OCTETS "application/octet-stream"
#define OOXML "application/vnd.openxmlformats-officedocument."

/* magic NULL: text, whose first bytes must be UTF-8 without zero bytes. */
struct kind {
	const char *ext, *type, *magic;
	size_t at, n;
};

static const struct kind kinds[] = {
	{ "png", "image/png", "\x89PNG\r\n\x1a\n", 0, 8 },
	{ "jpg", "image/jpeg", "\xff\xd8\xff", 0, 3 },
	{ "jpeg", "image/jpeg", "\xff\xd8\xff", 0, 3 },
	{ "gif", "image/gif", "GIF8", 0, 4 },
	{ "webp", "image/webp", "WEBP", 8, 4 },
	{ "pdf", "application/pdf", "%PDF-", 0, 5 },
	{ "xlsx", OOXML "spreadsheetml.sheet", "PK\x03\x04", 0, 4 },
	{ "docx", OOXML "wordprocessingml.document", "PK\x03\x04", 0, 4 },
	{ "pptx", OOXML "presentationml.presentation", "PK\x03\x04", 0, 4 },
	{ "zip", "application/zip", "PK\x03\x04", 0, 4 },
	{ "gz", "application/gzip", "\x1f\x8b", 0, 2 },
	{ "tgz", "application/gzip", "\x1f\x8b", 0, 2 },
	{ "xz", "application/x-xz",
	  "\xfd"
	  "7zXZ\0",
	  0, 6 },
	{ "zst", "application/zstd", "\x28\xb5\x2f\xfd", 0, 4 },
	{ "tar", "application/x-tar", "ustar", 257, 5 },
	{ "sqlite", "application/vnd.sqlite3", "SQLite format 3\0", 0, 16 },
	{ "db", "application/vnd.sqlite3", "SQLite format 3\0", 0, 16 },
	{ "parquet", "application/vnd.apache.parquet", "PAR1", 0, 4 },
	{ "wav", "audio/wav", "WAVE", 8, 4 },
	{ "mp4", "video/mp4", "ftyp", 4, 4 },
	{ "webm", "video/webm", "\x1a\x45\xdf\xa3", 0, 4 },
	{ "txt", "text/plain", NULL, 0, 0 },
	{ "log", "text/plain", NULL, 0, 0 },
	{ "csv", "text/csv", NULL, 0, 0 },
	{ "tsv", "text/tab-separated-values", NULL, 0, 0 },
	{ "md", "text/markdown", NULL, 0, 0 },
	{ "html", "text/html", NULL, 0, 0 },
	{ "htm", "text/html", NULL, 0, 0 },
	{ "css", "text/css", NULL, 0, 0 },
	{ "js", "text/javascript", NULL, 0, 0 },
	{ "mjs", "text/javascript", NULL, 0, 0 },
	{ "py", "text/x-python", NULL, 0, 0 },
	{ "sh", "text/x-shellscript", NULL, 0, 0 },
	{ "json", "application/json", NULL, 0, 0 },
	{ "jsonl", "application/jsonl", NULL, 0, 0 },
	{ "xml", "application/xml", NULL, 0, 0 },
	{ "svg", "image/svg+xml", NULL, 0, 0 },
	{ "yaml", "application/yaml", NULL, 0, 0 },
	{ "yml", "application/yaml", NULL, 0, 0 },
};

/* A head may be cut inside a character: up to 3 bytes at its end are forgiven then. */
static bool is_text(const char *head, size_t n)
{
	if (memchr(head, 0, n))
		return false;
	if (kz_utf8_valid(head, n))
		return true;
	for (size_t cut = 1; n == KZ_MEDIA_HEAD && cut < 4; cut++)
		if (kz_utf8_valid(head, n - cut))
			return true;
	return false;
}

static const struct kind *by_name(const char *name)
{
	const char *slash = strrchr(name, '/');
	const char *dot = strrchr(slash ? slash + 1 : name, '.');

	for (size_t i = 0; dot && i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcasecmp(dot + 1, kinds[i].ext))
			return &kinds[i];
	return NULL;
}

const char *kz_media_type(const char *name, const void *head, size_t n)
{
	const struct kind *k = by_name(name);

	if (n > KZ_MEDIA_HEAD)
		n = KZ_MEDIA_HEAD;
	if (k && !k->magic)
		return is_text(head, n) ? k->type : OCTETS;
	if (k && n >= k->at + k->n && !memcmp((const char *)head + k->at, k->magic, k->n))
		return k->type;
	return OCTETS;
}

bool kz_media_is_text_name(const char *name)
{
	const struct kind *k = by_name(name);

	return k && !k->magic;
}

bool kz_media_is_document(const void *head, size_t n)
{
	const char *p = head;
	size_t at = n >= 3 && !memcmp(p, "\xef\xbb\xbf", 3) ? 3 : 0;

	while (at < n && strchr(" \t\r\n\f", p[at]) && p[at])
		at++;
	return (n - at >= 5 && !memcmp(p + at, "%PDF-", 5)) ||
	       (n >= 4 && !memcmp(head, "PK\x03\x04", 4)) ||
	       (n >= 8 && !memcmp(head, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", 8));
}
