/* Classification of programs: a shell program is cut into commands, and demands of user 0 are followed through it. */
#include "rule/classify_parts.h"

#define DEPTH_MAX 6
#define HERE_MAX 4

/* What a failed test of the user leads to. */
enum wait_kind { WAIT_NONE, WAIT_LIST, WAIT_THEN, WAIT_ELSE };

struct shell {
	const char *p;
	size_t n, at, line;
	int depth;
	struct kz_classify *out;
	struct kz_words words;
	char word[4096]; /* the word that is being read */
	size_t len, word_line, command_line;
	bool is_word, is_target,
		is_dropped; /* of the word: any, of a redirection, text for standard input */
	struct kz_piece here[HERE_MAX]; /* delimiters of documents that follow this line */
	size_t here_count;
	bool is_if, is_not;
	size_t ifs, braces;
	enum wait_kind wait;
	size_t wait_ifs, wait_braces, wait_line;
};

static void put(struct shell *s, const char *p, size_t n)
{
	s->is_word = true;
	if (n > sizeof(s->word) - s->len)
		n = sizeof(s->word) - s->len;
	memcpy(s->word + s->len, p, n);
	s->len += n;
}

/* Where the bracket that opened before at closes; quotes hide brackets. out: index of ')', or n */
static size_t closing(const struct shell *s, size_t at)
{
	size_t open = 1;
	char quote = 0;

	for (; at < s->n; at++) {
		char c = s->p[at];

		if (c == '\\' && quote != '\'') {
			at++;
		} else if (quote) {
			if (c == quote)
				quote = 0;
		} else if (c == '\'' || c == '"') {
			quote = c;
		} else if (c == '(') {
			open++;
		} else if (c == ')' && --open == 0) {
			return at;
		}
	}
	return s->n;
}

static size_t count_lines(const char *p, size_t n)
{
	size_t lines = 0;

	for (size_t i = 0; i < n; i++)
		lines += p[i] == '\n';
	return lines;
}

/* $(...) or `...`: what it starts is looked at, and its text becomes part of the word. */
static void substitution(struct shell *s)
{
	bool is_tick = s->p[s->at] == '`';
	size_t from = s->at + (is_tick ? 1 : 2), end;
	const char *tick;

	if (is_tick) {
		tick = memchr(s->p + from, '`', s->n - from);
		end = tick ? (size_t)(tick - s->p) : s->n;
	} else {
		end = closing(s, from);
	}
	if (s->depth < DEPTH_MAX && (is_tick || from >= s->n || s->p[from] != '('))
		kz_classify_shell((struct kz_piece){ s->p + from, end - from }, s->line,
				  s->depth + 1, s->out);
	if (end < s->n)
		end++;
	s->line += count_lines(s->p + s->at, end - s->at);
	put(s, s->p + s->at, end - s->at);
	s->at = end;
}

static bool is_substitution(const struct shell *s)
{
	return s->p[s->at] == '`' ||
	       (s->p[s->at] == '$' && s->at + 1 < s->n && s->p[s->at + 1] == '(');
}

static void single_quotes(struct shell *s)
{
	const char *from = s->p + s->at + 1;
	const char *end = memchr(from, '\'', s->n - s->at - 1);
	size_t n = end ? (size_t)(end - from) : s->n - s->at - 1;

	put(s, from, n);
	s->line += count_lines(from, n);
	s->at += n + (end ? 2 : 1);
}

static void double_quotes(struct shell *s)
{
	put(s, "", 0);
	for (s->at++; s->at < s->n && s->p[s->at] != '"';) {
		if (is_substitution(s)) {
			substitution(s);
			continue;
		}
		if (s->p[s->at] == '\\' && s->at + 1 < s->n && strchr("\\\"$`", s->p[s->at + 1]))
			s->at++;
		s->line += s->p[s->at] == '\n';
		put(s, s->p + s->at, 1);
		s->at++;
	}
	s->at++;
}

static void wait_for(struct shell *s, enum wait_kind k)
{
	s->wait = k;
	s->wait_ifs = s->ifs;
	s->wait_braces = s->braces;
	s->wait_line = s->command_line;
}

/* A test of the user, or the end of the program that one leads to. */
static void follow_user(struct shell *s, enum kz_uid_test t, char last)
{
	static const char *const ends[] = { "exit", "die", "fail", "fatal", "abort", NULL };
	bool is_twice = s->at + 1 < s->n && s->p[s->at + 1] == last;

	if (t != KZ_UID_NONE && s->is_not)
		t = t == KZ_UID_ROOT ? KZ_UID_NOT_ROOT : KZ_UID_ROOT;
	if (t == KZ_UID_NOT_ROOT && s->is_if)
		wait_for(s, WAIT_THEN);
	else if (t == KZ_UID_ROOT && s->is_if)
		wait_for(s, WAIT_ELSE);
	else if ((t == KZ_UID_NOT_ROOT && last == '&' && is_twice) ||
		 (t == KZ_UID_ROOT && last == '|' && is_twice))
		wait_for(s, WAIT_LIST);
	if (t == KZ_UID_NONE && s->words.count && (s->wait == WAIT_LIST || s->wait == WAIT_THEN) &&
	    kz_piece_in(s->words.at[0], ends)) {
		kz_classify_add(s->out, s->wait_line, KZ_ADMIN_UID_DEMAND);
		s->wait = WAIT_NONE;
	}
}

