/* kz-workspace list. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/auto.h"
#include "base/escape.h"
#include "base/str.h"
#include "verbs.h"

struct listing {
	struct kz_cli *cli;
	const char *only; /* a path, NULL: all */
	bool is_long, is_found;
	bool is_all;     /* also the state of a kernel, which nobody edits (docs/kernels.md) */
	bool is_private; /* all of it, since a copy may lie anywhere */
};

static const char *kind(const struct kz_entry *e)
{
	return e->kind == KZ_ENTRY_DIR ? "directory" : e->kind == KZ_ENTRY_LINK ? "link" : "file";
}

static enum kz_rc print_json(const struct listing *l, const struct kz_entry *e, const char *name,
			     const char *target)
{
	struct kz_json *o = kz_out_object("file");
	char mode[8];

	kz_set_bytes(o, "name", name, strlen(name));
	kz_json_set_str(o, "kind", kind(e));
	kz_json_set_int(o, "bytes", e->kind == KZ_ENTRY_FILE ? e->size : 0);
	kz_str_format(mode, sizeof(mode), NULL, "%04o", (unsigned)e->mode);
	kz_json_set_str(o, "mode", mode);
	kz_json_set_int(o, "mtime_s", e->mtime_s);
	if (target)
		kz_set_bytes(o, "target", target, strlen(target));
	kz_json_set_bool(o, "private", l->is_private);
	return kz_out_json(l->cli, o);
}

static enum kz_rc print_text(const struct listing *l, const struct kz_entry *e, const char *name,
			     const char *target)
{
	kz_auto_free char *shown = kz_escape(name, strlen(name));
	kz_auto_free char *to = target ? kz_escape(target, strlen(target)) : NULL;
	time_t t = (time_t)e->mtime_s;
	char when[32] = "-";
	struct tm tm;

	if (!shown || (target && !to))
		return kz_err_set(&l->cli->err, KZ_E_OS, "memory is out");
	if (l->is_long) {
		if (gmtime_r(&t, &tm))
			strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &tm);
		kz_out_text(l->cli, "%c%04o %12lld %s ",
			    e->kind == KZ_ENTRY_DIR  ? 'd' :
			    e->kind == KZ_ENTRY_LINK ? 'l' :
						       '-',
			    (unsigned)e->mode, (long long)(e->kind == KZ_ENTRY_FILE ? e->size : 0),
			    when);
	}
	kz_out_text(l->cli, "%s%s%s%s\n", shown, e->kind == KZ_ENTRY_DIR ? "/" : "",
		    l->is_long && to ? " -> " : "", l->is_long && to ? to : "");
	return KZ_OK;
}

static enum kz_rc print_one(void *arg, const struct kz_entry *e, const char *name,
			    const char *target, struct kz_err *err)
{
	struct listing *l = arg;
	size_t n = l->only ? strlen(l->only) : 0;

	(void)err; /* it is that of the cli */
	if (l->only && (strncmp(name, l->only, n) || (name[n] && name[n] != '/')))
		return KZ_OK;
	l->is_found = true;
	if (!l->only && !l->is_all && kz_str_has_prefix(name, ".kz-kernel"))
		return KZ_OK;
	return l->cli->json ? print_json(l, e, name, target) : print_text(l, e, name, target);
}

int kz_verb_list(struct kz_cli *cli, int argc, char **argv)
{
	kz_auto_workspace struct kz_workspace *w = NULL;
	struct kz_whose o = { 0 };
	struct listing l = { .cli = cli };
	char only[KZ_PATH_MAX + 1];
	const struct kz_opt opts[] = {
		KZ_WHOSE_OPTIONS(&o),
		{ 'l', "long", KZ_OPT_FLAG, &l.is_long, NULL, "with mode, size, time and target", 0,
		  0 },
		{ 'a', "all", KZ_OPT_FLAG, &l.is_all, NULL, "also the state of a kernel", 0, 0 },
		KZ_OPT_JSON(cli),
		KZ_OPT_END,
	};
	const struct kz_usage usage = {
		"kz-workspace", "list", KZ_LIST_SYNOPSIS, KZ_LIST_WHAT, opts, 0, 1
	};
	enum kz_rc rc = KZ_OK;

	if (!kz_opt_parse(cli, &usage, argc, argv))
		return kz_main_end(cli, cli->err.rc);
	if (cli->operand_count) {
		rc = kz_path_take(cli, cli->operands[0], only);
		l.only = only;
	}
	if (!rc)
		rc = kz_whose_read(cli, &o, &w);
	l.is_private = !rc && kz_workspace_now(w)->is_private;
	if (!rc)
		rc = kz_workspace_entries(w, print_one, &l, &cli->err);
	if (!rc && l.only && !l.is_found)
		rc = kz_refuse(&cli->err, KZ_R_FILE_MISSING, "there is no %.200s in the workspace",
			       only);
	return kz_main_end(cli, rc);
}
