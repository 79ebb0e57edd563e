/* Classification of programs: entry, names, small things that the parts share. */
#include "rule/classify.h"

#include "rule/classify_parts.h"

static const char *const names[] = {
	[KZ_ADMIN_SUDO] = "sudo",        [KZ_ADMIN_SU] = "su",
	[KZ_ADMIN_DOAS] = "doas",        [KZ_ADMIN_PKEXEC] = "pkexec",
	[KZ_ADMIN_VISUDO] = "visudo",    [KZ_ADMIN_SUDOERS] = "sudoers",
	[KZ_ADMIN_GROUP] = "sudo_group", [KZ_ADMIN_UID_DEMAND] = "uid_demand",
	[KZ_ADMIN_SET_UID] = "set_uid",  [KZ_ADMIN_RUN_AS] = "run_as_root",
};

const char *kz_admin_name(enum kz_admin what)
{
	return names[what];
}

void kz_classify_add(struct kz_classify *out, size_t line, enum kz_admin what)
{
	for (size_t i = 0; i < out->count; i++)
		if (out->matches[i].line == line && out->matches[i].what == what)
			return;
	if (out->count < KZ_CLASSIFY_MATCHES)
		out->matches[out->count++] = (struct kz_admin_match){ line, what };
}

bool kz_piece_is(struct kz_piece s, const char *word)
{
	return s.n == strlen(word) && memcmp(s.p, word, s.n) == 0;
}

bool kz_piece_in(struct kz_piece s, const char *const *words)
{
	for (; *words; words++)
		if (kz_piece_is(s, *words))
			return true;
	return false;
}

bool kz_piece_is_sudoers(struct kz_piece s)
{
	static const char path[] = "/etc/sudoers";
	size_t n = sizeof(path) - 1;

	if (s.n < n || memcmp(s.p, path, n) != 0)
		return false;
	s.p += n;
	s.n -= n;
	if (s.n >= 2 && s.p[0] == '.' && s.p[1] == 'd') {
		s.p += 2;
		s.n -= 2;
	}
	/* "/etc/sudoers are ..." is prose, "/etc/sudoers.md" another file */
	for (size_t i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] <= ' ')
			return false;
	return s.n == 0 || s.p[0] == '/';
}

bool kz_classify(enum kz_classify_language language, const char *p, size_t n,
		 struct kz_classify *out)
{
	struct kz_piece text = { p, n };

	*out = (struct kz_classify){ .count = 0 };
	if (language == KZ_CLASSIFY_SHELL)
		kz_classify_shell(text, 1, 0, out);
	else
		kz_classify_script(text, language == KZ_CLASSIFY_NODE, out);
	return out->count > 0;
}
