/*
 * Scopes: whatever the settings are, the effective scope is sound, isolated with every reason, and a hint makes
 * it no wider.  The input is the settings, a line each [POL-9 to POL-18, INV-28, INV-29].
 */
#include <string.h>

#include "fuzz.h"
#include "rule/scope.h"

enum { LINES = 9 };

/* Cut the text into lines. out: NULL for those that are not there */
static void cut(char *text, const char *line[LINES])
{
	char *rest = text;

	for (int i = 0; i < LINES; i++)
		line[i] = rest ? strsep(&rest, "\n") : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct kz_scope s, narrow, again;
	struct kz_cidr deny[KZ_SCOPE_CIDRS];
	kz_auto_buf struct kz_buf canonical = KZ_BUF_INIT(1 << 20);
	char *text = malloc(size + 1);
	const char *line[LINES];
	struct kz_scope_config c;
	enum kz_reason r;
	size_t count;

	CLAIM(text);
	memcpy(text, data, size);
	text[size] = '\0';
	cut(text, line);
	c = (struct kz_scope_config){ .enabled = line[0],
				      .mode = line[1],
				      .hosts = line[2],
				      .cidrs = line[3],
				      .ports = line[4],
				      .ttl = line[5],
				      .deny_cidrs = line[6],
				      .is_cidrs_own = size & 1,
				      .has_field_key = (size & 6) != 0,
				      .has_proxy = (size & 24) != 0 };
	r = kz_scope_resolve(&c, &s);
	CLAIM(kz_scope_is_sound(&s) && kz_scope_is_within(&s, &s));
	CLAIM(r == KZ_R_NONE || s.mode == KZ_SCOPE_ISOLATED);
	CLAIM(r != KZ_R_NONE || strcmp(kz_scope_mode_name(s.mode), c.mode) == 0);
	if (s.mode != KZ_SCOPE_ISOLATED) {
		CLAIM(s.ttl_s >= 1 && s.ttl_s <= KZ_GRANT_TTL_MOST);
		CLAIM(kz_scope_deny_parse(c.deny_cidrs, deny, &count) && count <= KZ_SCOPE_CIDRS);
		CLAIM(c.has_proxy && c.has_field_key);
	}
	narrow = s;
	kz_scope_narrow(&narrow, line[7] ? &line[7] : NULL, line[7] ? 1 : 0);
	CLAIM(kz_scope_is_sound(&narrow) && kz_scope_is_within(&narrow, &s));
	again = narrow;
	kz_scope_narrow(&again, line[7] ? &line[7] : NULL, line[7] ? 1 : 0);
	CLAIM(memcmp(&again, &narrow, sizeof again) == 0);
	CLAIM(kz_scope_canonical(&c, &canonical));
	free(text);
	return 0;
}
