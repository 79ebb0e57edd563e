/* Machines for Lua (by name), SQL (lookup rows) and tests (TSV). */
#include "sm.h"

#include <string.h>

static char *file_name(const struct machine *m, const char *suffix)
{
	char *s = need(strlen(m->name) + strlen(suffix) + 1);

	sprintf(s, "%s%s", m->name, suffix);
	return s;
}

static void put_list(FILE *f, const char *key, const struct named *list, int count)
{
	fprintf(f, "\t%s = {", key);
	for (int i = 0; i < count; i++)
		fprintf(f, "%s \"%s\"", i ? "," : "", list[i].name);
	fputs(" },\n", f);
}

static void put_lua_next(FILE *f, const struct machines *ms, const struct machine *m, int s)
{
	fprintf(f, "\t\t%s = {\n", m->states[s].name);
	for (int e = 0; e < m->event_count; e++) {
		const struct pair *p = &m->pairs[s][e];

		if (p->to < 0)
			continue;
		fprintf(f, "\t\t\t%s = { to = \"%s\"", m->events[e].name, m->states[p->to].name);
		if (p->action >= 0)
			fprintf(f, ", action = \"%s\"", m->actions[p->action].name);
		fputs(", guards = {", f);
		if (p->guards)
			fprintf(f, " \"%s\" ", guard_list(&ms->guards, p, "\", \""));
		fputs("} },\n", f);
	}
	fputs("\t\t},\n", f);
}

void write_machine_lua(const struct machines *ms, const struct machine *m)
{
	struct pair every = { .guards = 0 };
	FILE *f = out_open("statemachines/gen", file_name(m, ".lua"), COMMENT_LUA, m->file);

	for (int s = 0; s < m->state_count; s++)
		for (int e = 0; e < m->event_count; e++)
			every.guards |= m->pairs[s][e].guards;
	fprintf(f, "local %s_sm = {\n\tname = \"%s\",\n\tinitial = \"%s\",\n", m->name, m->name,
		m->states[m->initial].name);
	put_list(f, "states", m->states, m->state_count);
	put_list(f, "events", m->events, m->event_count);
	fprintf(f, "\tguards = {%s%s%s},\n", every.guards ? " \"" : "",
		guard_list(&ms->guards, &every, "\", \""), every.guards ? "\" " : "");
	fputs("\tfinal = {", f);
	for (int s = 0; s < m->state_count; s++)
		if (m->finals & (UINT32_C(1) << s))
			fprintf(f, " %s = true,", m->states[s].name);
	fputs(" },\n\tnext = {\n", f);
	for (int s = 0; s < m->state_count; s++)
		put_lua_next(f, ms, m, s);
	fputs("\t},\n\trefuse = {\n", f);
	for (int s = 0; s < m->state_count; s++) {
		fprintf(f, "\t\t%s = {\n", m->states[s].name);
		for (int e = 0; e < m->event_count; e++)
			if (m->pairs[s][e].to < 0)
				fprintf(f, "\t\t\t%s = \"%s\",\n", m->events[e].name,
					m->pairs[s][e].refused);
		fputs("\t\t},\n", f);
	}
	fputs("\t},\n}\n", f);
	out_close(f);
}

/* The statements of one machine; before and after wrap each into a C string where needed. */
static void put_sql(FILE *f, const struct machines *ms, const struct machine *m, const char *before,
		    const char *after)
{
	fprintf(f,
		"%sCREATE TABLE IF NOT EXISTS machine_edge (machine TEXT NOT NULL, from_state TEXT NOT NULL,"
		" event TEXT NOT NULL, to_state TEXT NOT NULL, guards TEXT NOT NULL, action TEXT NOT NULL,"
		" PRIMARY KEY (machine, from_state, event, to_state)) STRICT, WITHOUT ROWID;%s",
		before, after);
	fprintf(f,
		"%sCREATE TABLE IF NOT EXISTS machine_refusal (machine TEXT NOT NULL, from_state TEXT NOT NULL,"
		" event TEXT NOT NULL, class TEXT NOT NULL CHECK (class IN ('later', 'no', 'bug')),"
		" PRIMARY KEY (machine, from_state, event)) STRICT, WITHOUT ROWID;%s",
		before, after);
	for (int s = 0; s < m->state_count; s++)
		for (int e = 0; e < m->event_count; e++) {
			const struct pair *p = &m->pairs[s][e];

			if (p->to < 0)
				fprintf(f,
					"%sINSERT OR IGNORE INTO machine_refusal VALUES ('%s', '%s', '%s', '%s');%s",
					before, m->name, m->states[s].name, m->events[e].name,
					p->refused, after);
			else
				fprintf(f,
					"%sINSERT OR IGNORE INTO machine_edge VALUES ('%s', '%s', '%s', '%s', '%s', '%s');%s",
					before, m->name, m->states[s].name, m->events[e].name,
					m->states[p->to].name, guard_list(&ms->guards, p, ","),
					p->action >= 0 ? m->actions[p->action].name : "", after);
		}
}

