/* Classification of programs: what a Python or JavaScript program starts, opens and becomes. */
#include "rule/classify_parts.h"

/* Names that hold a command or a path of sudoers, and brackets that are followed. */
#define NAMES 32
#define BRACKETS 64
/* Of a string: what is looked at as a command. */
#define STRING_MOST 8192

enum holds { HOLDS_NOTHING, HOLDS_COMMAND, HOLDS_PATH };
enum call { CALL_NONE, CALL_START, CALL_START_WORDS, CALL_FILE, CALL_PATH, CALL_SET_UID };

struct script {
	struct kz_classify *out;
	bool is_node;
	struct kz_tok before[4]; /* before[0] is the last one */
	enum call calls[BRACKETS];
	size_t depth; /* brackets that are open, also beyond BRACKETS */
	/* The call that starts a program, while it is read. */
	bool is_start, is_words, is_list;
	size_t start_depth, start_line, arg;
	struct kz_words words;
	char plain[STRING_MOST + 1];
	/* "name = ...", "for name in ..." */
	struct kz_piece assigned;
	size_t assign_depth;
	bool is_assign_first;
	struct {
		struct kz_piece name;
		enum holds holds;
	} names[NAMES];
	size_t name_count;
	int path_step; /* 1: Path("/etc/sudoers...", 2 ")", 3 "." */
	struct kz_uid_watch uid;
};

static bool is_mark(const struct kz_tok *t, const char *mark)
{
	return t->kind == KZ_TOK_MARK && kz_piece_is(t->text, mark);
}

static bool is_named(const struct kz_tok *t, const char *const *words)
{
	return t->kind == KZ_TOK_NAME && kz_piece_in(t->text, words);
}

static enum holds held(const struct script *s, const struct kz_tok *t)
{
	for (size_t i = s->name_count; t->kind == KZ_TOK_NAME && i-- > 0;)
		if (s->names[i].name.n == t->text.n &&
		    memcmp(s->names[i].name.p, t->text.p, t->text.n) == 0)
			return s->names[i].holds;
	return HOLDS_NOTHING;
}

/* Remember what a name holds; when the place is used up the oldest is forgotten. */
static void hold(struct script *s, struct kz_piece name, enum holds h)
{
	size_t i = 0;

	while (i < s->name_count &&
	       !(s->names[i].name.n == name.n && memcmp(s->names[i].name.p, name.p, name.n) == 0))
		i++;
	if (i == s->name_count && h == HOLDS_NOTHING)
		return;
	if (i == NAMES) {
		memmove(s->names, s->names + 1, (NAMES - 1) * sizeof(*s->names));
		i--;
	} else if (i == s->name_count) {
		s->name_count++;
	}
	s->names[i].name = name;
	s->names[i].holds = h;
}

/* The text of a string as a command; one that ends with a blank goes on. */
static struct kz_piece plain(struct script *s, const struct kz_tok *t)
{
	size_t n = kz_tok_plain(t, s->plain, STRING_MOST);

	if (n && s->plain[n - 1] == ' ')
		s->plain[n++] = '_';
	return (struct kz_piece){ s->plain, n };
}

static bool is_command(struct script *s, const struct kz_tok *t, bool is_one_word)
{
	static const char *const words[] = { "sudo",   "doas",          "pkexec",
					     "visudo", "/usr/bin/sudo", NULL };
	struct kz_classify found = { .count = 0 };
	struct kz_piece text = plain(s, t);

	if (is_one_word && kz_piece_in(text, words))
		return true;
	/* a command has blanks; prose has no command first */
	if (!memchr(text.p, ' ', text.n))
		return false;
	kz_classify_shell(text, 1, 1, &found);
	return found.count > 0;
}

/* ---- what is called ---- */

static bool receiver_is(const struct script *s, const char *const *receivers, bool or_none)
{
	if (!is_mark(&s->before[1], "."))
		return or_none;
	return is_named(&s->before[2], receivers);
}

