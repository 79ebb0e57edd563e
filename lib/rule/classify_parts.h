/* What the parts of rule/classify share; rule/imports reads programs by the same tokens. */
#ifndef KZ_RULE_CLASSIFY_PARTS_H
#define KZ_RULE_CLASSIFY_PARTS_H

#include <stdint.h>
#include <string.h>

#include "rule/classify.h"

/* One more match, unless the place is used up or this line has it. */
void kz_classify_add(struct kz_classify *out, size_t line, enum kz_admin what);

/* A piece of the text. */
struct kz_piece {
	const char *p;
	size_t n;
};
/* Is it exactly the word s, one of a NULL-terminated list? */
bool kz_piece_is(struct kz_piece s, const char *word);
bool kz_piece_in(struct kz_piece s, const char *const *words);
/* Is it /etc/sudoers, /etc/sudoers.d or a path below, and nothing else? */
bool kz_piece_is_sudoers(struct kz_piece s);

/* The words of one command, without their quotes. What does not fit is cut off. */
#define KZ_WORDS 24
struct kz_words {
	char text[4096];
	size_t used;
	struct kz_piece at[KZ_WORDS];
	size_t count;
};
void kz_words_clear(struct kz_words *w);
void kz_words_add(struct kz_words *w, struct kz_piece word);

/* How a comparison of the user with root came out: is true when not root, when root. */
enum kz_uid_test { KZ_UID_NONE, KZ_UID_NOT_ROOT, KZ_UID_ROOT };

/*
 * What a command of these words demands. in: from w->at[0]; last is the character that ended it, 0 for the end of
 * the text; depth counts programs within programs.
 */
void kz_classify_words(const struct kz_words *w, char last, size_t line, int depth,
		       struct kz_classify *out);
/* A test command ("[ ... ]", "test", "[["): what it asks of the user. */
enum kz_uid_test kz_words_uid_test(const struct kz_words *w);
/* A shell program. in: line of its first byte */
void kz_classify_shell(struct kz_piece text, size_t line, int depth, struct kz_classify *out);
/* A Python or JavaScript program. */
void kz_classify_script(struct kz_piece text, bool is_node, struct kz_classify *out);

/* Tokens of Python and JavaScript, as far as they matter here. */
enum kz_tok_kind {
	KZ_TOK_END,
	KZ_TOK_LINE, /* a line begins outside brackets; indent is its own */
	KZ_TOK_NAME,
	KZ_TOK_NUMBER,
	KZ_TOK_STRING, /* text is what stands between the quotes, as it is written */
	KZ_TOK_SHELL,  /* a line "!command" of a notebook */
	KZ_TOK_MARK,   /* an operator of one or more characters */
};
struct kz_tok {
	enum kz_tok_kind kind;
	struct kz_piece text;
	size_t line, indent;
	bool is_raw, is_template;
};
struct kz_lex {
	const char *p;
	size_t n, at, line, depth; /* depth of brackets within which a line end means nothing */
	size_t plain_line;         /* a line without further patterns */
	bool is_node, is_line_begun;
	struct kz_tok last;
};
/* The next token. */
struct kz_tok kz_lex_next(struct kz_lex *l);
/* Text of a string with its escapes taken away. out: at most size bytes; returns how many */
size_t kz_tok_plain(const struct kz_tok *t, char *out, size_t size);

/* Demands of user 0 in a script, told token by token (classify_uid.c). */
struct kz_uid_watch {
	enum { KZ_UIDW_IDLE, KZ_UIDW_HEAD, KZ_UIDW_BLOCK, KZ_UIDW_ELSE } state;
	enum kz_uid_test test;
	size_t line, indent, braces, round;
	size_t now_indent, now_braces, now_round;
	int step; /* 1: the name of a uid function was read, 2 "(", 3 ")", 4 the operator */
	bool is_assert, is_negated, is_equal, is_raise, is_node, has_brace, is_closed;
};
/* One more token. */
void kz_uid_watch(struct kz_uid_watch *w, const struct kz_tok *t, struct kz_classify *out);

#endif
