/* kz-lease show and list. */
#include "verbs.h"

static const struct kz_column list_columns[] = {
	{ "lease", "lease", NULL },
	{ "worker", "worker", NULL },
	{ "node", "node", NULL },
	{ "actor", "actor", NULL },
	{ "conversation", "conversation", NULL },
	{ "fence", "fence", NULL },
	{ "expires_ms", "expires", kz_out_format_time },
	{ NULL, NULL, NULL },
};

int kz_verb_show(struct kz_cli *cli, int argc, char **argv)
{
	struct kz_hold h kz_auto_hold = { 0 };
	const struct kz_opt opts[] = { KZ_OPT_JSON(cli), KZ_OPT_END };
	const struct kz_usage usage = { "kz-lease", "show", KZ_SHOW_SYNOPSIS, KZ_SHOW_WHAT, opts,
					1,          1 };
	struct kz_json *o;
	enum kz_rc rc;

	if (!kz_opt_parse(cli, &usage, argc, argv))
		return kz_main_end(cli, cli->err.rc);
	rc = kz_hold_open(&h, &cli->err);
	if (!rc)
		rc = kz_hold_find(&h, cli->operands[0], NULL, &cli->err);
	if (!rc) {
		o = kz_lease_object(&h.lease, false);
		kz_json_set_str(o, "node", h.lease.node);
		kz_json_set_str(o, "actor", h.lease.actor);
		kz_json_set_str(o, "conversation", h.lease.conversation);
		rc = kz_out_record(cli, list_columns, o);
	}
	return kz_main_end(cli, rc);
}

int kz_verb_list(struct kz_cli *cli, int argc, char **argv)
{
	struct kz_hold h kz_auto_hold = { 0 };
	kz_auto_json struct kz_json *all = NULL;
	const struct kz_opt opts[] = { KZ_OPT_JSON(cli), KZ_OPT_END };
	const struct kz_usage usage = { "kz-lease", "list", KZ_LIST_SYNOPSIS, KZ_LIST_WHAT, opts,
					0,          0 };
	struct kz_table table kz_auto_table = { 0 };
	enum kz_rc rc;

	if (!kz_opt_parse(cli, &usage, argc, argv))
		return kz_main_end(cli, cli->err.rc);
	rc = kz_hold_open(&h, &cli->err);
	if (!rc)
		rc = kz_auth_leases(h.auth, &all, &cli->err);
	if (rc)
		return kz_main_end(cli, rc);
	kz_table_start(&table, cli, list_columns);
	for (size_t i = 0; !rc && i < kz_json_count(all); i++) {
		struct kz_json *row = kz_out_object("lease");
		const struct kz_json *l = kz_json_at(all, i);

		for (size_t k = 0; k < kz_json_count(l); k++)
			kz_json_set(row, kz_json_key(l, k),
				    kz_json_ref(kz_json_get(l, kz_json_key(l, k))));
		rc = kz_table_row(&table, row);
	}
	if (!rc)
		rc = kz_table_end(&table, "no leases");
	return kz_main_end(cli, rc);
}
