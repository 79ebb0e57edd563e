/* Machines for C: enumerations, names, cells by designated initialisers. */
#include "sm.h"

#include <string.h>

static void put_enum(FILE *f, const struct machine *m, const char *kind, char letter,
		     const struct named *list, int count)
{
	fprintf(f, "enum kz_%s_%s {\n", m->name, kind);
	for (int i = 0; i < count; i++)
		fprintf(f, "\tKZ_%s_%c_%s, /* %s */\n", upper(m->name), letter, upper(list[i].name),
			list[i].meaning);
	fprintf(f, "\tKZ_%s_%c_COUNT\n};\n\n", upper(m->name), letter);
}

static void put_names(FILE *f, const struct machine *m, const char *kind, char letter,
		      const struct named *list, int count)
{
	fprintf(f, "static const char *const %s[] = {\n", kind);
	for (int i = 0; i < count; i++)
		fprintf(f, "\t[KZ_%s_%c_%s] = \"%s\",\n", upper(m->name), letter,
			upper(list[i].name), list[i].name);
	/* An empty list would be no C. */
	fprintf(f, "%s};\n\n", count ? "" : "\tNULL\n");
}

static void put_cell(FILE *f, const struct machines *ms, const struct machine *m, int s, int e)
{
	const struct pair *p = &m->pairs[s][e];
	const char *up = upper(m->name);
	const char *between = "";

	fprintf(f, "\t[KZ_%s_S_%s][KZ_%s_E_%s] = { ", up, upper(m->states[s].name), up,
		upper(m->events[e].name));
	if (p->to < 0) {
		fprintf(f, ".to = -1, .action = -1, .refusal = KZ_SM_%s },\n", upper(p->refused));
		return;
	}
	fprintf(f, ".to = KZ_%s_S_%s, ", up, upper(m->states[p->to].name));
	if (p->action >= 0)
		fprintf(f, ".action = KZ_%s_A_%s, ", up, upper(m->actions[p->action].name));
	else
		fputs(".action = -1, ", f);
	if (p->guards) {
		fputs("\n\t\t.guards = ", f);
		for_guards(i, p, &ms->guards)
		{
			fprintf(f, "%sKZ_GUARD_BIT(KZ_GUARD_%s)", between,
				upper(ms->guards.all[i].name));
			between = " | ";
		}
		fputc(' ', f);
	}
	fputs("},\n", f);
}

static void write_header(const struct machine *m, const char *file)
{
	FILE *f = out_open("statemachines/gen", file, COMMENT_C, m->file);

	fprintf(f,
		"#ifndef KZ_GEN_%s_SM_H\n#define KZ_GEN_%s_SM_H\n\n#include \"gen/machine.h\"\n\n",
		upper(m->name), upper(m->name));
	put_enum(f, m, "state", 'S', m->states, m->state_count);
	put_enum(f, m, "event", 'E', m->events, m->event_count);
	put_enum(f, m, "action", 'A', m->actions, m->action_count);
	fprintf(f, "extern const struct kz_sm kz_%s_sm;\n\n#endif\n", m->name);
	out_close(f);
}

void write_machine_c(const struct machines *ms, const struct machine *m)
{
	char *file = need(strlen(m->name) + 6);
	const char *up = upper(m->name);
	FILE *f;

	sprintf(file, "%s_sm.h", m->name);
	write_header(m, file);
	sprintf(file, "%s_sm.c", m->name);
	f = out_open("statemachines/gen", file, COMMENT_C, m->file);
	fprintf(f, "#include \"gen/%s_sm.h\"\n\n#include <stddef.h>\n\n", m->name);
	put_names(f, m, "states", 'S', m->states, m->state_count);
	put_names(f, m, "events", 'E', m->events, m->event_count);
	put_names(f, m, "actions", 'A', m->actions, m->action_count);
	fprintf(f, "static const struct kz_sm_cell cells[KZ_%s_S_COUNT][KZ_%s_E_COUNT] = {\n", up,
		up);
	for (int s = 0; s < m->state_count; s++)
		for (int e = 0; e < m->event_count; e++)
			put_cell(f, ms, m, s, e);
	fprintf(f,
		"};\n\nconst struct kz_sm kz_%s_sm = {\n\t.name = \"%s\", .states = states, .events = events,"
		" .actions = actions,\n\t.cells = &cells[0][0], .state_count = KZ_%s_S_COUNT,"
		" .event_count = KZ_%s_E_COUNT,\n\t.action_count = KZ_%s_A_COUNT, .initial = KZ_%s_S_%s,\n"
		"\t.finals = 0",
		m->name, m->name, up, up, up, up, upper(m->states[m->initial].name));
	for (int s = 0; s < m->state_count; s++)
		if (m->finals & (UINT32_C(1) << s))
			fprintf(f, " | UINT32_C(1) << KZ_%s_S_%s", up, upper(m->states[s].name));
	fputs(",\n};\n", f);
	out_close(f);
}

