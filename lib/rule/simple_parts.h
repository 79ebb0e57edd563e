/* Shared by the files of rule/simple, for no one else. */
#ifndef KZ_RULE_SIMPLE_PARTS_H
#define KZ_RULE_SIMPLE_PARTS_H

#include "rule/simple.h"

/* Start a file, and hand it out when it is one of the project and can be had. out: false: s->read says why */
void kz_simple_file_begin(struct kz_simple *s);
bool kz_simple_file_end(struct kz_simple *s);
/* Write the file that was read, with its link; and what comes before and behind all files. out: s->read is LARGE when it did not fit */
void kz_simple_put_file(struct kz_simple *s, const char *link);
void kz_simple_put_rest(struct kz_simple *s);
/* Is this "1" or "1.MINOR"? */
bool kz_simple_is_version(const char *text);
/* A hash of this name, in hexadecimal: add it to the file's. */
void kz_simple_hash(struct kz_simple_file *f, const char *name, const char *hex, size_t n);
/* Copy text of an index that may hold anything; what does not fit or is no text is left out. */
void kz_simple_text(char *to, size_t size, const char *text, size_t n);

/* What struct kz_jsonflow tells of the JSON form. */
enum kz_jsonflow_say kz_simple_on_json(void *arg, enum kz_jsonflow_what what, const char *text,
				       size_t n);
/* The next piece of a page. */
void kz_simple_html_add(struct kz_simple *s, const char *p, size_t n);

/* An attribute of a tag, as it stands there. */
struct kz_simple_attribute {
	const char *name, *value;
	size_t name_n, value_n;
};
/* Does it end a name in a tag? */
bool kz_simple_is_blank(char c);
/* The next one at *p, which is moved behind it. out: false at the end */
bool kz_simple_next(const char **p, const char *end, struct kz_simple_attribute *a);
bool kz_simple_is_named(const struct kz_simple_attribute *a, const char *name);
/* Its value without character references; what does not fit or is no text is left out. */
void kz_simple_decode(char *to, size_t size, const struct kz_simple_attribute *a);

#endif
