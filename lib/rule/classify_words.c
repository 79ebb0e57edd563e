/* Classification of programs: what one command of a shell demands. */
#include "rule/classify_parts.h"

/* Programs within programs ("sh -c", substitutions) that are looked into. */
#define DEPTH_MAX 6

void kz_words_clear(struct kz_words *w)
{
	w->used = w->count = 0;
}

void kz_words_add(struct kz_words *w, struct kz_piece word)
{
	if (w->count == KZ_WORDS)
		return;
	if (word.n > sizeof(w->text) - w->used)
		word.n = sizeof(w->text) - w->used;
	if (word.n)
		memcpy(w->text + w->used, word.p, word.n);
	w->at[w->count++] = (struct kz_piece){ w->text + w->used, word.n };
	w->used += word.n;
}

/* /usr/bin/sudo is sudo; ./sudo is somebody's own. */
static struct kz_piece program(struct kz_piece word)
{
	const char *slash = word.n && word.p[0] == '/' ? memrchr(word.p, '/', word.n) : NULL;

	if (slash) {
		word.n -= (size_t)(slash + 1 - word.p);
		word.p = slash + 1;
	}
	return word;
}

static bool is_option(struct kz_piece w)
{
	return w.n > 0 && w.p[0] == '-';
}

static bool is_assignment(struct kz_piece w)
{
	return w.n && w.p[0] != '=' && memchr(w.p, '=', w.n);
}

/* The word at which the program begins that env, nice, timeout, ... start. */
static size_t past_prefixes(const struct kz_words *w, size_t i)
{
	static const char *const prefixes[] = { "env",     "nice",   "nohup",   "exec",   "command",
						"builtin", "time",   "timeout", "stdbuf", "setsid",
						"xargs",   "ionice", "watch",   NULL };
	static const char *const with_value[] = { "-n", "-u", "-I", "-P", "-L", "-d",
						  "-c", "-p", "-k", "-s", NULL };

	while (i < w->count && kz_piece_in(program(w->at[i]), prefixes)) {
		bool is_timeout = kz_piece_is(program(w->at[i]), "timeout");
		bool is_command = kz_piece_is(program(w->at[i]), "command");

		i++;
		while (i < w->count && (is_option(w->at[i]) || is_assignment(w->at[i]))) {
			if (is_command) /* command -v sudo: is there one? */
				return w->count;
			i += kz_piece_in(w->at[i], with_value) ? 2 : 1;
		}
		if (is_timeout)
			i++;
	}
	return i;
}

static bool asks_about_itself(struct kz_piece arg)
{
	static const char *const harmless[] = { "-V", "--version", "-h", "--help", NULL };

	return kz_piece_in(arg, harmless);
}

static void judge_su(const struct kz_words *w, size_t i, char last, size_t line,
		     struct kz_classify *out)
{
	static const char *const to_root[] = {
		"-", "-l", "--login", "-c", "--command", "root", NULL
	};

	if (i + 1 < w->count ? kz_piece_in(w->at[i + 1], to_root) : last != ')' && last != '|')
		kz_classify_add(out, line, KZ_ADMIN_SU);
}

/* Somebody is put into the group of those who may sudo. */
static void judge_group(const struct kz_words *w, size_t i, size_t line, struct kz_classify *out)
{
	static const char *const groups[] = { "sudo", "wheel", NULL };

	for (i++; i < w->count; i++) {
		const char *comma = memchr(w->at[i].p, ',', w->at[i].n);
		struct kz_piece first = { w->at[i].p,
					  comma ? (size_t)(comma - w->at[i].p) : w->at[i].n };

		if (kz_piece_in(first, groups))
			kz_classify_add(out, line, KZ_ADMIN_GROUP);
	}
}

static void judge_files(const struct kz_words *w, size_t i, size_t line, struct kz_classify *out)
{
	for (i++; i < w->count; i++) {
		struct kz_piece a = w->at[i];

		if (a.n > 3 && memcmp(a.p, "of=", 3) == 0)
			a = (struct kz_piece){ a.p + 3, a.n - 3 };
		if (kz_piece_is_sudoers(a))
			kz_classify_add(out, line, KZ_ADMIN_SUDOERS);
	}
}

/* sh -c TEXT, eval TEXT, find -exec PROGRAM */
static void judge_inner(const struct kz_words *w, size_t i, size_t line, int depth,
			struct kz_classify *out)
{
	static const char *const starters[] = { "-exec", "-execdir", "-ok", "-okdir", NULL };
	bool is_find = kz_piece_is(program(w->at[i]), "find");
	bool is_eval = kz_piece_is(w->at[i], "eval");
	struct kz_words rest;

