/*
 * Files of a run as the audit store knows them: sizes and digests, of the name too
 * [AUD-4].  Layer 3.
 */
#ifndef KZ_CORE_AUDIT_FILES_H
#define KZ_CORE_AUDIT_FILES_H

#include <stddef.h>
#include <stdint.h>

/* A file that was put into the workspace, or came out of it. */
struct kz_audit_file {
	char name_sha256[65]; /* kz_audit_name_digest */
	char sha256[65];
	int64_t bytes;
};
/*
 * The digest of a file's name: SHA-256 of "kz name 1", a zero byte, the run, a zero byte and the
 * name.  With the run in it one name looks different in each run [AUD-4].
 */
void kz_audit_name_digest(const char *run, const char *name, char out[65]);
/*
 * One digest over a list of files, in whatever order: SHA-256 of the canonical JSON
 * [{"bytes":N,"name_sha256":"…","sha256":"…"},…], sorted by name_sha256.  out: f is sorted
 */
void kz_audit_files_digest(struct kz_audit_file *f, size_t count, char out[65]);

#endif
