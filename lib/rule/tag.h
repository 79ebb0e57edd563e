/*
 * Tags: four hexadecimal digits that name one text of a file.
 *
 * A tag is the low half of XXH32 of the text without the blanks at the ends of its
 * lines.  Sixteen bits collide, and whoever wants a collision finds one at once: a tag
 * finds a stored text and proves nothing [HL-3].  Layer 2, pure.
 * src: HL-10, HL-13
 */
#ifndef KZ_RULE_TAG_H
#define KZ_RULE_TAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KZ_TAG_TEXT 5 /* four digits and the final 0 */

/* XXH32 of p[0..n); p may be NULL when n is 0. */
uint32_t kz_xxh32(const void *p, size_t n, uint32_t seed);
/* The tag of a text whose line ends are LF already, without a byte order mark: blanks, tabs and CR right before LF or the end do not count. */
uint16_t kz_tag(const char *text, size_t n);
/* Write it in upper case. */
void kz_tag_text(uint16_t tag, char out[KZ_TAG_TEXT]);
/* Read exactly four hexadecimal digits of any case. out: left alone when false */
bool kz_tag_parse(const char *p, size_t n, uint16_t *out);

#endif