static void end_command(struct shell *s, char last)
{
	if (s->words.count) {
		kz_classify_words(&s->words, last, s->command_line, s->depth, s->out);
		follow_user(s, kz_words_uid_test(&s->words), last);
		s->is_not = false;
	}
	kz_words_clear(&s->words);
}

/* Words that open or close something. out: was it one? */
static bool reserved(struct shell *s, struct kz_piece w)
{
	static const char *const others[] = { "do",   "while", "until", "fi",   "done",
					      "esac", "time",  "if",    "elif", "then",
					      "else", "{",     "}",     "!",    NULL };

	if (!kz_piece_in(w, others))
		return false;
	if (kz_piece_is(w, "if") || kz_piece_is(w, "elif"))
		s->is_if = true;
	if (kz_piece_is(w, "then"))
		s->is_if = false;
	s->ifs += kz_piece_is(w, "if");
	s->braces += kz_piece_is(w, "{");
	if (kz_piece_is(w, "!"))
		s->is_not = !s->is_not;
	if (s->wait_ifs == s->ifs && (s->wait == WAIT_THEN || s->wait == WAIT_ELSE)) {
		if (kz_piece_is(w, "else") && s->wait == WAIT_ELSE)
			s->wait = WAIT_THEN;
		else if (kz_piece_is(w, "fi") || kz_piece_is(w, "else") || kz_piece_is(w, "elif"))
			s->wait = WAIT_NONE;
	}
	if (kz_piece_is(w, "fi") && s->ifs)
		s->ifs--;
	if (kz_piece_is(w, "}") && s->braces)
		s->braces--;
	return true;
}

static bool is_name_assignment(struct kz_piece w)
{
	size_t i = 0;

	while (i < w.n && (w.p[i] == '_' || (w.p[i] >= '0' && w.p[i] <= '9') ||
			   ((w.p[i] | 32) >= 'a' && (w.p[i] | 32) <= 'z')))
		i++;
	if (i < w.n && w.p[i] == '+')
		i++;
	return i > 0 && i < w.n && w.p[i] == '=';
}

static void end_word(struct shell *s)
{
	struct kz_piece w = { s->word, s->len };

	if (!s->is_word)
		return;
	s->is_word = false;
	s->len = 0;
	if (s->is_target) {
		s->is_target = false;
		if (kz_piece_is_sudoers(w))
			kz_classify_add(s->out, s->word_line, KZ_ADMIN_SUDOERS);
		return;
	}
	if (s->is_dropped) {
		s->is_dropped = false;
		return;
	}
	if (s->words.count == 0) {
		if (reserved(s, w) || is_name_assignment(w))
			return;
		s->command_line = s->word_line;
	}
	kz_words_add(&s->words, w);
}

/* "<<EOF", "<<-'EOF'": the delimiter, whose document begins on the next line. */
static void here_document(struct shell *s)
{
	size_t from, n;

	while (s->at < s->n && (s->p[s->at] == '-' || s->p[s->at] == ' ' || s->p[s->at] == '\t'))
		s->at++;
	while (s->at < s->n && strchr("'\"\\", s->p[s->at]) && s->p[s->at])
		s->at++;
	for (from = s->at; s->at < s->n && !strchr(" \t\n;&|()<>'\"", s->p[s->at]);)
		s->at++;
	n = s->at - from;
	if (s->at < s->n && (s->p[s->at] == '\'' || s->p[s->at] == '"'))
		s->at++;
	if (n && s->here_count < HERE_MAX)
		s->here[s->here_count++] = (struct kz_piece){ s->p + from, n };
}

/* The documents of the line that just ended are data. */
static void skip_documents(struct shell *s)
{
	for (size_t i = 0; i < s->here_count; i++) {
		while (s->at < s->n) {
			const char *from = s->p + s->at, *end = memchr(from, '\n', s->n - s->at);
			struct kz_piece l = { from, end ? (size_t)(end - from) : s->n - s->at };

			s->at += l.n + (end ? 1 : 0);
			s->line += end ? 1 : 0;
			while (l.n && *l.p == '\t') {
				l.p++;
				l.n--;
			}
			if (l.n == s->here[i].n && memcmp(l.p, s->here[i].p, l.n) == 0)
				break;
		}
	}
	s->here_count = 0;
}

