/* Digests of file names and of lists of files. */
#include "core/audit/files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "port/seal.h"

void kz_audit_name_digest(const char *run, const char *name, char out[65])
{
	static const char context[] = "kz name 1";
	struct kz_sha256 h;

	kz_sha256_start(&h);
	kz_sha256_add(&h, context, sizeof(context));
	kz_sha256_add(&h, run, strlen(run) + 1);
	kz_sha256_add(&h, name, strlen(name));
	kz_sha256_end(&h, out);
}

static int by_name(const void *a, const void *b)
{
	const struct kz_audit_file *x = a, *y = b;

	return strcmp(x->name_sha256, y->name_sha256);
}

void kz_audit_files_digest(struct kz_audit_file *f, size_t count, char out[65])
{
	struct kz_sha256 h;
	char text[256];

	if (count)
		qsort(f, count, sizeof(*f), by_name);
	kz_sha256_start(&h);
	for (size_t i = 0; i < count; i++) {
		int n = snprintf(
			text, sizeof(text),
			"%s{\"bytes\":%lld,\"name_sha256\":\"%.64s\",\"sha256\":\"%.64s\"}",
			i ? "," : "[", (long long)f[i].bytes, f[i].name_sha256, f[i].sha256);

		kz_sha256_add(&h, text, (size_t)n);
	}
	kz_sha256_add(&h, count ? "]" : "[]", count ? 1 : 2);
	kz_sha256_end(&h, out);
}
