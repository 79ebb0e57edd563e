/* Option tables: parsing. */
#include "cli/opt.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/str.h"
#include "cli/out.h"
#include "rule/reason.h"

/* What every program has, with what it does decided here. */
struct common {
	bool help, version, verbose;
};

struct parse {
	struct kz_cli *cli;
	const struct kz_usage *usage;
	const struct kz_opt *common;
	char **argv;
	int argc;
	int next; /* first argument not yet looked at */
};

void kz_opt_list_release(struct kz_opt_list *l)
{
	free(l->items);
	l->items = NULL;
	l->count = 0;
}

/* The first failure is told; what follows is still read, because -j may be in it. */
static void bad(struct parse *p, const char *fmt, const char *name, const char *why)
{
	char text[256];
	const struct kz_usage *u = p->usage;

	if (p->cli->err.rc)
		return;
	if (kz_str_format(text, sizeof(text), NULL, "%s %.60s%s%.120s", fmt, name, *why ? ": " : "",
			  why))
		text[0] = '\0';
	kz_refuse(&p->cli->err, KZ_R_USAGE, "%s (try: %s%s%s -h)", text, u->program,
		  u->verb ? " " : "", u->verb ? u->verb : "");
}

static const struct kz_opt *find(const struct parse *p, char letter, const char *name, size_t len)
{
	const struct kz_opt *tables[] = { p->usage->opts, p->common };

	for (size_t t = 0; t < 2; t++)
		for (const struct kz_opt *o = tables[t]; o && o->name; o++)
			if (name ? strlen(o->name) == len && memcmp(o->name, name, len) == 0 :
				   o->letter == letter)
				return o;
	return NULL;
}

static enum kz_rc list_add(struct kz_opt_list *l, const char *value, int argc, struct kz_err *err)
{
	/* Never more than there are arguments, so one allocation is enough. */
	if (!l->items)
		l->items = calloc((size_t)argc + 1, sizeof(*l->items));
	if (!l->items)
		return kz_err_set(err, KZ_E_OS, "out of memory for options");
	l->items[l->count++] = value;
	return KZ_OK;
}

static void store(struct parse *p, const struct kz_opt *o, const char *shown, const char *value)
{
	struct kz_err why = KZ_ERR_INIT;

	switch (o->kind) {
	case KZ_OPT_FLAG: *(bool *)o->to = true; break;
	case KZ_OPT_TEXT: *(const char **)o->to = value; break;
	case KZ_OPT_INT:
		if (kz_str_int(value, o->least, o->most, o->to, &why))
			bad(p, "option", shown, why.text);
		break;
	case KZ_OPT_LIST:
		if (list_add(o->to, value, p->argc, &why) && !p->cli->err.rc)
			p->cli->err = why;
		break;
	}
}

/* "--name", "--name=value", "--name value" */
static void parse_long(struct parse *p, const char *arg)
{
	const char *equals = strchr(arg, '=');
	size_t len = equals ? (size_t)(equals - arg) : strlen(arg);
	const struct kz_opt *o = len > 2 ? find(p, 0, arg + 2, len - 2) : NULL;

	if (!o) {
		bad(p, "unknown option", arg, "");
		return;
	}
	if (o->kind == KZ_OPT_FLAG && equals) {
		bad(p, "option takes no value:", arg, "");
		return;
	}
	if (o->kind != KZ_OPT_FLAG && !equals && p->next >= p->argc) {
		bad(p, "option needs a value:", arg, "");
		return;
	}
	store(p, o, arg, o->kind == KZ_OPT_FLAG ? NULL : equals ? equals + 1 : p->argv[p->next++]);
}

/* "-a", "-ab", "-avalue", "-a value" */
static void parse_short(struct parse *p, const char *arg)
{
	for (const char *c = arg + 1; *c; c++) {
		const struct kz_opt *o = find(p, *c, NULL, 0);
		char shown[3] = { '-', *c, '\0' };

		if (!o) {
			bad(p, "unknown option", shown, "");
			return;
		}
		if (o->kind == KZ_OPT_FLAG) {
			store(p, o, shown, NULL);
			continue;
		}
		if (c[1])
			store(p, o, shown, c + 1);
		else if (p->next < p->argc)
			store(p, o, shown, p->argv[p->next++]);
		else
			bad(p, "option needs a value:", shown, "");
		return;
	}
}

static void parse_all(struct parse *p)
{
	while (p->next < p->argc) {
		const char *arg = p->argv[p->next];

		if (arg[0] != '-' || !arg[1])
			return;
		p->next++;
		if (strcmp(arg, "--") == 0)
			return;
		if (arg[1] == '-')
			parse_long(p, arg);
		else
			parse_short(p, arg);
	}
}

static void help_table(struct kz_cli *cli, const struct kz_opt *opts)
{
	for (const struct kz_opt *o = opts; o && o->name; o++) {
		char left[64];
		char shown[4] = { '-', o->letter, ',', '\0' };

		if (kz_str_format(left, sizeof(left), NULL, "%s --%s%s%s",
				  o->letter ? shown : "   ", o->name, o->arg ? " " : "",
				  o->arg ? o->arg : ""))
			left[0] = '\0';
		kz_out_text(cli, "  %-28s %s\n", left, o->help);
	}
}

static void help(struct kz_cli *cli, const struct kz_usage *u, const struct kz_opt *common)
{
	kz_out_text(cli, "usage: %s%s%s%s%s\n", u->program, u->verb ? " " : "",
		    u->verb ? u->verb : "", *u->synopsis ? " " : "", u->synopsis);
	kz_out_text(cli, "%s: %s\n\noptions:\n", u->program, u->what);
	help_table(cli, u->opts);
	help_table(cli, common);
}

static void check_operands(struct parse *p)
{
	const struct kz_usage *u = p->usage;
	int n = p->argc > p->next ? p->argc - p->next : 0;

	if (n < u->least)
		bad(p, "missing operand:", u->synopsis, "");
	else if (u->most >= 0 && n > u->most)
		bad(p, "unexpected operand:", p->argv[p->next + u->most], "");
}

bool kz_opt_parse(struct kz_cli *cli, const struct kz_usage *u, int argc, char **argv)
{
	struct common c = { false, false, false };
	const struct kz_opt common[] = {
		{ 'h', "help", KZ_OPT_FLAG, &c.help, NULL, "print this and end", 0, 0 },
		{ 'V', "version", KZ_OPT_FLAG, &c.version, NULL, "print the version and end", 0,
		  0 },
		{ 'v', "verbose", KZ_OPT_FLAG, &c.verbose, NULL, "log more on standard error", 0,
		  0 },
		KZ_OPT_END,
	};
	struct parse p = {
		.cli = cli, .usage = u, .common = common, .argv = argv, .argc = argc, .next = 1
	};

	parse_all(&p);
	if (!cli->err.rc && (c.help || c.version)) {
		if (c.help)
			help(cli, u, common);
		else
			kz_out_text(cli, "%s %s\n", u->program, KZ_VERSION);
		return false;
	}
	check_operands(&p);
	if (cli->err.rc)
		return false;
	if (c.verbose)
		kz_log_init(kz_log_program(), KZ_LOG_DEBUG);
	cli->operand_count = argc > p.next ? argc - p.next : 0;
	cli->operands = argv + (argc > p.next ? p.next : argc);
	return true;
}
