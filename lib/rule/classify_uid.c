/* Classification of programs: scripts that end unless they are run by user 0. */
#include "rule/classify_parts.h"

static bool is_mark(const struct kz_tok *t, const char *mark)
{
	return t->kind == KZ_TOK_MARK && kz_piece_is(t->text, mark);
}

static bool is_word(const struct kz_tok *t, const char *word)
{
	return t->kind == KZ_TOK_NAME && kz_piece_is(t->text, word);
}

/* What was read of the condition is whole: is it one, and which. */
static void settle(struct kz_uid_watch *w, bool is_root)
{
	w->step = 0;
	w->test = is_root != w->is_negated ? KZ_UID_ROOT : KZ_UID_NOT_ROOT;
}

/* Is the head of the condition over? */
static bool is_head_end(const struct kz_uid_watch *w, const struct kz_tok *t)
{
	if (w->is_node)
		return is_mark(t, ")") && w->now_round == w->round;
	return w->now_round == w->round && is_mark(t, ":");
}

/* The operator behind "name()", or the end of the condition: its truth. */
static void read_operator(struct kz_uid_watch *w, const struct kz_tok *t)
{
	w->step = 4;
	w->is_equal = is_mark(t, "==") || is_mark(t, "===");
	if (is_head_end(w, t))
		settle(w, false);
	else if (!w->is_equal && !is_mark(t, "!=") && !is_mark(t, "!==") && !is_mark(t, ">"))
		w->step = 0;
}

/* Outside a test: what turns the next one round. */
static void read_between(struct kz_uid_watch *w, const struct kz_tok *t)
{
	static const char *const joins[] = { "and", "or", "&&", "||", NULL };

	if (is_word(t, "not") || is_mark(t, "!"))
		w->is_negated = !w->is_negated;
	else if ((t->kind == KZ_TOK_NAME || t->kind == KZ_TOK_MARK) && kz_piece_in(t->text, joins))
		w->is_negated = false;
}

/* name ( ) OPERATOR VALUE, inside the head of a condition. */
static void read_test(struct kz_uid_watch *w, const struct kz_tok *t)
{
	static const char *const users[] = { "getuid", "geteuid", "getuser", NULL };
	bool is_zero = (t->kind == KZ_TOK_NUMBER && kz_piece_is(t->text, "0")) ||
		       (t->kind == KZ_TOK_STRING && kz_piece_is(t->text, "root"));

	if (t->kind == KZ_TOK_NAME && kz_piece_in(t->text, users)) {
		w->step = 1;
	} else if (w->step == 1 && (is_mark(t, "?") || is_mark(t, "."))) {
		return; /* getuid?.() */
	} else if (w->step == 1 || w->step == 2) {
		w->step = is_mark(t, w->step == 1 ? "(" : ")") ? w->step + 1 : 0;
	} else if (w->step == 3) {
		read_operator(w, t);
	} else if (w->step == 4) {
		if (is_zero)
			settle(w, w->is_equal);
		w->step = 0;
	} else {
		read_between(w, t);
	}
}

static void begin(struct kz_uid_watch *w, const struct kz_tok *t, bool is_assert)
{
	*w = (struct kz_uid_watch){ .state = KZ_UIDW_HEAD,
				    .line = t->line,
				    .is_node = w->is_node,
				    .is_assert = is_assert,
				    .indent = w->now_indent,
				    .braces = w->now_braces,
				    .round = w->now_round,
				    .now_indent = w->now_indent,
				    .now_braces = w->now_braces,
				    .now_round = w->now_round };
}

