/* Name servers, as a setting names them. */
#include "core/egress/resolvers.h"

#include <string.h>

#include "base/str.h"
#include "rule/host.h"

/* One ADDRESS[:PORT], IPv6 with a port in brackets, as c-ares takes it. */
static bool add_server(const char *p, size_t n, char out[KZ_RESOLVERS_TEXT])
{
	struct kz_target t;
	char text[KZ_AUTHORITY_TEXT];
	size_t used = strlen(out);

	if (kz_host_parse(p, n, &t) == KZ_R_NONE)
		t.port = 53;
	else if (kz_target_parse(p, n, 53, &t) != KZ_R_NONE)
		return false;
	if (!t.is_literal)
		return false;
	kz_target_print(&t, text);
	return kz_str_format(out + used, KZ_RESOLVERS_TEXT - used, NULL, "%s%s", used ? "," : "",
			     text) == KZ_OK;
}

bool kz_resolvers_parse(const char *text, char out[KZ_RESOLVERS_TEXT])
{
	out[0] = 0;
	while (*text) {
		size_t n = strcspn(text, ", \t");

		if (n > 0 && !add_server(text, n, out))
			return false;
		text += n + (text[n] != 0);
	}
	return true;
}
