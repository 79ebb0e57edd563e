/* kz config. */
#include <string.h>

#include "verbs.h"
#include "base/str.h"
#include "cli/opt.h"
#include "cli/out.h"

static bool is_named(const struct kz_cli *cli, const char *name)
{
	for (int i = 0; i < cli->operand_count; i++)
		if (strcmp(cli->operands[i], name) == 0)
			return true;
	return cli->operand_count == 0;
}

/* One row. A setting of the policy that is not set, or is no text, has the value null. own: new */
static struct kz_json *row_object(const struct kz_conf *c, const struct kz_setting *row)
{
	kz_auto_buf struct kz_buf value = KZ_BUF_INIT(8192);
	struct kz_json *o = kz_out_object("setting");
	bool is_set = true;
	enum kz_rc rc = row->packaged ? kz_conf_policy(c->state, row->name, &value, &is_set, NULL) :
					kz_conf_get(&c->set, row->name, &value, NULL);

	kz_json_set_str(o, "name", row->name);
	kz_json_set_str(o, "value", rc || !is_set ? NULL : kz_buf_str(&value));
	kz_json_set_str(o, "unit", row->unit);
	kz_json_set_str(o, "default", row->packaged ? NULL : row->default_text);
	if (row->packaged)
		kz_json_set_str(o, "packaged", row->packaged);
	kz_json_set_str(o, "what", row->what);
	return o;
}

/* Every setting, or those that are named. */
static enum kz_rc show(struct kz_cli *cli, const struct kz_conf *c)
{
	static const struct kz_column columns[] = {
		{ "name", "NAME", NULL },     { "value", "VALUE", NULL },
		{ "unit", "UNIT", NULL },     { "default", "DEFAULT", NULL },
		{ "what", "WHAT FOR", NULL }, { NULL, NULL, NULL },
	};
	kz_auto_table struct kz_table t;
	enum kz_rc rc = KZ_OK;

	kz_table_start(&t, cli, columns);
	for (int i = 0; i < KZ_SETTING_COUNT && !rc; i++) {
		const struct kz_setting *row = &kz_setting_table[i];

		if (is_named(cli, row->name))
			rc = kz_table_row(&t, row_object(c, row));
	}
	return rc ? rc : kz_table_end(&t, NULL);
}

/* The settings as they are, or the defaults where there is no state yet. */
static enum kz_rc load(struct kz_cli *cli, struct kz_conf *c)
{
	struct kz_front f;
	enum kz_rc rc = kz_front_init(&f, &cli->err);

	if (rc || (rc = kz_conf_load(c, f.state, &cli->err)) != KZ_E_UNAVAILABLE)
		return rc;
	kz_settings_default(&c->set);
	return kz_str_copy(c->state, sizeof c->state, f.state, &cli->err);
}

static enum kz_rc run_show(struct kz_cli *cli)
{
	struct kz_conf c;
	struct kz_settings defaults;
	enum kz_rc rc;

	kz_settings_default(&defaults);
	for (int i = 0; i < cli->operand_count; i++) {
		kz_auto_buf struct kz_buf value = KZ_BUF_INIT(1024);

		/* a name that is none is told before anything is printed */
		if ((rc = kz_conf_get(&defaults, cli->operands[i], &value, &cli->err)))
			return rc;
	}
	rc = load(cli, &c);
	return rc ? rc : show(cli, &c);
}

/* NAME=VALUE..., or one NAME VALUE as two words. */
static enum kz_rc run_set(struct kz_cli *cli)
{
	kz_auto_buf struct kz_buf pair = KZ_BUF_INIT(16384);
	bool is_pair = cli->operand_count == 2 && !strchr(cli->operands[0], '=');
	const char *const *sets = (const char *const *)cli->operands;
	const char *one;
	struct kz_front f;
	enum kz_rc rc = kz_front_init(&f, &cli->err);

	if (!rc && is_pair)
		rc = kz_buf_printf(&pair, &cli->err, "%s=%s", cli->operands[0], cli->operands[1]);
	if (rc)
		return rc;
	f.say = kz_verb_say;
	one = kz_buf_str(&pair);
	return kz_front_set(&f, is_pair ? &one : sets, is_pair ? 1 : (size_t)cli->operand_count,
			    &cli->err);
}

/* "kz config VERB": each has options of its own, after its name. */
static bool parse(struct kz_cli *cli, const char *verb, const char *synopsis, int least, int most,
		  int argc, char **argv)
{
	const struct kz_opt opts[] = { KZ_OPT_JSON(cli), KZ_OPT_END };
	const struct kz_usage usage = { "kz", verb, synopsis, KZ_CONFIG_WHAT, opts, least, most };

	return kz_opt_parse(cli, &usage, argc, argv);
}

int kz_verb_config(struct kz_cli *cli, int argc, char **argv)
{
	const char *verb = argc > 1 ? argv[1] : "";
	struct kz_conf c;

	if (strcmp(verb, "show") == 0)
		return kz_main_end(cli, parse(cli, "config show", "[-j] [NAME]...", 0, -1, argc - 1,
					      argv + 1) ?
						run_show(cli) :
						cli->err.rc);
	if (strcmp(verb, "check") == 0)
		return kz_main_end(cli, parse(cli, "config check", "", 0, 0, argc - 1, argv + 1) ?
						load(cli, &c) :
						cli->err.rc);
	if (strcmp(verb, "set") == 0)
		return kz_main_end(
			cli, parse(cli, "config set", "NAME=VALUE...", 1, -1, argc - 1, argv + 1) ?
				     run_set(cli) :
				     cli->err.rc);
	if (parse(cli, "config", KZ_CONFIG_SYNOPSIS, 1, -1, argc, argv))
		kz_err_set(
			&cli->err, KZ_E_USAGE,
			"say kz config show, kz config check or kz config set, and options behind it");
	return kz_main_end(cli, cli->err.rc);
}