static void head(struct kz_uid_watch *w, const struct kz_tok *t, struct kz_classify *out)
{
	if (w->is_assert && (t->kind == KZ_TOK_LINE || is_mark(t, ",") || is_mark(t, ";"))) {
		w->state = KZ_UIDW_IDLE;
		return;
	}
	if (!w->is_node && t->kind == KZ_TOK_LINE) { /* a condition behind a value */
		w->state = KZ_UIDW_IDLE;
		return;
	}
	read_test(w, t);
	if (w->is_assert && w->test == KZ_UID_ROOT) {
		kz_classify_add(out, w->line, KZ_ADMIN_UID_DEMAND);
		w->state = KZ_UIDW_IDLE;
	} else if (!w->is_assert && is_head_end(w, t)) {
		w->state = w->test == KZ_UID_NONE     ? KZ_UIDW_IDLE :
			   w->test == KZ_UID_NOT_ROOT ? KZ_UIDW_BLOCK :
							KZ_UIDW_ELSE;
	}
}

/* Does what belongs to the condition end with this token? */
static bool is_block_end(struct kz_uid_watch *w, const struct kz_tok *t)
{
	if (!w->is_node)
		return t->kind == KZ_TOK_LINE && t->line > w->line && t->indent <= w->indent;
	if (is_mark(t, "{"))
		w->has_brace = true;
	return (is_mark(t, "}") && w->now_braces <= w->braces) ||
	       (is_mark(t, ";") && !w->has_brace);
}

/* Inside what is done for the wrong user: does it end the program? */
static void block(struct kz_uid_watch *w, const struct kz_tok *t, struct kz_classify *out)
{
	static const char *const ends[] = { "exit", "_exit", "quit", "abort", NULL };

	if (is_word(t, "raise") || is_word(t, "throw")) {
		w->is_raise = true;
	} else if (w->is_raise && t->kind == KZ_TOK_NAME &&
		   memmem(t->text.p, t->text.n, "Skip", 4)) {
		w->state = KZ_UIDW_IDLE; /* a test that is left out */
	} else if ((w->is_raise && (is_mark(t, "(") || is_mark(t, ";") || t->kind == KZ_TOK_LINE ||
				    t->kind == KZ_TOK_END)) ||
		   (t->kind == KZ_TOK_NAME && kz_piece_in(t->text, ends))) {
		kz_classify_add(out, w->line, KZ_ADMIN_UID_DEMAND);
		w->state = KZ_UIDW_IDLE;
	}
}

static void count(struct kz_uid_watch *w, const struct kz_tok *t)
{
	if (t->kind == KZ_TOK_LINE)
		w->now_indent = t->indent;
	w->now_braces += is_mark(t, "{");
	w->now_round += is_mark(t, "(");
	if (is_mark(t, "}") && w->now_braces)
		w->now_braces--;
	if (is_mark(t, ")") && w->now_round)
		w->now_round--;
}

/* After what is done for user 0: an "else" is for everybody else, anything but it ends the watch. */
static void after_root(struct kz_uid_watch *w, const struct kz_tok *t)
{
	if (t->kind == KZ_TOK_LINE)
		return;
	if (is_word(t, "else") && (w->is_node ? w->is_closed : w->now_indent == w->indent)) {
		w->state = KZ_UIDW_BLOCK;
		w->has_brace = false;
		w->indent = w->now_indent;
		w->line = t->line;
	} else if (w->is_node ? w->is_closed : t->line > w->line && w->now_indent <= w->indent) {
		w->state = KZ_UIDW_IDLE;
	} else if (w->is_node && is_block_end(w, t)) {
		w->is_closed = true;
	}
}

void kz_uid_watch(struct kz_uid_watch *w, const struct kz_tok *t, struct kz_classify *out)
{
	count(w, t);
	if (w->state == KZ_UIDW_ELSE)
		after_root(w, t);
	if (w->state == KZ_UIDW_HEAD) {
		head(w, t, out);
	} else if (w->state == KZ_UIDW_BLOCK) {
		block(w, t, out);
		if (is_block_end(w, t))
			w->state = KZ_UIDW_IDLE;
	} else if (w->state == KZ_UIDW_IDLE) {
		if (is_word(t, "if") || is_word(t, "elif"))
			begin(w, t, false);
		else if (is_word(t, "assert"))
			begin(w, t, true);
	}
}
