/* STATE/keys/objects.key. */
#include "core/conf/objects_key.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/str.h"
#include "rule/reason.h"

static enum kz_rc key_open(const char *state, int *fd, struct kz_err *err)
{
	char path[300];
	struct stat st;

	if (kz_str_format(path, sizeof(path), err, "%s/keys/objects.key", state))
		return KZ_E_CONFIG;
	*fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (*fd < 0 && errno == EACCES)
		return kz_refuse(err, KZ_R_NO_PERMISSION, "you may not read keys/objects.key");
	if (*fd < 0 && errno == ENOENT)
		return kz_refuse(err, KZ_R_KEY_MISSING,
				 "keys/objects.key is missing: two lines, access key and secret");
	if (*fd < 0 || fstat(*fd, &st) != 0)
		return kz_err_sys(err, KZ_E_CONFIG, "cannot open keys/objects.key");
	if (!S_ISREG(st.st_mode) || (st.st_mode & 0027))
		return kz_refuse(
			err, KZ_R_KEY_INVALID,
			"keys/objects.key has mode %03o, which is open to others; change the credentials after: chmod 640",
			(unsigned)st.st_mode & 0777);
	return KZ_OK;
}

/* The next line of text into out; false when it is empty, too long or holds anything but printable ASCII. */
static bool take_line(char **text, char *out, size_t size)
{
	size_t n = strcspn(*text, "\n");

	if (n == 0 || n >= size)
		return false;
	for (size_t i = 0; i < n; i++)
		if ((*text)[i] <= ' ' || (*text)[i] > '~')
			return false;
	memcpy(out, *text, n);
	out[n] = '\0';
	*text += n + ((*text)[n] == '\n');
	return true;
}

enum kz_rc kz_objects_key_read(const char *state, struct kz_objects_key *out, struct kz_err *err)
{
	char text[sizeof(*out) + 2], *at = text;
	kz_auto_close int fd = -1;
	enum kz_rc rc = key_open(state, &fd, err);
	size_t len = 0;
	ssize_t n;
	bool ok;

	memset(out, 0, sizeof(*out));
	if (rc)
		return rc;
	do {
		n = read(fd, text + len, sizeof(text) - 1 - len);
		len += n > 0 ? (size_t)n : 0;
	} while ((n > 0 && len < sizeof(text) - 1) || (n < 0 && errno == EINTR));
	text[len] = '\0';
	ok = n == 0 && strlen(text) == len && take_line(&at, out->access, sizeof(out->access)) &&
	     take_line(&at, out->secret, sizeof(out->secret)) &&
	     (!*at || take_line(&at, out->token, sizeof(out->token))) && !*at;
	explicit_bzero(text, sizeof(text));
	if (ok)
		return KZ_OK;
	kz_objects_key_release(out);
	return kz_refuse(err, KZ_R_KEY_INVALID,
			 "keys/objects.key does not hold two or three lines of plain text");
}

void kz_objects_key_release(struct kz_objects_key *k)
{
	explicit_bzero(k, sizeof(*k));
}
