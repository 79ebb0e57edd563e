/* policy/addresses.tbl -> classes and blocks (C), table in the docs. */
#include "kzgen.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

static const char *const denied_names[] = { "never", "public", "always" };
static const char *const denied_in_c[] = { "KZ_ADDR_NEVER", "KZ_ADDR_UNLESS_RANGE",
					   "KZ_ADDR_ALWAYS" };
static const char *const denied_in_docs[] = { "no", "unless a range of the scope holds it",
					      "in every mode" };

struct class
{
	int line, denied;
	bool is_used;
	char *name, *reason, *meaning;
};

struct block {
	int line, family, bits;
	size_t class;
	char *text, *source, *name;
	uint8_t value[16], mask[16];
};

struct table {
	const char *file;
	size_t class_count, block_count;
	struct class *classes;
	struct block *blocks;
};

static void read_class(struct table *t, const struct line *l)
{
	struct class *c = &t->classes[t->class_count];
	char *field[4];

	split_row(t->file, l, field, 4);
	*c = (struct class){ .line = l->no,
			     .denied = -1,
			     .name = field[0] + strcspn(field[0], " \t"),
			     .reason = field[2],
			     .meaning = field[3] };
	c->name += strspn(c->name, " \t");
	check_name(t->file, l->no, c->name);
	check_name(t->file, l->no, c->reason);
	for (int i = 0; i < 3; i++)
		if (strcmp(denied_names[i], field[1]) == 0)
			c->denied = i;
	if (c->denied < 0)
		fail(t->file, l->no, "%s is not always, public or never", field[1]);
	for (size_t i = 0; i < t->class_count; i++)
		if (strcmp(t->classes[i].name, c->name) == 0)
			fail(t->file, l->no, "class %s is there already (line %d)", c->name,
			     t->classes[i].line);
	if (*c->meaning == '\0')
		fail(t->file, l->no, "class %s has no meaning", c->name);
	t->class_count++;
}

static void fill_prefix(const char *file, struct block *b)
{
	char *address = copy(b->text), *slash = strchr(address, '/');
	int most;

	if (!slash)
		fail(file, b->line, "%s has no length", b->text);
	*slash = '\0';
	b->family = strchr(address, ':') ? 6 : 4;
	most = b->family == 6 ? 128 : 32;
	b->bits = (int)number(file, b->line, slash + 1);
	if (inet_pton(b->family == 6 ? AF_INET6 : AF_INET, address, b->value) != 1)
		fail(file, b->line, "%s is not an address", address);
	if (b->bits < 0 || b->bits > most)
		fail(file, b->line, "%s is longer than %d bits", b->text, most);
	for (int i = 0; i < b->bits; i++)
		b->mask[i / 8] |= (uint8_t)(0x80 >> i % 8);
	for (int i = 0; i < 16; i++)
		if (b->value[i] & ~b->mask[i])
			fail(file, b->line, "%s has bits behind its prefix", b->text);
}

/* Eight groups, some of them "*": any value. */
static void fill_groups(const char *file, struct block *b)
{
	char *save = NULL;
	int i = 0;

	b->family = 6;
	for (char *g = strtok_r(copy(b->text), ":", &save); g; g = strtok_r(NULL, ":", &save)) {
		char *end = g;
		unsigned long v = strtoul(g, &end, 16);

		if (i == 8 || (strcmp(g, "*") != 0 && (*end || v > 0xffff)))
			fail(file, b->line, "%s is not eight groups", b->text);
		if (*g != '*') {
			b->value[2 * i] = (uint8_t)(v >> 8);
			b->value[2 * i + 1] = (uint8_t)v;
			b->mask[2 * i] = b->mask[2 * i + 1] = 0xff;
			b->bits += 16;
		}
		i++;
	}
	if (i != 8)
		fail(file, b->line, "%s is not eight groups", b->text);
}

