/*
 * objects [-t MS] VERB...: the object store of KZ_STATE as a program, for tests/tool/objects*.bats.
 *
 * put NAME FILE | fresh NAME FILE | get NAME FILE [MAX] | list [PREFIX] | rm NAME | probe | sweep
 * Prints what came, or the reason and the text of a failure on standard error; exits with its status.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/str.h"
#include "core/files/objects.h"

static enum kz_rc print(void *arg, const struct kz_object *x, struct kz_err *err)
{
	(void)arg;
	(void)err;
	printf("%s %" PRId64 " %s\n", x->name, x->size, x->mtime_s > 1600000000 ? "dated" : "0");
	return KZ_OK;
}

static enum kz_rc put(struct kz_objects *o, char **w, struct kz_deadline until, struct kz_err *err)
{
	kz_auto_close int fd = open(w[2], O_RDONLY | O_CLOEXEC);
	off_t size = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);

	if (size < 0)
		return kz_err_sys(err, KZ_E_NOINPUT, "%s", w[2]);
	return kz_objects_put(o, w[1], fd, size, strcmp(w[0], "fresh") == 0, until, err);
}

static enum kz_rc get(struct kz_objects *o, char **w, const char *most, struct kz_deadline until,
		      struct kz_err *err)
{
	kz_auto_close int fd = open(w[2], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int64_t max = 1 << 30, size = 0;
	char sha256[65];
	enum kz_rc rc;

	if (fd < 0 || (most && kz_str_int(most, 0, INT64_MAX, &max, err)))
		return kz_err_sys(err, KZ_E_CANTCREAT, "%s", w[2]);
	rc = kz_objects_get(o, w[1], fd, max, &size, sha256, until, err);
	if (!rc)
		printf("%" PRId64 " %s\n", size, sha256);
	return rc;
}

static enum kz_rc run(struct kz_objects *o, int n, char **w, struct kz_deadline until,
		      struct kz_err *err)
{
	bool conditional = false;
	int64_t count = 0;
	enum kz_rc rc;

	if (n == 3 && (strcmp(w[0], "put") == 0 || strcmp(w[0], "fresh") == 0))
		return put(o, w, until, err);
	if (n >= 3 && strcmp(w[0], "get") == 0)
		return get(o, w, n > 3 ? w[3] : NULL, until, err);
	if (strcmp(w[0], "list") == 0)
		return kz_objects_list(o, n > 1 ? w[1] : "", print, NULL, until, err);
	if (n == 2 && strcmp(w[0], "rm") == 0)
		return kz_objects_remove(o, w[1], until, err);
	if (strcmp(w[0], "probe") == 0) {
		rc = kz_objects_probe(o, &conditional, until, err);
		if (!rc)
			puts(conditional ? "conditional" : "unconditional");
		return rc;
	}
	if (strcmp(w[0], "sweep") == 0) {
		rc = kz_objects_sweep(o, &count, until, err);
		if (!rc)
			printf("%" PRId64 "\n", count);
		return rc;
	}
	return kz_err_set(err, KZ_E_USAGE, "no such verb");
}

int main(int argc, char **argv)
{
	kz_auto_objects struct kz_objects *o = NULL;
	struct kz_err err = KZ_ERR_INIT;
	int64_t ms = 60000;
	struct kz_conf c;
	enum kz_rc rc;
	int at = 1;

	kz_log_init("objects", KZ_LOG_INFO);
	if (argc > 2 && strcmp(argv[1], "-t") == 0) {
		if (kz_str_int(argv[2], 1, 1 << 30, &ms, NULL))
			return 64;
		at = 3;
	}
	if (argc <= at)
		return 64;
	rc = kz_conf_load(&c, NULL, &err);
	if (!rc)
		rc = kz_objects_open(&c, &o, &err);
	if (!rc)
		rc = run(o, argc - at, argv + at, kz_deadline_in(KZ_MS(ms)), &err);
	if (rc)
		fprintf(stderr, "%s: %s\n", err.reason, err.text);
	return kz_rc_status(rc);
}
