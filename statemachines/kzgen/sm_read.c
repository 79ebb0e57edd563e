/* Reading .sm files and the registry of guards. */
#include "sm.h"

#include <string.h>

#define WORDS_MOST 64

static const char *const classes[] = { "later", "no", "bug" };
static const char *const sources[] = { "client", "clock", "child", "operator" };

static const char *one_of(const char *const *set, size_t n, const char *s)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(set[i], s) == 0)
			return set[i];
	return NULL;
}

void read_guards(const char *file, struct guards *g)
{
	int n;
	struct line *lines = read_lines(file, &n);

	*g = (struct guards){ .file = file };
	for (int i = 0; i < n; i++) {
		char *field[5];

		split_row(file, &lines[i], field, 5);
		check_name(file, lines[i].no, field[0]);
		for (int k = 0; k < g->count; k++)
			if (strcmp(g->all[k].name, field[0]) == 0)
				fail(file, lines[i].no, "guard %s is there already", field[0]);
		if (strcmp(field[2], "-") == 0 && strcmp(field[3], "-") == 0)
			fail(file, lines[i].no, "guard %s is not implemented", field[0]);
		if (g->count == GUARDS_MOST)
			fail(file, lines[i].no, "more than %d guards", GUARDS_MOST);
		g->all[g->count++] = (struct guard){ .line = lines[i].no,
						     .name = field[0],
						     .reason = field[1],
						     .lua = field[2],
						     .c = field[3],
						     .meaning = field[4] };
	}
}

static int find(const struct named *list, int count, const char *name)
{
	for (int i = 0; i < count; i++)
		if (strcmp(list[i].name, name) == 0)
			return i;
	return -1;
}

static int find_state(const struct machine *m, int line, const char *name)
{
	int i = find(m->states, m->state_count, name);

	if (i < 0)
		fail(m->file, line, "unknown state %s", name);
	return i;
}

static int find_event(const struct machine *m, int line, const char *name)
{
	int i = find(m->events, m->event_count, name);

	if (i < 0)
		fail(m->file, line, "unknown event %s", name);
	return i;
}

/* The text of a line after its first n words. */
static char *rest(const struct line *l, int n)
{
	const char *s = l->text;

	while (n-- > 0) {
		s += strcspn(s, " \t");
		s += strspn(s, " \t");
	}
	return copy(s);
}

static void add_name(struct machine *m, const struct line *l, struct named *list, int *count,
		     int most, int meaning_at)
{
	static const char *const words[] = { "machine", "initial", "final", "state", "event",
					     "action",  "refuse",  "if",    "do" };
	char *word[WORDS_MOST];
	int n = split_words(m->file, l, word, WORDS_MOST);

	if (n <= meaning_at)
		fail(m->file, l->no, "%s needs a name and a meaning", word[0]);
	check_name(m->file, l->no, word[1]);
	if (one_of(words, sizeof(words) / sizeof(*words), word[1]))
		fail(m->file, l->no, "%s is a word of the language", word[1]);
	if (find(list, *count, word[1]) >= 0)
		fail(m->file, l->no, "%s %s is there already", word[0], word[1]);
	if (*count == most)
		fail(m->file, l->no, "more than %d of kind %s", most, word[0]);
	if (meaning_at == 3 && !one_of(sources, sizeof(sources) / sizeof(*sources), word[2]))
		fail(m->file, l->no, "source %s is not client, clock, child or operator", word[2]);
	list[(*count)++] = (struct named){
		.line = l->no, .name = word[1], .source = word[2], .meaning = rest(l, meaning_at)
	};
}

static struct pair *new_pair(struct machine *m, int line, int state, int event)
{
	struct pair *p = &m->pairs[state][event];

	if (p->line)
		fail(m->file, line, "pair %s %s is stated already (line %d)", m->states[state].name,
		     m->events[event].name, p->line);
	*p = (struct pair){ .line = line, .to = -1, .action = -1 };
	return p;
}

static void read_guard_list(const struct machine *m, int line, struct guards *g, char *text,
			    struct pair *p)
{
	char *save = NULL;

