/* A lease's token from the environment or a descriptor. */
#include "cli/token.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/str.h"
#include "rule/reason.h"

enum kz_rc kz_token_read(int64_t fd, char out[KZ_TOKEN_TEXT], struct kz_err *err)
{
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(KZ_TOKEN_TEXT + 1);
	const char *token = getenv("KZ_LEASE_TOKEN");

	if (fd >= 0) {
		if (kz_fd_read_all((int)fd, &b, err))
			return kz_refuse(err, KZ_R_TOKEN_MISSING, "--token-fd %d gives no token",
					 (int)fd);
		while (b.len && (b.data[b.len - 1] == '\n' || b.data[b.len - 1] == '\r'))
			b.data[--b.len] = 0;
		token = kz_buf_str(&b);
	}
	if (!token || strlen(token) != KZ_TOKEN_TEXT - 1)
		return kz_refuse(err, KZ_R_TOKEN_MISSING,
				 "give the token in KZ_LEASE_TOKEN or with --token-fd FD");
	return kz_str_copy(out, KZ_TOKEN_TEXT, token, err);
}