static void read_block(struct table *t, const struct line *l)
{
	struct block *b = &t->blocks[t->block_count];
	char *field[4];

	split_row(t->file, l, field, 4);
	*b = (struct block){ .line = l->no,
			     .class = t->class_count,
			     .text = field[0],
			     .source = field[2],
			     .name = field[3] };
	if (strchr(b->text, '*'))
		fill_groups(t->file, b);
	else
		fill_prefix(t->file, b);
	for (size_t i = 0; i < t->class_count; i++)
		if (strcmp(t->classes[i].name, field[1]) == 0)
			b->class = i;
	if (b->class == t->class_count)
		fail(t->file, l->no, "there is no class %s", field[1]);
	t->classes[b->class].is_used = true;
	if (*b->source == '\0' || *b->name == '\0')
		fail(t->file, l->no, "%s lacks its source or name", b->text);
	for (size_t i = 0; i < t->block_count; i++)
		if (t->blocks[i].family == b->family &&
		    memcmp(t->blocks[i].value, b->value, 16) == 0 &&
		    memcmp(t->blocks[i].mask, b->mask, 16) == 0)
			fail(t->file, l->no, "%s is there already (line %d)", b->text,
			     t->blocks[i].line);
	t->block_count++;
}

/* Both families have a class for everything that no other row holds. */
static void check_whole(const struct table *t)
{
	int whole[7] = { 0 };

	for (size_t i = 0; i < t->block_count; i++)
		if (t->blocks[i].bits == 0)
			whole[t->blocks[i].family]++;
	if (!whole[4] || !whole[6])
		fail(t->file, 0, "no row for all of IPv%d", whole[4] ? 6 : 4);
	for (size_t i = 0; i < t->class_count; i++)
		if (!t->classes[i].is_used)
			fail(t->file, t->classes[i].line, "class %s has no block",
			     t->classes[i].name);
}

static int longest_first(const void *a, const void *b)
{
	const struct block *x = a, *y = b;

	if (x->family != y->family)
		return x->family - y->family;
	if (x->bits != y->bits)
		return y->bits - x->bits;
	return x->line - y->line;
}

static void write_header(const struct table *t)
{
	FILE *f = out_open("statemachines/gen", "addresses.h", COMMENT_C, t->file);

	fputs("#ifndef KZ_GEN_ADDRESSES_H\n#define KZ_GEN_ADDRESSES_H\n\n#include <stdint.h>\n\n"
	      "#include \"gen/reasons.h\"\n\n"
	      "/* Classes of internet addresses, from the mildest to the worst. */\nenum kz_addr_class {\n",
	      f);
	for (size_t i = 0; i < t->class_count; i++)
		fprintf(f, "\tKZ_ADDR_%s,\n", upper(t->classes[i].name));
	fputs("\tKZ_ADDR_CLASS_COUNT\n};\n\n"
	      "/* When a class is denied: never by itself, unless a range of the scope holds the address, in every mode. */\n"
	      "enum kz_addr_denied { KZ_ADDR_NEVER, KZ_ADDR_UNLESS_RANGE, KZ_ADDR_ALWAYS };\n\n"
	      "struct kz_addr_class_row {\n\tconst char *name;\n\tconst char *meaning;\n"
	      "\tenum kz_reason reason; /* of refusing an address of it */\n\tenum kz_addr_denied denied;\n};\n\n"
	      "extern const struct kz_addr_class_row kz_addr_classes[KZ_ADDR_CLASS_COUNT];\n\n"
	      "/* An address is in a block when it equals value where mask has bits. */\n"
	      "struct kz_addr_block {\n\tuint8_t family; /* 4 or 6 */\n\tuint8_t bits;   /* set in mask */\n"
	      "\tuint8_t value[16], mask[16];\n\tenum kz_addr_class class;\n};\n\n",
	      f);
	fprintf(f, "#define KZ_ADDR_BLOCKS %zu\n", t->block_count);
	fputs("/* By family, the longest first: the first that holds an address gives its class. */\n"
	      "extern const struct kz_addr_block kz_addr_blocks[KZ_ADDR_BLOCKS];\n\n#endif\n",
	      f);
	out_close(f);
}