static enum call python_call(const struct script *s, const struct kz_tok *name)
{
	static const char *const any[] = { "system",
					   "popen",
					   "Popen",
					   "check_call",
					   "check_output",
					   "getoutput",
					   "getstatusoutput",
					   "create_subprocess_shell",
					   NULL };
	static const char *const some[] = { "run", "call", "spawn", NULL };
	static const char *const bare[] = { "sh",          "shell",     "bash", "run_cmd",
					    "run_command", "run_shell", NULL };
	static const char *const modules[] = { "subprocess", "sp", "pexpect", "pty", NULL };
	static const char *const words[] = { "execl",       "execle",
					     "execlp",      "execv",
					     "execve",      "execvp",
					     "execvpe",     "spawnl",
					     "spawnle",     "spawnlp",
					     "spawnv",      "spawnve",
					     "spawnvp",     "create_subprocess_exec",
					     "posix_spawn", "posix_spawnp",
					     NULL };
	static const char *const files[] = { "copy",   "copyfile", "copy2",  "move",
					     "chmod",  "chown",    "remove", "unlink",
					     "rename", "replace",  NULL };
	static const char *const of[] = { "os", "shutil", NULL };

	if (kz_piece_in(name->text, any))
		return CALL_START;
	if (kz_piece_in(name->text, some) &&
	    receiver_is(s, modules, !kz_piece_is(name->text, "spawn")))
		return CALL_START;
	if (kz_piece_in(name->text, bare) && receiver_is(s, bare, true))
		return CALL_START;
	if (kz_piece_in(name->text, words))
		return CALL_START_WORDS;
	if (kz_piece_in(name->text, files) && receiver_is(s, of, false))
		return CALL_FILE;
	return kz_piece_is(name->text, "open") ? CALL_FILE :
	       kz_piece_is(name->text, "Path") ? CALL_PATH :
						 CALL_NONE;
}

static enum call node_call(const struct script *s, const struct kz_tok *name)
{
	static const char *const any[] = {
		"execSync",    "execFile",    "execFileSync", "spawnSync",  "execAsync",
		"execPromise", "execCommand", "execaCommand", "runCommand", "execFileAsync",
		NULL
	};
	static const char *const some[] = { "exec", "spawn", "execa", "run", NULL };
	static const char *const modules[] = {
		"child_process", "cp", "childProcess", "shell", "shelljs", "process", NULL
	};
	static const char *const files[] = {
		"writeFile",         "writeFileSync",    "appendFile",
		"appendFileSync",    "readFile",         "readFileSync",
		"copyFile",          "copyFileSync",     "openSync",
		"createWriteStream", "createReadStream", "chmodSync",
		"renameSync",        "unlinkSync",       NULL
	};
	static const char *const short_files[] = { "open", "chmod", "rename", "unlink", NULL };
	static const char *const of[] = { "fs", "fsp", "promises", NULL };

	if (kz_piece_in(name->text, any))
		return CALL_START;
	if (kz_piece_in(name->text, some) &&
	    (receiver_is(s, modules, true) || is_mark(&s->before[2], ")")))
		return CALL_START;
	if (kz_piece_in(name->text, short_files) && receiver_is(s, of, false))
		return CALL_FILE;
	return kz_piece_in(name->text, files) ? CALL_FILE : CALL_NONE;
}

static enum call called(const struct script *s)
{
	static const char *const set[] = { "setuid", "seteuid", "setreuid", "setresuid", NULL };
	static const char *const define[] = { "def", "function", "class", NULL };
	const struct kz_tok *name = &s->before[0];

	if (name->kind != KZ_TOK_NAME || is_named(&s->before[1], define))
		return CALL_NONE;
	if (kz_piece_in(name->text, set))
		return CALL_SET_UID;
	return s->is_node ? node_call(s, name) : python_call(s, name);
}

