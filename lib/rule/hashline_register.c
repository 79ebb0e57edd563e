/* Named registers: how many, how large, in which order. */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "rule/hashline_book.h"
#include "rule/reason.h"

bool kz_register_is_name(const char *p, size_t n)
{
	if (n == 0 || n > KZ_REGISTER_NAME)
		return false;
	for (size_t i = 0; i < n; i++)
		if (!((p[i] >= 'a' && p[i] <= 'z') || (p[i] >= 'A' && p[i] <= 'Z') ||
		      (p[i] >= '0' && p[i] <= '9') || p[i] == '_' || p[i] == '-'))
			return false;
	return true;
}

/* The place of a name in the order, whether it is there or not. */
static size_t place(const struct kz_book *b, const char *name)
{
	size_t i = 0;

	while (i < b->registers && strcmp(b->reg[i].name, name) < 0)
		i++;
	return i;
}

const struct kz_register *kz_book_register(const struct kz_book *b, const char *name)
{
	size_t i = place(b, name);

	return i < b->registers && strcmp(b->reg[i].name, name) == 0 ? &b->reg[i] : NULL;
}

/* Would n bytes under this name keep the bounds? Nobody else's register goes for it. */
static enum kz_rc has_room(const struct kz_book *b, const struct kz_register *old, size_t n,
			   struct kz_err *err)
{
	size_t all = n;

	for (size_t i = 0; i < b->registers; i++)
		if (&b->reg[i] != old)
			all += b->reg[i].n;
	if (!old && b->registers == KZ_BOOK_REGISTERS)
		return kz_refuse(err, KZ_R_REGISTER_FULL,
				 "there are %d registers already; cut into one of them",
				 KZ_BOOK_REGISTERS);
	if (n > KZ_REGISTER_MAX)
		return kz_refuse(err, KZ_R_REGISTER_FULL, "a register holds at most %u bytes",
				 KZ_REGISTER_MAX);
	if (all > KZ_REGISTERS_MAX)
		return kz_refuse(err, KZ_R_REGISTER_FULL, "all registers hold at most %u bytes",
				 KZ_REGISTERS_MAX);
	return KZ_OK;
}

static char *joined(const struct kz_row *rows, size_t count, size_t n)
{
	char *text = malloc(n ? n : 1), *to = text;

	for (size_t i = 0; i < count && text; i++) {
		if (rows[i].n)
			memcpy(to, rows[i].p, rows[i].n);
		to += rows[i].n;
		*to++ = '\n';
	}
	return text;
}

enum kz_rc kz_book_keep(struct kz_book *b, const char *name, const struct kz_row *rows,
			size_t count, struct kz_err *err)
{
	size_t at = place(b, name), n = 0;
	bool is_there = at < b->registers && strcmp(b->reg[at].name, name) == 0;
	struct kz_register r = { .lines = (uint32_t)count };
	enum kz_rc rc;

	for (size_t i = 0; i < count; i++)
		n += rows[i].n + 1;
	rc = has_room(b, is_there ? &b->reg[at] : NULL, n, err);
	if (rc == KZ_OK)
		rc = kz_str_copy(r.name, sizeof r.name, name, err);
	if (rc != KZ_OK)
		return rc;
	r.own = joined(rows, count, n);
	if (!r.own)
		return kz_err_set(err, KZ_E_OS, "no memory for a register");
	r.text = r.own;
	r.n = n;
	r.seq = ++b->seq;
	if (is_there) {
		free(b->reg[at].own);
	} else {
		memmove(b->reg + at + 1, b->reg + at, (b->registers - at) * sizeof *b->reg);
		b->registers++;
	}
	b->reg[at] = r;
	return KZ_OK;
}
