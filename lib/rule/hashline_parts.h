/* Private parts of the hashline rules: the parser's state. Layer 2, pure. */
#ifndef KZ_RULE_HASHLINE_PARTS_H
#define KZ_RULE_HASHLINE_PARTS_H

#include "rule/hashline_edit.h"

/* A line of an open body, as it stands in the edit. */
struct kz_body_line {
	struct kz_row row; /* behind its mark */
	char mark;         /* '+', '-', or 0 for none */
	size_t at;
};

struct kz_parser {
	struct kz_edit *e;
	struct kz_section *s; /* NULL before the first header */
	struct kz_hunk open;  /* its body is being read */
	bool is_open, is_over;
	size_t at;                 /* number of the line */
	size_t blanks;             /* empty lines in the body that nothing followed yet */
	struct kz_body_line *body; /* own */
	size_t lines, room;
};

/* Refuse the line that is being read. */
enum kz_rc kz_parse_bad(const struct kz_parser *p, const char *what, struct kz_err *err);
/* A line that is neither header, operation nor marker. err: edit_malformed, line_out_of_range, KZ_E_OS */
enum kz_rc kz_parse_row(struct kz_parser *p, struct kz_row l, struct kz_err *err);
/* The body ends. err: edit_malformed, KZ_E_OS */
enum kz_rc kz_parse_flush(struct kz_parser *p, struct kz_err *err);
void kz_parse_release(struct kz_parser *p);

#endif