/* The call is read: what did it start? */
static void end_start(struct script *s)
{
	s->is_start = false;
	if (!s->words.count)
		return;
	if (!s->is_list && !s->is_words && s->words.count == 1 &&
	    (s->arg == 0 || memchr(s->words.at[0].p, ' ', s->words.at[0].n))) {
		kz_classify_shell(s->words.at[0], s->start_line, 1, s->out);
		return;
	}
	if (s->words.count == 1) /* (["sudo"] + more), ("sudo", more) */
		kz_words_add(&s->words, (struct kz_piece){ "?", 1 });
	kz_classify_words(&s->words, 0, s->start_line, 0, s->out);
}

static void open_bracket(struct script *s, const struct kz_tok *t)
{
	enum call c = is_mark(t, "(") ? called(s) : CALL_NONE;

	if (s->depth < BRACKETS)
		s->calls[s->depth] = c;
	s->depth++;
	if (c == CALL_START || c == CALL_START_WORDS) {
		s->is_start = true;
		s->is_words = c == CALL_START_WORDS;
		s->is_list = false;
		s->start_depth = s->depth;
		s->start_line = t->line;
		s->arg = 0;
		kz_words_clear(&s->words);
	} else if (s->is_start && s->depth == s->start_depth + 1 && !is_mark(t, "{")) {
		/* (["a", "b"]) and ("a", ["b"]) are words */
		if (is_mark(t, "[") && s->before[0].kind != KZ_TOK_NAME && s->arg <= 1)
			s->is_list = true;
	}
}

static void close_bracket(struct script *s)
{
	if (!s->depth)
		return;
	if (s->is_start && s->depth == s->start_depth)
		end_start(s);
	s->depth--;
}

/* A string or a name inside the call that starts a program. */
static void start_part(struct script *s, const struct kz_tok *t)
{
	bool is_list_part = s->is_list && s->depth == s->start_depth + 1;
	bool is_words = is_list_part || s->is_words;

	if (!s->is_start || (t->kind != KZ_TOK_STRING && t->kind != KZ_TOK_NAME))
		return;
	if (t->kind == KZ_TOK_NAME) {
		if (s->words.count == 0 && s->arg == 0 && held(s, t) == HOLDS_COMMAND)
			kz_classify_add(s->out, s->start_line, KZ_ADMIN_SUDO);
		else if (is_words && (s->words.count || is_list_part) &&
			 !is_mark(&s->before[0], "."))
			kz_words_add(&s->words, (struct kz_piece){ "?", 1 });
	} else if (is_words) {
		kz_words_add(&s->words, plain(s, t));
	} else if (s->words.count == 0 && s->arg == 0 && !is_mark(&s->before[0], "+")) {
		kz_words_add(&s->words, plain(s, t));
	}
}

/* user="root", uid: 0 */
static void run_as(struct script *s, const struct kz_tok *t)
{
	static const char *const python[] = { "user", NULL };
	static const char *const node[] = { "uid", NULL };
	bool is_root = (t->kind == KZ_TOK_NUMBER && kz_piece_is(t->text, "0")) ||
		       (t->kind == KZ_TOK_STRING && kz_piece_is(t->text, "root"));

	if (s->is_start && is_root && is_mark(&s->before[0], s->is_node ? ":" : "=") &&
	    is_named(&s->before[1], s->is_node ? node : python))
		kz_classify_add(s->out, t->line, KZ_ADMIN_RUN_AS);
}

/* ---- files ---- */

static const char *const path_uses[] = { "write_text", "write_bytes", "read_text",
					 "read_bytes", "open",        "unlink",
					 "chmod",      "touch",       NULL };

static void file_part(struct script *s, const struct kz_tok *t)
{
	enum call c = s->depth && s->depth <= BRACKETS ? s->calls[s->depth - 1] : CALL_NONE;
	bool is_path = t->kind == KZ_TOK_STRING && kz_piece_is_sudoers(t->text);
	bool is_held = held(s, t) == HOLDS_PATH;

	if (c == CALL_FILE && (is_path || is_held))
		kz_classify_add(s->out, t->line, KZ_ADMIN_SUDOERS);
	if (c == CALL_SET_UID && is_mark(&s->before[0], "(") &&
	    ((t->kind == KZ_TOK_NUMBER && kz_piece_is(t->text, "0")) ||
	     (t->kind == KZ_TOK_STRING && kz_piece_is(t->text, "root"))))
		kz_classify_add(s->out, t->line, KZ_ADMIN_SET_UID);
	if (c == CALL_PATH && is_path)
		s->path_step = 1;
	else if (s->path_step == 1 || is_held)
		s->path_step = is_held || is_mark(t, ")") ? 2 : 0;
	else if (s->path_step == 2)
		s->path_step = is_mark(t, ".") ? 3 : 0;
	else if (s->path_step == 3) {
		if (is_named(t, path_uses))
			kz_classify_add(s->out, t->line, KZ_ADMIN_SUDOERS);
		s->path_step = 0;
	}
}

