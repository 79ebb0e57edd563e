/* Log lines: one write(2) each, no memory, errno kept. */
#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"

/* PIPE_BUF: a line up to here is not mixed with another writer's. */
#define LINE_MAX_BYTES 4096

/* The one state of a program that may be asked for anywhere: how it names itself. */
static struct {
	char program[64];
	enum kz_log_level level;
} logger = { "kz", KZ_LOG_INFO };

struct line {
	char data[LINE_MAX_BYTES];
	size_t len;
};

void kz_log_init(const char *program, enum kz_log_level level)
{
	snprintf(logger.program, sizeof(logger.program), "%s", program);
	logger.level = level;
}

enum kz_log_level kz_log_get_level(void)
{
	return logger.level;
}

const char *kz_log_program(void)
{
	return logger.program;
}

static void line_byte(struct line *l, char c)
{
	/* Keep room for the newline. */
	if (l->len < sizeof(l->data) - 1)
		l->data[l->len++] = c;
}

static void line_text(struct line *l, const char *s)
{
	for (; *s; s++)
		line_byte(l, *s);
}

/* Is s[i] a byte that a terminal or a reader of logfmt could take for something else? */
static bool needs_escape(const char *s, size_t i, bool utf8)
{
	unsigned char c = (unsigned char)s[i];

	if (c < 0x20 || c == 0x7f || (c >= 0x80 && !utf8))
		return true;
	/* U+0080 to U+009F are controls too (CSI among them). */
	return c == 0xc2 && (unsigned char)s[i + 1] < 0xa0;
}

static void line_escaped(struct line *l, const char *s, bool quoted)
{
	static const char hex[] = "0123456789abcdef";
	bool utf8 = kz_utf8_valid(s, strlen(s));

	for (size_t i = 0; s[i]; i++) {
		unsigned char c = (unsigned char)s[i];

		if (needs_escape(s, i, utf8)) {
			line_text(l, "\\x");
			line_byte(l, hex[c >> 4]);
			line_byte(l, hex[c & 15]);
			if (c == 0xc2 && utf8 && s[i + 1]) {
				c = (unsigned char)s[++i];
				line_text(l, "\\x");
				line_byte(l, hex[c >> 4]);
				line_byte(l, hex[c & 15]);
			}
		} else {
			if (quoted && (c == '"' || c == '\\'))
				line_byte(l, '\\');
			line_byte(l, (char)c);
		}
	}
}

static void line_value(struct line *l, const char *s)
{
	bool quoted = !*s || strpbrk(s, " \"=\\") || kz_str_has_control(s);

	if (quoted)
		line_byte(l, '"');
	line_escaped(l, s, quoted);
	if (quoted)
		line_byte(l, '"');
}

static void line_send(struct line *l)
{
	ssize_t n;

	if (l->len == sizeof(l->data) - 1)
		memcpy(l->data + l->len - 3, "...", 3);
	l->data[l->len++] = '\n';
	do
		n = write(STDERR_FILENO, l->data, l->len);
	while (n < 0 && errno == EINTR);
}

void kz_log(enum kz_log_level level, const char *phrase, ...)
{
	static const char *const names[] = { "fatal", "error", "warning", "info", "debug" };
	int saved = errno;
	struct line l;
	const char *key;
	va_list ap;

	if (level > logger.level)
		return;
	l.len = 0;
	line_text(&l, logger.program);
	line_text(&l, ": ");
	line_text(&l, names[level]);
	line_text(&l, ": ");
	line_escaped(&l, phrase, false);
	va_start(ap, phrase);
	while ((key = va_arg(ap, const char *))) {
		const char *value = va_arg(ap, const char *);

		if (!value)
			continue;
		line_byte(&l, ' ');
		line_text(&l, key);
		line_byte(&l, '=');
		line_value(&l, value);
	}
	va_end(ap);
	line_send(&l);
	errno = saved;
}

const char *kz_log_int(long long n)
{
	static _Thread_local char room[8][24];
	static _Thread_local unsigned next;
	char *s = room[next++ % 8];

	snprintf(s, sizeof(room[0]), "%lld", n);
	return s;
}
