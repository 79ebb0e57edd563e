/* The program of a run: reading it, its language, its command. */
#include "core/run/source.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fd.h"
#include "base/str.h"
#include "rule/path.h"
#include "rule/reason.h"

/* Code of -c up to this size goes by argument, as with the bare interpreter. */
#define INLINE_MAX 32768

static const struct {
	const char *name, *program, *flag, *file;
} languages[] = {
	[KZ_LANG_PYTHON] = { "python", "/usr/bin/python3", "-c", "main.py" },
	[KZ_LANG_NODE] = { "node", "/usr/bin/node", "-e", "main.js" },
	[KZ_LANG_SHELL] = { "shell", "/bin/sh", "-c", "main.sh" },
};
#define LANGUAGE_COUNT (sizeof(languages) / sizeof(*languages))

static const struct {
	const char *suffix;
	enum kz_language language;
} suffixes[] = {
	{ ".py", KZ_LANG_PYTHON }, { ".js", KZ_LANG_NODE },  { ".mjs", KZ_LANG_NODE },
	{ ".cjs", KZ_LANG_NODE },  { ".sh", KZ_LANG_SHELL },
};

const char *kz_language_name(enum kz_language l)
{
	return languages[l].name;
}

static enum kz_rc by_name(const char *name, enum kz_language *out, struct kz_err *err)
{
	for (size_t i = 0; i < LANGUAGE_COUNT; i++) {
		if (kz_str_eq(name, languages[i].name)) {
			*out = (enum kz_language)i;
			return KZ_OK;
		}
	}
	return kz_refuse(err, KZ_R_UNSUPPORTED_LANGUAGE,
			 "there is no language '%.40s' (python, node, shell)", name);
}

static bool by_suffix(const char *path, enum kz_language *out)
{
	const char *dot = strrchr(kz_path_base(path), '.');

	for (size_t i = 0; dot && i < sizeof(suffixes) / sizeof(*suffixes); i++) {
		if (!strcmp(dot, suffixes[i].suffix)) {
			*out = suffixes[i].language;
			return true;
		}
	}
	return false;
}

/* "#!/usr/bin/env -S python3.11 -u": the first word, past env and its options, that names a program. */
static enum kz_rc by_shebang(const char *head, size_t n, enum kz_language *out, struct kz_err *err)
{
	const char *end = memchr(head, '\n', n);
	char line[128], *save = NULL;
	size_t len = end ? (size_t)(end - head) : n;

	*out = KZ_LANG_PYTHON;
	if (n < 2 || head[0] != '#' || head[1] != '!')
		return KZ_OK;
	len = len < sizeof(line) ? len : sizeof(line) - 1;
	memcpy(line, head, len);
	line[len] = 0;
	for (char *word = strtok_r(line + 2, " \t\r", &save); word;
	     word = strtok_r(NULL, " \t\r", &save)) {
		const char *base = kz_path_base(word);

		if (kz_str_eq(base, "env") || base[0] == '-' || strchr(base, '='))
			continue;
		if (kz_str_has_prefix(base, "python"))
			*out = KZ_LANG_PYTHON;
		else if (kz_str_has_prefix(base, "node"))
			*out = KZ_LANG_NODE;
		else if (kz_str_eq(base, "sh") || kz_str_eq(base, "dash") ||
			 kz_str_eq(base, "bash"))
			*out = KZ_LANG_SHELL;
		else
			return kz_refuse(err, KZ_R_UNSUPPORTED_LANGUAGE,
					 "no language for the program's #! line");
		return KZ_OK;
	}
	return KZ_OK;
}

/* A zip of modules ends with a record of 22 bytes: Python runs such an archive. */
static bool is_archive(const char *p, size_t n)
{
	return n >= 22 && !memcmp(p + n - 22, "PK\005\006", 4);
}

/* Interpreters differ in what they make of a zero byte; some run what stands before it and end with 0. */
static enum kz_rc refuse_zero(const struct kz_source *s, const char *p, size_t n,
			      struct kz_err *err)
{
	const char *zero = memchr(p, 0, n);

	if (!zero || (s->language == KZ_LANG_PYTHON && is_archive(p, n)))
		return KZ_OK;
	return kz_refuse(err, KZ_R_CODE_UNREADABLE,
			 "the program is no text: byte %zu of it is zero", (size_t)(zero - p));
}

/* Hash the file and find its language by its first bytes unless known. */
static enum kz_rc look(struct kz_source *s, const char *path, const char *language, const char *p,
		       struct kz_err *err)
{
	size_t n = (size_t)s->size;
	enum kz_rc rc = KZ_OK;

	kz_sha256_hex(p, n, s->sha256);
	if (language)
		rc = by_name(language, &s->language, err);
	else if (!path || !by_suffix(path, &s->language))
		rc = by_shebang(p, n, &s->language, err);
	return rc ? rc : refuse_zero(s, p, n, err);
}

