/* Counters and their text. */
#include "core/gateway/count.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

struct count {
	const char *name, *help;
	char labels[120];
	uint64_t value;
};

struct kz_counts {
	size_t count;
	struct count all[KZ_COUNTS];
	uint64_t spare; /* where those go that had no place */
};

struct kz_counts *kz_counts_new(void)
{
	return calloc(1, sizeof(struct kz_counts));
}

void kz_counts_free(struct kz_counts *c)
{
	free(c);
}

uint64_t *kz_count(struct kz_counts *c, const char *name, const char *labels, const char *help)
{
	struct count *n;

	for (size_t i = 0; i < c->count; i++)
		if (strcmp(c->all[i].name, name) == 0 && strcmp(c->all[i].labels, labels) == 0)
			return &c->all[i].value;
	if (c->count == KZ_COUNTS)
		return &c->spare;
	n = &c->all[c->count];
	if (kz_str_copy(n->labels, sizeof n->labels, labels, NULL) != KZ_OK)
		return &c->spare;
	c->count++;
	n->name = name;
	n->help = help;
	return &n->value;
}

/* All of one name. */
static enum kz_rc family(const struct kz_counts *c, size_t first, struct kz_buf *b,
			 struct kz_err *err)
{
	const struct count *f = &c->all[first];
	enum kz_rc rc = kz_buf_printf(b, err, "# HELP %s %s\n# TYPE %s counter\n", f->name, f->help,
				      f->name);

	for (size_t i = first; i < c->count && rc == KZ_OK; i++) {
		const struct count *n = &c->all[i];

		if (strcmp(n->name, f->name) == 0)
			rc = kz_buf_printf(b, err, "%s%s%s%s %" PRIu64 "\n", n->name,
					   n->labels[0] ? "{" : "", n->labels,
					   n->labels[0] ? "}" : "", n->value);
	}
	return rc;
}

static bool is_first(const struct kz_counts *c, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (strcmp(c->all[i].name, c->all[at].name) == 0)
			return false;
	return true;
}

enum kz_rc kz_counts_write(const struct kz_counts *c, struct kz_buf *b, struct kz_err *err)
{
	enum kz_rc rc = KZ_OK;

	for (size_t i = 0; i < c->count && rc == KZ_OK; i++)
		if (is_first(c, i))
			rc = family(c, i, b, err);
	return rc;
}