	for (i++; i < w->count; i++) {
		if (is_eval) {
			kz_classify_shell(w->at[i], line, depth + 1, out);
			return;
		}
		if (is_find && i + 1 < w->count && kz_piece_in(w->at[i], starters)) {
			kz_words_clear(&rest);
			for (i++; i < w->count; i++)
				kz_words_add(&rest, w->at[i]);
			kz_classify_words(&rest, 0, line, depth + 1, out);
			return;
		}
		/* -c, -ec, -lc, -euxc */
		if (!is_find && i + 1 < w->count && is_option(w->at[i]) &&
		    w->at[i].p[w->at[i].n - 1] == 'c' && w->at[i].p[1] != '-') {
			kz_classify_shell(w->at[i + 1], line, depth + 1, out);
			return;
		}
	}
}

void kz_classify_words(const struct kz_words *w, char last, size_t line, int depth,
		       struct kz_classify *out)
{
	static const char *const inner[] = { "sh",  "bash", "dash", "zsh", "ash",
					     "ksh", "eval", "find", NULL };
	static const char *const groups[] = { "usermod", "adduser", "gpasswd", "useradd", NULL };
	static const char *const files[] = { "cat",     "tee",   "cp",       "mv",   "rm",   "sed",
					     "install", "chmod", "ln",       "nano", "vi",   "vim",
					     "ed",      "chown", "touch",    "dd",   "less", "more",
					     "tail",    "head",  "truncate", NULL };
	static const struct {
		const char *name;
		enum kz_admin what;
	} plain[] = { { "sudo", KZ_ADMIN_SUDO },
		      { "sudoedit", KZ_ADMIN_SUDO },
		      { "doas", KZ_ADMIN_DOAS },
		      { "pkexec", KZ_ADMIN_PKEXEC },
		      { "visudo", KZ_ADMIN_VISUDO } };
	size_t i = past_prefixes(w, 0);
	struct kz_piece name;

	if (i >= w->count || depth > DEPTH_MAX)
		return;
	name = program(w->at[i]);
	for (size_t k = 0; k < sizeof(plain) / sizeof(*plain); k++) {
		if (!kz_piece_is(name, plain[k].name))
			continue;
		/* alone it does nothing; a pattern of "case" looks like that */
		if (i + 1 < w->count ?
			    !asks_about_itself(w->at[i + 1]) :
			    plain[k].what == KZ_ADMIN_VISUDO && last != ')' && last != '|')
			kz_classify_add(out, line, plain[k].what);
	}
	if (kz_piece_is(name, "su"))
		judge_su(w, i, last, line, out);
	else if (kz_piece_in(name, inner))
		judge_inner(w, i, line, depth, out);
	else if (kz_piece_in(name, groups))
		judge_group(w, i, line, out);
	else if (kz_piece_in(name, files))
		judge_files(w, i, line, out);
}

/* Who runs this, as a shell names it. out: 'n' by number, 'w' by word, else 0 */
static char user_word(struct kz_piece w)
{
	static const char *const numbers[] = { "$(id -u)",
					       "`id -u`",
					       "$EUID",
					       "${EUID}",
					       "$UID",
					       "${UID}",
					       "${EUID:-}",
					       "$(/usr/bin/id -u)",
					       "${EUID:-$(id -u)}",
					       NULL };
	static const char *const words[] = { "$(whoami)", "`whoami`", "$(id -un)", "`id -un`",
					     "$USER",     "${USER}",  "$LOGNAME",  NULL };

	return kz_piece_in(w, numbers) ? 'n' : kz_piece_in(w, words) ? 'w' : 0;
}

enum kz_uid_test kz_words_uid_test(const struct kz_words *w)
{
	static const char *const tests[] = { "[", "[[", "test", NULL };
	static const char *const same[] = { "-eq", "=", "==", NULL };
	static const char *const other[] = { "-ne", "!=", "-gt", NULL };
	size_t i = 1;
	bool is_negated = false;
	enum kz_uid_test t = KZ_UID_NONE;

	if (!w->count || !kz_piece_in(w->at[0], tests))
		return KZ_UID_NONE;
	if (w->count > 1 && kz_piece_is(w->at[1], "!")) {
		is_negated = true;
		i++;
	}
	if (i + 2 >= w->count || !user_word(w->at[i]) ||
	    !kz_piece_is(w->at[i + 2], user_word(w->at[i]) == 'n' ? "0" : "root"))
		return KZ_UID_NONE;
	if (kz_piece_in(w->at[i + 1], same))
		t = is_negated ? KZ_UID_NOT_ROOT : KZ_UID_ROOT;
	else if (kz_piece_in(w->at[i + 1], other))
		t = is_negated ? KZ_UID_ROOT : KZ_UID_NOT_ROOT;
	return t;
}
