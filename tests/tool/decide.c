/*
 * decide table FILE MODE | classify | ask: the egress rules as a program, for tests/tool/egress-decide.bats.
 *
 * table: judge each line of tests/golden/egress-authority.tsv in one mode; one line for each that is judged
 * otherwise, then "N cases"; exit 1 when there was one.
 * ask: each line of standard input is a policy and a destination, as tests/tool/decide-model.py prints them; the verdict.
 * classify: for each address on standard input one line, "TEXT CLASS REASON" with its normal form, or "-".
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rule/decide.h"

enum { COLUMNS = 7, BYTES = 1024 };

static const char ports[] = "80,443,8443";

/* Text with \xNN for bytes. out: how many bytes */
static size_t unescape(const char *s, char out[BYTES])
{
	size_t n = 0;

	while (*s && n < BYTES) {
		unsigned v;

		if (sscanf(s, "\\x%2x", &v) == 1) {
			out[n++] = (char)v;
			s += 4;
		} else {
			out[n++] = *s++;
		}
	}
	return n;
}

/* out: how many; -1: nobody asked */
static int read_answers(char *text, struct kz_addr out[KZ_ANSWERS_MAX + 2])
{
	int n = 0;

	if (strcmp(text, "-") == 0)
		return -1;
	if (strcmp(text, "none") == 0)
		return 0;
	if (sscanf(text, "count:%d", &n) == 1 && n <= KZ_ANSWERS_MAX + 1) {
		for (int i = 0; i < n; i++)
			out[i] = (struct kz_addr){ 4, { 8, 8, 8, (uint8_t)i } };
		return n;
	}
	while (text) {
		const char *a = strsep(&text, ",");

		if (n > KZ_ANSWERS_MAX || !kz_addr_parse(a, strlen(a), &out[n])) {
			fprintf(stderr, "decide: bad answer %s\n", a);
			exit(70);
		}
		n++;
	}
	return n;
}

static void make_scope(const char *mode, const char *host, struct kz_scope *out)
{
	struct kz_scope_config c = { .enabled = "true",
				     .mode = mode,
				     .hosts = host,
				     .ports = ports,
				     .ttl = "600",
				     .is_cidrs_own = true,
				     .has_field_key = true,
				     .has_proxy = true };

	c.cidrs = strcmp(mode, "host_allowlist") == 0 ?
			  "10.0.0.0/8,fc00::/7" :
			  "10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,fc00::/7,100.64.0.0/10";
	if (kz_scope_resolve(&c, out) != KZ_R_NONE || !kz_scope_is_sound(out)) {
		fprintf(stderr, "decide: the scope of %s with host %s is unusable\n", mode, host);
		exit(70);
	}
}

static const char *judge(const char *mode, const char *bytes, size_t n, char *answers)
{
	static const struct kz_decide_env env = { 0 };
	static struct kz_scope scope, other;
	struct kz_addr found[KZ_ANSWERS_MAX + 2];
	struct kz_target t;
	enum kz_reason r = kz_target_parse(bytes, n, 0, &t);
	int count = read_answers(answers, found);

	if (r != KZ_R_NONE)
		return kz_reason_code(r);
	make_scope(mode, t.host, &scope);
	if (scope.mode == KZ_SCOPE_HOST_ALLOWLIST) {
		/* Not in the list: never. */
		make_scope(mode, "other.test,9.9.9.9", &other);
		if (kz_decide_target(&other, &env, &t) == KZ_R_NONE)
			return "allowed though it is not in the list";
	}
	r = kz_decide_target(&scope, &env, &t);
	if (r == KZ_R_NONE && count >= 0)
		r = kz_decide_answers(&scope, &env, &t, found, (size_t)count);
	else if (r == KZ_R_NONE && t.is_literal)
		r = kz_decide_answers(&scope, &env, &t, &t.addr, 1);
	if (r != KZ_R_NONE)
		return kz_reason_code(r);
	return count < 0 && !t.is_literal ? "lookup" : "allow";
}

