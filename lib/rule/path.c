/* The one normal form of relative names. */
#include "rule/path.h"

#include <stdbool.h>
#include <string.h>

#include "base/str.h"

/* C0, DEL, and C1 in its UTF-8 form (0xc2 0x80 to 0xc2 0x9f). */
static bool has_control(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s[i];

		if (c < 0x20 || c == 0x7f)
			return true;
		if (c == 0xc2 && i + 1 < n && (unsigned char)s[i + 1] < 0xa0)
			return true;
	}
	return false;
}

static enum kz_path_fault check_bytes(const char *name, size_t n)
{
	if (n == 0)
		return KZ_PATH_EMPTY;
	if (memchr(name, 0, n))
		return KZ_PATH_NUL;
	if (name[0] == '/')
		return KZ_PATH_ABSOLUTE;
	if (n > KZ_PATH_MAX)
		return KZ_PATH_LONG;
	if (!kz_utf8_valid(name, n))
		return KZ_PATH_ENCODING;
	return has_control(name, n) ? KZ_PATH_CONTROL : KZ_PATH_OK;
}

enum kz_path_fault kz_path_normal(const char *name, size_t n, char out[KZ_PATH_MAX + 1])
{
	enum kz_path_fault f = check_bytes(name, n);
	size_t len = 0;
	bool is_dir = false;

	out[0] = 0;
	if (f)
		return f;
	for (size_t i = 0; i < n;) {
		const char *c = name + i;
		const char *slash = memchr(c, '/', n - i);
		size_t w = slash ? (size_t)(slash - c) : n - i;

		i += w + 1;
		is_dir = w == 0 || (w == 1 && c[0] == '.') || i == n;
		if (w == 0 || (w == 1 && c[0] == '.'))
			continue;
		if (w == 2 && c[0] == '.' && c[1] == '.')
			f = KZ_PATH_PARENT;
		else if (w > KZ_PATH_COMPONENT_MAX)
			f = KZ_PATH_COMPONENT;
		if (f) {
			out[0] = 0;
			return f;
		}
		if (len)
			out[len++] = '/';
		memcpy(out + len, c, w);
		len += w;
		out[len] = 0;
	}
	if (len && is_dir)
		f = KZ_PATH_DIRECTORY;
	if (!len)
		f = KZ_PATH_EMPTY;
	if (f)
		out[0] = 0;
	return f;
}

const char *kz_path_fault_text(enum kz_path_fault f)
{
	static const char *const text[] = {
		[KZ_PATH_OK] = "is fine",
		[KZ_PATH_EMPTY] = "is empty",
		[KZ_PATH_NUL] = "holds a zero byte",
		[KZ_PATH_ABSOLUTE] = "is absolute",
		[KZ_PATH_PARENT] = "leads to a parent directory",
		[KZ_PATH_CONTROL] = "holds a control character",
		[KZ_PATH_ENCODING] = "is not UTF-8",
		[KZ_PATH_DIRECTORY] = "names a directory",
		[KZ_PATH_COMPONENT] = "has a part of more than 255 bytes",
		[KZ_PATH_LONG] = "is longer than 1024 bytes",
	};

	return text[f];
}

const char *kz_path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}
