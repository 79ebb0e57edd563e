/* Packages: lists of texts. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/native/package.h"

void kz_package_list_start(struct kz_package_list *l)
{
	*l = (struct kz_package_list){ .text = KZ_BUF_INIT(KZ_PACKAGE_TEXT_MAX) };
}

void kz_package_list_release(struct kz_package_list *l)
{
	free(l->rows);
	kz_buf_release(&l->text);
	l->rows = NULL;
	l->count = l->room = 0;
}

enum kz_rc kz_package_list_add(struct kz_package_list *l,
			       const char *const fields[KZ_PACKAGE_FIELDS], struct kz_err *err)
{
	if (l->count == KZ_PACKAGE_LIST_MAX)
		return KZ_BOMB(err, "a list of more than %d", KZ_PACKAGE_LIST_MAX);
	if (l->count == l->room) {
		size_t room = l->room ? 2 * l->room : 64;
		void *rows = realloc(l->rows, room * sizeof *l->rows);
		if (!rows)
			return kz_err_set(err, KZ_E_OS, "no memory for a list");
		l->rows = rows;
		l->room = room;
	}
	for (size_t i = 0; i < KZ_PACKAGE_FIELDS; i++) {
		const char *field = fields[i] ? fields[i] : "";
		enum kz_rc rc;
		l->rows[l->count][i] = l->text.len;
		rc = kz_buf_add(&l->text, field, strlen(field) + 1, err);
		if (rc == KZ_E_DATA)
			return KZ_BOMB(err, "lists of more than %zu bytes", KZ_PACKAGE_TEXT_MAX);
		if (rc != KZ_OK)
			return rc;
	}
	l->count++;
	return KZ_OK;
}

const char *kz_package_field(const struct kz_package_list *l, size_t row, size_t field)
{
	return l->text.data + l->rows[row][field];
}

static int by_first_folded(const void *a, const void *b, void *text)
{
	return strcasecmp((const char *)text + *(const size_t *)a,
			  (const char *)text + *(const size_t *)b);
}

static int by_first(const void *a, const void *b, void *text)
{
	return strcmp((const char *)text + *(const size_t *)a,
		      (const char *)text + *(const size_t *)b);
}

const char *kz_package_list_sort(struct kz_package_list *l, bool fold)
{
	int (*order)(const void *, const void *, void *) = fold ? by_first_folded : by_first;

	if (l->count == 0)
		return NULL;
	qsort_r(l->rows, l->count, sizeof *l->rows, order, l->text.data);
	for (size_t i = 1; i < l->count; i++) {
		if (order(l->rows[i - 1], l->rows[i], l->text.data) == 0)
			return kz_package_field(l, i, 0);
	}
	return NULL;
}

size_t kz_package_list_find(const struct kz_package_list *l, const char *first, bool fold)
{
	size_t least = 0, most = l->count;

	while (least < most) {
		size_t middle = least + (most - least) / 2;
		const char *at = kz_package_field(l, middle, 0);
		int order = fold ? strcasecmp(at, first) : strcmp(at, first);
		if (order == 0)
			return middle;
		if (order < 0)
			least = middle + 1;
		else
			most = middle;
	}
	return l->count;
}