static int table(const char *path, const char *mode)
{
	static const char *const modes[] = { "isolated", "public_internet", "private_network",
					     "host_allowlist" };
	char line[2 * BYTES], bytes[BYTES];
	int cases = 0, bad = 0, column = -1;
	FILE *f = fopen(path, "r");

	for (int i = 0; i < 4; i++)
		if (strcmp(modes[i], mode) == 0)
			column = 2 + i;
	if (!f || column < 0)
		return 66;
	while (fgets(line, sizeof line, f)) {
		char *field[COLUMNS], *rest = line;
		const char *got;
		int n = 0;

		if (*line == '#')
			continue;
		line[strcspn(line, "\n")] = '\0';
		while (n < COLUMNS && rest)
			field[n++] = strsep(&rest, "\t");
		if (n != COLUMNS || rest) {
			printf("not %d fields: %s\n", COLUMNS, line);
			bad++;
			continue;
		}
		got = judge(mode, bytes, unescape(field[0], bytes), field[1]);
		cases++;
		if (strcmp(got, field[column]) != 0) {
			printf("%s %s: want %s, got %s (%s)\n", mode, field[0], field[column], got,
			       field[6]);
			bad++;
		}
	}
	fclose(f);
	printf("%d cases\n", cases);
	return bad ? 1 : 0;
}

/* A cell of a line; "~" is not set. */
static char *cell(char **rest)
{
	char *text = strsep(rest, "\t");

	return text && strcmp(text, "~") == 0 ? NULL : text;
}

static const char *ask_one(char *line)
{
	static struct kz_scope s;
	static struct kz_cidr deny[KZ_SCOPE_CIDRS];
	struct kz_scope_config c = { .has_field_key = true, .has_proxy = true };
	const char **const text[] = { &c.enabled, &c.mode, &c.hosts,     &c.cidrs,
				      &c.ports,   &c.ttl,  &c.deny_cidrs };
	struct kz_addr found[KZ_ANSWERS_MAX + 2];
	struct kz_decide_env env = { .deny = deny };
	char bytes[BYTES], *own, *authority, *answers;
	struct kz_target t;
	enum kz_reason r;
	int count;

	for (size_t i = 0; i < sizeof text / sizeof *text; i++)
		*text[i] = cell(&line);
	own = cell(&line);
	authority = cell(&line);
	answers = cell(&line);
	if (!own || !authority || !answers)
		return "not a case";
	c.is_cidrs_own = *own == '1';
	count = read_answers(answers, found);
	r = kz_scope_resolve(&c, &s);
	env.is_deny_unusable = !kz_scope_deny_parse(c.deny_cidrs, deny, &env.deny_count);
	if (r == KZ_R_NONE)
		r = kz_target_parse(bytes, unescape(authority, bytes), 0, &t);
	if (r == KZ_R_NONE)
		r = kz_decide_target(&s, &env, &t);
	if (r == KZ_R_NONE && !t.is_literal && count >= 0)
		r = kz_decide_answers(&s, &env, &t, found, (size_t)count);
	if (r != KZ_R_NONE)
		return kz_reason_code(r);
	return count < 0 && !t.is_literal ? "lookup" : "allow";
}

static int ask(void)
{
	char line[8 * BYTES];

	while (fgets(line, sizeof line, stdin)) {
		line[strcspn(line, "\n")] = '\0';
		puts(ask_one(line));
	}
	return 0;
}

static int classify(void)
{
	char line[BYTES];

	while (fgets(line, sizeof line, stdin)) {
		struct kz_addr a;
		char text[KZ_ADDR_TEXT];

		if (!kz_addr_parse(line, strcspn(line, "\n"), &a)) {
			puts("-");
			continue;
		}
		kz_addr_print(&a, text);
		printf("%s %s %s\n", text, kz_addr_class_name(kz_addr_classify(&a)),
		       kz_reason_code(kz_addr_class_reason(kz_addr_classify(&a))));
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 4 && strcmp(argv[1], "table") == 0)
		return table(argv[2], argv[3]);
	if (argc == 2 && strcmp(argv[1], "classify") == 0)
		return classify();
	if (argc == 2 && strcmp(argv[1], "ask") == 0)
		return ask();
	fputs("usage: decide table FILE MODE | classify | ask\n", stderr);
	return 64;
}