	for (char *s = strtok_r(text, ",", &save); s; s = strtok_r(NULL, ",", &save)) {
		int i = 0;

		while (i < g->count && strcmp(g->all[i].name, s) != 0)
			i++;
		if (i == g->count)
			fail(m->file, line, "unknown guard %s (not in %s)", s, g->file);
		if (p->guards & (UINT32_C(1) << i))
			fail(m->file, line, "guard %s is named twice", s);
		p->guards |= UINT32_C(1) << i;
		g->all[i].used = true;
	}
}

/* FROM EVENT [if GUARD,...] TO [do ACTION] */
static void read_transition(struct machine *m, const struct line *l, struct guards *g, char **word,
			    int n)
{
	int at = 2;
	struct pair *p;

	if (n < 3)
		fail(m->file, l->no, "not a fact: %s", l->text);
	p = new_pair(m, l->no, find_state(m, l->no, word[0]), find_event(m, l->no, word[1]));
	if (strcmp(word[at], "if") == 0) {
		if (n < 5)
			fail(m->file, l->no, "if needs a guard and a state");
		read_guard_list(m, l->no, g, word[3], p);
		at = 4;
	}
	p->to = find_state(m, l->no, word[at++]);
	if (at < n) {
		if (strcmp(word[at], "do") != 0 || n != at + 2)
			fail(m->file, l->no, "after the state may stand only do ACTION");
		p->action = find(m->actions, m->action_count, word[at + 1]);
		if (p->action < 0)
			fail(m->file, l->no, "unknown action %s", word[at + 1]);
		m->actions[p->action].used = true;
	}
	m->events[find_event(m, l->no, word[1])].used = true;
}

static void read_refusals(struct machine *m, const struct line *l, char **word, int n)
{
	const char *class;

	if (n < 4)
		fail(m->file, l->no, "refuse needs a state, a class and events");
	class = one_of(classes, sizeof(classes) / sizeof(*classes), word[2]);
	if (!class)
		fail(m->file, l->no, "class %s is not later, no or bug", word[2]);
	for (int i = 3; i < n; i++)
		new_pair(m, l->no, find_state(m, l->no, word[1]), find_event(m, l->no, word[i]))
			->refused = class;
}

static void read_fact(struct machine *m, const struct line *l, struct guards *g)
{
	char *word[WORDS_MOST];
	int n = split_words(m->file, l, word, WORDS_MOST);

	if (strcmp(word[0], "machine") == 0) {
		if (n != 2 || m->name)
			fail(m->file, l->no, "one line names the machine");
		check_name(m->file, l->no, word[1]);
		m->name = word[1];
		m->line = l->no;
	} else if (strcmp(word[0], "state") == 0) {
		add_name(m, l, m->states, &m->state_count, STATES_MOST, 2);
	} else if (strcmp(word[0], "event") == 0) {
		add_name(m, l, m->events, &m->event_count, EVENTS_MOST, 3);
	} else if (strcmp(word[0], "action") == 0) {
		add_name(m, l, m->actions, &m->action_count, ACTIONS_MOST, 2);
	} else if (strcmp(word[0], "refuse") == 0) {
		read_refusals(m, l, word, n);
	} else if (strcmp(word[0], "initial") != 0 && strcmp(word[0], "final") != 0) {
		read_transition(m, l, g, word, n);
	}
}

/* initial and final name states that may be declared after them. */
static void read_ends(struct machine *m, const struct line *l)
{
	char *word[WORDS_MOST];
	int n = split_words(m->file, l, word, WORDS_MOST);

	if (strcmp(word[0], "initial") == 0) {
		if (n != 2 || m->initial >= 0)
			fail(m->file, l->no, "one line names the one initial state");
		m->initial = find_state(m, l->no, word[1]);
	} else if (strcmp(word[0], "final") == 0) {
		for (int i = 1; i < n; i++)
			m->finals |= UINT32_C(1) << find_state(m, l->no, word[i]);
	}
}

void read_machine(const char *file, struct guards *g, struct machine *m)
{
	int n;
	struct line *lines = read_lines(file, &n);

	*m = (struct machine){ .file = file, .initial = -1 };
	for (int i = 0; i < n; i++)
		read_fact(m, &lines[i], g);
	for (int i = 0; i < n; i++)
		read_ends(m, &lines[i]);
}
