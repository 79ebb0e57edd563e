/* Native documents: names, types and the gate. */
#include "rule/native.h"

#include <string.h>
#include <strings.h>

#define OFFICE "application/vnd.openxmlformats-officedocument."
#define TRANSITIONAL "http://schemas.openxmlformats.org/"
#define STRICT "http://purl.oclc.org/ooxml/"
#define RELATION TRANSITIONAL "officeDocument/2006/relationships"
#define RELATION_STRICT STRICT "officeDocument/relationships"

static const struct kind {
	const char *word;
	const char *media_type;
	const char *main_part;
	const char *main_type;
	const char *namespace[2]; /* transitional, strict */
	const char *root;
} kinds[KZ_NATIVE_KINDS] = {
	[KZ_NATIVE_PDF] = { .word = "pdf", .media_type = "application/pdf" },
	[KZ_NATIVE_DOCX] = { "docx",
			     OFFICE "wordprocessingml.document",
			     "word/document.xml",
			     OFFICE "wordprocessingml.document.main+xml",
			     { TRANSITIONAL "wordprocessingml/2006/main",
			       STRICT "wordprocessingml/main" },
			     "document" },
	[KZ_NATIVE_PPTX] = { "pptx",
			     OFFICE "presentationml.presentation",
			     "ppt/presentation.xml",
			     OFFICE "presentationml.presentation.main+xml",
			     { TRANSITIONAL "presentationml/2006/main",
			       STRICT "presentationml/main" },
			     "presentation" },
	[KZ_NATIVE_XLSX] = { "xlsx",
			     OFFICE "spreadsheetml.sheet",
			     "xl/workbook.xml",
			     OFFICE "spreadsheetml.sheet.main+xml",
			     { TRANSITIONAL "spreadsheetml/2006/main",
			       STRICT "spreadsheetml/main" },
			     "workbook" },
};

/* Characters of a name that nobody sees: spaces, and marks of width zero or of direction. */
static size_t unseen(const unsigned char *p)
{
	if (*p <= ' ' || *p == 0x7f)
		return 1;
	if (p[0] == 0xc2 && (p[1] <= 0xa0 || p[1] == 0xad)) /* C1, no-break space, soft hyphen */
		return p[1] >= 0x80 ? 2 : 0;
	if (p[0] == 0xe2 && p[1] == 0x80 && /* U+2000 to U+200F, U+2028 to U+202F */
	    (p[2] <= 0x8f || (p[2] >= 0xa8 && p[2] <= 0xaf)))
		return p[2] >= 0x80 ? 3 : 0;
	if (p[0] == 0xe2 && p[1] == 0x81 && p[2] >= 0x9f && p[2] <= 0xaf) /* U+205F to U+206F */
		return 3;
	if (p[0] == 0xe3 && p[1] == 0x80 && p[2] == 0x80) /* U+3000 */
		return 3;
	if (p[0] == 0xef && p[1] == 0xbb && p[2] == 0xbf) /* U+FEFF */
		return 3;
	return 0;
}

enum kz_native_kind kz_native_kind_of_name(const char *name)
{
	/* The last extension, as far as it can be one of ours, and the one before a trailing dot. */
	char word[8] = "", last[8] = "";
	size_t n = 0;
	bool is_open = false;

	for (const unsigned char *p = (const unsigned char *)(name ? name : ""); *p;) {
		size_t skip = unseen(p);
		if (skip > 0) {
			p += skip;
			continue;
		}
		if (*p == '.' || *p == '/') {
			if (is_open && n > 0)
				memcpy(last, word, sizeof word);
			if (*p == '/')
				last[0] = '\0';
			is_open = *p == '.';
			n = 0;
		} else if (n < sizeof word - 1) {
			if (n == 0 && is_open)
				last[0] = '\0';
			word[n++] = (char)*p;
			word[n] = '\0';
		}
		p++;
	}
	return kz_native_kind_find(is_open && n > 0 ? word : last);
}