static enum kz_rc open_path(const char *path, int *fd, struct kz_err *err)
{
	if (kz_str_eq(path, "-")) {
		*fd = fcntl(0, F_DUPFD_CLOEXEC, 3);
		return *fd >= 0 ? KZ_OK :
				  kz_refuse(err, KZ_R_CODE_UNREADABLE, "standard input is closed");
	}
	/* Non-blocking, so that a named pipe without a writer cannot hold us here. */
	*fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (*fd < 0) {
		kz_err_sys(err, KZ_E_NOINPUT, "cannot open the program %.100s", path);
		return kz_err_reason(err, kz_reason_code(KZ_R_CODE_UNREADABLE));
	}
	return KZ_OK;
}

static void name_file(struct kz_source *s, const char *path)
{
	const char *base = path && !kz_str_eq(path, "-") ? kz_path_base(path) : "";
	char form[KZ_PATH_MAX + 1];
	enum kz_language l;

	/* A name that says another language would make the interpreter misread the file. */
	if (kz_path_normal(base, strlen(base), form) || strlen(form) >= sizeof(s->name) ||
	    kz_str_eq(form, KZ_SOURCE_SHIM) || (by_suffix(form, &l) && l != s->language))
		base = languages[s->language].file;
	memcpy(s->name, base, strlen(base) + 1);
}

static enum kz_rc read_file(struct kz_source *s, const char *path, const char *language,
			    int cancel_fd, struct kz_err *err)
{
	kz_auto_close int fd = -1;
	enum kz_rc rc = open_path(path, &fd, err);
	void *p = MAP_FAILED;

	if (rc)
		return rc;
	rc = kz_source_copy(fd, KZ_SOURCE_MAX, cancel_fd, &s->fd, &s->size, err);
	if (rc) {
		kz_err_wrap(err, "the program");
		return err && err->reason[0] ?
			       rc :
			       kz_err_reason(err, kz_reason_code(KZ_R_CODE_UNREADABLE));
	}
	if (s->size)
		p = mmap(NULL, (size_t)s->size, PROT_READ, MAP_PRIVATE, s->fd, 0);
	if (s->size && p == MAP_FAILED)
		return kz_err_sys(err, KZ_E_OS, "cannot map the program");
	rc = look(s, path, language, s->size ? p : "", err);
	if (s->size)
		munmap(p, (size_t)s->size);
	return rc;
}

static enum kz_rc read_text(struct kz_source *s, const char *code, const char *language,
			    struct kz_err *err)
{
	enum kz_rc rc;

	s->size = (int64_t)strlen(code);
	rc = look(s, NULL, language, code, err);
	if (rc)
		return rc;
	/* node reads an argument that begins with '-' as an option, also after -e */
	if (s->size <= INLINE_MAX && kz_utf8_valid(code, (size_t)s->size) &&
	    !(s->language == KZ_LANG_NODE && code[0] == '-')) {
		s->text = code;
		return KZ_OK;
	}
	return kz_memory_file_of("kz-run", code, (size_t)s->size, &s->fd, err);
}

enum kz_rc kz_source_read(struct kz_source *s, const char *path, const char *code,
			  const char *language, int cancel_fd, struct kz_err *err)
{
	enum kz_rc rc;

	*s = (struct kz_source){ .fd = -1 };
	if (language) { /* refused before anything is read */
		rc = by_name(language, &s->language, err);
		if (rc)
			return rc;
	}
	rc = code ? read_text(s, code, language, err) :
		    read_file(s, path, language, cancel_fd, err);
	if (!rc && !s->text) {
		name_file(s, path);
		rc = kz_fd_rewind(s->fd, err);
	}
	return rc;
}

void kz_source_release(struct kz_source *s)
{
	kz_auto_close_(&s->fd);
	s->fd = -1;
}

const char **kz_source_argv(const struct kz_source *s, const char *const *args, size_t count,
			    char path[300])
{
	const char **argv = calloc(count + 7, sizeof(*argv));
	size_t n = 0;

	if (!argv)
		return NULL;
	argv[n++] = languages[s->language].program;
	/* what is compiled of a module counts as long as the second and the size of its file stay: an edit can be quicker */
	if (s->language == KZ_LANG_PYTHON)
		argv[n++] = "-B";
	if (s->text) {
		argv[n++] = languages[s->language].flag;
		argv[n++] = s->text;
		/* node would take options of the program for its own; both take the next word for the program's name */
		if (s->language == KZ_LANG_NODE)
			argv[n++] = "--";
		if (s->language != KZ_LANG_PYTHON)
			argv[n++] = s->language == KZ_LANG_NODE ? "[eval]" : "sh";
	} else {
		if (s->language == KZ_LANG_NODE) {
			argv[n++] = "--require";
			argv[n++] = KZ_SOURCE_DIR "/" KZ_SOURCE_SHIM;
		}
		snprintf(path, 300, "%s/%s", KZ_SOURCE_DIR, s->name);
		argv[n++] = path;
	}
	for (size_t i = 0; i < count; i++)
		argv[n++] = args[i];
	return argv;
}