/* ---- names ---- */

static void begin_assign(struct script *s, const struct kz_tok *t)
{
	static const char *const in[] = { "in", "of", NULL };

	if (s->before[0].kind != KZ_TOK_NAME ||
	    !(is_mark(t, "=") || is_mark(t, "+=") || is_named(t, in)))
		return;
	/* f(name=...) gives no name a value */
	if (s->depth && is_mark(t, "=") && (!s->is_node || s->is_start))
		return;
	s->assigned = s->before[0].text;
	s->assign_depth = s->depth;
	s->is_assign_first = true;
	if (is_mark(t, "="))
		hold(s, s->assigned, HOLDS_NOTHING);
}

static void assign_part(struct script *s, const struct kz_tok *t)
{
	bool is_over = is_mark(t, ";") || t->kind == KZ_TOK_END || s->depth < s->assign_depth ||
		       (t->kind == KZ_TOK_LINE && s->depth <= s->assign_depth);

	if (!s->assigned.p)
		return;
	if (is_over) {
		s->assigned.p = NULL;
	} else if (t->kind == KZ_TOK_STRING) {
		if (kz_piece_is_sudoers(t->text))
			hold(s, s->assigned, HOLDS_PATH);
		else if (is_command(s, t, s->is_assign_first && is_mark(&s->before[0], "[")))
			hold(s, s->assigned, HOLDS_COMMAND);
		s->is_assign_first = false;
	} else if (t->kind == KZ_TOK_NAME && s->is_assign_first) {
		if (held(s, t))
			hold(s, s->assigned, held(s, t));
		s->is_assign_first = false;
	}
}

/* $`sudo ...` of JavaScript */
static void tagged(struct script *s, const struct kz_tok *t)
{
	static const char *const tags[] = { "$", "execa", "exec", "sh", NULL };

	if (t->is_template && is_named(&s->before[0], tags))
		kz_classify_shell(plain(s, t), t->line, 1, s->out);
}

static void take(struct script *s, const struct kz_tok *t)
{
	kz_uid_watch(&s->uid, t, s->out);
	if (t->kind == KZ_TOK_SHELL)
		kz_classify_shell(t->text, t->line, 1, s->out);
	if (is_mark(t, "(") || is_mark(t, "[") || is_mark(t, "{")) {
		open_bracket(s, t);
	} else if (is_mark(t, ")") || is_mark(t, "]") || is_mark(t, "}")) {
		close_bracket(s);
	} else if (is_mark(t, ",") && s->is_start && s->depth == s->start_depth) {
		s->arg++;
	}
	tagged(s, t);
	start_part(s, t);
	run_as(s, t);
	file_part(s, t);
	assign_part(s, t);
	begin_assign(s, t);
	memmove(s->before + 1, s->before, 3 * sizeof(*s->before));
	s->before[0] = *t;
}

void kz_classify_script(struct kz_piece text, bool is_node, struct kz_classify *out)
{
	struct script s = { .out = out, .is_node = is_node, .uid = { .is_node = is_node } };
	struct kz_lex l = { .p = text.p, .n = text.n, .line = 1, .is_node = is_node };
	struct kz_tok t;

	do {
		t = kz_lex_next(&l);
		take(&s, &t);
	} while (t.kind != KZ_TOK_END && out->count < KZ_CLASSIFY_MATCHES);
	if (s.is_start)
		end_start(&s);
}
