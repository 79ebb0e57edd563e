/* Is a file here the one that a receipt names? */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "core/audit/files.h"
#include "core/receipt/receipt.h"
#include "port/json.h"
#include "rule/path.h"
#include "rule/reason.h"

#define CHUNK 65536

static enum kz_rc digest_file(const char *path, char out[KZ_SHA256_HEX], struct kz_err *err)
{
	kz_auto_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	struct kz_sha256 h;
	char part[CHUNK];
	ssize_t n = 0;

	if (fd < 0)
		return kz_err_sys(err, KZ_E_NOINPUT, "cannot open %.200s", path);
	kz_sha256_start(&h);
	while ((n = read(fd, part, sizeof(part))) > 0 || (n < 0 && errno == EINTR))
		kz_sha256_add(&h, part, n > 0 ? (size_t)n : 0);
	if (n < 0)
		return kz_err_sys(err, KZ_E_IO, "cannot read %.200s", path);
	kz_sha256_end(&h, out);
	return KZ_OK;
}

static enum kz_rc differs(const char *what, const char *name, const char *how, struct kz_err *err)
{
	return kz_refuse(err, KZ_R_RECEIPT_DIFFERS, "%s%s%.200s %s", what, name ? " " : "",
			 name ? name : "", how);
}

enum kz_rc kz_receipt_compare(const struct kz_json *claims, enum kz_receipt_part part,
			      const char *name, const char *path, struct kz_err *err)
{
	const char *what = part == KZ_RECEIPT_CODE  ? "the code" :
			   part == KZ_RECEIPT_INPUT ? "input" :
						      "output";
	const struct kz_json *list = kz_json_get(
		kz_json_get(claims, part == KZ_RECEIPT_INPUT ? "inputs" : "outputs"), "files");
	char sha256[KZ_SHA256_HEX], name_sha256[KZ_SHA256_HEX], form[KZ_PATH_MAX + 1];
	enum kz_rc rc = digest_file(path, sha256, err);

	if (rc != KZ_OK)
		return rc;
	if (part == KZ_RECEIPT_CODE)
		return kz_str_eq(kz_json_str(kz_json_get(claims, "code"), "sha256", ""), sha256) ?
			       KZ_OK :
			       differs(what, NULL, "is another", err);
	if (!kz_json_is_array(list))
		return differs(what, name, "is not listed: the receipt has one digest over all",
			       err);
	if (kz_path_normal(name, strlen(name), form) != KZ_PATH_OK)
		return differs(what, name, "is no name that a run takes", err);
	kz_audit_name_digest(kz_json_str(claims, "run", ""), form, name_sha256);
	for (size_t i = 0; i < kz_json_count(list); i++) {
		const struct kz_json *f = kz_json_at(list, i);

		if (!kz_str_eq(kz_json_str(f, "name_sha256", ""), name_sha256))
			continue;
		return kz_str_eq(kz_json_str(f, "sha256", ""), sha256) ?
			       KZ_OK :
			       differs(what, name, "is another", err);
	}
	return differs(what, name, "was none of this run", err);
}
