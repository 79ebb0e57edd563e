/* All machines of one run of kzgen. */
#include "sm.h"

#include <string.h>

char *guard_list(const struct guards *g, const struct pair *p, const char *between)
{
	char *s;
	size_t n = 1;

	for_guards(i, p, g) n += strlen(g->all[i].name) + strlen(between);
	s = need(n);
	for_guards(i, p, g)
	{
		if (*s)
			strcat(s, between);
		strcat(s, g->all[i].name);
	}
	return s;
}

void make_machines(const char *guards, char *const *files, int count)
{
	struct machines ms = { .count = count,
			       .all = need(sizeof(struct machine) * (size_t)count) };

	read_guards(guards, &ms.guards);
	for (int i = 0; i < count; i++) {
		read_machine(files[i], &ms.guards, &ms.all[i]);
		check_machine(&ms.all[i]);
		for (int k = 0; k < i; k++)
			if (strcmp(ms.all[k].name, ms.all[i].name) == 0)
				fail(files[i], ms.all[i].line, "machine %s is there already",
				     ms.all[i].name);
	}
	for (int i = 0; i < ms.guards.count; i++)
		if (!ms.guards.all[i].used)
			fail(guards, ms.guards.all[i].line, "guard %s is not used",
			     ms.guards.all[i].name);
	write_common(&ms);
	for (int i = 0; i < count; i++) {
		write_machine_c(&ms, &ms.all[i]);
		write_machine_lua(&ms, &ms.all[i]);
		write_machine_sql(&ms, &ms.all[i]);
		write_machine_pml(&ms, &ms.all[i]);
		write_machine_tsv(&ms, &ms.all[i]);
		write_machine_md(&ms, &ms.all[i]);
	}
	write_machines_sql(&ms);
	write_docs_machines(&ms);
}