static void put_bytes(FILE *f, const uint8_t bytes[16], int n)
{
	for (int i = 0; i < n; i++)
		fprintf(f, "%s%d", i ? ", " : "{ ", bytes[i]);
	fputs(" }", f);
}

static void write_source(const struct table *t)
{
	FILE *f = out_open("statemachines/gen", "addresses.c", COMMENT_C, t->file);

	fputs("#include \"gen/addresses.h\"\n\n"
	      "const struct kz_addr_class_row kz_addr_classes[KZ_ADDR_CLASS_COUNT] = {\n",
	      f);
	for (size_t i = 0; i < t->class_count; i++) {
		const struct class *c = &t->classes[i];

		fprintf(f, "\t[KZ_ADDR_%s] = { .name = \"%s\", .meaning = ", upper(c->name),
			c->name);
		put_c_string(f, c->meaning);
		fprintf(f, ",\n\t\t.reason = KZ_R_%s, .denied = %s },\n", upper(c->reason),
			denied_in_c[c->denied]);
	}
	fputs("};\n\nconst struct kz_addr_block kz_addr_blocks[KZ_ADDR_BLOCKS] = {\n", f);
	for (size_t i = 0; i < t->block_count; i++) {
		const struct block *b = &t->blocks[i];
		int n = b->family == 6 ? 16 : 4;

		fprintf(f,
			"\t/* %s: %s */\n\t{ .family = %d, .bits = %d, .class = KZ_ADDR_%s,\n\t\t.value = ",
			strchr(b->text, '*') ? b->source : b->text, b->name, b->family, b->bits,
			upper(t->classes[b->class].name));
		put_bytes(f, b->value, n);
		fputs(",\n\t\t.mask = ", f);
		put_bytes(f, b->mask, n);
		fputs(" },\n", f);
	}
	fputs("};\n", f);
	out_close(f);
}

static void write_docs(const struct table *t)
{
	FILE *f = out_open("docs/tables", "classes.md", COMMENT_HTML, t->file);

	fputs("\n| class | denied | reason | meaning |\n|---|---|---|---|\n", f);
	for (size_t i = 0; i < t->class_count; i++)
		fprintf(f, "| `%s` | %s | `%s` | %s |\n", t->classes[i].name,
			denied_in_docs[t->classes[i].denied], t->classes[i].reason,
			t->classes[i].meaning);
	out_close(f);
	f = out_open("docs/tables", "addresses.md", COMMENT_HTML, t->file);
	fputs("\n| block | class | denied | source | name |\n|---|---|---|---|---|\n", f);
	for (size_t i = 0; i < t->block_count; i++) {
		const struct class *c = &t->classes[t->blocks[i].class];

		fprintf(f, "| `%s` | `%s` | %s | %s | %s |\n", t->blocks[i].text, c->name,
			denied_in_docs[c->denied], t->blocks[i].source, t->blocks[i].name);
	}
	out_close(f);
}

void make_addresses(const char *file)
{
	int count;
	struct line *lines = read_lines(file, &count);
	struct table t = { .file = file,
			   .classes = need(sizeof(*t.classes) * (size_t)count),
			   .blocks = need(sizeof(*t.blocks) * (size_t)count) };

	for (int i = 0; i < count; i++) {
		if (strncmp(lines[i].text, "class ", 6) == 0)
			read_class(&t, &lines[i]);
		else
			read_block(&t, &lines[i]);
	}
	check_whole(&t);
	write_docs(&t);
	qsort(t.blocks, t.block_count, sizeof(*t.blocks), longest_first);
	write_header(&t);
	write_source(&t);
}
