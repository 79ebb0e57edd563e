/*
 * What C does with every state and event of every machine, in the form of gen/NAME.tsv.
 * It asks kz_sm_step, not the table: guards are found by leaving out one at a time.
 */
#include <stdio.h>
#include <string.h>

#include "gen/reasons.h"
#include "rule/sm.h"

#define ALL_GUARDS UINT32_MAX

static const char *class_of(const struct kz_err *err)
{
	if (strcmp(err->reason, kz_reason_rows[KZ_R_STATE_BUSY].code) == 0)
		return "later";
	if (strcmp(err->reason, kz_reason_rows[KZ_R_STATE_REFUSED].code) == 0)
		return "no";
	return err->rc == KZ_E_SOFTWARE ? "bug" : "?";
}

/* The guards whose absence alone refuses the step, "a,b" or "-". */
static void put_guards(const struct kz_sm *m, int s, int e)
{
	const char *between = "";

	for (int g = 0; g < KZ_GUARD_COUNT; g++) {
		struct kz_err err = KZ_ERR_INIT;
		int to, action;

		if (kz_sm_step(m, s, e, ALL_GUARDS & ~KZ_GUARD_BIT(g), &to, &action, &err) == KZ_OK)
			continue;
		printf("%s%s", between, kz_guard_rows[g].name);
		if (strcmp(err.reason, kz_reason_rows[kz_guard_rows[g].reason].code) != 0)
			printf("(%s)", err.reason);
		between = ",";
	}
	fputs(*between ? "" : "-", stdout);
}

static void put_pair(const struct kz_sm *m, int s, int e)
{
	struct kz_err err = KZ_ERR_INIT;
	int to = -1, action = -1;
	enum kz_rc rc = kz_sm_step(m, s, e, ALL_GUARDS, &to, &action, &err);

	printf("%s\t%s\t%s\t", m->name, kz_sm_state_name(m, s), kz_sm_event_name(m, e));
	if (rc != KZ_OK) {
		printf("-\t%s\t-\t-\n", class_of(&err));
		return;
	}
	printf("%s\t-\t", kz_sm_state_name(m, to));
	put_guards(m, s, e);
	printf("\t%s\n", action < 0 ? "-" : kz_sm_action_name(m, action));
}

int main(void)
{
	for (int i = 0; i < KZ_MACHINE_COUNT; i++)
		for (int s = 0; s < kz_machines[i]->state_count; s++)
			for (int e = 0; e < kz_machines[i]->event_count; e++)
				put_pair(kz_machines[i], s, e);
	return 0;
}
