/* Entries to tar. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fd.h"
#include "core/archive/set.h"
#include "port/arc.h"
#include "rule/reason.h"

#define CHUNK 65536

struct packing {
	struct kz_set set;
	struct kz_set_item *now; /* content is coming */
	size_t have;             /* bytes of it */
	int out;
	int64_t written;
};

static enum kz_rc on_entry(void *arg, const struct kz_entry *e, const char *name,
			   struct kz_err *err)
{
	struct packing *p = arg;
	enum kz_rc rc = kz_set_add(&p->set, e, name, &p->now, err);

	p->have = 0;
	return rc != KZ_OK || e->kind == KZ_ENTRY_DIR ? rc : kz_set_own(p->now, err);
}

static enum kz_rc on_data(void *arg, const void *bytes, size_t n, struct kz_err *err)
{
	struct packing *p = arg;

	if (p->now->e.kind == KZ_ENTRY_LINK && memchr(bytes, 0, n))
		return kz_err_set(err, KZ_E_DATA, "a link's target holds a zero byte");
	memcpy(p->now->own + p->have, bytes, n);
	p->have += n;
	return KZ_OK;
}

static enum kz_rc read_entries(struct packing *p, int in, struct kz_err *err)
{
	const struct kz_entry_sink to = { .arg = p, .entry = on_entry, .data = on_data };
	struct kz_entry_reader r;
	char chunk[CHUNK];
	ssize_t n;

	kz_entry_start(&r);
	while ((n = read(in, chunk, sizeof chunk)) != 0) {
		enum kz_rc rc;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return kz_err_sys(err, KZ_E_IO, "cannot read the entries");
		rc = kz_entry_feed(&r, chunk, (size_t)n, &to, err);
		if (rc != KZ_OK)
			return rc;
	}
	return kz_entry_is_whole(&r) ? KZ_OK : kz_err_set(err, KZ_E_DATA, "the entries are cut");
}

static enum kz_rc to_out(void *arg, const void *bytes, size_t n, struct kz_err *err)
{
	struct packing *p = arg;

	if ((int64_t)n > p->set.bounds->bytes - p->written)
		return kz_err_set(err, KZ_E_NO, "the archive is longer than its bound");
	p->written += (int64_t)n;
	return kz_fd_write_all(p->out, bytes, n, err);
}

static enum kz_rc add(struct kz_arc_out *a, const struct kz_set_item *i, struct kz_err *err)
{
	struct kz_arc_item item = { .kind = KZ_ARC_FILE,
				    .name = i->name,
				    .mode = i->e.mode,
				    .mtime_s = i->e.mtime_s,
				    .mtime_ns = i->e.mtime_ns,
				    .size = i->e.size };
	char target[KZ_ENTRY_TARGET_MAX + 1];

	if (i->e.kind == KZ_ENTRY_DIR)
		item.kind = KZ_ARC_DIR;
	if (i->e.kind == KZ_ENTRY_LINK) {
		memcpy(target, i->content, (size_t)i->e.size);
		target[i->e.size] = 0;
		item.kind = KZ_ARC_SYMLINK;
		item.target = target;
	}
	return kz_arc_add(a, &item, i->content, err);
}

static enum kz_rc write_tar(struct packing *p, struct kz_err *err)
{
	kz_auto_arc_out struct kz_arc_out *a = NULL;
	enum kz_rc rc = kz_arc_out_new(to_out, p, &a, err);

	for (size_t i = 0; i < p->set.count && rc == KZ_OK; i++)
		rc = add(a, p->set.items[i], err);
	return rc == KZ_OK ? kz_arc_out_end(a, err) : rc;
}

static enum kz_rc pack(struct packing *p, int in, struct kz_err *err)
{
	enum kz_rc rc = read_entries(p, in, err);

	if (rc == KZ_OK)
		rc = kz_set_check(&p->set, false, err);
	return rc == KZ_OK ? write_tar(p, err) : rc;
}

enum kz_rc kz_archive_pack(int in, int out, const struct kz_archive_bounds *b, struct kz_err *err)
{
	struct packing p = { .set = { .bounds = b }, .out = out };
	struct kz_err why = KZ_ERR_INIT;
	enum kz_rc rc = pack(&p, in, &why);

	kz_set_release(&p.set);
	return rc == KZ_OK ? rc : kz_archive_refuse(&why, KZ_R_WORKSPACE_OVER_BOUND, err);
}
