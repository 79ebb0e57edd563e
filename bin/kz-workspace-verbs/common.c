/* What the verbs of kz-workspace share. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/log.h"
#include "base/str.h"
#include "core/run/source.h"
#include "verbs.h"

/* What SANDBOX_WORKSPACE_MAX_BYTES can be at most. */
#define FILE_MOST ((int64_t)1 << 30)

enum kz_rc kz_whose_open(struct kz_cli *cli, const struct kz_whose *o, bool writes,
			 struct kz_workspace **out)
{
	const struct kz_workspace_ask ask = {
		.actor = o->actor,
		.conversation = o->conversation,
		.writes = writes,
		.lease = getenv("KZ_LEASE"),
		.token = getenv("KZ_LEASE_TOKEN"),
		.fence = getenv("KZ_FENCE"),
		.cancel_fd = -1,
	};

	return kz_workspace_open(&ask, out, &cli->err);
}

enum kz_rc kz_whose_read(struct kz_cli *cli, const struct kz_whose *o, struct kz_workspace **out)
{
	enum kz_rc rc = kz_whose_open(cli, o, false, out);

	if (!rc && !kz_workspace_now(*out)->name[0])
		return kz_refuse(&cli->err, KZ_R_WORKSPACE_MISSING, NULL);
	if (!rc && kz_workspace_now(*out)->is_private)
		kz_log(KZ_LOG_WARNING,
		       "the workspace may hold some of a private selection: look before sharing it",
		       NULL);
	return rc;
}

enum kz_rc kz_path_take(struct kz_cli *cli, const char *path, char out[KZ_PATH_MAX + 1])
{
	enum kz_path_fault f = kz_path_normal(path, strlen(path), out);

	return f ? kz_refuse(&cli->err, KZ_R_PATH_REJECTED, "the path %s", kz_path_fault_text(f)) :
		   KZ_OK;
}

static enum kz_rc unreadable(struct kz_cli *cli, const char *file)
{
	kz_err_sys(&cli->err, KZ_E_NOINPUT, "cannot read %.300s", file);
	return kz_err_reason(&cli->err, kz_reason_code(KZ_R_INPUT_UNREADABLE));
}

enum kz_rc kz_file_take(struct kz_cli *cli, const char *file, int *fd, int64_t *size, int64_t *mode)
{
	bool is_stdin = !strcmp(file, "-");
	kz_auto_close int from = is_stdin ? fcntl(0, F_DUPFD_CLOEXEC, 3) :
					    open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	struct stat st;
	enum kz_rc rc;

	if (from < 0 || fstat(from, &st))
		return unreadable(cli, file);
	if (S_ISDIR(st.st_mode)) {
		errno = EISDIR;
		return unreadable(cli, file);
	}
	*mode = -1;
	if (!is_stdin && S_ISREG(st.st_mode))
		*mode = st.st_mode & 0111 ? 0755 : 0644;
	rc = kz_source_copy(from, FILE_MOST, -1, fd, size, &cli->err);
	if (rc == KZ_E_DATA)
		return kz_err_reason(&cli->err, kz_reason_code(KZ_R_INPUT_OVER_BOUND));
	if (rc == KZ_E_IO)
		return unreadable(cli, file);
	return rc;
}

enum kz_rc kz_workspace_print(struct kz_cli *cli, const struct kz_workspace *w, const char *before)
{
	const struct kz_generation *g = kz_workspace_now(w);
	struct kz_json *o;

	if (!cli->json)
		return KZ_OK;
	o = kz_out_object("workspace");
	kz_json_set_str(o, "generation", g->name[0] ? g->name : NULL);
	kz_json_set_int(o, "bytes", g->tree.size < 0 ? 0 : g->tree.size);
	kz_json_set_int(o, "entries", g->entries);
	kz_json_set_int(o, "packages_bytes", g->packages.size < 0 ? 0 : g->packages.size);
	kz_json_set_bool(o, "private", g->is_private);
	kz_json_set_bool(o, "changed", !kz_str_eq(g->name, before));
	return kz_out_json(cli, o);
}

enum kz_rc kz_print_file(struct kz_cli *cli, int fd, int64_t n)
{
	char part[32768];

	for (int64_t at = 0; at < n && !cli->out_errno;) {
		size_t most = n - at < (int64_t)sizeof(part) ? (size_t)(n - at) : sizeof(part);
		ssize_t got = pread(fd, part, most, at);

		if (got <= 0)
			return kz_refuse(&cli->err, KZ_R_IO_FAILED, "cannot read a memory file");
		kz_out_bytes(cli, part, (size_t)got);
		at += got;
	}
	return KZ_OK;
}