void write_common(const struct machines *ms)
{
	const struct guards *g = &ms->guards;
	FILE *f = out_open("statemachines/gen", "machine.h", COMMENT_C, g->file);

	fputs("#ifndef KZ_GEN_MACHINE_H\n#define KZ_GEN_MACHINE_H\n\n#include <stdint.h>\n\n"
	      "/* Every guard; a transition names the ones that must hold. */\nenum kz_guard {\n",
	      f);
	for (int i = 0; i < g->count; i++)
		fprintf(f, "\tKZ_GUARD_%s, /* %s */\n", upper(g->all[i].name), g->all[i].meaning);
	fputs("\tKZ_GUARD_COUNT\n};\n#define KZ_GUARD_BIT(g) (UINT32_C(1) << (g))\n\n"
	      "/* One row: its name and the reason (enum kz_reason) told when it does not hold. */\n"
	      "struct kz_guard_row {\n\tconst char *name;\n\tint reason;\n};\n"
	      "extern const struct kz_guard_row kz_guard_rows[KZ_GUARD_COUNT];\n\n"
	      "/* Why a pair is refused: ask again, the answer is no, it cannot happen. */\n"
	      "enum kz_sm_refusal { KZ_SM_NONE, KZ_SM_LATER, KZ_SM_NO, KZ_SM_BUG };\n\n"
	      "/* What a state does with an event. */\nstruct kz_sm_cell {\n"
	      "\tint to;     /* state, -1: refused */\n\tint action; /* -1: none */\n"
	      "\tuint32_t guards; /* bits of enum kz_guard that must all hold */\n"
	      "\tenum kz_sm_refusal refusal;\n};\n\n"
	      "/* A machine: cells[state * event_count + event] is complete. */\nstruct kz_sm {\n"
	      "\tconst char *name;\n\tconst char *const *states;\n\tconst char *const *events;\n"
	      "\tconst char *const *actions;\n\tconst struct kz_sm_cell *cells;\n"
	      "\tint state_count;\n\tint event_count;\n\tint action_count;\n\tint initial;\n"
	      "\tuint32_t finals; /* bits by state */\n};\n\n"
	      "/* All machines, by number. */\n",
	      f);
	fprintf(f,
		"#define KZ_MACHINE_COUNT %d\nextern const struct kz_sm *const kz_machines[KZ_MACHINE_COUNT];\n\n#endif\n",
		ms->count);
	out_close(f);
	f = out_open("statemachines/gen", "machine.c", COMMENT_C, g->file);
	fputs("#include \"gen/machine.h\"\n\n", f);
	for (int i = 0; i < ms->count; i++)
		fprintf(f, "#include \"gen/%s_sm.h\"\n", ms->all[i].name);
	fputs("#include \"gen/reasons.h\"\n\nconst struct kz_guard_row kz_guard_rows[KZ_GUARD_COUNT] = {\n",
	      f);
	for (int i = 0; i < g->count; i++)
		fprintf(f, "\t[KZ_GUARD_%s] = { .name = \"%s\", .reason = KZ_R_%s },\n",
			upper(g->all[i].name), g->all[i].name, upper(g->all[i].reason));
	fputs("};\n\nconst struct kz_sm *const kz_machines[KZ_MACHINE_COUNT] = {\n", f);
	for (int i = 0; i < ms->count; i++)
		fprintf(f, "\t&kz_%s_sm,\n", ms->all[i].name);
	fputs("};\n", f);
	out_close(f);
}
