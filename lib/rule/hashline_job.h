/* Private parts of applying an edit: one section at work. Layer 2, pure. */
#ifndef KZ_RULE_HASHLINE_JOB_H
#define KZ_RULE_HASHLINE_JOB_H

#include "rule/hashline_apply.h"

/* What an operation puts in, once registers are known. */
struct kz_content {
	const struct kz_row *row;
	size_t count;
	bool is_dropped; /* a later operation on the same lines counts */
};

struct kz_job {
	const struct kz_edit *e;
	const struct kz_section *s;
	const struct kz_edit_file *file;
	struct kz_page *page;
	const struct kz_version *base; /* the text that the tag names */
	struct kz_text old, now;       /* of the base, and of the file as it is */
	struct kz_buf normal;          /* the file as it is, in normal form */
	bool is_same;                  /* the file is the base */
	uint32_t *map;  /* of a stale section: from old lines to new ones, 0: gone; own */
	int64_t offset; /* of the anchors of a stale section */
	struct kz_content *content; /* one a hunk; own */
	struct kz_buf notes;
};

/* A line of the result. */
struct kz_made {
	struct kz_line l;
	uint32_t from; /* its number in the file as it was, 0: new */
};
struct kz_result {
	struct kz_made *line; /* own */
	uint32_t count;
};

/* Does the hunk stand on lines (and not at an edge of the file)? */
static inline bool kz_hunk_is_anchored(const struct kz_hunk *h)
{
	return !h->is_edge;
}
static inline bool kz_hunk_is_range(const struct kz_hunk *h)
{
	return h->kind == KZ_HUNK_REPLACE || h->kind == KZ_HUNK_CUT;
}

/* Choose the base among the versions of the tag. err: unknown_tag, KZ_E_OS */
enum kz_rc kz_job_choose(struct kz_job *j, struct kz_err *err);
/* Another text of the same tag must leave no doubt; behind kz_job_check. err: ambiguous_anchor, KZ_E_OS */
enum kz_rc kz_job_tell_apart(const struct kz_job *j, struct kz_err *err);
/* Lines exist, were seen, and are touched once. err: line_out_of_range, unseen_lines, edit_overlap, edit_malformed */
enum kz_rc kz_job_check(struct kz_job *j, struct kz_err *err);
/* Find the anchors in the file as it is. out: map, offset. err: stale_anchor, KZ_E_OS */
enum kz_rc kz_job_locate(struct kz_job *j, struct kz_err *err);
/* Rows that repeat the lines beside their range. err: edit_echo */
enum kz_rc kz_job_echo(struct kz_job *j, struct kz_err *err);
/* What a register holds during one edit. */
struct kz_held {
	char name[KZ_REGISTER_NAME + 1]; /* "": the nameless one */
	struct kz_row *row;              /* own */
	size_t count;
};
/* Registers at work: those of the book as they are used, and those of the edit. */
struct kz_bench {
	struct kz_held *held; /* own */
	size_t count, room;
	unsigned pending; /* nameless cuts that nothing was done with */
	struct kz_turn {
		struct kz_job *job;
		size_t hunk;
	} * turn; /* own; the hunks in the order of the edit */
};
void kz_bench_release(struct kz_bench *w);
#define kz_auto_bench kz_auto(kz_bench_release)
/* Give every hunk its rows, which live as long as the bench. err: register_empty, register_ambiguous, KZ_E_OS */
enum kz_rc kz_bench_fill(struct kz_bench *w, const struct kz_edit *e, struct kz_job *jobs,
			 const struct kz_book *b, struct kz_err *err);
/* Keep in the book what was cut under a name; rows of the bench that came from the book are gone then. err: register_full, KZ_E_OS */
enum kz_rc kz_bench_keep(const struct kz_bench *w, const struct kz_edit *e, struct kz_book *b,
			 struct kz_err *err);
/* Put the new text together. out: r, own. err: file_too_large, edit_malformed, KZ_E_OS */
enum kz_rc kz_job_compose(const struct kz_job *j, struct kz_result *r, struct kz_err *err);
/* The line of the file as it is that a line of the base is now; 0 stays 0. */
static inline uint32_t kz_job_line(const struct kz_job *j, uint32_t line)
{
	return line ? (uint32_t)((int64_t)line + j->offset) : 0;
}

#endif