void write_machine_sql(const struct machines *ms, const struct machine *m)
{
	FILE *f = out_open("statemachines/gen", file_name(m, ".sql"), COMMENT_SQL, m->file);

	put_sql(f, ms, m, "", "\n");
	out_close(f);
}

void write_machines_sql(const struct machines *ms)
{
	FILE *f =
		out_open("statemachines/gen", "machines_sql.h", COMMENT_C, "statemachines/NAME.sm");

	fputs("#ifndef KZ_GEN_MACHINES_SQL_H\n#define KZ_GEN_MACHINES_SQL_H\n\n"
	      "/* Makes and fills machine_edge(machine, from_state, event, to_state, guards, action)\n"
	      " * and machine_refusal(machine, from_state, event, class). */\n#define KZ_MACHINES_SQL",
	      f);
	for (int i = 0; i < ms->count; i++)
		put_sql(f, ms, &ms->all[i], " \\\n\t\"", "\\n\"");
	fputs("\n\n#endif\n", f);
	out_close(f);
}

void write_machine_tsv(const struct machines *ms, const struct machine *m)
{
	FILE *f = out_open("statemachines/gen", file_name(m, ".tsv"), COMMENT_HASH, m->file);

	fputs("# machine\tfrom\tevent\tto or -\tclass or -\tguards or -\taction or -\n", f);
	for (int s = 0; s < m->state_count; s++)
		for (int e = 0; e < m->event_count; e++) {
			const struct pair *p = &m->pairs[s][e];

			fprintf(f, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", m->name, m->states[s].name,
				m->events[e].name, p->to >= 0 ? m->states[p->to].name : "-",
				p->to >= 0 ? "-" : p->refused,
				p->guards ? guard_list(&ms->guards, p, ",") : "-",
				p->action >= 0 ? m->actions[p->action].name : "-");
		}
	out_close(f);
}

void write_machine_pml(const struct machines *ms, const struct machine *m)
{
	const char *up = upper(m->name);
	FILE *f = out_open("statemachines/gen", file_name(m, ".pml"), COMMENT_PML, m->file);

	for (int i = 0; i < m->state_count; i++)
		fprintf(f, "#define %s_S_%s %d\n", up, upper(m->states[i].name), i);
	for (int i = 0; i < m->event_count; i++)
		fprintf(f, "#define %s_E_%s %d\n", up, upper(m->events[i].name), i);
	fprintf(f,
		"\n/* Move s by event e where the table and the guards allow it; ok tells. The model defines a\n"
		" * macro G_NAME(x) for each guard; x is passed through. */\ninline %s_step(s, e, x, ok)\n{\n\tif\n",
		m->name);
	for (int s = 0; s < m->state_count; s++)
		for (int e = 0; e < m->event_count; e++) {
			const struct pair *p = &m->pairs[s][e];

			if (p->to < 0)
				continue;
			fprintf(f, "\t:: s == %s_S_%s && e == %s_E_%s", up,
				upper(m->states[s].name), up, upper(m->events[e].name));
			for_guards(i, p, &ms->guards)
				fprintf(f, " && G_%s(x)", upper(ms->guards.all[i].name));
			fprintf(f, " ->\n\t\ts = %s_S_%s; ok = true\n", up,
				upper(m->states[p->to].name));
		}
	fputs("\t:: else -> ok = false\n\tfi\n}\n", f);
	out_close(f);
}
