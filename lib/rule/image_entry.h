/*
 * The list of a worker image: one line an entry, five fields with tabs between: type, mode, size, SHA-256 or target, name.
 * A name is relative, in its one form, and leads nowhere else.  Layer 2, pure.
 * src: IMG-11
 */
#ifndef KZ_RULE_IMAGE_ENTRY_H
#define KZ_RULE_IMAGE_ENTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KZ_IMAGE_LINE 8192

enum kz_image_type { KZ_IMAGE_FILE = 'f', KZ_IMAGE_DIR = 'd', KZ_IMAGE_LINK = 'l' };

struct kz_image_line {
	enum kz_image_type type;
	unsigned mode; /* 0 to 07777 */
	int64_t size;  /* 0 of a directory */
	const char *
		sum; /* 64 hexadecimal digits of a file, the target of a link, "-" of a directory */
	const char *name;
	char text[KZ_IMAGE_LINE]; /* what sum and name point into */
};

/* Take one line apart. in: p[0..n) without the end of the line. out: line, unless false: it says nothing that can be held */
bool kz_image_line_parse(const char *p, size_t n, struct kz_image_line *line);

#endif
