/*
 * Answers of servers as they go to the client: lines that end in CR LF, one framing, the word that the connection
 * ends; nothing comes of half a head, and two in one go are read one after the other [PROXY-3].
 */
#include <string.h>
#include <strings.h>

#include "core/egress/proxy_forward.h"
#include "fuzz.h"

/* How many fields of a name the head has. */
static int count(const char *p, const char *name)
{
	int n = 0;

	for (const char *at = strstr(p, "\r\n"); at; at = strstr(at + 2, "\r\n"))
		n += strncasecmp(at + 2, name, strlen(name)) == 0 && at[2 + strlen(name)] == ':';
	return n;
}

static void check_head(const char *p, size_t n, bool is_last)
{
	CLAIM(n >= 16 && memcmp(p, "HTTP/1.", 7) == 0);
	CLAIM(memcmp(p + n - 4, "\r\n\r\n", 4) == 0);
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)p[i];

		CLAIM(c >= 0x20 || c == '\t' || c == '\r' || c == '\n');
		CLAIM(c != '\n' || (i > 0 && p[i - 1] == '\r'));
		CLAIM(c != '\r' || (i + 1 < n && p[i + 1] == '\n'));
	}
	CLAIM(strstr(p, "\r\n\r\n") == p + n - 4);
	CLAIM(count(p, "content-length") + count(p, "transfer-encoding") <= 1);
	CLAIM(count(p, "connection") == is_last && count(p, "proxy-authenticate") == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *p = (const char *)data;
	kz_auto_buf struct kz_buf out = KZ_BUF_INIT(1 << 20), half = KZ_BUF_INIT(1 << 20);
	size_t used = 0, less = 0;
	int64_t content = 0, again = 0;
	enum kz_px_reply r = kz_px_reply_read(p, size, &out, &used, &content);

	if (r != KZ_PX_REPLY_OK && r != KZ_PX_REPLY_INFO)
		return 0;
	CLAIM(content >= -1 && (content <= 0 || count(kz_buf_str(&out), "content-length") == 1));
	CLAIM(used > 0 && used <= size && used <= KZ_PX_REPLY_MAX);
	check_head(kz_buf_str(&out), out.len, r == KZ_PX_REPLY_OK);
	for (size_t n = 0; n < used; n += 1 + used / 9)
		CLAIM(kz_px_reply_read(p, n, &half, &less, &again) == KZ_PX_REPLY_MORE);
	kz_buf_clear(&half);
	CLAIM(kz_px_reply_read(p, used, &half, &less, &again) == r && less == used &&
	      again == content);
	CLAIM(half.len == out.len && memcmp(half.data, out.data, out.len) == 0);
	return 0;
}
