/* The head of the chain, kept outside the database. */
#include "core/audit/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "base/sys.h"

/* "kz-audit-head 1 NUMBER HASH\n" with the number in 19 digits: always of one length. */
#define HEAD_PREFIX "kz-audit-head 1 "
#define HEAD_LEN (16 + 19 + 1 + 64 + 1)

static void head_format(char out[HEAD_LEN + 1], int64_t id, const char *hash)
{
	snprintf(out, HEAD_LEN + 1, HEAD_PREFIX "%019lld %.64s\n", (long long)id, hash);
}

static bool head_parse(char *text, struct kz_audit_head *out)
{
	const char *number = text + strlen(HEAD_PREFIX);
	const char *hash = number + 20;

	if (!kz_str_has_prefix(text, HEAD_PREFIX) || text[HEAD_LEN - 1] != '\n' ||
	    number[19] != ' ')
		return false;
	text[HEAD_LEN - 1] = '\0';
	text[strlen(HEAD_PREFIX) + 19] = '\0';
	if (strlen(hash) != 64 || strspn(hash, "0123456789abcdef") != 64)
		return false;
	if (strspn(number, "0123456789") != 19)
		return false;
	while (*number == '0' && number[1])
		number++;
	memcpy(out->hash, hash, 65);
	return kz_str_int(number, 0, INT64_MAX, &out->id, NULL) == KZ_OK;
}

static enum kz_rc head_get(int fd, struct kz_audit_head *out, struct kz_err *err)
{
	char text[HEAD_LEN + 2] = "";
	ssize_t n = pread(fd, text, HEAD_LEN + 1, 0);

	out->is_present = false;
	if (n < 0)
		return kz_err_sys(err, KZ_E_IO, "cannot read the audit head");
	if (n == HEAD_LEN)
		out->is_present = head_parse(text, out);
	return KZ_OK;
}

static enum kz_rc head_open(int dir, int flags, int lock, int *fd, struct kz_err *err)
{
	*fd = openat(dir, "head", flags | O_CLOEXEC | O_NOFOLLOW, 0660);
	if (*fd < 0 && errno == ENOENT)
		return KZ_OK;
	if (*fd < 0)
		return kz_err_sys(err, KZ_E_IO, "cannot open the audit head");
	while (flock(*fd, lock) < 0)
		if (errno != EINTR)
			return kz_err_sys(err, KZ_E_IO, "cannot lock the audit head");
	return KZ_OK;
}

enum kz_rc kz_audit_head_read(int dir, struct kz_audit_head *out, struct kz_err *err)
{
	kz_auto_close int fd = -1;
	enum kz_rc rc = head_open(dir, O_RDONLY, LOCK_SH, &fd, err);

	memset(out, 0, sizeof(*out));
	if (rc != KZ_OK || fd < 0)
		return rc;
	return head_get(fd, out, err);
}

enum kz_rc kz_audit_head_write(int dir, int64_t id, const char *hash, struct kz_err *err)
{
	kz_auto_close int fd = -1;
	struct kz_audit_head now;
	char text[HEAD_LEN + 1];
	enum kz_rc rc = head_open(dir, O_RDWR | O_CREAT, LOCK_EX, &fd, err);

	if (rc == KZ_OK)
		rc = head_get(fd, &now, err);
	if (rc != KZ_OK)
		return rc;
	if (now.is_present && now.id >= id)
		return KZ_OK;
	head_format(text, id, hash);
	/* One write below a page in place: a reader under the lock or after kill -9 sees old or new. */
	if (kz_sys_before(KZ_SYS_AUDIT_HEAD)) {
		errno = EIO;
		return kz_err_sys(err, KZ_E_IO, "cannot write the audit head");
	}
	if (pwrite(fd, text, HEAD_LEN, 0) != HEAD_LEN)
		return kz_err_sys(err, KZ_E_IO, "cannot write the audit head");
	kz_sys_after(KZ_SYS_AUDIT_HEAD);
	return KZ_OK;
}

enum kz_rc kz_audit_head_make(int dir, struct kz_err *err)
{
	struct stat st;
	char text[HEAD_LEN + 1];

	if (fstatat(dir, "head", &st, AT_SYMLINK_NOFOLLOW) == 0)
		return KZ_OK;
	if (fstat(dir, &st) < 0)
		return kz_err_sys(err, KZ_E_IO, "cannot read the audit directory");
	head_format(text, 0, KZ_AUDIT_GENESIS);
	return kz_file_replace(dir, "head", text, HEAD_LEN, 0660, st.st_gid, err);
}