enum kz_native_kind kz_native_kind_of_media(const char *media_type)
{
	size_t n = media_type ? strcspn(media_type, "; \t") : 0;

	for (int k = KZ_NATIVE_PDF; k < KZ_NATIVE_KINDS && n > 0; k++) {
		if (strlen(kinds[k].media_type) == n &&
		    strncasecmp(kinds[k].media_type, media_type, n) == 0)
			return (enum kz_native_kind)k;
	}
	return KZ_NATIVE_NONE;
}

enum kz_native_kind kz_native_kind_find(const char *word)
{
	for (int k = KZ_NATIVE_PDF; k < KZ_NATIVE_KINDS; k++) {
		if (strcasecmp(kinds[k].word, word) == 0)
			return (enum kz_native_kind)k;
	}
	return KZ_NATIVE_NONE;
}

const char *kz_native_kind_word(enum kz_native_kind k)
{
	return kinds[k].word;
}

const char *kz_native_main_part(enum kz_native_kind k)
{
	return kinds[k].main_part;
}

enum kz_native_kind kz_native_kind_of_main_type(const char *content_type)
{
	for (int k = KZ_NATIVE_DOCX; k < KZ_NATIVE_KINDS; k++) {
		if (strcasecmp(kinds[k].main_type, content_type) == 0)
			return (enum kz_native_kind)k;
	}
	return KZ_NATIVE_NONE;
}

/* Is element "NAMESPACE NAME" that name in a namespace of k? */
static bool is_element(enum kz_native_kind k, const char *element, const char *name)
{
	for (size_t i = 0; i < 2; i++) {
		size_t n = strlen(kinds[k].namespace[i]);
		if (strncmp(element, kinds[k].namespace[i], n) == 0 && element[n] == ' ' &&
		    strcmp(element + n + 1, name) == 0)
			return true;
	}
	return false;
}

bool kz_native_root_fits(enum kz_native_kind k, const char *element)
{
	return kinds[k].root && is_element(k, element, kinds[k].root);
}

bool kz_native_relation_is(const char *type, const char *word)
{
	static const char *const from[] = { RELATION "/", RELATION_STRICT "/" };

	for (size_t i = 0; i < 2; i++) {
		size_t n = strlen(from[i]);
		if (strncmp(type, from[i], n) == 0 && strcmp(type + n, word) == 0)
			return true;
	}
	return false;
}

const char *kz_native_listed(enum kz_native_kind k, const char *element)
{
	if (k == KZ_NATIVE_PPTX && is_element(k, element, "sldId"))
		return OFFICE "presentationml.slide+xml";
	if (k == KZ_NATIVE_PPTX && is_element(k, element, "sldMasterId"))
		return OFFICE "presentationml.slideMaster+xml";
	/* Worksheets, chart sheets, dialogs; old macro sheets have a type of another vendor word. */
	if (k == KZ_NATIVE_XLSX && is_element(k, element, "sheet"))
		return "application/vnd.";
	return NULL;
}

bool kz_native_is_relation_id(const char *attribute)
{
	return strcmp(attribute, RELATION " id") == 0 ||
	       strcmp(attribute, RELATION_STRICT " id") == 0;
}

static bool fits(enum kz_native_kind wanted, const struct kz_native_attachment *a)
{
	enum kz_native_kind named = kz_native_kind_of_name(a->name);

	if (!a->is_durable || !a->is_validated)
		return false;
	return named == wanted ||
	       (named == KZ_NATIVE_NONE && kz_native_kind_of_media(a->media_type) == wanted);
}

bool kz_native_gate(enum kz_native_kind requested, const struct kz_native_attachment *a,
		    size_t count)
{
	if (requested == KZ_NATIVE_NONE)
		return true;
	for (size_t i = 0; i < count; i++) {
		if (fits(requested, &a[i]))
			return true;
	}
	return false;
}