static void redirection(struct shell *s)
{
	bool is_digits = s->is_word;
	size_t run = 1;

	for (size_t i = 0; i < s->len; i++)
		is_digits = is_digits && s->word[i] >= '0' && s->word[i] <= '9';
	if (is_digits) {
		s->is_word = false;
		s->len = 0;
	}
	end_word(s);
	while (run < 3 && s->at + run < s->n && s->p[s->at + run] == s->p[s->at])
		run++;
	if (s->at + run < s->n && (s->p[s->at + run] == '&' || s->p[s->at + run] == '|'))
		s->at++;
	s->at += run;
	if (s->at > 2 && run == 2 && s->p[s->at - 1] == '<')
		here_document(s);
	else if (run == 3)
		s->is_dropped = true;
	else
		s->is_target = true;
}

/* "((EUID != 0))": arithmetic that asks for the user. */
static void arithmetic(struct shell *s)
{
	size_t end = closing(s, s->at + 1);
	char text[64];
	size_t n = 0;
	struct kz_piece t;
	enum kz_uid_test test = KZ_UID_NONE;

	for (size_t i = s->at + 2; i < end && n < sizeof(text); i++)
		if (!strchr(" \t$)", s->p[i]))
			text[n++] = s->p[i];
	t = (struct kz_piece){ text, n };
	if (kz_piece_is(t, "EUID!=0") || kz_piece_is(t, "UID!=0") || kz_piece_is(t, "EUID>0"))
		test = KZ_UID_NOT_ROOT;
	else if (kz_piece_is(t, "EUID==0") || kz_piece_is(t, "UID==0"))
		test = KZ_UID_ROOT;
	s->command_line = s->line;
	s->line += count_lines(s->p + s->at, end - s->at);
	s->at = end < s->n ? end + 1 : s->n;
	while (s->at < s->n && (s->p[s->at] == ' ' || s->p[s->at] == '\t'))
		s->at++;
	follow_user(s, test, s->at < s->n ? s->p[s->at] : 0);
}

/* One of ; & | ( ) */
static void separator(struct shell *s)
{
	char c = s->p[s->at];
	bool is_list = c == '(' && s->is_word && s->words.count == 0 && s->len &&
		       s->word[s->len - 1] == '=';

	if (is_list) { /* names=(sudo vim): data */
		size_t end = closing(s, s->at + 1);

		s->line += count_lines(s->p + s->at, end - s->at);
		s->at = end < s->n ? end + 1 : end;
		return;
	}
	end_word(s);
	if (c == '&' && s->at + 1 < s->n && s->p[s->at + 1] == '>') {
		s->at++;
		return;
	}
	if (c == '(' && !s->words.count && s->at + 1 < s->n && s->p[s->at + 1] == '(') {
		arithmetic(s);
		return;
	}
	end_command(s, c);
	s->at++;
	if (s->at < s->n && s->p[s->at] == c && c != '(' && c != ')')
		s->at++;
}

static void line_end(struct shell *s)
{
	end_word(s);
	end_command(s, '\n');
	s->is_target = s->is_dropped = false;
	s->at++;
	s->line++;
	skip_documents(s);
	if (s->wait == WAIT_LIST && s->braces <= s->wait_braces)
		s->wait = WAIT_NONE;
}

static void step(struct shell *s)
{
	char c = s->p[s->at];

	if (!s->is_word)
		s->word_line = s->line;
	if (c == '\n') {
		line_end(s);
	} else if (c == ' ' || c == '\t' || c == '\r') {
		end_word(s);
		s->at++;
	} else if (c == '#' && !s->is_word) {
		const char *end = memchr(s->p + s->at, '\n', s->n - s->at);

		s->at = end ? (size_t)(end - s->p) : s->n;
	} else if (c == '\\') {
		if (s->at + 1 < s->n && s->p[s->at + 1] == '\n')
			s->line++;
		else if (s->at + 1 < s->n)
			put(s, s->p + s->at + 1, 1);
		s->at += 2;
	} else if (c == '\'') {
		single_quotes(s);
	} else if (c == '"') {
		double_quotes(s);
	} else if (is_substitution(s)) {
		substitution(s);
	} else if (c == '<' || c == '>') {
		redirection(s);
	} else if (strchr(";&|()", c) && c) {
		separator(s);
	} else {
		put(s, s->p + s->at, 1);
		s->at++;
	}
}

void kz_classify_shell(struct kz_piece text, size_t line, int depth, struct kz_classify *out)
{
	struct shell s = { .p = text.p, .n = text.n, .line = line, .depth = depth, .out = out };

	if (depth > DEPTH_MAX)
		return;
	while (s.at < s.n && out->count < KZ_CLASSIFY_MATCHES)
		step(&s);
	s.at = s.at > s.n ? s.n : s.at;
	end_word(&s);
	end_command(&s, 0);
}
