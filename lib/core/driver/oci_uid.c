#include "core/driver/oci_part.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/str.h"
#include "core/driver/oci_rootless.h"
#include "rule/reason.h"

/*
 * Ranges are claimed for the whole machine, since two deployments with the same
 * base must not share uids.  A claim is a symbolic link named after the range to a
 * file in the worker's directory: when that is gone, so is the claim.
 */
#define PLACE "/run/kz/uid"
#define PLACE_MAX 300
#define LAST_UID 4294967294 /* 2^32-1 is no uid */

/* Where: root's claims are those of the machine, a user's those of the ranges that the user owns. */
static enum kz_rc place_find(char place[PLACE_MAX], struct kz_err *err)
{
	if (geteuid() != 0)
		return kz_rootless_claims(place, PLACE_MAX, err);
	return kz_str_copy(place, PLACE_MAX, PLACE, err);
}

enum kz_rc kz_uid_lock(struct kz_deadline until, int *lock, struct kz_err *err)
{
	char place[PLACE_MAX];
	char path[PLACE_MAX + 8];

	if (place_find(place, err) || kz_str_format(path, sizeof path, err, "%s/lock", place))
		return err ? err->rc : KZ_E_CANTCREAT;
	if (geteuid() == 0 && (kz_dir_make(AT_FDCWD, "/run/kz", 0755, (gid_t)-1, err) ||
			       kz_dir_make(AT_FDCWD, place, 0755, (gid_t)-1, err)))
		return kz_err_wrap(err, "uid ranges");
	return kz_file_lock(AT_FDCWD, path, until, lock, err);
}

/* Does [base, base + KZ_OCI_UIDS) meet a range that a file of subordinate ids gives away ("name:first:count")? */
static bool is_delegated(const char *text, uint64_t base)
{
	const char *p = text;
	unsigned long long first;
	unsigned long long count;

	while (p && *p) {
		const char *colon = strchr(p, ':');

		if (colon && sscanf(colon, ":%llu:%llu", &first, &count) == 2 &&
		    base < first + count && first < base + KZ_OCI_UIDS)
			return true;
		p = strchr(p, '\n');
		p = p ? p + 1 : NULL;
	}
	return false;
}

/* Take one range. out: taken. err: only what makes further trying useless */
static enum kz_rc try_claim(uint64_t base, const char *target, bool *taken, struct kz_err *err)
{
	char place[PLACE_MAX];
	char link[PLACE_MAX + 24];

	*taken = false;
	if (place_find(place, err) ||
	    kz_str_format(link, sizeof link, err, "%s/%llu", place, (unsigned long long)base))
		return err ? err->rc : KZ_E_DATA;
	for (int attempt = 0; attempt < 2; attempt++) {
		if (symlink(target, link) == 0) {
			*taken = true;
			return KZ_OK;
		}
		if (errno != EEXIST)
			return kz_err_sys(err, KZ_E_CANTCREAT, "cannot claim a uid range in %s",
					  place);
		if (access(link, F_OK) == 0 || errno != ENOENT)
			return KZ_OK;
		unlink(link); /* the worker it belonged to is gone */
	}
	return KZ_OK;
}

/* Root takes what no user was given. */
static enum kz_rc claim_as_root(int64_t first, const char *target, uint32_t *base,
				struct kz_err *err)
{
	kz_auto_buf struct kz_buf uids = KZ_BUF_INIT(4 << 20);
	kz_auto_buf struct kz_buf gids = KZ_BUF_INIT(4 << 20);
	bool taken;

	if ((access("/etc/subuid", F_OK) == 0 &&
	     kz_file_read(AT_FDCWD, "/etc/subuid", &uids, err)) ||
	    (access("/etc/subgid", F_OK) == 0 && kz_file_read(AT_FDCWD, "/etc/subgid", &gids, err)))
		return kz_err_reason(err, kz_reason_code(KZ_R_USERNS_UNAVAILABLE));
	for (uint64_t b = (uint64_t)first; b + KZ_OCI_UIDS <= LAST_UID; b += KZ_OCI_UIDS) {
		if (is_delegated(kz_buf_str(&uids), b) || is_delegated(kz_buf_str(&gids), b))
			continue;
		if (try_claim(b, target, &taken, err))
			return err ? err->rc : KZ_E_CANTCREAT;
		if (taken) {
			*base = (uint32_t)b;
			return KZ_OK;
		}
	}
	return kz_refuse(err, KZ_R_USERNS_UNAVAILABLE,
			 "no uid range is free from KZ_UID_BASE %lld on", (long long)first);
}

/* A user takes of what that user was given. */
static enum kz_rc claim_as_user(const char *target, uint32_t *base, uint32_t *gid_base,
				struct kz_err *err)
{
	bool taken = false;
	bool done = false;

	for (size_t n = 0; !taken; n++) {
		if (kz_rootless_block(n, base, gid_base, &done, err))
			return err ? err->rc : KZ_E_UNAVAILABLE;
		if (done)
			return kz_refuse(
				err, KZ_R_USERNS_UNAVAILABLE,
				"all %zu ranges of %d ids in /etc/subuid and /etc/subgid "
				"are in use; lower SANDBOX_POOL_MAX_ALLOCATED or add a range",
				n, KZ_OCI_UIDS);
		if (try_claim(*base, target, &taken, err))
			return err ? err->rc : KZ_E_CANTCREAT;
	}
	return KZ_OK;
}

enum kz_rc kz_uid_claim(int64_t first, const char *target, uint32_t *base, uint32_t *gid_base,
			struct kz_err *err)
{
	enum kz_rc rc;

	if (geteuid() != 0)
		return claim_as_user(target, base, gid_base, err);
	rc = claim_as_root(first, target, base, err);
	*gid_base = *base;
	return rc;
}

void kz_uid_drop(const char *target)
{
	char place[PLACE_MAX];
	kz_auto_closedir DIR *d = place_find(place, NULL) ? NULL : opendir(place);
	struct dirent *e;

	while (d && (e = readdir(d)) != NULL) {
		char found[KZ_OCI_PATH];
		ssize_t n = readlinkat(dirfd(d), e->d_name, found, sizeof found);

		if (n > 0 && (size_t)n == strlen(target) && memcmp(found, target, (size_t)n) == 0)
			unlinkat(dirfd(d), e->d_name, 0);
	}
}
